"""Obstacles to the start of a service's program (target; in previews only)."""

import os
from contextlib import closing
from typing import TYPE_CHECKING, Iterator, Optional, Sequence, Set, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.overlay.permissions import (
    Permissions,
    interpreter_of,
    is_foreign,
    needs_reading,
)
from remote_runtime.text.numbers import is_number
from remote_runtime.units.named_paths import STARTING
from remote_runtime.units.preview import path_globs
from remote_runtime.units.preview.sandboxing import BINDING, hiding_setting
from remote_runtime.units.service_directories import linked_directories, made_directories
from remote_runtime.units.unit_files import Definition
from remote_runtime.units.unit_text import Program, UnitText

if TYPE_CHECKING:
    from remote_runtime.context import Context

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # systemd's own
_IMAGES = ("RootImage", "ExtensionImages", "MountImages")
_NAMESPACE = "NetworkNamespacePath"
_CPUS = "/sys/devices/system/cpu/online"
_MAX_CPU = 8191
_TERMINAL = "/dev/console"  # systemd's default
_ROOT = "RootDirectory"
_ELSEWHERE = (*_IMAGES, _ROOT, "BindPaths")
_IN_PLACE = ("ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths", "ExecPaths", "NoExecPaths")
_LAID = (*BINDING, "TemporaryFileSystem")
_STREAMS = ("StandardInput", "StandardOutput", "StandardError")
_BUILT_IN = (0, 65534)  # systemd knows these numbers by itself
_HEAD = 256  # bytes of a program
_PAGE = 4096


