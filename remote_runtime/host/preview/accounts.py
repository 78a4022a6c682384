"""Users and groups in a preview (target): the effects of the programs are recorded."""

import os
import stat
from contextlib import contextmanager
from typing import Iterator, List, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import (
    FILE_READS,
    AccountEffect,
    Below,
    Effect,
    PathEffect,
    Things,
    UnknownEffect,
    once,
)
from remote_runtime.errors import ResourceError
from remote_runtime.host import accounts
from remote_runtime.host.accounts import Outcome
from remote_runtime.host.command_ports import CommandReader
from remote_runtime.host.machine import accounts as machine
from remote_runtime.host.preview.change_record import Record
from remote_runtime.host.preview.files import Files
from remote_runtime.host.preview.processes import PlannedProcesses
from remote_runtime.overlay.planned_content import HostContent
from remote_runtime.system import account_files
from remote_runtime.system.account_files import User
from remote_runtime.system.files import Files as Adapter
from remote_runtime.system.paths import Status
from remote_runtime.system.process.process_identity import service_of
from remote_runtime.text.numbers import is_number
from remote_runtime.uncertainty import UNKNOWN, Uncertainty
from remote_runtime.units.unit_files import Definition

_TABLES = ("passwd", "shadow", "group", "gshadow")
_OPENED = {
    "groupadd": _TABLES[2:],
    "groupdel": _TABLES[2:],
    "groupmod": ("passwd", "group"),
    "chpasswd": _TABLES[:2],
    "usermod": _TABLES[:2],
}
"""What a program opens for writing; others open all, as does ``usermod -G``."""
_BESIDE = ("passwd-", "shadow-", "group-", "gshadow-", "subuid", "subgid", "subuid-", "subgid-")
_LIMIT = 5000  # paths of a home directory


