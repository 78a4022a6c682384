"""Workers say which ccm they are, and where they are at home."""

import pytest

from orchestrator.cluster import worker_info
from remote_runtime.errors import UsageError
from tests.texts import expect_text


def test_what_a_worker_has_is_what_tasks_ask_for() -> None:
    """Its own code, and each of its sites."""
    has = worker_info.resources(["paris", "lyon"])
    assert worker_info.code_of(has) == worker_info.code_version()
    assert worker_info.sites_of(has) == {"paris", "lyon"}
    assert worker_info.needs({"paris"}).keys() <= has.keys()
    assert worker_info.needs(()).keys() <= has.keys()
    assert not worker_info.needs({"paris", "rome"}).keys() <= has.keys()


def test_a_worker_of_others_is_none_of_ours() -> None:
    """Dask may have other work, too."""
    assert worker_info.code_of({"GPU": 1.0}) is None


@pytest.mark.parametrize("name", ["a b", "", "-a", "a\n", "a:b"])
def test_a_site_has_a_plain_name(name: str) -> None:
    """As in an inventory, since it stands in a name of Dask's."""
    with pytest.raises(UsageError) as refused:
        worker_info.resources([name])
    expect_text(refused.value)
