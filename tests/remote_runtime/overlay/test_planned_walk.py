"""Walks over what is planned end as those on the machine do."""

from __future__ import annotations

import os

import pytest

from tests.remote_runtime import mounting
from tests.remote_runtime.host import differential
from tests.remote_runtime.host.random_cases import APPEND_ONLY, Case, Step, Thing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

US, OTHER = 4711, 4712


def step(call: str, *given: object, **named: object) -> Step:
    """One call of the port of files."""
    return Step("files", call, given, tuple(named.items()))


def difference(uid: int, tree: tuple[Thing, ...], *steps: Step, place: str = "disk") -> str:
    """Where the machine and the overlay differ, in a step or in what is read after it."""
    case = Case(0, uid, place, (), tree, steps, (True,) * len(steps))
    return differential.run(case).differs


def test_links_in_directories_of_others() -> None:
    """A link of ours is not followed where another user could have put it."""
    tree = (Thing("@", "directory", OTHER), Thing("@/c", "directory"), Thing("@/b", "directory"))
    assert difference(0, tree, step("symlink", "b", "@/a"), step("mkdir", "@/a/b/c", 0o755)) == ""
    assert (
        difference(
            0, tree, step("rmdir", "@/c"), step("symlink", "c", "@/c"), step("rmdir", "@/c/b")
        )
        == ""
    )


def test_links_of_others() -> None:
    """One leads only to what is of the same user, whatever is planned to be there."""
    tree = (
        Thing("@", "directory"),
        Thing("@/b", "file", OTHER),
        Thing("@/a", "symlink", OTHER, data="b"),
    )
    assert difference(0, tree, step("write", "@/b", b"x", mode=0o644)) == ""
    assert difference(0, tree, step("write", "@/b", b"x", mode=0o644, uid=OTHER)) == ""


def test_closed_directories() -> None:
    """Nothing below a directory is seen that will be closed to us."""
    tree = (Thing("@", "directory", US), Thing("@/a", "directory", US), Thing("@/a/b", "file", US))
    close = step("set_attributes", "@/a", 0o600, -1, -1)
    assert difference(US, tree, close, step("unlink", "@/a/b")) == ""
    assert difference(US, tree, step("mkdir", "@/b", 0), step("mkdir", "@/b/c", 0o755)) == ""


def test_files_with_several_names() -> None:
    """They are neither read nor changed where others can write, but for what comes first."""
    tree = (
        Thing("@", "directory", mode=0o1777),
        Thing("@/a", "file", mode=0o400),
        Thing("@/b", "name", data="@/a"),
    )
    assert difference(US, tree, step("set_attributes", "@/b", 0o644, -1, -1)) == ""
    assert (
        difference(0, tree, step("set_attributes", "@", 0o755, -1, -1), step("unlink", "@/a")) == ""
    )
    assert (
        difference(0, tree, step("unlink", "@/a"), step("set_attributes", "@/b", 0o644, -1, -1))
        == ""
    )


def test_trees_that_stay() -> None:
    """A removal that fails removes nothing."""
    tree = (
        Thing("@", "directory", US),
        Thing("@/a", "directory", US),
        Thing("@/a/a", "directory", US),
        Thing("@/a/b", "directory", OTHER),
        Thing("@/a/b/c", "directory", US),
    )
    assert difference(US, tree, step("remove_tree", "@/a")) == ""


def test_attributes_that_cannot_be_set() -> None:
    """A file that was closed to its owner stays so."""
    tree = (Thing("@", "directory", US), Thing("@/a", "file", US, US, 0))
    assert difference(US, tree, step("set_attributes", "@/a", 0o644, OTHER, -1)) == ""


@pytest.mark.skipif(not mounting.possible(), reason="needs mounts")
def test_directories_that_are_only_added_to() -> None:
    """Nothing is renamed there, and nothing temporary is left in one."""
    tree = (Thing("@", "directory"), Thing("@/a", "directory", flags=APPEND_ONLY))
    link = step("symlink", "b", "@/a/b")
    assert difference(0, tree, link, place="flags") == ""
    assert difference(US, tree, link, step("write", "@/a/c", b"", mode=0o644), place="flags") == ""
