"""Jobs as lines of a file in cron.d or of a crontab (both sides)."""

import re
from typing import Any, List, Mapping, NamedTuple, Optional, Tuple

from remote_runtime.resources.cron import schedules

MARK = "# ccm: "
ANSIBLE_MARK = "#Ansible: "
"""The comment that Ansible writes above a job in a crontab. ccm manages such a job as its own."""
_BLANKS = " \t\r"  # which cron ignores around a line
_SETTING = re.compile(r"[ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*=")


class Job(NamedTuple):
    """One job; ``user`` is "" in a user's crontab; ``environment`` has lines NAME=value."""

    schedule: str
    user: str
    command: str
    environment: Tuple[str, ...] = ()


def job_of(properties: Mapping[str, Any]) -> Job:
    """The desired job of a resource."""
    own = properties.get("crontab") is True
    return Job(
        schedules.schedule_of(properties),
        "" if own else str(properties.get("user") or "root"),
        escaped(str(properties.get("command") or "")),
        tuple([_setting(str(line)) for line in properties.get("environment") or ()]),
    )


def _setting(line: str) -> str:
    """A line NAME=value. cron would read one without a value as a job, and ignore the
    whole file.
    """
    line = line.strip(_BLANKS)
    return line + '""' if line.endswith("=") and line.count("=") == 1 else line


def escaped(command: str) -> str:
    """The command with a backslash before each unescaped percent sign, because cron ends the
    command at such a sign.
    """
    return re.sub(r"(?<!\\)%", r"\%", command.strip())


def file_name(name: str) -> str:
    """The file name of a job in cron.d, where cron ignores names with other characters."""
    return re.sub("[^A-Za-z0-9_-]", "-", name)


def file_text(name: str, job: Job, comment: str = "") -> str:
    """The text of a job's file in cron.d."""
    lines = [
        comment or MARK + name,
        *job.environment,
        "%s %s %s" % (job.schedule, job.user, job.command),
    ]
    return "\n".join(lines) + "\n"


def job_in_file(text: str) -> Optional[Job]:
    """The only job in a file in cron.d, with the settings before it; None if the file contains
    anything else.
    """
    result: List[Job] = []
    environment: List[str] = []
    for line in text.split("\n"):
        stripped = line.strip(_BLANKS)
        if not stripped or stripped.startswith("#"):
            continue
        if _SETTING.match(line):
            environment.append(stripped)
            continue
        schedule, rest = _split(stripped)
        user, _, command = rest.partition(" ")
        result.append(Job(schedule, user, command.strip(), tuple(environment)))
    return result[0] if len(result) == 1 else None


def _split(line: str) -> Tuple[str, str]:
    count = 1 if line.startswith("@") else len(schedules.FIELDS)
    words = line.split(None, count)
    rest = words[count] if len(words) > count else ""
    return " ".join(words[:count]), re.sub("^([^ \t]+)[ \t]+", r"\1 ", rest)


def job_in_crontab(text: str, name: str, comment: str = "") -> Optional[Job]:
    """The job with a name, or below a comment, in a user's crontab."""
    lines = text.split("\n")
    at = _place(lines, name, comment)
    if at is None or at + 1 >= len(lines):
        return None
    line = lines[at + 1].strip()
    if not line or line.startswith("#"):
        return None
    count = 1 if line.startswith("@") else len(schedules.FIELDS)
    words = line.split(None, count)
    return Job(" ".join(words[:count]), "", words[count] if len(words) > count else "")


def with_job(text: str, name: str, job: Job, comment: str = "") -> str:
    """Return a crontab with this job; all other lines are unchanged."""
    lines = text.split("\n")
    at = _place(lines, name, comment)
    own = [
        comment or MARK + name if at is None else lines[at],
        "%s %s" % (job.schedule, job.command),
    ]
    if at is not None:
        old = lines[at + 1 : at + 2]
        replaced = 2 if old and old[0].strip() and not old[0].lstrip().startswith("#") else 1
        text = "\n".join(lines[:at] + own + lines[at + replaced :])
        return text if text.endswith("\n") else text + "\n"
    before = text if not text or text.endswith("\n") else text + "\n"
    return before + "\n".join(own) + "\n"


def without_job(text: str, name: str, comment: str = "") -> str:
    """A crontab without the job with this name and its comment."""
    lines = text.split("\n")
    at = _place(lines, name, comment)
    while at is not None:  # there may be one below each comment
        old = lines[at + 1 : at + 2]
        gone = 2 if old and old[0].strip() and not old[0].lstrip().startswith("#") else 1
        lines = lines[:at] + lines[at + gone :]
        at = _place(lines, name, comment)
    return "\n".join(lines)


def _place(lines: List[str], name: str, comment: str) -> Optional[int]:
    for mark in (*([comment] if comment else []), MARK + name, ANSIBLE_MARK + name):
        for at, line in enumerate(lines):
            if line.rstrip("\r") == mark:
                return at
    return None
