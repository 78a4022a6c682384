"""What processes of a run know of a password together."""

import sys

import pytest

from orchestrator.transport.password import LocalState, Password, SharedState
from remote_runtime.errors import UnreachableError
from tests.orchestrator.workers.test_process_engine import play

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared so on Linux only")


@linux
def test_copies_of_a_process_try_a_password_as_one() -> None:
    """Two refusals in two processes keep the third from trying; one proves it while the others
    wait, and go on at once; one that dies while it proves holds nobody up."""
    found = play("passwords")
    refused = "the password was rejected by h0, h1, so it is not tried here"
    assert found["first"] == ["tried", "tried", refused]
    assert (found["meanwhile"], found["then"]) == ([None] * 2, ["proving"] * 2)
    assert found["ends"] == ["killed by signal 9", "done", "done"]


@linux
def test_a_shared_password_is_one_processs_too() -> None:
    """Shared or not, the hosts of one process are treated alike."""
    password = Password("the password", "transport.auth", lambda: "x", patience=60)
    password.share()
    for host in ("a", "b"):
        password.attempt(host).end(accepted=False)
    with pytest.raises(UnreachableError, match="rejected by a, b"):
        password.attempt("c")


@pytest.mark.parametrize("kind", [LocalState, pytest.param(SharedState, marks=linux)])
def test_what_is_written_is_read(kind: type) -> None:
    """Also where the text becomes shorter, and not where somebody gave up in between."""
    proof = kind()
    with proof.locked() as standing:
        standing.refused += ["a long name of a host", "another"]
        standing.proving, standing.until = "1 2", 7.5
    with proof.locked() as standing:
        assert (standing.refused, standing.until) == (["a long name of a host", "another"], 7.5)
        standing.refused.clear()
    with proof.locked() as standing:
        assert (standing.refused, standing.proving, standing.proved) == ([], "1 2", False)
