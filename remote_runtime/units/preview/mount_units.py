"""Mounts as units: the units that need a mount, and its effects (target; in previews only)."""

import os
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Below, Effect, MountEffect, PathEffect, UnknownEffect
from remote_runtime.system.paths import content_of
from remote_runtime.system.preconditions import PAGE, mount_points
from remote_runtime.text.numbers import is_number
from remote_runtime.uncertainty import UNKNOWN, Uncertainty
from remote_runtime.units.service_directories import named_directories, parsed_mode
from remote_runtime.units.unit_files import Definition
from remote_runtime.units.unit_text import escaped, unescaped

if TYPE_CHECKING:
    from remote_runtime.context import Context

NEEDED = "RequiresMountsFor"
_TMPFS = (
    "size",
    "nr_blocks",
    "nr_inodes",
    "mode",
    "uid",
    "gid",
    "huge",
    "mpol",
    "inode32",
    "inode64",
)
_ANY = (
    "rw", "ro", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "atime",
    "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "lazytime",
    "defaults", "auto", "noauto", "nofail", "_netdev",
)  # fmt: skip
_BINDING = ("bind", "rbind", "rw", "defaults", "auto", "noauto", "nofail")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SYSTEMS = "/proc/filesystems"
_HELPERS = ("/sbin/mount.", "/usr/sbin/mount.")
_AUTOFS = "/dev/autofs"


def place(unit: Definition) -> str:
    """The mount point of a mount or automount unit."""
    stem, _, suffix = unit.name.rpartition(".")
    where = unit.text.expand(unit.text.last(suffix.capitalize(), "Where")) or ""
    where = where or "/" + unescaped(stem).strip("/")
    return os.path.normpath(where) if where.startswith("/") else ""


def needed(unit: Definition) -> List[str]:
    """The mount units that a unit would pull in if they existed, outermost first."""
    paths = unit.text.words("Unit", NEEDED)
    suffix = unit.name.rpartition(".")[2]
    if suffix == "service":
        paths += [p for key in ("WorkingDirectory", "RootDirectory", "RootImage")
                  for p in unit.text.words("Service", key)]  # fmt: skip
        paths += named_directories(unit)
        if unit.text.flag("Service", "PrivateTmp"):
            paths += ["/tmp", "/var/tmp"]
    elif suffix in ("mount", "automount"):
        paths += [os.path.dirname(place(unit)), unit.text.last("Mount", "What")]
    result: List[str] = []
    for path in paths:
        parts = os.path.normpath(path).split("/") if path.startswith("/") else []
        for number in range(1, len(parts)):
            result.append(escaped("/".join(parts[: number + 1])) + ".mount")
    return [name for name in sorted(set(result), key=_by_length) if name != unit.name]


def _by_length(name: str) -> Tuple[int, str]:
    return len(name), name


