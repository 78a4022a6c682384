"""Evaluates goss rules on this host (target)."""

import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.health import matchers, rules
from remote_runtime.health.kind import CannotTellError, Probe
from remote_runtime.health.kinds import load

MAX_SHOWN = 10


class Verdict(NamedTuple):
    """One attribute: ``passed`` is None if it cannot be read on the host."""

    passed: Optional[bool]
    reason: str = ""


class _TooLateError(Exception):
    """The time for the complete check has run out."""


def evaluate(
    rules_by_kind: Dict[str, Any], context: Context, until: Optional[float] = None
) -> Tuple[str, str]:
    """Return the status and the output of one try of all rules.

    OK: everything passed. CRITICAL: something failed, or the time ran out; ``until`` is a time of
    ``time.monotonic()``. UNKNOWN: something could not be read, and the rest passed.
    """
    broken = rules.problems(rules_by_kind)
    if broken:
        return "UNKNOWN", "; ".join(message for _, message, _ in broken[:MAX_SHOWN])
    verdicts: List[Verdict] = []
    skipped = 0
    try:
        for name, subject, rule in rules.walk(rules_by_kind):
            if rule.get("skip") is True:
                skipped += 1
                continue
            for verdict in _judge(name, subject, rule=rule, context=context, until=until):
                verdicts.append(verdict)
    except _TooLateError:
        return "CRITICAL", "timed out; " + _summary(verdicts, skipped)
    return _status(verdicts), _summary(verdicts, skipped)


def _judge(
    name: str, key: str, *, rule: Dict[str, Any], context: Context, until: Optional[float]
) -> Iterator[Verdict]:
    """Return the verdicts on one resource; if a decisive attribute fails, the others
    are skipped.
    """

    def left() -> Optional[float]:
        return None if until is None else max(0.001, until - time.monotonic())

    kind = load(name)
    subject = str(rule.get(kind.identity) or key)
    label = "%s %s" % (name, kind.shown(str(rule.get("title") or key)))
    found: Optional[Dict[str, Any]] = None
    for at, attribute in enumerate(kind.attributes):
        if attribute not in rule:
            continue
        context.check_cancelled()
        if until is not None and time.monotonic() >= until:
            raise _TooLateError
        what = "%s: %s: " % (label, attribute)
        try:
            if found is None:
                found = kind.observe(subject, rule, Probe(context, left))
            verdict = _compare(rule[attribute], found[attribute], what)
        except CannotTellError as error:
            verdict = Verdict(None, what + str(error))
        except ResourceError as error:
            verdict = Verdict(False, what + str(error))
        yield verdict
        if not verdict.passed and (found is None or (at == 0 and kind.decisive)):
            return


def _compare(expected: Any, actual: Any, what: str) -> Verdict:
    if callable(actual):
        actual = actual()
    if matchers.matches(expected, actual):
        return Verdict(True)
    return Verdict(False, what + matchers.explain(expected, actual))


def _status(verdicts: List[Verdict]) -> str:
    if any(v.passed is False for v in verdicts):
        return "CRITICAL"
    return "UNKNOWN" if any(v.passed is None for v in verdicts) else "OK"


def _summary(verdicts: List[Verdict], skipped: int) -> str:
    """Return a summary: ``1 of 4 failed: service nginx: running: expected true, found false``."""
    failed = [v.reason for v in verdicts if v.passed is False]
    unreported = [v.reason for v in verdicts if v.passed is None]
    parts = []
    if failed:
        parts.append("%d of %d failed: %s" % (len(failed), len(verdicts), _joined(failed)))
    if unreported:
        count = (len(unreported), len(verdicts))
        parts.append("%d of %d could not be checked: %s" % (*count, _joined(unreported)))
    if not parts:
        parts.append("%d of %d passed" % (len(verdicts), len(verdicts)))
    if skipped:
        parts.append("%d skipped" % skipped)
    return "; ".join(parts)


def _joined(reasons: List[str]) -> str:
    more = len(reasons) - MAX_SHOWN
    return "; ".join(reasons[:MAX_SHOWN]) + ("; and %d more" % more if more > 0 else "")
