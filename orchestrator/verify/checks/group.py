"""group: a group and its number, from getent (controller)."""

from orchestrator.verify.expectation import Expectation, Host, entry, equal
from orchestrator.verify.subject import Subject

_FIELDS = 3  # name, password, number


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a group, or for its absence."""

    def state(host: Host) -> str:
        """Whether the group exists, as text."""
        return "present" if entry(host, "group", subject.name, _FIELDS) else "absent"

    def number(host: Host) -> str:
        """The ID of the group."""
        fields = entry(host, "group", subject.name, _FIELDS)
        return fields[2] if fields else "none"

    wanted = subject.text("ensure") or "present"
    expectations = [equal("ensure", wanted, state)]
    if wanted == "present" and subject.get("gid") is not None:
        expectations.append(equal("gid", str(subject.get("gid")), number))
    return expectations
