"""Mounts in a preview (target): changes are recorded."""

import os
from typing import List, Optional, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Below, Effect, MountEffect, UnknownEffect
from remote_runtime.host import mount_ports
from remote_runtime.host.command_ports import CommandReader
from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.preview.change_record import Record
from remote_runtime.host.preview.processes import PlannedProcesses, named_paths
from remote_runtime.system.kernel import fstab
from remote_runtime.system.kernel.fstab import Entry
from remote_runtime.system.kernel.mounts import MountEntry, described, is_known_type, users
from remote_runtime.system.paths import is_within
from remote_runtime.system.preconditions import PAGE
from remote_runtime.text.numbers import is_number
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty

_MEMORY = (
    "size", "nr_blocks", "nr_inodes", "mode", "uid", "gid", "huge", "mpol", "inode32", "inode64"
)  # fmt: skip
_ANY = (
    "rw", "ro", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "atime",
    "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "lazytime",
    "bind",
)  # fmt: skip


class Mounts(mount_ports.Mounts):
    """Records changes to mounts; no program is run."""

    def __init__(self, record: Record, files: FileReader, commands: CommandReader) -> None:
        super().__init__(lambda: record.overlay.mounts)
        self.files: FileReader = files
        self._record, self._commands = record, commands

    def _perform(self, argv: Sequence[str]) -> None:
        self._commands.require(argv[0])

    def refresh(self) -> None:
        """See the base class. A preview uses the table that it has already read."""

    def _beneath(self, point: str) -> Optional[MountEntry]:
        return self.at(point)  # nothing has been mounted there yet

    def reload(self) -> None:
        self._commands.require("systemctl")
        self._record.add(MountEffect("", reloads=True))

    def _inside(self, point: str) -> List[str]:
        points = self._record.overlay.mounts.points()
        return [one for one in points if one != point and is_within(one, point)]

    def _users(self, point: str) -> List[str]:
        overlay = self._record.overlay
        planned = PlannedProcesses(overlay)
        pids = list(users(point)) if point not in overlay.mounts.planned else []
        remaining_pids, may_end = planned.remaining(pids)
        descriptions = described(remaining_pids)
        if descriptions and may_end:
            raise Unknowable(
                "%s, but an earlier resource may change this"
                % mount_ports.busy_error(point, descriptions)
            )
        for unit in planned.started() if not descriptions else ():
            if any(is_within(path, point) for path in named_paths(unit)):
                raise Unknowable(
                    "an earlier resource starts %s, which may use %s" % (unit.name, point)
                )
        return descriptions

    def _mounts(self, entry: Entry) -> None:
        words = fstab.for_kernel(entry.options)
        kind, binds = entry.type, fstab.is_binding(entry.options)
        self._judge(entry, words)
        now = MountEntry(
            device="",
            root="/",
            point=entry.point,
            options=tuple(words),
            type=kind,
            source=entry.device,
            on_system=tuple(words),
        )
        effect = MountEffect(entry.point, entry=now, read_only="ro" in words)
        known: Optional[MountEffect] = None
        if binds:
            known = self._bound(effect, entry, words)
        elif kind == "tmpfs":
            known = self._memory(effect, words)
        effects: List[Effect] = [known or effect]
        if known is None:
            reason = "the content of %s is not known until it is mounted" % entry.device
            effects.append(_unknown_effect(reason, entry.point))
            if binds:
                effects.append(
                    _unknown_effect(reason, entry.device)
                )  # what is changed there is changed here
            effects.append(effect._replace(table_only=True))
        self._record.add(*effects)

    def _require_point(self, entry: Entry) -> None:
        if entry.point not in self._record.overlay.mounts.planned:
            super()._require_point(entry)  # what is unmounted first has one

    def _judge(self, entry: Entry, words: Sequence[str]) -> None:
        """Record the outcomes that are visible only after an actual mount."""
        unknown_regions = self._record.overlay.unknown_regions
        names = [word.partition("=")[0] for word in words]
        if entry.type == "tmpfs" or fstab.is_binding(entry.options):
            usual = (*_ANY, "rbind", *(_MEMORY if entry.type == "tmpfs" else ()))
            foreign = [name for name in names if name not in usual]
            if foreign:
                unknown_regions.suppose(
                    Uncertainty(ASSUMED, "if the option %s is accepted" % foreign[0])
                )
        elif entry.type not in ("proc", "sysfs", "ramfs") or is_known_type(entry.type) is None:
            unknown_regions.suppose(Uncertainty(ASSUMED, "if %s can be mounted" % entry.device))

    def _bound(
        self, effect: MountEffect, entry: Entry, words: Sequence[str]
    ) -> Optional[MountEffect]:
        """A directory that also appears in a second place, if all of it can be known."""
        node = self.files.stat(entry.device)
        source, point = os.path.normpath(entry.device), entry.point
        inside = [
            one for one in self._record.overlay.mounts.points() if one.startswith(source + "/")
        ]
        loops = is_within(source, point) or is_within(point, source)
        plain = set(words) <= {*_ANY, "rbind"}
        if node is None or node.kind != "directory" or inside or loops or not plain:
            return None
        return effect._replace(source=source, no_execution="noexec" in words)

    def _memory(self, effect: MountEffect, words: Sequence[str]) -> Optional[MountEffect]:
        options = dict(word.partition("=")[::2] for word in words)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        text = options.get("size", "50%")
        percent = text[:-1] if text.endswith("%") else ""
        size = memory * int(percent) // 100 if is_number(percent) else fstab.size_of(text)
        inodes = fstab.size_of(options.get("nr_inodes", "0"))
        mode = mount_ports.mode_of(words)
        uid, gid = (self._number(key, options.get(key, "0")) for key in ("uid", "gid"))
        if size is None or inodes is None or mode is None or "nr_blocks" in options:
            return None
        if uid is None or gid is None or uid < 0 or gid < 0:
            return None
        return effect._replace(
            mode=mode,
            uid=uid,
            gid=gid,
            size=-(-size // PAGE) * PAGE,
            inodes=inodes,
            no_execution="noexec" in words,
        )

    def _number(self, key: str, text: str) -> Optional[int]:
        accounts = self._record.overlay.accounts
        return accounts.number("user" if key == "uid" else "group", text)

    def _remounts(self, now: MountEntry, entry: Entry) -> None:
        words = tuple(fstab.for_kernel(entry.options))
        later = now._replace(options=words, source=entry.device, on_system=words)
        effect = MountEffect(entry.point, entry=later, table_only=True)
        changed = fstab.differing(entry.options, now.options, now.on_system)
        planned = entry.point in self._record.overlay.mounts.planned
        gains = {"rw", "exec"} & set(changed)
        limited = planned and {"ro", "noexec"} & set(changed)
        if limited or (gains and not self._is_certain(now)):
            why = "%s is mounted with different options" % entry.point
            self._record.add(_unknown_effect(why, entry.point))
        else:
            read_only, no_execution = "ro" in words, "noexec" in words
            effect = effect._replace(
                read_only=read_only,
                no_execution=no_execution,
                remounts=not planned,
                gains=tuple(gains),
            )
        if not changed:
            reason = "if %s accepts its new options while it is mounted" % entry.point
            self._record.overlay.unknown_regions.suppose(Uncertainty(ASSUMED, reason))
        self._record.add(effect)

    def _is_certain(self, now: MountEntry) -> bool:
        """Return whether a remount certainly gives rights: no device or other mount forbids it."""
        planned = now.point in self._record.overlay.mounts.planned
        return now.type == "tmpfs" and now.root == "/" and not planned

    def _unmounts(self, now: MountEntry) -> None:
        reason = "the content of %s after the unmount is not known" % now.point
        gone = MountEffect(now.point, present=False)
        self._record.add(gone, _unknown_effect(reason, now.point), gone._replace(table_only=True))

    def _swaps(self, device: str, on: bool) -> None:
        reason = "if %s can be %s" % (device, "used as swap" if on else "emptied")
        self._record.overlay.unknown_regions.suppose(Uncertainty(ASSUMED, reason))
        self._record.add(MountEffect(device, present=on, table_only=True))


def _unknown_effect(reason: str, path: str) -> UnknownEffect:
    return UnknownEffect(Uncertainty(UNKNOWN, reason), Below(path, itself=True))
