"""file: type, content, owner, group and mode (controller)."""

from orchestrator.verify.expectation import Expectation, Host
from orchestrator.verify.paths import (
    absent,
    content,
    file_hash,
    inside,
    mode_and_mask,
    of_kind,
    of_mode,
    ownership,
    regular,
    shown_hash,
)
from orchestrator.verify.recursive_checks import recursive_checks
from orchestrator.verify.subject import Subject, content_hash


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a regular file, a directory, or an absent path."""
    path, ensure = subject.name, subject.get("ensure", "present")
    if ensure == "absent":
        return absent(path)
    is_directory = ensure == "directory"
    if is_directory:
        expectations = [of_kind(path, "a directory", follow=True)]
        path = inside(path)
    else:
        expectations = regular(path) + _content(subject)
    expectations += ownership(subject, path)
    mode = subject.text("mode")
    if mode:
        expectations.append(of_mode(path, *mode_and_mask(mode, is_directory)))
    return expectations + recursive_checks(subject) if is_directory else expectations


def _content(subject: Subject) -> list[Expectation]:
    path, source = subject.name, subject.get("source")
    if subject.get("replace") is False:
        return []  # whatever was there first
    if isinstance(source, str):
        return [_same(path, source)]
    wanted = source if source is not None else subject.get("content")
    return [] if wanted is None else [content(path, content_hash(wanted))]


def _same(path: str, source: str) -> Expectation:
    """Expect the same content as another file on the target currently has."""

    def find(host: Host) -> tuple[str, str]:
        """The hashes of both files."""
        return file_hash(host, path), file_hash(host, source)

    def tell(host: Host, found: tuple[str, str]) -> str:
        """The difference as text."""
        return f"{shown_hash(found[0])}; the source has {shown_hash(found[1])}"

    return Expectation(
        "content",
        f"the content of {source}",
        find=find,
        holds=lambda found: found[0] == found[1],
        tell=tell,
    )
