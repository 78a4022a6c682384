"""Why a unit would not run once it is started (target; in previews only).

Nothing is started: what is looked at is what systemd looks at before it has begun the program.
"""

from typing import TYPE_CHECKING, Iterator, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.resources.service.folders import own_folders
from remote_runtime.resources.service.foreseen import ForeseenUnits
from remote_runtime.resources.service.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # systemd's own
_ELSEWHERE = ("RootDirectory", "RootImage", "ExtensionImages", "BindPaths", "MountImages")
_HEAD = 256  # bytes of a program
_DEPTH = 5  # units bound to units


class Rehearsal(object):
    """Looks at units as they will be."""

    def __init__(self, context: "Context", units: ForeseenUnits) -> None:
        self._context = context
        self._units = units

    def obstacle(self, name: str, depth: int = 0) -> str:
        """Why it would not run, in words that go on from its name; "" where nothing is seen."""
        unit = self._units.definition(name)
        if not unit.path:
            return ""  # systemd has it from elsewhere
        looks = (self._dependencies(unit, depth), self._conditions(unit), self._trigger(unit))
        found = next((why for look in looks for why in look), "")
        if found or not unit.name.endswith(".service"):
            return found
        return next(self._process(unit), "")

    def ends(self, name: str) -> bool:
        """Whether it would end by itself at once and so never stay running."""
        unit = self._units.definition(name)
        if not unit.path or not unit.name.endswith(".service"):
            return False
        return unit.kind == "oneshot" and not unit.text.flag("Service", "RemainAfterExit")

    def _dependencies(self, unit: Definition, depth: int) -> Iterator[str]:
        for key in ("Requires", "BindsTo", "Requisite"):
            for other in unit.text.words("Unit", key):
                status = self._units.status(other)
                if not status.found:
                    yield "needs %s (%s), which is not there" % (other, key)
                elif status.running:
                    continue
                elif key == "Requisite":
                    yield "needs %s to run before (Requisite)" % other
                elif status.masked:
                    yield "needs %s (%s), which is masked" % (other, key)
                elif status.failure:
                    yield "needs %s (%s): %s" % (other, key, status.failure)
                elif key == "BindsTo" and depth < _DEPTH:
                    why = self.obstacle(other, depth + 1)
                    if not why and self.ends(other):
                        why = "never stays running"
                    if why:
                        yield "is bound to %s, which %s" % (other, why)
                elif next(self._unmet(self._units.definition(other), "Assert"), ""):
                    yield "needs %s (%s), whose assertion does not hold" % (other, key)

    # -- conditions -------------------------------------------------------------------------------

    def _conditions(self, unit: Definition) -> Iterator[str]:
        for prefix in ("Assert", "Condition"):
            for setting in self._unmet(unit, prefix):
                yield "is not started where %s does not hold" % setting

    def _unmet(self, unit: Definition, prefix: str) -> Iterator[str]:
        """The settings that keep it from starting: any, or all of those marked with ``|``."""
        marked, one_holds = [], False
        for key, value in unit.text.settings("Unit", prefix):
            setting = "%s=%s" % (key, value)
            expanded = unit.text.expand(value.lstrip("|").lstrip())
            holds = expanded is None or self._holds(key[len(prefix) :], expanded)
            if value.startswith("|"):
                marked.append(setting)
                one_holds = one_holds or holds
            elif not holds:
                yield setting
        if marked and not one_holds:
            yield " or ".join(marked)

    def _holds(self, kind: str, value: str) -> bool:
        negated = value.startswith("!")
        found = self._looked_up(kind, value[1:].strip() if negated else value)
        if found is None:
            return self._analyzed("Condition%s=%s" % (kind, value))
        return found is not negated

    def _looked_up(self, kind: str, path: str) -> Optional[bool]:
        files = self._context.files
        if kind == "PathExists":
            return files.exists(path)
        if kind == "PathIsDirectory":
            return files.is_directory(path)
        if kind == "FileIsExecutable":
            return self._context.user_commands.is_program(path)
        if kind == "DirectoryNotEmpty":
            return files.is_directory(path) and bool(files.entries(path))
        if kind in ("FileNotEmpty", "PathIsSymbolicLink"):
            status = files.status(path, follow=kind == "FileNotEmpty")
            wanted = "file" if kind == "FileNotEmpty" else "symlink"
            return status is not None and status.kind == wanted and status.size > 0
        return None

    def _analyzed(self, condition: str) -> bool:
        """Ask systemd; what it cannot tell counts as met."""
        if not self._context.commands.find("systemd-analyze"):
            return True
        result = self._context.commands.run(("systemd-analyze", "condition", condition))
        return "Conditions failed." not in result.stdout + result.stderr

    def _trigger(self, unit: Definition) -> Iterator[str]:
        """What a timer, path or socket starts has to be there."""
        stem, _, suffix = unit.name.rpartition(".")
        section = {"timer": "Timer", "path": "Path", "socket": "Socket"}.get(suffix)
        if section is None or (suffix == "socket" and unit.text.flag("Socket", "Accept")):
            return
        key = "Service" if suffix == "socket" else "Unit"
        for other in unit.text.words(section, key)[-1:] or ["%s.service" % stem]:
            status = self._units.status(other)
            if not status.found:
                yield "starts %s, which is not there" % other
            elif suffix == "socket" and status.running:
                yield "cannot listen: %s runs already without it" % other

    # -- what the process needs -------------------------------------------------------------------

    def _process(self, unit: Definition) -> Iterator[str]:
        text = unit.text
        user = text.expand(text.last("Service", "User")) or ""
        if not text.flag("Service", "DynamicUser"):
            for kind, name in (("user", user), ("group", text.last("Service", "Group"))):
                if name and not name.isdigit() and "%" not in name and self._lacks(kind, name):
                    yield "runs as the %s %s, which is not there" % (kind, name)
        for path in text.words("Service", "EnvironmentFile"):
            plain = path.startswith("/") and not set(path) & set("*?[")
            if plain and not self._context.files.exists(path):
                yield "needs its EnvironmentFile %s, which is not there" % path
        if not any(text.all("Service", key) for key in _ELSEWHERE):
            yield from self._on_this_root(unit, user)

    def _on_this_root(self, unit: Definition, user: str) -> Iterator[str]:
        text = unit.text
        folder = text.expand(text.last("Service", "WorkingDirectory")) or ""
        made = folder in [own.path for own in own_folders(unit, self._context)]
        if folder.startswith("/") and not (made or self._context.files.is_directory(folder)):
            yield "needs its WorkingDirectory %s, which is not there" % folder
        for key in ("ExecCondition", "ExecStartPre", "ExecStart"):
            for program in text.programs(key):
                ignored = program.ignored and (key != "ExecStart" or unit.kind == "oneshot")
                if program.path and not ignored:
                    why = self._unusable(program.path, user)
                    yield from [why] if why else []

    def _lacks(self, kind: str, name: str) -> bool:
        return self._context.accounts.number(kind, name) is None

    def _unusable(self, program: str, user: str) -> str:
        """Why a program cannot be begun by the user, root where none is named."""
        found, why = self._located(program)
        if why:
            return why
        if self._denied(found, user):
            return "runs %s as %s, who may not execute it" % (found, user)
        blocks = self._context.files.blocks(found, follow=True)
        try:
            head = next(blocks, b"")[:_HEAD]
        except Unknowable:
            return ""
        finally:
            blocks.close()
        if head.startswith(b"#!"):
            words = head[2:].split(b"\n")[0].split()
            interpreter = words[0].decode("utf-8", "replace") if words else ""
            if interpreter.startswith("/") and not self._context.files.exists(interpreter):
                return "runs %s, whose interpreter %s is not there" % (found, interpreter)
        elif not head.strip() or _is_text(head):
            return "runs %s, which does not begin with #! and is no program" % found
        return ""

    def _located(self, program: str) -> Tuple[str, str]:
        """The file that a program is, and why there is none."""
        programs = self._context.user_commands
        if "/" not in program:
            paths = ["%s/%s" % (folder, program) for folder in _PATH.split(":")]
            found = next((path for path in paths if programs.is_program(path)), "")
            return found, "" if found else "runs %s, which systemd does not find" % program
        if programs.is_program(program):
            return program, ""
        if self._context.files.exists(program):
            return "", "runs %s, which is not executable" % program
        return "", "runs %s, which is not there" % program

    def _denied(self, program: str, user: str) -> bool:
        number = self._context.accounts.number("user", user) if user else 0
        status = self._context.files.status(program, follow=True)
        if not number or status is None:
            return False
        if status.uid == number:
            return not status.mode & 0o100
        # Whether the user is in the file's group only systemd can tell for certain.
        return not status.mode & 0o011


def _is_text(head: bytes) -> bool:
    return all(byte in b"\t\n\r\f" or 32 <= byte < 127 for byte in head)
