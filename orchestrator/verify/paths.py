"""What several checks expect of a path (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host

SHOWN = 16  # characters of a hash


def kind(host: Host, path: str) -> str:
    """What is at a path, in words."""
    file = host.file(path)
    if file.is_symlink:
        return "a symlink"
    if file.is_file:
        return "a file"
    if file.is_directory:
        return "a directory"
    return "something else" if file.exists else "nothing"


def absent(path: str, what: str = "path") -> list[Expectation]:
    """Nothing is there, not even a symlink that leads nowhere."""
    return [
        Expectation(
            what,
            "nothing",
            lambda host: host.file(path).exists,
            lambda found: not found,
            lambda host, _: kind(host, path),
            gate=True,
        ),
        Expectation(
            what,
            "nothing",
            lambda host: host.file(path).is_symlink,
            lambda found: not found,
            lambda host, _: "a symlink that leads nowhere",
            gate=True,
        ),
    ]


def exists(path: str, what: str) -> Expectation:
    """Something is there, whatever it is."""
    return Expectation(
        what,
        path,
        lambda host: host.file(path).exists,
        bool,
        lambda host, _: "nothing there",
        gate=True,
    )


def regular(path: str, what: str = "type") -> list[Expectation]:
    """A regular file, and no symlink to one."""
    return _of_kind(path, what, "a file", lambda host: host.file(path).is_file)


def directory(path: str, what: str = "type") -> list[Expectation]:
    """A directory, and no symlink to one."""
    return _of_kind(path, what, "a directory", lambda host: host.file(path).is_directory)


def _of_kind(path: str, what: str, expected: str, find: object) -> list[Expectation]:
    assert callable(find)
    return [
        Expectation(
            what,
            expected,
            lambda host: host.file(path).is_symlink,
            lambda found: not found,
            lambda host, _: "a symlink",
            gate=True,
        ),
        Expectation(what, expected, find, bool, lambda host, _: kind(host, path), gate=True),
    ]


def ownership(subject: Subject) -> list[Expectation]:
    """Owner and group; digits only are an id."""
    path, owner, group = subject.name, subject.text("owner"), subject.text("group")
    found = []
    if owner.isdecimal():
        found.append(equal("owner", int(owner), lambda host: host.file(path).uid))
    elif owner:
        found.append(equal("owner", owner, lambda host: host.file(path).user))
    if group.isdecimal():
        found.append(equal("group", int(group), lambda host: host.file(path).gid))
    elif group:
        found.append(equal("group", group, lambda host: host.file(path).group))
    return found


def content(path: str, sha256: str, what: str = "content") -> Expectation:
    """The content by its hash."""
    wanted = sha256.lower()
    return equal(what, wanted, lambda host: host.file(path).sha256sum, shown_hash)


def shown_hash(digest: object) -> str:
    """The beginning of a hash, enough to tell two apart."""
    return f"SHA-256 {str(digest).lstrip(chr(92))[:SHOWN]}…"
