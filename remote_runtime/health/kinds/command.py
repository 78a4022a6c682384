"""``command``: the exit code and output of a command (target)."""

from typing import Any, Dict

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import LINES, NUMBER, Kind, ObservedValues, Probe, Rule
from remote_runtime.health.matchers import Lines

_DEFAULT = 10.0
_LIMIT = 4 << 20


class _Command(Kind):
    identity = "exec"
    decisive = False  # its output may explain its exit code
    attributes = {"exit-status": NUMBER, "stdout": LINES, "stderr": LINES}
    settings = {"timeout": NUMBER}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the exit status and the output of the command, which must end in time."""
        seconds = probe.patience(rule, _DEFAULT)
        argv = ["/bin/sh", "-c", subject]
        result = probe.context.commands.run(argv, timeout=seconds, limit=_LIMIT)
        if result.timed_out:
            raise ResourceError("the command timed out after %g s" % seconds)
        values: Dict[str, Any] = {"exit-status": result.code}
        values.update(stdout=Lines(result.stdout), stderr=Lines(result.stderr))
        return values


KIND = _Command()
