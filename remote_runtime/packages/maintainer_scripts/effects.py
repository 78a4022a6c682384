"""Predicts the known effects of a package's maintainer scripts on paths (target)."""

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.maintainer_scripts import changed_paths as script_calls
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.globs import fits
from remote_runtime.packages.maintainer_scripts.interpreter import Interpreter
from remote_runtime.packages.maintainer_scripts.path_commands import LookupBudget, PathCommands
from remote_runtime.packages.maintainer_scripts.shell import Call
from remote_runtime.packages.maintainer_scripts.syntax import ParseError
from remote_runtime.system.paths import is_within, resolved

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files

_OVERRIDES, _DIVERSIONS = "/var/lib/dpkg/statoverride", "/var/lib/dpkg/diversions"
_LIMIT = 1 << 20  # bytes of one of them
_SHELL = re.compile(r"#![ \t]*(?:/usr)?/bin/(?:env )?(?:sh|dash|bash)\b")
_DIRECTORIES = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin")
_TEMPORARY = "/tmp/.ccm-mktemp"
# Variables that dpkg and debconf set, and other variables that a script may read.
_ENVIRONMENT = {
    "DPKG_ROOT": "",
    "DPKG_MAINTSCRIPT_ARCH": UNKNOWN,
    "DEBIAN_FRONTEND": "noninteractive",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": UNKNOWN,
    "PWD": "/",
    "IFS": UNKNOWN,
    "LANG": UNKNOWN,
    "LC_ALL": UNKNOWN,
    "HOSTNAME": UNKNOWN,
    "RANDOM": UNKNOWN,
    "UID": "0",
    "EUID": "0",
}

Lay = Callable[[PathEffect], None]


class Declared(NamedTuple):
    """The effects of a declarative call, and the other paths that it may change."""

    effects: List[PathEffect]
    open: Sequence[str]


class Open(NamedTuple):
    """A call with an unknown outcome: ``paths`` are the paths and patterns that it may change, None
    for anything. ``text`` contains its words.
    """

    call: str
    paths: Optional[Sequence[str]]
    text: str = ""


class ScriptOutcome(NamedTuple):
    """``effects`` on paths, all ``calls`` that may run, and the ``open`` ones, whose outcome is
    unknown."""

    effects: List[PathEffect]
    calls: List[Call]
    open: List[Open]


def variables(package: str, script: str) -> Dict[str, str]:
    """Return the environment variables of a maintainer script."""
    name = package.partition(":")[0]
    return dict(
        _ENVIRONMENT, DPKG_MAINTSCRIPT_PACKAGE=name, DPKG_MAINTSCRIPT_NAME=script.split(" ")[0]
    )


def possible_calls(package: str, name: str, text: str, arguments: Sequence[str]) -> List[Call]:
    """Return all calls of a script that its arguments do not exclude, regardless of the host."""
    calls: List[Call] = []

    def handle(call: Call) -> Optional[bool]:
        calls.append(call)
        return None

    if is_shell(text):
        try:
            Interpreter(handle, lambda kind, path: None, variables(package, name)).run(
                text, arguments
            )
        except ParseError:
            pass  # the found calls count; the rest is open when the script is followed
    return calls


def paths_of(call: Open) -> Optional[Sequence[str]]:
    """Return the paths of a call; None if one of them may be anywhere."""
    if call.paths is None or any(_anywhere(path) for path in call.paths):
        return None
    return call.paths


def _anywhere(path: str) -> bool:
    known = path.partition(UNKNOWN)[0]
    return UNKNOWN in path and known.count("/") < 2


def may_fit(value: str, pattern: str, present: bool) -> bool:
    """Return whether a path may fit a pattern, be below it, or be created on the way to it."""
    known, unknown, _ = pattern.partition(UNKNOWN)
    if unknown:
        return value.startswith(known) or (not present and known.startswith(value + "/"))
    if is_within(value, pattern) or (not present and is_within(pattern, value)):
        return True
    return any(sign in pattern for sign in "*?[") and fits(value, pattern) is not False


def is_shell(text: str) -> bool:
    """Return whether a script is a shell script; a script without an interpreter line counts as
    one.
    """
    return not text.startswith("#!") or _SHELL.match(text) is not None


