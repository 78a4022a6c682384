"""credential: what the service manager decrypts for a service (controller). The value stays on the
host.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.paths import absent, of_kind
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host

_DIRECTORY = "/etc/credstore.encrypted"
_SERVICE = (
    "systemd-run --quiet --pipe --wait --property=LoadCredentialEncrypted=%s:%s"
    " sh -c 'sha256sum < \"$CREDENTIALS_DIRECTORY/$0\"' %s"
)


def expectations(subject: Subject) -> list[Expectation]:
    """A file that a service gets the value of, or no file."""
    path = subject.text("path") or f"{_DIRECTORY}/{subject.name}"
    if subject.get("ensure", "present") == "absent":
        return absent(path)
    wanted = hashlib.sha256(subject.text("value").encode("utf-8")).hexdigest()

    def find(host: Host) -> str:
        """How the value compares that a service of a moment gets."""
        asked = host.run(_SERVICE, subject.name, path, subject.name)
        if asked.rc:
            return "systemd cannot decrypt it"
        return "as desired" if asked.stdout.split()[:1] == [wanted] else "another"

    return [of_kind(path, "a file"), equal("value", "as desired", find)]
