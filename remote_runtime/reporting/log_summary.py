"""The summary of a run on this host, one line for the system's log (target)."""

import os
from typing import Callable, Dict

from remote_runtime.plans.plan import Plan
from remote_runtime.system import system_log

_ORIGIN = ("commit", "actor", "ccm")
_COUNTED = ("changed", "failed", "skipped", "stable", "refreshed")


def write(plan: Plan, tally: Dict[str, int], ended: str, shown: Callable[[str], str]) -> None:
    """Write the line to the system log; ``tally`` counts the run's events, ``shown``
    masks texts.
    """
    level = system_log.WARNING if tally.get("failed") else system_log.NOTICE
    system_log.write(level, shown(line(plan, tally, ended)))


def line(plan: Plan, tally: Dict[str, int], ended: str) -> str:
    """The user, the manifest, the controller, the result and how the run ``ended``, as KEY=VALUE
    words.
    """
    said = {
        "run": plan.run_id,
        "user": plan.user,
        "from": os.environ.get("SSH_CONNECTION", "").partition(" ")[0],
        "manifest": plan.manifest,
    }
    said.update((key, str(plan.origin[key])) for key in _ORIGIN if plan.origin.get(key))
    words = ["%s=%s" % (key, "_".join(value.split()) or "-") for key, value in said.items()]
    words += ["%s=%d" % (name, tally.get(name, 0)) for name in _COUNTED]
    return " ".join(words + ["end=" + ended])
