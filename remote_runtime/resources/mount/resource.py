"""The mount type: an entry of fstab and a mount (target; ``check`` on both sides)."""

import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.mount_ports import changed
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.reporting.masking import MASKED
from remote_runtime.system.kernel import fstab, mounts
from remote_runtime.system.kernel.fstab import SWAP, Entry
from remote_runtime.system.kernel.mounts import MountEntry
from remote_runtime.system.paths import resolved
from remote_runtime.validation import rules

NEEDED = ("/", "/dev", "/proc", "/run", "/sys", "/usr")
"""Mount points that every host needs to run."""

AUTOMOUNT = "x-systemd.automount"
FIELDS = ("device", "type", "options", "dump", "pass")
_TAGS = ("UUID", "LABEL", "PARTUUID", "PARTLABEL", "ID")
_ON_DISKS = ("ext2", "ext3", "ext4", "xfs", "vfat", "exfat", "ntfs", "ntfs3", "f2fs", "iso9660")
_BINDING = ("bind", "rbind")
_GONE = ("absent", "unmounted")
_LIMIT = 16  # file systems on top of each other


def _of_device(device: str, kind: str) -> List[str]:
    """Return the problems of the first field of an entry."""
    tag, mark, rest = device.partition("=")
    if tag in _TAGS and mark and not rest.strip('"'):
        return ["%s names no device" % device]
    if kind in _ON_DISKS and device and not (device.startswith("/") or (tag in _TAGS and mark)):
        return ["%r is not a path such as /dev/sdb1, and has no tag such as UUID=" % device]
    return []


def _of_options(options: str) -> List[str]:
    """Return the problems of the fourth field of an entry."""
    if options and "" in options.split(","):
        return ["an option is empty"]
    words = fstab.words_of(options)
    for word, opposite in fstab.NEGATED.items():
        if word in words and opposite in words:
            return ["%s and %s are mutually exclusive" % (word, opposite)]
    return []


