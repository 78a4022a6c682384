"""group: a group and its number, from getent (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host

_UNKNOWN = 2  # getent's exit code for a name that no database has
_FIELDS = 3  # name, password, number


def expectations(subject: Subject) -> list[Expectation]:
    """Of a group, or of none."""
    name = subject.name

    def entry(host: Host) -> list[str]:
        """The fields of the group in the host's database; empty if it is missing."""
        asked = host.run("getent group %s", name)
        if asked.rc == _UNKNOWN:
            return []
        fields = str(asked.stdout).strip().split(":")
        if asked.rc or len(fields) < _FIELDS:
            raise RuntimeError(asked.stderr.strip() or f"getent exited with {asked.rc}")
        return fields

    def state(host: Host) -> str:
        """Whether the group exists, in words."""
        return "present" if entry(host) else "absent"

    def number(host: Host) -> str:
        """The ID of the group."""
        fields = entry(host)
        return fields[2] if fields else "none"

    wanted = subject.text("ensure") or "present"
    found = [equal("ensure", wanted, state)]
    if wanted == "present" and subject.get("gid") is not None:
        found.append(equal("gid", str(subject.get("gid")), number))
    return found
