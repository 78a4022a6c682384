"""The effects of ``systemd-tmpfiles --create`` for a package's tmpfiles.d (target; in previews
only).

Its lines are declarative: the types d, f, L and z are predicted, and the paths of others are
reported as unknown.
"""

import os
import re
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.effects import Declared
from remote_runtime.packages.maintainer_scripts.path_commands import LookupBudget
from remote_runtime.packages.maintainer_scripts.shell import Call

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files

DIRECTORIES = (
    "/etc/tmpfiles.d",
    "/run/tmpfiles.d",
    "/usr/local/lib/tmpfiles.d",
    "/usr/lib/tmpfiles.d",
)
_LIMIT = 1 << 16  # bytes of one file
_SPECIFIERS = {
    "%": "%",
    "t": "/run",
    "S": "/var/lib",
    "C": "/var/cache",
    "L": "/var/log",
    "T": "/tmp",
    "V": "/var/tmp",
}
_NOTHING = "xXrR"  # types that create nothing
_WILD = re.compile(r"[*?\[]")


class Line(NamedTuple):
    """One line. ``mode``, ``user`` and ``group`` are "" if they are omitted."""

    kind: str
    path: str
    mode: str
    user: str
    group: str
    argument: str


def declared(
    files: "Files", accounts: "Accounts", call: Call, budget: LookupBudget
) -> Optional[Declared]:
    """Return the arguments of a systemd-tmpfiles call; None for another call."""
    if call.name != "systemd-tmpfiles":
        return None
    if "--create" not in call.words:
        return Declared([], ["/run", "/tmp", "/var"])
    names = [word for word in call.words[1:] if not word.startswith(("-", UNKNOWN))]
    followed = _Creation(files, accounts)
    if not names:
        return Declared([], ["/run", "/tmp", "/var", "/etc"])
    for name in names:
        path = _path(files, name)
        if path:
            text = files.read(path, _LIMIT, follow=True).decode("utf-8", "replace")
            for line in sorted(parse(text), key=lambda line: line.path):
                budget.spend((line.path,))
                followed.take(line)
    return Declared(followed.effects, followed.open)


def _path(files: "Files", name: str) -> str:
    """Return the file that is used: the host's own replaces a package's file with the same name."""
    places = [name] if name.startswith("/") else [os.path.join(f, name) for f in DIRECTORIES]
    existing = [path for path in places if UNKNOWN not in path and files.exists(path)]
    return existing[0] if existing and not files.is_directory(existing[0]) else ""


def parse(text: str) -> List[Line]:
    """Parse the lines of a tmpfiles.d file."""
    lines = []
    for line in text.splitlines():
        words = line.strip().split(None, 6)
        if len(words) < 2 or words[0].startswith("#"):
            continue
        words += ["-"] * (7 - len(words))
        kind, path, mode, user, group = (
            "" if word == "-" else word.strip("\"'") for word in words[:5]
        )
        argument = "" if words[6] == "-" else words[6].strip("\"'")
        lines.append(
            Line(
                kind,
                _expanded(path).rstrip("/"),
                mode=mode,
                user=user,
                group=group,
                argument=argument,
            )
        )
    return lines


def _expanded(text: str) -> str:
    return re.sub(r"%(.)", lambda found: _SPECIFIERS.get(found.group(1), UNKNOWN), text)


class _Creation(object):
    def __init__(self, files: "Files", accounts: "Accounts") -> None:
        self._files, self._accounts = files, accounts
        self.effects: List[PathEffect] = []
        self._kinds: Dict[str, str] = {}  # of the paths of effects
        self.open: List[str] = []

    def take(self, line: Line) -> None:
        """Record the effect of a line on an installation, or that it is unknown."""
        kind, modifiers = line.kind[:1], line.kind[1:]
        if kind in _NOTHING or "!" in modifiers:
            return
        effects = self._made(kind, modifiers, line)
        if effects is None:
            self.open.append(line.path)
        else:
            self.effects += effects
            self._kinds.update((effect.path, effect.kind) for effect in effects)

    def _made(self, kind: str, modifiers: str, line: Line) -> Optional[List[PathEffect]]:
        numbers = self._numbers(line)
        plain = not (set(modifiers) - set("-+")) and UNKNOWN not in line.path
        if not plain or kind not in "dDfLz" or numbers is None or _WILD.search(line.path):
            return None
        if os.path.normpath(line.path) != line.path or not line.path.startswith("/"):
            return None
        mode, uid, gid = numbers
        existing = self._kind(line.path)
        if kind == "L":
            return self._link(line, existing, "+" in modifiers)
        if existing:
            if existing != {"f": "file", "d": "directory", "D": "directory"}.get(kind, existing):
                return []  # it does not change
            if existing == "symlink":
                return []
            effect = PathEffect(line.path, existing, mode, uid=uid, gid=gid)
            if kind == "f" and "+" in modifiers:
                effect = effect._replace(content=_content(line))
            return [effect]
        if kind == "z":
            return []
        new_effect = PathEffect(
            line.path, "directory", 0o755 if mode is None else mode, uid=uid or 0, gid=gid or 0
        )
        if kind == "f":
            content = _content(line)
            new_effect = new_effect._replace(
                kind="file", mode=0o644 if mode is None else mode, content=content
            )
        return [*self._parents(line.path), new_effect]

    def _link(self, line: Line, existing: str, again: bool) -> Optional[List[PathEffect]]:
        target = line.argument or "/usr/share/factory" + line.path
        if "%" in target:
            return None
        if existing and not again:
            return []
        return [*self._parents(line.path), PathEffect(line.path, "symlink", target=target)]

    def _numbers(self, line: Line) -> Optional[Sequence[Optional[int]]]:
        """Return mode, owner and group, each None if omitted; None if one is unknown."""
        mode = int(line.mode, 8) if re.match(r"[0-7]{3,5}\Z", line.mode) else None
        if line.mode and mode is None:
            return None
        numbers: List[Optional[int]] = [mode]
        for kind, name in (("user", line.user), ("group", line.group)):
            number = self._accounts.number(kind, name) if name else None
            if name and number is None:
                return None
            numbers.append(number)
        return numbers

    def _kind(self, path: str) -> str:
        """Return the kind of a path; "" if it does not exist."""
        if path in self._kinds:
            return self._kinds[path]
        status = self._files.status(path)
        return status.kind if status is not None else ""

    def _parents(self, path: str) -> List[PathEffect]:
        effects: List[PathEffect] = []
        path = os.path.dirname(path)
        while not self._kind(path) and path != "/":
            effects.insert(0, PathEffect(path, "directory", 0o755, uid=0, gid=0))
            path = os.path.dirname(path)
        return effects


def _content(line: Line) -> Optional[Text]:
    """Return the text of a file; None if it has escapes or specifiers."""
    return None if "\\" in line.argument or "%" in line.argument else Text(line.argument)
