"""Runs the health checks of a resource (target): Nagios commands and goss rules."""

import os
import time
from typing import Any, Dict, List, Tuple

from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item
from remote_runtime.reporting.masking import MASKED
from remote_runtime.text import duration, shell_words

_STATUS = {0: "OK", 1: "WARNING", 2: "CRITICAL", 3: "UNKNOWN"}
GOOD = ("OK", "WARNING")
_OUTPUT = 4096
_TELLING = ("auth", "cookie", "key", "secret", "token")  # in the name of a header


def run_all(item: Item, context: Context) -> List[Dict[str, Any]]:
    """Run every check; each result is {"name", "status", "tries", "output"}.

    For a sensitive resource, neither a check's command nor its output is reported.
    """
    results = []
    for number, check in enumerate(item.health_checks, 1):
        fallback = "check %d" % number if item.sensitive else own_name(check)
        result = _run(check, str(check.get("name") or fallback), context)
        if item.sensitive and result["output"]:
            result["output"] = MASKED
        results.append(result)
    return results


def failures(results: List[Dict[str, Any]]) -> List[str]:
    """Return the error of each check that fails its resource."""
    return [
        "health check %r: %s after %d %s%s"
        % (
            result["name"],
            result["status"],
            result["tries"],
            "try" if result["tries"] == 1 else "tries",
            ": " + result["output"] if result["output"] else "",
        )
        for result in results
        if result["status"] not in GOOD
    ]


def own_name(check: Dict[str, Any]) -> str:
    """Return the name of a check without a name: the program of its command."""
    command = str(check.get("command") or "").strip()
    return os.path.basename(command.split(None, 1)[0]) if command else "goss"


def credentials(check: Dict[str, Any]) -> List[str]:
    """Return the passwords and tokens in goss rules, which a server's response may repeat."""
    http = (check.get("goss_rules") or {}).get("http") or {}
    result = []
    for rule in http.values() if isinstance(http, dict) else ():
        if isinstance(rule, dict):
            result.append(rule.get("password"))
            lines = rule.get("request-headers")
            for line in lines if isinstance(lines, list) else ():
                name, _, value = str(line).partition(":")
                if any(word in name.lower() for word in _TELLING):
                    result.append(value.strip())
    return [str(one) for one in result if one]


def _run(check: Dict[str, Any], name: str, context: Context) -> Dict[str, Any]:
    tries = max(1, int(check.get("tries") or 1))
    status, output = "UNKNOWN", ""
    for attempt in range(1, tries + 1):
        context.progress("health check %r, try %d of %d" % (name, attempt, tries))
        status, output = _attempt(check, context)
        if status == "OK" or attempt == tries:
            break
        context.sleep(duration.parse(str(check.get("try_sleep") or "1s")))
    # Masked, then shortened: half a secret would not be found.
    output = context.mask.extended(credentials(check)).text(output)[:_OUTPUT]
    return {"name": name, "status": status, "tries": attempt, "output": output}


def _attempt(check: Dict[str, Any], context: Context) -> Tuple[str, str]:
    timeout = duration.parse(str(check["timeout"])) if check.get("timeout") else None
    if check.get("goss_rules"):
        from remote_runtime.health.goss import evaluate

        until = time.monotonic() + timeout if timeout else None
        return evaluate(check["goss_rules"], context, until)
    try:
        result = context.commands.run(shell_words.split(str(check.get("command"))), timeout=timeout)
    except (ResourceError, ValueError) as error:
        return "UNKNOWN", "the check could not be started: %s" % error
    if result.timed_out:
        return "CRITICAL", "timed out after %g s" % (timeout or 0)
    return _STATUS.get(result.code, "UNKNOWN"), result.stdout.strip() or result.stderr.strip()
