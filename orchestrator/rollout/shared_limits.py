"""Limits the number of parallel hosts that share the value of a variable, such as a
rack (controller).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from remote_runtime.errors import UsageError
from remote_runtime.text.suggestions import nearest

_TEXT = re.compile(r"([A-Za-z_][\w.-]*)=(\d{1,6})", re.ASCII)
_UNSET = object()
FEW = 5


class SharedLimit(NamedTuple):
    """At most ``maximum`` hosts in parallel with the same value of ``variable``; a dot in its name
    selects a nested key.
    """

    variable: str
    maximum: int

    def __str__(self) -> str:
        return f"{self.variable}={self.maximum}"


def parse_per(text: str) -> SharedLimit:
    """Parse ``rack=1``; ValueError."""
    match = _TEXT.fullmatch(text)
    if match is None or not int(match[2]):
        raise ValueError(f"{text!r} is not VARIABLE=N, such as rack=1; N is at least 1")
    return SharedLimit(match[1], int(match[2]))


class SharedLimits:
    """Counts running hosts by the value of a variable; hosts without it are independent."""

    def __init__(self, limits: Sequence[SharedLimit]) -> None:
        self._limits = limits
        self._running: Counter[tuple[str, str]] = Counter()

    def admits(self, vars_: Mapping[str, Any]) -> bool:
        """Whether a host with these variables may start now."""
        return all(
            self._running[limit.variable, value] < limit.maximum
            for limit, value in self._values(vars_)
        )

    def begin(self, vars_: Mapping[str, Any]) -> None:
        """Record that a host with these variables is running."""
        self._running.update((limit.variable, value) for limit, value in self._values(vars_))

    def end(self, vars_: Mapping[str, Any]) -> None:
        """Record that a host with these variables has ended."""
        self._running.subtract((limit.variable, value) for limit, value in self._values(vars_))

    def _values(self, vars_: Mapping[str, Any]) -> list[tuple[SharedLimit, str]]:
        values = ((limit, value_of(limit.variable, vars_)) for limit in self._limits)
        return [(limit, value) for limit, value in values if value is not None]


def check_sharing(limits: Sequence[SharedLimit], hosts: Sequence[Any]) -> Iterator[str]:
    """A warning for each variable that some hosts lack; UsageError if all hosts lack it."""
    for limit in limits:
        lacking = [host.name for host in hosts if value_of(limit.variable, host.vars) is None]
        if len(lacking) == len(hosts):
            known = {key for host in hosts for key in host.vars}
            guess = nearest(limit.variable, known)
            hint = f"did you mean {guess}?" if guess else "use a variable from the inventory"
            raise UsageError(f"--per {limit}: no host has the variable {limit.variable}", hint=hint)
        if lacking:
            few = ", ".join(lacking[:FEW]) + (", …" if len(lacking) > FEW else "")
            yield f"--per {limit} does not apply to hosts without {limit.variable}: {few}"


def value_of(variable: str, vars_: Mapping[str, Any]) -> str | None:
    """The value of a variable as text, so that 7 and "7" are equal; None if it is not set."""
    value: Any = vars_
    for key in variable.split("."):
        value = value.get(key, _UNSET) if isinstance(value, Mapping) else _UNSET
    if value is _UNSET:
        return None
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