class MountChecks(object):
    """Checks mount units in their planned state."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def obstacles(self, unit: Definition) -> Iterator[str]:
        """Yield the obstacles to the mount; ``Unknowable`` if only an attempt can show them."""
        files = self._context.files
        if unit.name.endswith(".automount"):
            if not os.path.exists(_AUTOFS):
                yield "is not available on this system, which has no %s" % _AUTOFS
            return
        where = place(unit)
        status = files.status(where)
        source = unit.text.expand(unit.text.last("Mount", "What")) or ""
        if status is not None and status.kind == "symlink":
            yield "has the mount point %s, which is a symlink" % where
        elif status is not None and status.kind != "directory" and not self._is_binding(unit):
            yield "has the mount point %s, which is not a directory" % where
        if self._is_binding(unit):
            return
        kind = unit.text.last("Mount", "Type")
        if kind == "tmpfs":
            foreign = [
                o for o in _options(unit) if o not in _TMPFS + _ANY and not o.startswith("x-")
            ]
            if foreign:
                raise Unknowable(
                    "cannot predict whether a tmpfs accepts the option %s" % foreign[0]
                )
        elif kind and kind not in ("auto", "none") and not self._is_known(kind):
            raise Unknowable("cannot predict whether this host supports the file system %s" % kind)
        elif source.startswith("/") and not files.exists(source):
            yield "mounts %s, which does not exist" % source

    def _is_known(self, kind: str) -> bool:
        if any(self._context.files.exists(directory + kind) for directory in _HELPERS):
            return True
        known = os.fsdecode(content_of(_SYSTEMS)).split()
        return not known or kind in known

    @staticmethod
    def _is_binding(unit: Definition) -> bool:
        return any(word in _options(unit) for word in ("bind", "rbind"))

    def mounted(self, unit: Definition) -> List[Effect]:
        """Return the effects at the path of a unit after it is mounted or watched."""
        where = place(unit)
        directory_effect = PathEffect(where, "directory")
        if not where:
            return []
        if unit.name.endswith(".mount"):
            known = self._source(unit) if self._is_binding(unit) else self._memory(unit)
            if known is not None:
                return [directory_effect, known._replace(path=where)]
        source = unit.text.expand(unit.text.last("Mount", "What")) or ""
        effects: List[Effect] = [
            directory_effect,
            MountEffect(where, present=False),
            _unclear(unit, where),
        ]
        if unit.name.endswith(".automount"):
            effects.append(_awaited(unit))
        if self._is_binding(unit) and source.startswith("/"):
            effects.append(_unclear(unit, source))  # what is changed in one place is in the other
        return effects

    def _memory(self, unit: Definition) -> Optional[MountEffect]:
        if unit.text.last("Mount", "Type") != "tmpfs":
            return None
        options = _options(unit)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        size = _bytes(options.get("size", "50%"), memory)
        if "nr_blocks" in options:
            size = _bytes(options["nr_blocks"], 0) * PAGE
        owners = [
            self._context.accounts.number(kind, options.get(key, "0"))
            for kind, key in (("user", "uid"), ("group", "gid"))
        ]
        if None in owners:
            return None
        return MountEffect(
            "",
            mode=parsed_mode(options.get("mode", ""), 0o1777),
            uid=owners[0] or 0,
            gid=owners[1] or 0,
            size=size,
            inodes=_bytes(options.get("nr_inodes", "0"), 0),
            read_only="ro" in options,
            no_execution="noexec" in options,
        )

    def _source(self, unit: Definition) -> Optional[MountEffect]:
        """Return the effect of a bind mount: the directory in a second place."""
        source = unit.text.expand(unit.text.last("Mount", "What")) or ""
        where = place(unit)
        plain = all(option in _BINDING for option in _options(unit))
        if not (plain and source.startswith("/") and self._context.files.is_directory(source)):
            return None
        source = os.path.normpath(source)
        inside = [p for p in mount_points() if p.startswith(source + "/")]
        loops = (where + "/").startswith(source + "/") or (source + "/").startswith(where + "/")
        return None if inside or loops or source == "/" else MountEffect("", source=source)


def unmounted(unit: Definition) -> List[Effect]:
    """Return the effects at the path of a unit after it is stopped: the underlying directory
    reappears.
    """
    where = place(unit)
    if not where:
        return []
    return [MountEffect(where, present=False), _unclear(unit, where)]


def _unclear(unit: Definition, path: str) -> UnknownEffect:
    reason = "the content of %s at %s is not known yet" % (unit.name, path)
    return UnknownEffect(Uncertainty(UNKNOWN, reason), Below(path, itself=True))


def _awaited(unit: Definition) -> UnknownEffect:
    """Return the effect of an automount unit: any access below its path starts its mount unit."""
    name = unit.name.rpartition(".")[0] + ".mount"
    uncertainty = Uncertainty(UNKNOWN, "%s starts it on the first access" % unit.name)
    return UnknownEffect(uncertainty, lambda kind, value, present: (kind, value) == ("unit", name))


def _options(unit: Definition) -> Dict[str, str]:
    options = unit.text.last("Mount", "Options")
    known = unit.text.expand(options)
    if known is None:  # systemd does not change a percent sign without a specifier
        known = options.replace("%%", "%")
    parts = [option.strip() for option in known.split(",")]
    return dict(option.partition("=")[::2] for option in parts if option)


def _bytes(text: str, whole: int) -> int:
    """A number with a suffix, or a share of the total; 0, which means no limit, for
    invalid text.
    """
    number, unit = text[:-1], text[-1:].lower()
    if unit == "%" and is_number(number):
        return whole * int(number) // 100
    if unit in _UNITS and is_number(number):
        return int(number) * _UNITS[unit]
    return int(text) if is_number(text) else 0
