"""Fixtures of the end-to-end tests."""

from itertools import groupby
from pathlib import Path

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm
from tests.push.target import Target, on_this_machine, over_ssh


@pytest.hookimpl(tryfirst=True)  # before those of the long form are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of what is pushed both ways, one test of each file is on a lab host in the short form.

    What is done there is the same; a new host for each test takes most of the time.
    """
    here = Path(__file__).parent
    both = [item for item in items if item.path.parent == here and _is_remote_of_two(item)]
    for _, found in groupby(both, key=lambda item: item.path):
        for item in [*found][1:]:
            item.add_marker(pytest.mark.long, append=False)


def _is_remote_of_two(item: pytest.Item) -> bool:
    """Whether a test pushes to a ``target`` over SSH, and its twin to one of this machine."""
    call = getattr(item, "callspec", None)
    if call is None or call.params.get("target") != "ssh":
        return False
    marker = item.get_closest_marker("long")
    return marker is None or "local" not in marker.args


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    """The command line with a scratch HOME of its own."""
    return Ccm(tmp_path)


@pytest.fixture
def remote(ccm: Ccm, lab: Lab, host: Host) -> Target:
    """A lab host, as new, over SSH."""
    return over_ssh(ccm, lab, host)


@pytest.fixture
def local(ccm: Ccm, tmp_path: Path) -> Target:
    """A directory of this machine."""
    return on_this_machine(ccm, tmp_path)


@pytest.fixture(params=["ssh", "local"])
def target(request: pytest.FixtureRequest) -> Target:
    """Both ways to reach a host, one after the other."""
    chosen: Target = request.getfixturevalue("remote" if request.param == "ssh" else "local")
    return chosen
