"""Predicts the scripts of a package from their text (target).

Only assignments of plain words are evaluated. Commands under a condition count as run, because the
conditions of debhelper's own snippets are true on an installation.
"""

import re
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set

from remote_runtime.packages.maintainer_scripts import account_commands as script_accounts
from remote_runtime.packages.maintainer_scripts.account_commands import AccountCalls

_ASSIGNED = re.compile(r"^[ \t]*([A-Za-z_]\w*)=[\"']?([\w@./:+-]*)[\"']?[ \t]*$", re.MULTILINE)
_BETWEEN = re.compile(r";(?!;)|&&|\|\||\b(?:then|do|else)\b")
_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_NAMED = re.compile(
    r"[\w@.:\\-]+\.(?:service|socket|timer|path|mount|automount|swap|target|slice)\Z"
)
_UNIT = re.compile(r"[\w@.:\\-]+\.(?:service|socket|timer|path|mount|target)\Z|[\w@:-]+\Z")
_OPENING = ("if", "elif", "!", "{")
_SET = re.compile(r"[A-Za-z_]\w*=\S*\Z")
_ASKING = (
    "[", "test", "case", "esac", ";;", "fi", "done", "}", "set", "exit", "return", "true", ":",
    "echo", "export",
)  # fmt: skip
_KNOWN = (
    "deb-systemd-helper", "deb-systemd-invoke", "systemctl", "systemd-update-helper", "invoke-rc.d",
    "service",
)  # fmt: skip
_MAX_TEXT = 4 << 20  # characters that variables are replaced with; later ones stay
_ACTIONS = {"start": "start", "restart": "start", "try-restart": "", "reload": "", "stop": "stop"}

_ENABLING = ("enable", "disable", "preset")
_DIVERTING = ("dpkg-divert", "dpkg-statoverride")
_ASKING_DIVERSIONS = ("--list", "--listpackage", "--truename")


class UnitAndAccountCalls(object):
    """The effects of scripts on units and accounts.

    ``preset`` are units that the host's presets enable or disable; ``again`` are enabled only if an
    earlier installation enabled them. ``forced`` are the units that are started even if they are
    not enabled; ``restarted`` are restarted if they run, enabled or not. ``disabled`` lose their
    links. ``sysusers``: the scripts create the accounts of sysusers.d.
    """

    def __init__(self, accounts: AccountCalls, sysusers: bool) -> None:
        self.accounts, self.sysusers = accounts, sysusers
        self.enabled: Set[str] = set()
        self.again: Set[str] = set()
        self.preset: Set[str] = set()
        self.started: Set[str] = set()
        self.forced: Set[str] = set()
        self.restarted: Set[str] = set()
        self.stopped: Set[str] = set()
        self.disabled: Set[str] = set()
        self.masked: Set[str] = set()
        self.unmasked: Set[str] = set()


def read(text: str, calls: Iterable[Sequence[str]] = ()) -> UnitAndAccountCalls:
    """Read a script, or several concatenated ones; ``calls`` are the words of all its commands."""
    result = UnitAndAccountCalls(script_accounts.read(calls), _runs_sysusers(text))
    only_again: Set[str] = set()  # debhelper's --no-enable
    for line in _lines(text):
        words = line.split()
        command = _command(words)
        if command is None:
            continue
        if command[0] == "deb-systemd-helper":
            if "enable" in command:
                result.enabled.update(_units(command))
            elif "mask" in command:
                result.masked.update(_units(command))
            elif "unmask" in command:
                result.unmasked.update(_units(command))
            elif "debian-installed" in command:
                only_again.update(_units(command))
        elif command[0] == "systemd-update-helper":
            _updated(command, result)
        else:
            _invoked(command, result)
    result.again = result.enabled & only_again
    result.enabled -= result.again
    return result


class Diverted(NamedTuple):
    """The paths that lines divert or give another owner and mode: the ``named`` paths and, if
    variables contain ``more``, all paths whose names are in the ``text``.
    """

    named: Set[str]
    more: bool
    text: str

    def has(self, path: str) -> bool:
        """Return whether it contains a path."""
        return path in self.named or (self.more and stands_in(path, self.text))