class Resource(StateType):
    """One mount point, or one device for swap space."""

    default_ensure = "mounted"
    partial = True
    _old: Optional[Entry] = None  # the entry in the table
    _point = ""  # the mount point without symlinks
    _now: Optional[MountEntry] = None
    _right = False  # whether the mount is in the desired state
    _stale = False  # whether systemd has an older table

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. Refuses passwords in options, and unmounting file systems that the
        host needs.
        """
        get = properties.get
        wrong = [("name", message) for message in rules.of_path(name)]
        ensure = get("ensure") or cls.default_ensure
        if name in NEEDED and ensure in _GONE:
            wrong.append(("name", "%s cannot be unmounted; the host needs it" % name))
        if ensure == "absent":
            return wrong
        device, options = str(get("device") or ""), str(get("options") or "")
        if not device and get("type") != SWAP and ensure != "unmounted":
            wrong.append(("", "required property 'device' is missing"))
        wrong += [("device", message) for message in _of_device(device, str(get("type") or ""))]
        wrong += [("options", message) for message in _of_options(options)]
        if get("type") in _BINDING:
            text = "%s is an option: write options: %s, and omit type" % ((get("type"),) * 2)
            wrong.append(("type", text))
        if device and fstab.is_binding(options) and not device.startswith("/"):
            wrong.append(("device", "the directory of a bind mount must be absolute"))
        if get("type") == SWAP and fstab.is_binding(options):
            wrong.append(("options", "swap space cannot be a bind mount"))
        if "remount" in fstab.words_of(options):
            wrong.append(("options", "omit remount; ccm remounts if options differ"))
        if any(
            word.partition("=")[0].lower() in fstab.PASSWORDS or fstab.masked(word, "") != word
            for word in fstab.words_of(options)
        ):
            text = "every user could read the password; use credentials=FILE with mode 0600"
            wrong.append(("options", text))
        return wrong

    # -- reading ----------------------------------------------------------------------------------

    @property
    def _is_swap(self) -> bool:
        return self.properties.get("type") == SWAP

    @property
    def _key(self) -> str:
        """The key that identifies the entry."""
        return str(self.properties.get("device") or self.name) if self._is_swap else self.name

    @property
    def _managed(self) -> bool:
        """Whether the entry must exist."""
        return self.ensure != "unmounted" or bool(self.properties.get("device"))

    def state_of(self, state: Optional[Mapping[str, Any]]) -> str:
        if state is not None and self.ensure == "present" and self._old is not None:
            return "present"
        if state is None:
            return "absent"
        return "unmounted" if state.get("mounted") is None else "mounted"

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Return the entry in fstab and the current mount, with passwords in
        options masked.
        """
        self._old = fstab.find(host.mounts.table(), self._key)
        state = self._of_table() if self._old is not None else {}
        state.update(self._of_swap(host) if self._is_swap else self._of_mount(host))
        self._stale = host.mounts.is_stale()
        state["fstab_loaded"] = not self._stale
        if self._old is None and state["mounted"] is None and self.ensure != "unmounted":
            return None
        return state

    def _of_table(self) -> Dict[str, Any]:
        old = self._old or Entry._make([""] * len(Entry._fields))
        options, wanted = old.options, self._options
        if wanted is not None and fstab.means_same(wanted, old.options):
            options = wanted
        state: Dict[str, Any] = {"device": old.device, "type": old.type}
        state["options"] = fstab.masked(options, MASKED)
        for key, text in (("dump", old.dump), ("pass", old.passno)):
            state[key] = int(text) if text.isdigit() else None
        return state

    def _of_swap(self, host: HostReader) -> Dict[str, Any]:
        return {"mounted": self._key if host.mounts.is_swap(self._key) else None}

    def _of_mount(self, host: HostReader) -> Dict[str, Any]:
        self._point = _real(host, self.name)
        self._now = now = host.mounts.at(self._point)
        entry = self._wanted
        self._right = now is not None and bool(entry.device) and host.mounts.is_source(now, entry)
        if now is None:
            return {"mounted": None}
        state: Dict[str, Any] = {"mounted": now.source}
        if now.type == "autofs" and AUTOMOUNT in fstab.words_of(entry.options):
            return {"mounted": entry.device}  # mounted on first access
        if self._right:
            state["mounted"] = entry.device
            differs = fstab.differing(entry.options, now.options, now.on_system)
            active = ",".join(now.options) if differs else entry.options
            state["active_options"] = fstab.masked(active, MASKED)
        return state

    @property
    def _options(self) -> Optional[str]:
        """The desired options; None to keep those in the table."""
        text = self.properties.get("options")
        if not self.properties.get("nofail"):
            return None if text is None else str(text)
        text = str(text or (self._old.options if self._old else "defaults"))
        return text if "nofail" in fstab.words_of(text) else text + ",nofail"

    @property
    def _wanted(self) -> Entry:
        """The desired entry; fields that the resource omits are kept."""
        properties, old = self.properties, self._old
        options = self._options or (old.options if old else "sw" if self._is_swap else "defaults")
        return Entry(
            device=str(
                properties.get("device")
                or (self.name if self._is_swap else old.device if old else "")
            ),
            point="none" if self._is_swap else self.name,
            type=str(properties.get("type") or (old.type if old else _usual_type(options))),
            options=options,
            dump=str(properties.get("dump", old.dump if old else "0")),
            passno=str(properties.get("pass", old.passno if old else "0")),
        )

    def desired(self) -> Mapping[str, Any]:
        """See the base class. The entry for fstab if it is managed, and the mount that ``ensure``
        describes.
        """
        entry, properties = self._wanted, self.properties
        wanted: Dict[str, Any] = {}
        if self._managed:
            wanted = {"device": entry.device, "type": entry.type}
            wanted["options"] = fstab.masked(entry.options, MASKED)
            wanted.update(
                (key, properties[key])
                for key in ("dump", "pass")
                if properties.get(key) is not None
            )
            if self._stale:
                wanted["fstab_loaded"] = True
        if self.ensure == "unmounted":
            wanted["mounted"] = None
        elif self.ensure == "mounted":
            wanted["mounted"] = entry.device
            if self._right:
                wanted["active_options"] = fstab.masked(entry.options, MASKED)
        return wanted

    # -- acting -----------------------------------------------------------------------------------

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Mounts first and writes fstab last, so an entry that fails is not
        written.
        """
        self._require_unchanged(host)
        entry = self._wanted
        if self._is_swap:
            self._swap(host, diff, entry)
        elif self.ensure == "unmounted":
            self._unmount(host)
        elif self.ensure == "mounted":
            self._mount(host, diff, entry)
        # The table comes last: what could not be mounted is not in it.
        if self._managed and any(key in diff for key in FIELDS):
            self._rewrite(host, fstab.with_entry(host.mounts.table(), entry, self._key))
        if self._managed and host.mounts.is_stale():
            host.mounts.reload()

    def _require_unchanged(self, host: Host) -> None:
        """``ResourceError`` if another process changed the state that was read, so that the planned
        change no longer fits.
        """
        host.mounts.refresh()
        if fstab.find(host.mounts.table(), self._key) != self._old:
            raise changed("the entry for %s in /etc/fstab" % self._key)
        if not self._is_swap and host.mounts.at(self._point) != self._now:
            raise changed("the mount at %s" % self._point)

    def _swap(self, host: Host, diff: Diff, entry: Entry) -> None:
        if "mounted" in diff and self.ensure == "mounted":
            host.mounts.swap_on(entry.device, entry.options)
        elif "mounted" in diff:
            host.mounts.swap_off(entry.device)

    def _mount(self, host: Host, diff: Diff, entry: Entry) -> None:
        now = self._now
        if "mounted" in diff or now is None:
            entry = entry._replace(point=self._point or self.name)
            host.mounts.require_mountable(entry)
            if now is None:
                self._make_point(host, entry)
                host.mounts.mount(entry)
            else:
                self._replace(host, now, entry)
            return
        old = self._old.options if self._old else entry.options
        changed = "options" in diff and fstab.for_kernel(old) != fstab.for_kernel(entry.options)
        if "active_options" in diff or changed:
            host.mounts.remount(now, entry._replace(point=now.point))

    def _replace(self, host: Host, now: MountEntry, entry: Entry) -> None:
        """Mount an entry instead; if that fails, restore the earlier mount."""
        before = self._entry_of(host, now)
        self._release(host, now)
        try:
            host.mounts.mount(entry)
        except ResourceError as error:
            if self._is_restored(host, before):
                raise
            raise ResourceError(
                "%s; nothing is mounted at %s now" % (error.message, now.point),
                kind=error.kind,
                hint=error.hint,
                output=error.output,
            ) from error

    @staticmethod
    def _is_restored(host: Host, before: Optional[Entry]) -> bool:
        """Return whether the earlier mount could be restored."""
        try:
            if before is not None:
                host.mounts.mount(before)
        except ResourceError:
            return False
        return before is not None

    def _entry_of(self, host: Host, now: MountEntry) -> Optional[Entry]:
        """Return an entry that restores the same mount; None if it is unknown, as for a bind mount
        that is not in the table.
        """
        if self._old is not None and host.mounts.is_source(now, self._old):
            return self._old._replace(point=now.point)
        if now.root != "/":
            return None
        return Entry(
            device=now.source,
            point=now.point,
            type=now.type,
            options=",".join(now.options),
            dump="0",
            passno="0",
        )

    def _unmount(self, host: Host) -> None:
        for _ in range(_LIMIT):
            now = host.mounts.at(self._point)
            if now is None:
                return
            self._release(host, now)

    @staticmethod
    def _release(host: Host, now: MountEntry) -> None:
        if now.point in NEEDED:
            raise ResourceError(
                "%s cannot be unmounted; the host needs it" % now.point,
                kind="resource.mount",
                hint="check the target of the mount point",
            )
        host.mounts.unmount(now)

    def remove(self, host: Host) -> None:
        """See the base class. Unmounts first, then removes the entry from fstab and reloads
        systemd.
        """
        self._require_unchanged(host)
        if self._is_swap and host.mounts.is_swap(self._key):
            host.mounts.swap_off(self._key)
        elif not self._is_swap:
            self._unmount(host)
        if self._old is not None:
            self._rewrite(host, fstab.without_entry(host.mounts.table(), self._key))
        if host.mounts.is_stale():
            host.mounts.reload()

    def _make_point(self, host: Host, entry: Entry) -> None:
        """Create the mount point with the directories above it; for a bind-mounted file, create a
        file.
        """
        node = host.files.stat(entry.device) if fstab.is_binding(entry.options) else None
        missing, path = [], self.name
        while path != "/" and host.files.stat(path) is None:
            missing.append(path)
            path = os.path.dirname(path)
        for path in reversed(missing):
            if path == self.name and node is not None and node.kind != "directory":
                host.files.write(path, b"", mode=0o644)
            else:
                host.files.mkdir(path, 0o755)

    @staticmethod
    def _rewrite(host: Host, text: str) -> None:
        path, data = os.path.join(mounts.ETC, "fstab"), text.encode("utf-8", "surrogateescape")
        if host.files.stat(path) is None:
            host.files.write(path, data, mode=0o644)
        else:
            host.files.rewrite(path, data)


def _usual_type(options: str) -> str:
    return "none" if fstab.is_binding(options) else "auto"


def _real(host: HostReader, path: str) -> str:
    """A path with symlinks resolved, as far as it exists; mounts on its way do not change its name.

    ``ResourceError`` for a link of another user that leads to something that does not belong to
    that user.
    """

    def target_of(above: str) -> str:
        node = host.files.lstat(above)
        if node is None or node.kind != "symlink":
            return ""
        host.files.stat(above)
        return node.target

    return resolved(path, target_of)
