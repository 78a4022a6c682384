"""timer: the loaded state of a timer and its service in systemd (controller)."""

import re
from collections.abc import Sequence
from typing import Any

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.paths import absent
from orchestrator.verify.subject import Subject

DIRECTORY = "/etc/systemd/system"
_MONOTONIC = {
    "on_boot": "OnBootUSec",
    "on_active": "OnActiveUSec",
    "on_unit_active": "OnUnitActiveUSec",
    "on_unit_inactive": "OnUnitInactiveUSec",
}
_SECONDS = (
    (r"usec|us|[µμ]s", 1e-6), ("msec|ms", 1e-3), ("minutes|minute|min|m", 60),
    ("months|month|M", 2629800), ("seconds|second|sec|s", 1), ("hours|hour|hr|h", 3600),
    ("days|day|d", 86400), ("weeks|week|w", 604800), ("years|year|y", 31557600),
)  # fmt: skip
_FORM = "Normalized form: "
_PART = re.compile(r"([0-9.]+)\s*([A-Za-zµμ]*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)', re.DOTALL)


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a timer with its job, or for their absence."""
    name = subject.name
    timer = f"{name}.timer"
    if subject.get("ensure", "present") == "absent":
        state = equal("state", "not running", lambda host: _state(host, timer))
        return [*absent(f"{DIRECTORY}/{timer}", "timer"), state]
    expectations = [
        equal("state", "running", lambda host: _state(host, timer))._replace(gate=True),
        equal("at boot", "enabled", lambda host: _at_boot(host, timer)),
        equal("job", _command(subject), lambda host: _job(host, name, _command(subject))),
        equal(
            "user", _user(subject), lambda host: _shown(host, f"{name}.service", "User") or "root"
        ),
    ]
    given = subject.get("schedule")
    schedules = [given] if isinstance(given, str) else list(given or ())
    expectations.append(
        Expectation(
            "schedule",
            "; ".join(schedules) or "none",
            find=lambda host: (_normal(host, schedules), _calendars(host, timer)),
            holds=lambda both: bool(both[0] == both[1]),
            tell=lambda host, both: "; ".join(both[1]) or "none",
        )
    )
    if spans := {
        key: seconds(subject.get(key)) for key in _MONOTONIC if subject.get(key) is not None
    }:
        expectations.append(equal("times", spans, lambda host: _spans(host, timer, list(spans))))
    if environment := sorted(str(line) for line in subject.get("environment") or ()):
        expectations.append(
            equal("environment", environment, lambda host: _environment(host, name), "; ".join)
        )
    return expectations


def seconds(span: Any) -> float:
    """The number of seconds in a time span in systemd's format; a plain number is seconds."""
    total = 0.0
    for number, unit in _PART.findall(str(span)):
        per = next((each for names, each in _SECONDS if re.fullmatch(names, unit or "s")), 0)
        total += float(number) * per
    return round(total, 6)


def _user(subject: Subject) -> str:
    return subject.text("user") or "root"


def _command(subject: Subject) -> str:
    """The words of the job that systemd shows, without the second dollar sign that it keeps for
    each until the job runs.
    """
    return "/bin/sh -c " + subject.text("command").strip().replace("$", "$$")


def _shown(host: Host, unit: str, key: str) -> str:
    """A property as loaded by systemd; RuntimeError if systemd is not running."""
    result = host.run("systemctl show --property=Id,%s -- %s", key, unit)
    lines = str(result.stdout).strip("\n").split("\n")
    names = [line for line in lines if line.partition("=")[0] == "Id"]
    if result.rc or not names:
        raise RuntimeError(result.stderr.strip() or f"systemctl reports nothing about {unit}")
    lines.remove(names[0])
    return "\n".join(lines).strip("\n").partition("=")[2]


def _state(host: Host, timer: str) -> str:
    result = host.run("systemctl is-active -- %s", timer)
    output = str(result.stdout).strip()
    if not output:
        raise RuntimeError(result.stderr.strip() or f"systemctl reports nothing about {timer}")
    return "running" if output == "active" else "not running"


def _at_boot(host: Host, timer: str) -> str:
    output = str(host.run("systemctl is-enabled -- %s", timer).stdout).split()
    return output[-1] if output else "no state"


def _job(host: Host, name: str, wanted: str) -> str:
    """The command line as loaded; newer versions of systemd quote words as a shell does."""
    properties = _shown(host, f"{name}.service", "ExecStart")
    line = properties.partition("argv[]=")[2].rpartition(" ; ignore_errors=")[0]
    if line == wanted:
        return line
    words = " ".join(_words(line))
    return words if words == wanted else line or "none"


def _words(line: str) -> list[str]:
    return [
        re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted else bare
        for quoted, bare in _QUOTED.findall(line)
    ]


def _environment(host: Host, name: str) -> list[str]:
    return sorted(_words(_shown(host, f"{name}.service", "Environment")))


def _calendars(host: Host, timer: str) -> list[str]:
    properties = _shown(host, timer, "TimersCalendar")
    return sorted(re.findall(r"\bOnCalendar=([^=]*?) ; next_elapse", properties))


def _normal(host: Host, schedules: Sequence[str]) -> list[str]:
    """The expressions in systemd's normalized form."""
    result = []
    for schedule in schedules:
        printed = answer(
            host, "systemd-analyze calendar -- %s", schedule, valid=lambda text: _FORM in text,
            problem="systemd-analyze shows no normalized form",
        )  # fmt: skip
        result.append(printed.partition(_FORM)[2].partition("\n")[0].strip())
    return sorted(result)


def _spans(host: Host, timer: str, keys: Sequence[str]) -> dict[str, float]:
    properties = _shown(host, timer, "TimersMonotonic")
    spans = dict(re.findall(r"\b(On\w+)=([^=]*?) ; next_elapse", properties))
    return {key: seconds(spans.get(_MONOTONIC[key], "")) for key in keys}