class Accounts(accounts.Accounts):
    """Records the changes to users and groups; no program is run."""

    def __init__(self, record: Record, files: Files, commands: CommandReader) -> None:
        super().__init__(record.overlay.accounts)
        self.files: Files = files
        self._record, self._commands = record, commands

    def _require_idle(self, user: User) -> None:
        planned = PlannedProcesses(self._record.overlay)
        remaining_pids, may_end = planned.remaining(machine.processes(user))
        if remaining_pids:
            error = machine.in_use(user, remaining_pids[0])
            if may_end:
                raise Unknowable(
                    "%s, but an earlier resource may change this" % error.message
                ) from error
            raise error
        new = self._record.overlay.accounts.is_new("user", user.name)
        for unit in planned.started():
            if new or _runs_as(unit, user):
                raise Unknowable(
                    "an earlier resource starts %s, which may run as the user %s"
                    % (unit.name, user.name)
                )

    def _kill(self, user: User) -> None:
        running = machine.processes(user)
        started = PlannedProcesses(self._record.overlay).started()
        names = {service_of(pid) for pid in running} - {""}
        names.update(unit.name for unit in started if _runs_as(unit, user))
        if running or names:
            self._record.runs = True  # as ends of processes may fail, or start others
        if names:
            reason = "%s ends the processes of the user %s" % (self._record.by, user.name)
            self._record.add(
                UnknownEffect(
                    Uncertainty(UNKNOWN, reason),
                    lambda kind, value, present: kind == "unit" and value in names,
                )
            )

    def _perform(self, argv: Sequence[str], outcome: Outcome, secret: str = "") -> None:
        self._commands.require(argv[0])
        etc = account_files.ETC
        opened = _TABLES if "-G" in argv else _OPENED.get(argv[0], _TABLES)
        for path in ("%s/%s" % (etc, name) for name in opened):
            if self.files.stat(path) is not None:
                self.files.require_replaceable(path)
                self._require_unlocked(path, argv[0])
        for kind, name in outcome.gone:
            self._record.add(AccountEffect(kind, name, present=False))
        for entry in outcome.entries:
            kind = "user" if isinstance(entry, User) else "group"
            number = entry.uid if isinstance(entry, User) else entry.gid
            self._record.add(AccountEffect(kind, entry.name, number, entry=entry))
        uncertainty = Uncertainty(UNKNOWN, "%s changes the accounts in this file" % self._record.by)
        beside = ["%s/%s" % (etc, name) for name in _BESIDE]
        self._record.add(UnknownEffect(uncertainty, Things(FILE_READS, beside)))

    def _require_unlocked(self, path: str, program: str) -> None:
        """``ResourceError`` for a lock file that the programs neither respect nor remove,
        ``Unknowable`` while a process holds the lock.
        """
        lock = path + ".lock"
        node = self.files.stat(lock)
        if node is None:
            return
        pid = self.files.read(lock).split(b"\0")[0] if node.kind == "file" else b""
        if not is_number(os.fsdecode(pid)):
            raise ResourceError(
                "%s cannot lock %s: %s does not contain a process ID" % (program, path, lock),
                kind="resource.account",
                hint="check whether another program changes accounts, or left the lock file",
            )
        if os.path.exists("/proc/%s" % os.fsdecode(pid)):
            raise Unknowable("the process %s has locked %s" % (os.fsdecode(pid), path))

    def _made(self, user: User) -> None:
        """Plan the mail spool."""
        directory = self._rules.get("MAIL_DIR")
        path = "%s/%s" % (directory, user.name)
        if self.files.stat(directory) is None or self.files.lstat(path) is not None:
            return
        mail = self.gid("mail")
        mode, gid = (0o600, user.gid) if mail is None else (0o660, mail)
        self.files.write(path, b"", mode=mode, uid=user.uid, gid=gid)

    def _changed(self, user: User, new: User) -> None:
        """Plan the changes of ``usermod``, which does not change a home directory of others, and
        changes the owner of the mail but not its group.
        """
        if (new.uid, new.gid) != (user.uid, user.gid):
            home = self.files.stat(new.home)
            if home is not None and home.uid in (user.uid, new.uid):
                self._give(new.home, user, new)
        mail = "%s/%s" % (self._rules.get("MAIL_DIR"), user.name)
        if new.uid != user.uid:
            self._give(mail, user, new._replace(gid=user.gid))

    @contextmanager
    def _removed_with(self, user: User, paths: Sequence[str]) -> Iterator[None]:
        before = len(self._record.effects)
        for path in paths:
            node = self.files.lstat(path)
            if node is not None and node.kind == "directory":
                self.files.remove_tree(path)
            else:
                self.files.unlink(path)
        self._record.add(*once(self._record.effects[before:]))  # the next run has no such user
        yield

    @contextmanager
    def _moved(self, user: User, new: str) -> Iterator[None]:
        old = user.home
        node = self.files.lstat(old)
        if node is None:
            raise Unknowable("%s is not known until the push moves it" % old)
        self.files.require_movable(old, new)
        contents = self._relocated(old, new)
        self._record.add(PathEffect(old, "absent", once=True))
        effect = PathEffect(new, "directory", node.mode, uid=node.uid, gid=node.gid, once=True)
        self._record.add(effect, *contents)
        yield

    def _relocated(self, old: str, new: str) -> List[Effect]:
        """Return the contents of a directory at its new path."""
        before = self._record.overlay.fork().files  # later changes do not affect it
        effects: List[Effect] = []
        waiting = [old]
        while waiting:
            directory = waiting.pop()
            for name in before.entries(directory):
                path = os.path.join(directory, name)
                status = before.look(path)
                if status is None:
                    continue
                if len(effects) >= _LIMIT:
                    uncertainty = Uncertainty(
                        UNKNOWN, "%s moves the contents of %s there" % (self._record.by, old)
                    )
                    return [UnknownEffect(uncertainty, Below(new))]
                there = new + path[len(old) :]
                effects.append(_at_new_path(there, path, status, before))
                if status.kind == "directory":
                    waiting.append(path)
        return effects

    def _give(self, top: str, user: User, new: User) -> None:
        """Plan the new numbers of the files in a tree that belong to the user or to its group."""
        waiting, seen = [top], 0
        while waiting:
            path = waiting.pop()
            node = self.files.lstat(path)
            seen += 1
            if seen > _LIMIT:
                uncertainty = Uncertainty(
                    UNKNOWN, "%s changes the owner of the contents" % self._record.by
                )
                self._record.add(UnknownEffect(uncertainty, Below(top, itself=True)))
                return
            if node is None:
                continue
            uid = new.uid if node.uid == user.uid else node.uid
            gid = new.gid if node.gid == user.gid else node.gid
            if (uid, gid) != (node.uid, node.gid) and node.kind != "other":
                special = node.mode & (stat.S_ISUID | stat.S_ISGID) if node.kind == "file" else 0
                mode = node.mode & ~special if special else None
                of = (path, node.kind, mode, uid)
                self._record.add(PathEffect(*of, gid=gid, target=node.target, once=True))
            if node.kind == "directory":
                waiting += [os.path.join(path, name) for name in self.files.entries(path)]


def _runs_as(unit: Definition, user: User) -> bool:
    name = unit.text.expand(unit.text.last("Service", "User"))
    return name in (user.name, str(user.uid))


def _at_new_path(there: str, path: str, status: Status, files: Adapter) -> PathEffect:
    """Return the effect of a path that gets another name with its directory."""
    if status.kind == "other":
        return PathEffect(there, "something", once=True)
    return PathEffect(
        there,
        status.kind,
        mode=status.mode,
        uid=status.uid,
        gid=status.gid,
        content=HostContent(path, status, files) if status.kind == "file" else None,
        target=files.link(path) if status.kind == "symlink" else "",
        once=True,
    )
