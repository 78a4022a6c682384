"""download: the file, its attributes and a checksum from the manifest (controller)."""

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.paths import (
    SHOWN,
    absent,
    content,
    file_hash,
    of_mode,
    ownership,
    regular,
)
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations; only a literal checksum determines the content of the file."""
    path = subject.name
    if subject.get("ensure", "present") == "absent":
        return absent(path)
    result = regular(path)
    digits = subject.text("checksum").lower().rpartition(":")[2]
    if len(digits) == 64:
        result.append(content(path, digits, "checksum"))
    elif digits:
        result.append(
            equal("checksum", digits, lambda host: file_hash(host, path, "sha512sum"), _shown)
        )
    mode = subject.text("mode").lower().removeprefix("0o")
    if mode:
        result.append(of_mode(path, int(mode, 8)))
    return result + ownership(subject)


def _shown(digest: object) -> str:
    return f"SHA-512 {str(digest)[:SHOWN]}…"