def diverted_by(scripts: Mapping[str, str]) -> Diverted:
    """Return the paths that the scripts of a package divert during its installation."""
    text = "\n".join(scripts.get(name, "") for name in ("preinst", "postinst"))
    diverts = any(tool in text for tool in _DIVERTING)
    lines = [line for line in _lines(text) if _command(line.split()) is None] if diverts else []
    paths: Set[str] = set()
    more = False
    for line in lines:
        words = [word.strip("\"';") for word in line.split()]
        tools = [word for word in words if word in _DIVERTING]
        if not tools or any(word in _ASKING_DIVERSIONS for word in words):
            continue
        arguments = words[words.index(tools[0]) + 1 :]
        for before, word in zip([""] + arguments, arguments):
            path = word[len("--divert=") :] if word.startswith("--divert=") else word
            if path.startswith("/") and not set(path) & set("$`*?["):
                paths.update((path, path + ".distrib"))
            elif set(path) & set("$`") and before != "--package":
                more = True
    return Diverted(paths, more, "\n".join(lines))


def stands_in(value: str, text: str) -> bool:
    """Return whether the last part of a name is a separate word in a text."""
    name = re.escape(value.rpartition("/")[2])
    return re.search(r"(?<![\w.-])%s(?![\w-])" % name, text) is not None


def _runs_sysusers(text: str) -> bool:
    return re.search(r"^[^#\n]*\bsystemd-sysusers\b", text, re.MULTILINE) is not None


def _lines(text: str) -> List[str]:
    """Yield single commands, with the values of plain variables inserted."""
    separate = _BETWEEN.sub("\n", text.replace("\\\n", " "))
    values_by_name: Dict[str, Dict[str, None]] = {}
    for name, value in _ASSIGNED.findall(separate):
        values_by_name.setdefault(name, {})[value] = None
    values = {name: " ".join(known) for name, known in values_by_name.items()}
    remaining_size = _MAX_TEXT

    def value_of(used: "re.Match[str]") -> str:
        nonlocal remaining_size
        text = values.get(used.group(1) or used.group(2), used.group(0))
        remaining_size -= len(text)
        return text if remaining_size >= 0 else used.group(0)

    lines = []
    for line in separate.split("\n"):
        line = _USED.sub(value_of, line.strip())
        if line and not line.startswith("#") and not _does_nothing(line):
            lines.append(line)
    return lines


def _does_nothing(line: str) -> bool:
    """Return whether the line only queries, prints or sets a variable."""
    words = line.split()
    while words and (words[0] in _OPENING or _SET.match(words[0])):
        words = words[1:]
    return ">" not in line and "$(" not in line and (not words or words[0] in _ASKING)


def _command(words: List[str]) -> Optional[List[str]]:
    """Return the words of a known command, without quotes, the values of options,
    and diversions.
    """
    while words and (words[0] in ("if", "!", "exec", "{", "elif") or "=" in words[0]):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] not in _KNOWN:
        return None
    plain = [words[0].rpartition("/")[2]]
    for word in words[1:]:
        if word.startswith(("|", ">", "2>", "<", "&")):
            break
        plain.append(word.strip("\"'"))
    return plain


def _units(words: List[str]) -> List[str]:
    units = [w for w in words[1:] if _NAMED.match(w)]
    if units or words[0] not in ("systemctl", "service", "invoke-rc.d"):
        return units
    plain = [w for w in words[1:] if not w.startswith("-") and w not in (*_ACTIONS, *_ENABLING)]
    return [w + ".service" for w in plain if _UNIT.match(w) and w != "daemon-reload"]


def _updated(words: List[str], calls: UnitAndAccountCalls) -> None:
    """Read a call of systemd's helper for the scripts of RPMs."""
    units = _units(words)
    if "install-system-units" in words:
        calls.preset.update(units)
    elif "remove-system-units" in words:
        calls.stopped.update(units)
        calls.disabled.update(units)
    elif "mark-restart-system-units" in words:
        calls.restarted.update(units)


def _invoked(words: List[str], calls: UnitAndAccountCalls) -> None:
    units = _units(words)
    for word in words[1:]:
        does = _ACTIONS.get(word, "")
        if does == "start" or (word == "--now" and "enable" in words):
            calls.started.update(units)
            calls.forced.update(units if words[0] in ("systemctl", "service") else ())
            calls.restarted.update(units if word == "restart" else ())
        elif word == "try-restart":
            calls.restarted.update(units)
        elif does == "stop" or (word == "--now" and "disable" in words):
            calls.stopped.update(units)
        elif word == "disable" and words[0] == "systemctl":
            calls.disabled.update(units)
        elif word in ("enable", "preset"):
            (calls.enabled if word == "enable" else calls.preset).update(units)
