"""cron: the line of a job in the file that cron itself reads (controller)."""

import re

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.paths import kind, uid_and_mode
from orchestrator.verify.subject import Subject

DIRECTORY = "/etc/cron.d"
_FIELDS = ("minute", "hour", "day", "month", "weekday")
_NO_CRONTAB = "no crontab for"
SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron")
_SPOOL = """\
for spool in %s; do
    test -d "$spool" || continue
    test -x "$spool" -a -r "$spool" || exit 3
    test ! -f "$spool/"%s || cat "$spool/"%s || exit
    echo looked
    exit
done
exit 3"""
_NOT_READABLE = 3
_NO_PROGRAM = 127  # without cron there are no jobs
_SETTING = re.compile(r"[A-Za-z_]\w*\s*=")


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a job, or for its absence."""
    own = subject.get("crontab") is True
    absent = subject.get("ensure", "present") == "absent"
    find = _of_crontab if own else _of_file
    wanted = "none" if absent else _line(subject, own)
    expectations = [equal("job", wanted, lambda host: find(host, subject)[-1])]
    if absent or own:
        return expectations
    expectations[0] = expectations[0]._replace(gate=True)
    settings = [" ".join(str(line).split()) for line in subject.get("environment") or ()]
    settings = [each + '""' if re.fullmatch("[^=]+=", each) else each for each in settings]
    if settings:
        expectations.append(
            equal("environment", settings, lambda host: find(host, subject)[:-1], "; ".join)
        )
    expectations.append(equal("attributes", "root 0644", lambda host: _attributes(host, subject)))
    return expectations


def _line(subject: Subject, own: bool) -> str:
    """The line in the form used in a crontab."""
    times = subject.text("schedule")
    if not times:
        times = " ".join(str(subject.get(field, "*")).replace(" ", "") for field in _FIELDS)
    times = times.lower() if times.strip().startswith("@") else times
    command = re.sub(r"(?<!\\)%", r"\%", subject.text("command"))
    user = [] if own else [subject.text("user") or "root"]
    return " ".join(" ".join([times, *user, command]).split())


def _path(subject: Subject) -> str:
    return f"{DIRECTORY}/" + re.sub("[^A-Za-z0-9_-]", "-", subject.name)


def _of_file(host: Host, subject: Subject) -> list[str]:
    """The settings of the file in cron.d, followed by its job, or "none"."""
    path = _path(subject)
    if kind(host, path) == "nothing":
        return ["none"]
    text = answer(host, "cat -- %s", path)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    jobs = [line for line in lines if not _SETTING.match(line)]
    return [line for line in lines if _SETTING.match(line)] + ["; ".join(jobs) or "no job"]


def _of_crontab(host: Host, subject: Subject) -> list[str]:
    """The job in the crontab of the user, or "none". Without root, only ``crontab`` can read it."""
    user = subject.text("user") or "root"
    result = host.run(_SPOOL % (" ".join(SPOOLS), "%s", "%s"), user, user)
    if result.rc == _NOT_READABLE:
        result = host.run("crontab -u %s -l", user)
        if result.rc == _NO_PROGRAM or (result.rc and _NO_CRONTAB in result.stderr):
            return ["none"]
    if result.rc or not (result.stdout or result.stderr):
        raise RuntimeError(result.stderr.strip() or "crontab listed nothing")
    lines = str(result.stdout).splitlines()
    marks = (subject.text("comment"), f"# ccm: {subject.name}", f"#Ansible: {subject.name}")
    mark = next((one for one in marks if one and one in lines), None)
    if mark is None:
        return ["none"]
    job = "".join(lines[lines.index(mark) + 1 : lines.index(mark) + 2])
    return [" ".join(job.split())]


def _attributes(host: Host, subject: Subject) -> str:
    """The owner and mode of the file, because cron refuses files that others may write to."""
    uid, mode = uid_and_mode(host, _path(subject))
    return f"{'root' if uid == '0' else uid} {mode:>04}"
