"""credential: the value that the service manager decrypts for a service (controller). The value
does not leave the host.
"""

import hashlib

from orchestrator.verify.expectation import Expectation, Host, equal
from orchestrator.verify.paths import absent, of_kind
from orchestrator.verify.subject import Subject

_DIRECTORY = "/etc/credstore.encrypted"
_SERVICE = (
    "systemd-run --quiet --pipe --wait --property=LoadCredentialEncrypted=%s:%s"
    " sh -c 'sha256sum < \"$CREDENTIALS_DIRECTORY/$0\"' %s"
)


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a file whose value a service receives, or for no file."""
    path = subject.text("path") or f"{_DIRECTORY}/{subject.name}"
    if subject.get("ensure", "present") == "absent":
        return absent(path)
    wanted = hashlib.sha256(subject.text("value").encode("utf-8")).hexdigest()

    def find(host: Host) -> str:
        """The result of comparing the value that a transient service receives."""
        result = host.run(_SERVICE, subject.name, path, subject.name)
        if result.rc:
            return "systemd cannot decrypt it"
        same = result.stdout.split()[:1] == [wanted]
        return "the desired value" if same else "another value"

    return [of_kind(path, "a file"), equal("value", "the desired value", find)]
