"""Hosts that share a value of a variable."""

import pytest

from orchestrator.rollout.shared_limits import SharedLimits, check_sharing, parse_per
from remote_runtime.errors import UsageError
from tests.orchestrator.fleet.fakes import FakeHost
from tests.texts import expect_text


def test_only_so_many_share_a_value() -> None:
    """A value that is taken keeps others out until one of its hosts has ended."""
    sharing = SharedLimits([parse_per("rack=1"), parse_per("site.row=2")])
    first, second = {"rack": 7, "site": {"row": "a"}}, {"rack": 8, "site": {"row": "a"}}
    third = {"rack": 9, "site": {"row": "a"}}
    sharing.begin(first)
    assert not sharing.admits({"rack": 7})
    assert not sharing.admits({"rack": "7"}), "written in two ways"
    assert sharing.admits(second)
    sharing.begin(second)
    assert not sharing.admits(third)
    assert sharing.admits({}), "a host without the variables shares nothing"
    sharing.end(first)
    assert sharing.admits(third)


@pytest.mark.parametrize("text", ["rack", "rack=0", "rack=-1", "=1", "rack=x", "ra ck=1"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    """A variable and a number of at least 1 are needed."""
    with pytest.raises(ValueError, match="such as rack=1"):
        parse_per(text)


def test_a_variable_that_nobody_has_is_refused() -> None:
    """A limit that could never hold anybody back is a mistake; of some hosts it is a warning."""
    hosts = [FakeHost("a", {"rack": 1}), FakeHost("b")]
    with pytest.raises(UsageError) as told:
        list(check_sharing([parse_per("rak=1")], hosts))
    expect_text(told.value.message)
    expect_text(told.value.hint)
    (warning,) = check_sharing([parse_per("rack=1")], hosts)
    assert warning.endswith("without rack: b")
