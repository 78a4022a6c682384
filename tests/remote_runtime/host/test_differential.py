"""The overlay comes to what the machine comes to, or says that it does not know."""

from __future__ import annotations

import os
import re

import pytest

from tests.remote_runtime.host import differential
from tests.remote_runtime.host.random_cases import APPEND_ONLY, IMMUTABLE, Case, Step, Thing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

SHORT, LONG = 100, 100_000  # cases of up to 12 steps


def unknown_share(first: int, count: int) -> float:
    """Which share of what these cases read is unknown; all of them are alike."""
    code, told = differential.in_process(first, count)
    assert code == 0, told
    reads, unknown = (int(re.findall(rf"(\d+) {what}", told)[0]) for what in ("reads", "unknown"))
    return unknown / reads


@pytest.mark.timeout(600)
def test_random_operations() -> None:
    """Every step ends alike and leaves the same to be read."""
    assert unknown_share(1, SHORT) < 1 / 20


@pytest.mark.long
@pytest.mark.timeout(36_000)
def test_many_random_operations() -> None:
    """The same of a million steps."""
    assert unknown_share(SHORT + 1, LONG) < 1 / 20


def test_flags_keep_nothing_behind() -> None:
    """What is immutable or append-only on a disk goes, too, once a case is over."""
    tree = (
        Thing("@", "directory", flags=APPEND_ONLY),
        Thing("@/a", "directory", flags=IMMUTABLE),
        Thing("@/a/b", "file", flags=IMMUTABLE | APPEND_ONLY),
    )
    with differential.built(Case(1, 0, "disk", (), tree, (), ())) as root:
        assert os.path.exists(f"{root}/a/b")
    assert not os.path.exists(root)


WANTED = (("mode", 0o2775), ("uid", -1), ("gid", -1))


@pytest.mark.parametrize(
    "step",
    [
        Step("files", "set_attributes", ("@/a",), WANTED),
        Step("files", "mkdir", ("@/b",), WANTED),
        Step("files", "write", ("@/b", b"x"), WANTED),
        Step("files", "write", ("@/c", b"x"), WANTED),
    ],
)
def test_setgid_of_a_foreign_group_is_refused(step: Step) -> None:
    """Linux drops the bit without a word: both say that it is not reached, and change nothing."""
    tree = (
        Thing("@", "directory", 4711, 0, 0o2777),
        Thing("@/a", "directory", 4711, 0, 0o1777),
        Thing("@/c", "file", 4711, 0, 0o644),
    )
    done = differential.run(Case(1, 4711, "disk", (), tree, (step,), (True,)))
    assert done.differs == ""
    assert done.counts["steps"] == 1


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that does something else than the overlay says is told in its smallest form."""
    monkeypatch.setattr("remote_runtime.host.machine.files.Files._write", lambda *a, **k: None)
    tree = (Thing("@", "directory"), Thing("@/a", "directory"), Thing("@/b", "file", 4711))
    write = Step("files", "write", ("@/a/c", b"x"), (("mode", 0o600),))
    steps = (Step("files", "unlink", ("@/b",)), write, Step("files", "rmdir", ("@/c",)))
    case = Case(1, 0, "disk", (), tree, steps, (False,) * 3)
    small = differential.shrunk(case, lambda one: bool(differential.run(one).differs))
    assert small.told().splitlines() == [
        "seed 1, root, disk",
        "  @: directory of 0:0 0755",
        "  @/a: directory of 0:0 0755",
        "  files.write('@/a/c', b'x', mode=0o600)",
    ]
    assert "after step 1, then entries of @/a\n" in differential.run(small).differs
