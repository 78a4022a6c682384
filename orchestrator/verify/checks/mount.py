"""mount: the output of findmnt and swapon for fstab and mounts (controller)."""

import json
from typing import Any

from orchestrator.verify.expectation import Expectation, Host, equal, lines_before
from orchestrator.verify.subject import Subject
from remote_runtime.reporting.masking import MASKED

_END = "# end"
_TABLE = "findmnt --json --list --fstab --output SOURCE,TARGET,FSTYPE,OPTIONS,FREQ,PASSNO; echo %s"
_LIVE = "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID,LABEL; echo %s"
_SWAPS = "swapon --show=NAME --noheadings --raw; echo %s"
_SAME = "stat -L -c %%d:%%i %s %s; echo %s"
_REAL = "readlink -f %s; readlink -f %s; echo %s"
_FIELDS = {
    "device": "source",
    "type": "fstype",
    "options": "options",
    "dump": "freq",
    "pass": "passno",
}
_FLAGS = {"ro": "rw", "nosuid": "suid", "nodev": "dev", "noexec": "exec"}
_USERS = ("user", "username")
_WITHOUT_DEVICE = ("tmpfs", "proc", "sysfs", "devpts", "ramfs", "mqueue", "hugetlbfs")

Row = dict[str, Any]


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for the entry and the mount, or for their absence."""
    ensure = subject.text("ensure") or "mounted"
    swaps = subject.text("type") == "swap"
    expectations = []
    if ensure == "absent":
        expectations.append(
            equal("entry", "none", lambda host: "one" if _entry(host, subject) else "none")
        )
    elif ensure != "unmounted" or subject.get("device") is not None:
        expectations += [_field(subject, key) for key in _FIELDS if subject.get(key) is not None]
        if subject.get("nofail"):
            expectations.append(equal("nofail", "nofail", lambda host: _nofail(host, subject)))
    if ensure == "present":
        return expectations
    if swaps:
        wanted = "in use" if ensure == "mounted" else "not in use"
        return [*expectations, equal("mounted", wanted, lambda host: _swap(host, subject))]
    if ensure != "mounted":
        gone = equal("mounted", "nothing", lambda host: _source(_live(host, subject.name)))
        return [*expectations, gone]
    device = subject.text("device")
    expectations.append(equal("mounted", device, lambda host: _mounted(host, subject)))
    flags = [word for word in _words(subject.text("options")) if word in _FLAGS]
    if flags:
        wanted = ",".join(sorted(flags))
        expectations.append(
            equal("active_options", wanted, lambda host: _active(_live(host, subject.name), flags))
        )
    return expectations


def _rows(host: Host, command: str) -> list[Row]:
    """The output of findmnt. RuntimeError."""
    text = "\n".join(lines_before(_END, host, command)).strip()
    rows: list[Row] = json.loads(text)["filesystems"] if text else []
    return rows


def _entry(host: Host, subject: Subject) -> Row | None:
    """The entry in the table; None if there is none."""
    entry = None
    for row in _rows(host, _TABLE):
        key = row["source"] if row["fstype"] == "swap" else (row["target"].rstrip("/") or "/")
        if key == (subject.text("device") or subject.name if _swaps(subject) else subject.name):
            entry = row
    return entry


def _swaps(subject: Subject) -> bool:
    """Whether it is swap space."""
    return subject.text("type") == "swap"


def _field(subject: Subject, key: str) -> Expectation:
    """One field of the entry."""
    wanted = subject.text(key)

    def find(host: Host) -> str:
        """The value as findmnt reads it."""
        row = _entry(host, subject)
        if row is None:
            return "no entry"
        text = str(row[_FIELDS[key]] if row[_FIELDS[key]] is not None else 0)
        if key == "options":
            own = {*_words(wanted), *(["nofail"] if subject.get("nofail") else [])}
            return wanted if set(_words(text)) - {"rw"} == own - {"rw"} else _hidden(text)
        return text

    return equal(key, wanted, find)


def _hidden(options: str) -> str:
    """The options without passwords, which may have been written there."""
    pairs = [word.partition("=") for word in _words(options)]
    secret = [key.lower().startswith("pass") or (key in _USERS and "%" in v) for key, _, v in pairs]
    return ",".join(
        f"{key}={MASKED}" if hide else key + sign + value
        for (key, sign, value), hide in zip(pairs, secret, strict=True)
    )


def _nofail(host: Host, subject: Subject) -> str:
    """Whether the entry has the option."""
    row = _entry(host, subject)
    return "nofail" if row is not None and "nofail" in _words(row["options"]) else "missing"


def _swap(host: Host, subject: Subject) -> str:
    """Whether the host uses it as swap space."""
    lines = lines_before(_END, host, _SWAPS)
    return "in use" if (subject.text("device") or subject.name) in lines else "not in use"


def _live(host: Host, point: str) -> Row | None:
    """The topmost mount at a path."""
    rows = [row for row in _rows(host, _LIVE) if row["target"] == point]
    return rows[-1] if rows else None


def _source(row: Row | None) -> str:
    """The mount as text."""
    return "nothing" if row is None else str(row["source"])


def _mounted(host: Host, subject: Subject) -> str:
    """The desired device, if it is mounted."""
    device, row = subject.text("device"), _live(host, subject.name)
    if row is None:
        return "nothing"
    kind = subject.text("type")
    names = {row["source"], f"UUID={row.get('uuid')}", f"LABEL={row.get('label')}"}
    if {"bind", "rbind"} & set(_words(subject.text("options"))):
        return device if _pair(host, _SAME, device, subject.name) else _source(row)
    if kind not in ("", "auto", "none", row["fstype"]):
        return str(row["fstype"])
    if device in names or row["fstype"] in _WITHOUT_DEVICE:
        return device
    return device if _pair(host, _REAL, device, str(row["source"])) else _source(row)


def _pair(host: Host, command: str, one: str, other: str) -> bool:
    """Whether a command prints the same output for two paths."""
    result = host.run(command, one, other, _END)
    lines = str(result.stdout).splitlines()
    return lines[2:] == [_END] and lines[0] == lines[1]


def _active(row: Row | None, flags: list[str]) -> str:
    """The flags that are set."""
    now = _words(str(row["options"])) if row is not None else []
    return ",".join(sorted(flag for flag in flags if flag in now)) or "none"


def _words(options: str) -> list[str]:
    """The options without ``defaults``."""
    return [word for word in options.split(",") if word not in ("", "defaults")]
