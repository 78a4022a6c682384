"""``package``: the installed versions in the package database (target)."""

from typing import List, Tuple

from remote_runtime.health.kind import (
    BOOLEAN,
    LIST,
    CannotTellError,
    Kind,
    ObservedValues,
    Probe,
    Rule,
)
from remote_runtime.packages.dpkg import database as dpkg

_RPM_FORMAT = "%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\\n"


class Package(Kind):
    """Queries dpkg if its packages make up the host, otherwise rpm, as the package type does."""

    identity = "name"
    attributes = {"installed": BOOLEAN, "versions": LIST}

    def __init__(self, database: str = dpkg.DATABASE) -> None:
        self._database = database

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        if subject.startswith("-") or not subject.strip():
            return [("name", "%r is not the name of a package" % subject, "")]
        return []

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        versions = self._versions(subject, probe)
        return {"installed": bool(versions), "versions": versions}

    def _versions(self, name: str, probe: Probe) -> List[str]:
        if dpkg.is_used(self._database):
            argv = ["dpkg-query", "-W", "-f=${db:Status-Status} ${Version}\\n", name]
            lines = [line.split(" ") for line in probe.run(argv).stdout.splitlines()]
            return [fields[1] for fields in lines if fields[0] == "installed" and len(fields) == 2]
        if probe.context.commands.find("rpm"):
            result = probe.run(["rpm", "-q", "--qf", _RPM_FORMAT, name])
            return result.stdout.splitlines() if result.code == 0 else []
        raise CannotTellError("this host has neither a dpkg nor an rpm database")


KIND = Package()