class StartChecks(object):
    """Checks what systemd checks before a start, in the same order where the order matters."""

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._files = context.files

    def lacks(self, unit: Definition) -> Iterator[str]:
        """Yield each unmet condition, as text that continues the unit's name."""
        text, user = unit.text, _user(unit)
        yield from self._accounts(text, "" if unit.places.user else user)
        yield from self._environment(text)
        yield from self._kernel(text)
        yield from self._streams(text)
        yield from self._own_directories(unit)
        yield from self._mounted(unit)
        elsewhere = [key for key in _ELSEWHERE if text.all("Service", key)]
        if not elsewhere:
            yield from self._on_this_root(unit, user)
        elif elsewhere == [_ROOT] and not any(text.all("Service", key) for key in _LAID):
            yield from self._in_root(text)

    def lacks_to_reload(self, unit: Definition) -> Iterator[str]:
        """Yield the obstacles to starting the programs of ``ExecReload``, in the same form."""
        text = unit.text
        if not any(text.all("Service", key) for key in (*_ELSEWHERE, *_LAID)):
            yield from self._programs(unit, _user(unit), ("ExecReload",))

    def socket_lacks(self, unit: Definition) -> Iterator[str]:
        """The missing accounts that a socket must belong to."""
        for kind, key in (("user", "SocketUser"), ("group", "SocketGroup")):
            name = unit.text.last("Socket", key)
            if name and "%" not in name and not self._is_there(kind, name):
                yield "uses the %s %s, which does not exist" % (kind, name)

    def _accounts(self, text: UnitText, user: str) -> Iterator[str]:
        if text.flag("Service", "DynamicUser"):
            return
        named = [("user", user), ("group", text.last("Service", "Group"))]
        named += [("group", name) for name in text.words("Service", "SupplementaryGroups")]
        for kind, name in named:
            if name and "%" not in name and not self._is_there(kind, name):
                yield "runs as the %s %s, which does not exist" % (kind, name)

    def _is_there(self, kind: str, name: str) -> bool:
        """Return whether an account exists; systemd accepts a number only if an account has it."""
        accounts = self._context.accounts
        if not is_number(name):
            return accounts.number(kind, name) is not None
        named = accounts.user_name if kind == "user" else accounts.group_name
        return named(int(name)) != str(int(name)) or int(name) in _BUILT_IN

    # -- files and directories
    # ------------------------------------------------------------------------

    def _environment(self, text: UnitText) -> Iterator[str]:
        """Check files that must exist and must not be directories; a leading dash makes them
        optional.
        """
        for value in text.all("Service", "EnvironmentFile"):
            pattern = text.expand(value) or ""  # one path, even with blanks
            if not pattern.startswith("/") or "{" in pattern:
                continue  # optional, not read at all, or what only systemd makes out
            paths = list(path_globs.matches(self._files, pattern))
            if not any(self._files.exists(path) for path in paths):
                yield "requires its EnvironmentFile %s, which does not exist" % pattern
            for path in paths:
                if self._files.is_directory(path):
                    yield "requires its EnvironmentFile %s, which is a directory" % path

    def _kernel(self, text: UnitText) -> Iterator[str]:
        """Check for a namespace, images and processors that do not exist."""
        for key in (_NAMESPACE, *_IMAGES):
            for word in text.words("Service", key):
                path = (text.expand(word) or "").split(":")[0]
                if path.startswith("/") and not self._files.is_there(path):
                    yield "requires %s (%s), which does not exist" % (path, key)
        cpus = _numbers(" ".join(text.all("Service", "CPUAffinity")))
        online = _numbers(self._files.read(_CPUS, _PAGE).decode()) if cpus else None
        if cpus and online and not cpus & online:
            yield "runs on processors that this host does not have (CPUAffinity)"

    def _streams(self, text: UnitText) -> Iterator[str]:
        files = self._files
        for key in _STREAMS:
            kind, _, path = (text.expand(text.last("Service", key)) or "").partition(":")
            if kind.partition("-")[0] == "tty" and not path:
                terminal = text.expand(text.last("Service", "TTYPath") or _TERMINAL) or ""
                if terminal.startswith("/") and not files.exists(terminal):
                    yield "cannot open its %s %s" % (key, terminal)
            if kind not in ("file", "append", "truncate") or not path.startswith("/"):
                continue
            made = key != "StandardInput"
            if not (files.is_directory(os.path.dirname(path)) if made else files.exists(path)):
                yield "cannot open its %s %s" % (key, path)
        for key in ("LoadCredential", "LoadCredentialEncrypted"):
            for word in text.words("Service", key):
                path = word.partition(":")[2]
                if path.startswith("/") and not files.exists(path):
                    yield "requires its credential %s, which does not exist" % path

    def _own_directories(self, unit: Definition) -> Iterator[str]:
        for path in linked_directories(unit, self._context):
            yield (
                "requires the directory %s, but systemd does not follow the symlink in it" % path
            )
        for own in made_directories(unit, self._context):
            there = own.kind == "directory" and self._files.exists(own.path)
            if there and not self._files.is_directory(own.path):
                yield "requires the directory %s, but another file is in its place" % own.path

    def _mounted(self, unit: Definition) -> Iterator[str]:
        """Yield an obstacle for a missing source of the unit's private mounts, unless a dash marks
        it as optional."""
        text, files = unit.text, self._files
        root = text.expand(text.last("Service", "RootDirectory")) or ""
        if root.startswith("/") and not files.is_directory(root):
            yield "requires its RootDirectory %s, which does not exist" % root
        if root or any(text.all("Service", key) for key in _IMAGES):
            return
        own = [made.path for made in made_directories(unit, self._context)]
        bound = [w.split(":")[1] for w in text.words("Service", "BindPaths") if ":" in w]
        for key in _IN_PLACE + BINDING:
            for word in text.words("Service", key):
                path = word.lstrip("+").split(":")[0] if key in BINDING else word.lstrip("+")
                if path.startswith("/") and path not in own + bound and not files.exists(path):
                    yield "requires %s (%s), which does not exist" % (path, key)

    def _on_this_root(self, unit: Definition, user: str) -> Iterator[str]:
        text = unit.text
        rights = self._rights(text, user)
        directory = text.expand(text.last("Service", "WorkingDirectory")) or ""
        if directory == "~":
            directory = self._home(user)
        if directory.startswith("/") and directory not in self._made(unit):
            if not self._files.is_directory(directory):
                yield "requires its WorkingDirectory %s, which does not exist" % directory
            elif not rights.reach(directory + "/"):
                yield "requires its WorkingDirectory %s, which %s cannot enter" % (directory, user)
        yield from self._programs(unit, user, STARTING)

    def _programs(self, unit: Definition, user: str, keys: Sequence[str]) -> Iterator[str]:
        text = unit.text
        rights = self._rights(text, user)
        for key in keys:
            for program in text.programs(key):
                ignored = program.ignored and (key != "ExecStart" or unit.kind == "oneshot")
                if program.path and not ignored:
                    hides = "" if program.privileged else self._hiding(text, program.path)
                    if hides:
                        yield "runs %s, which its %s hides" % (program.path, hides)
                    reason = self._unusable(program, user, rights)
                    yield from [reason] if reason else []

    def _hiding(self, text: UnitText, path: str) -> str:
        """The setting that hides a program, or the file that its links lead to."""
        real = self._files.followed(path) if path.startswith("/") else path
        return hiding_setting(text, path) or hiding_setting(text, real)

    def _home(self, user: str) -> str:
        """The home directory of the named user; root's always exists."""
        named = user and "%" not in user
        return self._context.accounts.identity(user).home if named else ""

    def _in_root(self, text: UnitText) -> Iterator[str]:
        """Check for a program or its interpreter that does not exist below the service's own root,
        if no link is on its way.
        """
        root = (text.expand(text.last("Service", _ROOT)) or "").rstrip("/")
        for program in text.programs("ExecStart") if root else ():
            path = program.path or ""
            if self._is_missing(root, path):
                yield "runs %s, which does not exist below %s" % (path, root)
                continue
            program_head = self._head(root + path) if self._files.exists(root + path) else None
            interpreter = _interpreter(program_head or b"")
            if self._is_missing(root, interpreter):
                reason = "runs %s, whose interpreter %s does not exist below %s"
                yield reason % (path, interpreter, root)

    def _is_missing(self, root: str, path: str) -> bool:
        """Return whether a path does not exist below a root; False if a link is on its way."""
        ways = [path[:at] for at, char in enumerate(path + "/") if at and char == "/"]
        linked = any(self._files.link(root + way) for way in ways)
        return path.startswith("/") and not linked and not self._files.exists(root + path)

    def _head(self, path: str) -> Optional[bytes]:
        """Return the first bytes of a program; None if only the push knows them."""
        try:
            with closing(self._files.blocks(path, follow=True)) as blocks:
                return next(blocks, b"")[:_HEAD]
        except Unknowable:
            return None

    def _made(self, unit: Definition) -> Tuple[str, ...]:
        return tuple(own.path for own in made_directories(unit, self._context))

    # -- programs ---------------------------------------------------------------------------------

    def _rights(self, text: UnitText, user: str) -> Permissions:
        group = text.last("Service", "Group") or None
        accounts = self._context.accounts
        if text.flag("Service", "DynamicUser") or not (user or group) or "%" in (group or ""):
            user_only = accounts.identity("nobody") if text.flag("Service", "DynamicUser") else None
            return Permissions(self._files, user_only)
        try:
            identity = accounts.identity(user or None, group)
            named = text.words("Service", "SupplementaryGroups")
            more = [accounts.number("group", name) for name in named]
            known = tuple(gid for gid in more if gid is not None)
            return Permissions(
                self._files, identity._replace(groups=tuple(identity.groups) + known)
            )
        except Unknowable:
            return Permissions(self._files, None)

    def _unusable(self, program: Program, user: str, rights: Permissions) -> str:
        """The reason why a program cannot be started by the user, who is root by default."""
        path, reason = self._located(program.path or "")
        if reason:
            return reason
        if not program.privileged and not rights.execute(path):
            return "runs %s as %s, who is not allowed to execute it" % (path, user)
        head = self._head(path)
        if head is None:
            return ""
        if head.startswith(b"#!"):
            interpreter = _interpreter(head)
            if interpreter.startswith("/") and not self._files.exists(interpreter):
                return "runs %s, whose interpreter %s does not exist" % (path, interpreter)
            readable = program.privileged or not needs_reading(interpreter.encode())
            if not readable and not rights.read(path):
                return "runs %s as %s, who is not allowed to read it" % (path, user)
        elif not head.strip() or _is_text(head):
            return "runs %s, which has no #! line and is not a program" % path
        elif is_foreign(head):
            return "runs %s, which is a program for another architecture" % path
        return ""

    def _located(self, program: str) -> Tuple[str, str]:
        """The file of a program, and the reason if there is none."""
        programs = self._context.user_commands
        if "/" not in program:
            paths = ["%s/%s" % (directory, program) for directory in _PATH.split(":")]
            found = next((path for path in paths if programs.is_program(path)), "")
            return found, "" if found else "runs %s, which systemd cannot find" % program
        if programs.is_program(program):
            return program, ""
        if self._files.exists(program):
            return "", "runs %s, which is not executable" % program
        return "", "runs %s, which does not exist" % program


def _numbers(text: str) -> Optional[Set[int]]:
    """The numbers of a list such as ``0-3,6``; None for another text."""
    result: Set[int] = set()
    for part in text.replace(",", " ").split():
        first, _, last = part.partition("-")
        if not (is_number(first) and is_number(last or first)) or int(last or first) > _MAX_CPU:
            return None
        result.update(range(int(first), int(last or first) + 1))
    return result


def _user(unit: Definition) -> str:
    """Return the user who runs its programs; "" is root."""
    return unit.places.user or unit.text.expand(unit.text.last("Service", "User")) or ""


def _interpreter(head: bytes) -> str:
    """Return the interpreter of a script with this beginning; "" for another program."""
    return interpreter_of(head).decode("utf-8", "replace") if head.startswith(b"#!") else ""


def _is_text(head: bytes) -> bool:
    return all(byte in b"\t\n\r\f" or 32 <= byte < 127 for byte in head)
