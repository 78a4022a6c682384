"""file: type, content, owner, group and mode (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.paths import (
    absent,
    content,
    file_hash,
    inside,
    of_kind,
    ownership,
    regular,
    shown_hash,
)
from orchestrator.verify.recursive_checks import recursive_checks
from orchestrator.verify.subject import Subject, content_hash

if TYPE_CHECKING:
    from testinfra.host import Host


def expectations(subject: Subject) -> list[Expectation]:
    """Of a regular file, a directory, or nothing."""
    path, ensure = subject.name, subject.get("ensure", "present")
    if ensure == "absent":
        return absent(path)
    is_directory = ensure == "directory"
    if is_directory:
        found = [of_kind(path, "a directory", follow=True)]
        path = inside(path)
    else:
        found = regular(path) + _content(subject)
    found += ownership(subject, path)
    mode = subject.text("mode")
    if mode:
        wanted, mask = _mode(mode, is_directory)
        found.append(equal("mode", wanted, lambda host: host.file(path).mode & mask, _octal))
    return found + recursive_checks(subject) if is_directory else found


def _content(subject: Subject) -> list[Expectation]:
    path, source = subject.name, subject.get("source")
    if subject.get("replace") is False:
        return []  # whatever was there first
    if isinstance(source, str):
        return [_same(path, source)]
    wanted = source if source is not None else subject.get("content")
    return [] if wanted is None else [content(path, content_hash(wanted))]


def _same(path: str, source: str) -> Expectation:
    """The same content as another file of the target has now."""

    def find(host: Host) -> tuple[str, str]:
        """The hashes of both files."""
        return file_hash(host, path), file_hash(host, source)

    def tell(host: Host, found: tuple[str, str]) -> str:
        """The difference in words."""
        return f"{shown_hash(found[0])}, the source has {shown_hash(found[1])}"

    return Expectation(
        "content",
        f"the content of {source}",
        find=find,
        holds=lambda found: found[0] == found[1],
        tell=tell,
    )


def _mode(text: str, is_directory: bool) -> tuple[int, int]:
    """The mode as a number, and the bits to compare.

    A user who may read or write a directory may also enter it. Its setuid, setgid and sticky bits
    count only if the mode has a fourth digit, or a fifth.
    """
    digits = text.lower().removeprefix("0o")
    mode = int(digits, 8)
    if not is_directory:
        return mode, 0o7777
    for shift in (0, 3, 6):
        if mode >> shift & 0o6:
            mode |= 0o1 << shift
    return mode, 0o7777 if mode > 0o777 or len(digits) > 4 else 0o777


def _octal(mode: Any) -> str:
    return f"{mode:04o}"
