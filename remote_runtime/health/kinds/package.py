"""``package``: what the package database says is installed (target)."""

import os
from typing import List, Tuple

from ..kind import BOOLEAN, LIST, CannotTellError, Found, Kind, Probe, Rule

_RPM_FORMAT = "%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\\n"


class _Package(Kind):
    identity = "name"
    attributes = {"installed": BOOLEAN, "versions": LIST}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        if subject.startswith("-") or not subject.strip():
            return [("name", "%r is not the name of a package" % subject, "")]
        return []

    def observe(self, subject: str, rule: Rule, probe: Probe) -> Found:
        versions = _versions(subject, probe)
        return {"installed": bool(versions), "versions": versions}


def _versions(name: str, probe: Probe) -> List[str]:
    """Of an rpm host the database is rpm's, even where dpkg is installed as a mere tool."""
    if os.path.exists("/var/lib/dpkg/status"):
        argv = ["dpkg-query", "-W", "-f=${db:Status-Status} ${Version}\\n", name]
        lines = [line.split(" ") for line in probe.run(argv).stdout.splitlines()]
        return [fields[1] for fields in lines if fields[0] == "installed" and len(fields) == 2]
    if probe.context.commands.find("rpm"):
        result = probe.run(["rpm", "-q", "--qf", _RPM_FORMAT, name])
        return result.stdout.splitlines() if result.code == 0 else []
    raise CannotTellError("this host has neither dpkg's nor rpm's database")


KIND = _Package()
