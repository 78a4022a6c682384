"""The expectations of `ccm verify`, read from cron's own files and programs (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.paths import kind
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host


def expectations(subject: Subject) -> list[Expectation]:
    """The desired job, or none."""
    name, user = subject.name, subject.text("user") or "root"
    wanted = "none"
    if subject.get("ensure", "present") == "present":
        command = subject.text("command").replace("%", "\\%")
        wanted = " ".join([*subject.text("schedule").split(), command])
    return [equal("job", wanted, lambda host: found(host, name, user) or "none")]


def found(host: Host, name: str, user: str) -> str:
    """The job in cron.d, or else in the crontab of the user, without the user."""
    path = f"/etc/cron.d/{name}"
    if kind(host, path) != "nothing":
        line = host.file(path).content_string.splitlines()[-1]
        return str(line.replace(f" {user} ", " ", 1))
    listed = host.run("crontab -u %s -l", user)
    if listed.rc and "no crontab for" not in listed.stderr:
        raise RuntimeError(listed.stderr)  # the state could not be read
    lines = listed.stdout.splitlines()
    mark = f"# ccm: {name}"
    return lines[lines.index(mark) + 1] if mark in lines else ""
