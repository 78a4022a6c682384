"""archive: the extracted files, or the archive itself (controller)."""

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.paths import (
    absent,
    content,
    directory,
    exists,
    ownership,
    regular,
)
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations; ``creates``, if set, represents the complete archive, whose file may then
    be gone.
    """
    path = subject.name
    if subject.get("ensure", "present") == "absent":
        return absent(path)
    creates, parent = subject.text("creates"), subject.text("extract_parent")
    if creates:
        expectations = [exists(creates, "creates")]
        return expectations + (absent(path, "archive") if subject.get("cleanup") else [])
    expectations = regular(path)
    if subject.text("checksum"):
        expectations.append(content(path, subject.text("checksum"), "checksum"))
    return (
        expectations + ownership(subject) + (directory(parent, "extract_parent") if parent else [])
    )