class ScriptEffects(object):
    """Follows the scripts of one package.

    ``files`` and ``accounts`` are those at the time of the scripts; ``lay`` makes an effect visible
    to later commands. ``declared`` returns the result of a declarative call: its effects, or the
    paths that it may change; None for another call.
    """

    def __init__(
        self,
        files: "Files",
        accounts: "Accounts",
        *,
        lay: Lay,
        declared: Callable[[Call], Optional[Declared]] = lambda call: None,
        budget: Optional[LookupBudget] = None,
    ) -> None:
        self._files, self._accounts, self._lay = files, accounts, lay
        self._declared = declared
        self._found = ScriptOutcome([], [], [])
        self._budget = budget or LookupBudget()
        self._commands = PathCommands(files, accounts, self._budget)

    def follow(self, package: str, name: str, text: str, arguments: Sequence[str]) -> ScriptOutcome:
        """Return the effects of a script that is called with these arguments."""
        self._found = ScriptOutcome([], [], [])
        if not is_shell(text):
            program = text.partition("\n")[0][2:].split()
            self._found.open.append(Open(program[0] if program else name, None, text))
            return self._found
        try:
            Interpreter(self._handle, self._look, variables(package, name)).run(text, arguments)
        except ParseError:
            self._found.open.append(Open(name, None, text))
        return self._found

    # -- questions --------------------------------------------------------------------------------

    def _look(self, kind: str, path: str) -> Optional[bool]:
        self._budget.spend((path,))
        try:
            result = self._looked(kind, path)
        except (ResourceError, Unknowable):
            return None
        return None if self._may_change(path) else result

    def _may_change(self, path: str) -> bool:
        """Return whether an earlier call with an unknown outcome may change what is at a path."""
        end = resolved(path, self._files.link) if path.startswith("/") else path
        return any(
            may_fit(each, pattern, present=False)
            for call in self._found.open
            for pattern in paths_of(call) or ()
            for each in (path, end)
        )

    def _looked(self, kind: str, path: str) -> Optional[bool]:
        if kind == "command":
            return self._program(path)
        if kind == "diverted":
            return path in self._lines(_DIVERSIONS)
        if kind in "Lh":
            return bool(self._files.link(path))
        if kind == "d":
            return self._files.is_directory(path)
        if kind in "er":
            return self._files.exists(path)
        status = self._files.status(path, follow=True)
        if status is None:
            return False
        if kind == "f":
            return status.kind == "file"
        if kind == "x":
            return status.kind == "directory" or bool(status.mode & 0o111)
        if kind == "s" and status.kind == "file":
            return status.size > 0
        return True if kind == "w" else None

    def _program(self, name: str) -> bool:
        directories = [""] if name.startswith("/") else _DIRECTORIES
        statuses = (self._files.status(os.path.join(f, name), follow=True) for f in directories)
        return any(one is not None and one.mode & 0o111 for one in statuses)

    def _account(self, words: Sequence[str]) -> Optional[bool]:
        """Return whether the account in a call of ``id`` or ``getent`` exists; None if unknown."""
        arguments = [word for word in words[1:] if not word.startswith("-")]
        kind = "user"
        if words[0] == "getent":
            kind = {"passwd": "user", "group": "group"}.get(arguments[0] if arguments else "", "")
            arguments = arguments[1:]
        if not kind or len(arguments) != 1 or UNKNOWN in arguments[0] or arguments[0].isdigit():
            return None
        return self._accounts.number(kind, arguments[0]) is not None

    def _overridden(self, words: Sequence[str]) -> Optional[bool]:
        path = words[-1]
        if "--list" not in words or UNKNOWN in path or not path.startswith("/"):
            return None
        return any(line.endswith(" " + path) for line in self._lines(_OVERRIDES))

    def _lines(self, path: str) -> List[str]:
        if not self._files.exists(path):
            return []
        return self._files.read(path, _LIMIT).decode("utf-8", "replace").splitlines()

    # -- calls ------------------------------------------------------------------------------------

    def _handle(self, call: Call) -> Optional[bool]:
        self._found.calls.append(call)
        if not call.writes:
            if call.name in ("id", "getent"):
                return self._account(call.words)
            if call.name == "dpkg-statoverride" and "--list" in call.words:
                return self._overridden(call.words)
        declared = self._declared(call)
        if declared is not None:
            return self._take(call, declared)
        if call.certain and self._fails(call):
            return False
        effects = self._known(call) if call.certain else None
        if effects is not None:
            self._take(call, Declared(effects, []))
            return True
        paths = script_calls.changes(call)
        if paths is not None:
            paths = [path for path in paths if not path.startswith(_TEMPORARY)]
        if paths is not None:
            ends = [
                resolved(path, self._files.link)
                for path in paths
                if path[:1] == "/" and UNKNOWN not in path
            ]
            paths = [*paths, *(end for end in ends if end not in paths)]
        if paths is None or paths:
            self._found.open.append(Open(call.name or UNKNOWN, paths, call.text))
        return self._commands.succeeds(call)

    def _fails(self, call: Call) -> bool:
        try:
            return self._commands.fails(call)
        except (ResourceError, Unknowable):
            return False

    def _known(self, call: Call) -> Optional[List[PathEffect]]:
        try:
            return self._commands.done(call)
        except (ResourceError, Unknowable):
            return None  # nothing is known of an unreadable path

    def _take(self, call: Call, declared: Declared) -> Optional[bool]:
        if not call.certain:
            # It may not run, so all its effects are only possible.
            paths = [effect.path for effect in declared.effects] + list(declared.open)
            if paths:
                self._found.open.append(Open(call.name, paths, call.text))
            return None
        for effect in declared.effects:
            self._lay(effect)
        self._found.effects.extend(declared.effects)
        if declared.open:
            self._found.open.append(Open(call.name, declared.open, call.text))
        return True
