"""``service``: whether a service runs and is started at boot (target)."""

import os
from typing import List, Tuple

from remote_runtime.health.kind import BOOLEAN, CannotTellError, Kind, ObservedValues, Probe, Rule

_BOOTED = "/run/systemd/system"


class _Service(Kind):
    identity = "name"
    gate = False
    decisive = False
    attributes = {"enabled": BOOLEAN, "running": BOOLEAN}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        if subject.startswith("-") or not subject.strip():
            return [("name", "%r is not the name of a service" % subject, "")]
        return []

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the answers of systemctl, which runs only for values that a rule compares."""
        if not os.path.isdir(_BOOTED):
            raise CannotTellError("systemd is not running on this host")

        def answer(question: str) -> bool:
            return probe.run(["systemctl", "--quiet", question, "--", subject]).code == 0

        return {
            "enabled": lambda: answer("is-enabled"),
            "running": lambda: answer("is-active"),
        }


KIND = _Service()
