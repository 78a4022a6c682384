"""The family ``partition``: mounted file systems and their space, in bytes (target)."""

from typing import Any, Dict, List, Set

from remote_runtime.facts.fact_source import Source
from remote_runtime.facts.memory import percent
from remote_runtime.system.mount_escapes import unescape


def read(source: Source) -> Dict[str, Any]:
    """Return the family; blocks while a mounted file system does not respond.

    File systems on a device (and zfs) are listed. The root is listed regardless of its type, so
    that a container reports its space, too. ``usage`` omits file systems that this user may not
    read.
    """
    rows = partitions(source)
    return {"partitions": [_shown(entry) for entry in rows], "usage": _usage(source, rows)}


def partitions(source: Source) -> List[Dict[str, Any]]:
    """Return the relevant mounts, with names as in the kernel."""
    kinds = _kinds_on_devices(source)
    result = []
    for line in source.text("/proc/self/mountinfo", "surrogateescape").splitlines():
        before, separator, after = line.partition(" - ")
        fields, (fstype, device) = before.split(" "), (after.split(" ") + ["", ""])[:2]
        if not separator or len(fields) < 6:
            continue
        mountpoint = unescape(fields[4])
        if fstype not in kinds and (mountpoint != "/" or fstype == "rootfs"):
            continue
        options = fields[5].split(",")
        if fields[3] != "/":
            options.append("bind")
        result.append(
            {
                "device": unescape(device),
                "mountpoint": mountpoint,
                "fstype": fstype,
                "opts": options,
            }
        )
    return result


def _kinds_on_devices(source: Source) -> Set[str]:
    kinds = set()
    for line in source.text("/proc/filesystems").splitlines():
        nodev, _, kind = line.rpartition("\t")
        if not nodev or kind == "zfs":
            kinds.add(kind)
    return kinds


def _usage(source: Source, partitions: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    # Of several mounts at one place, only the last is visible.
    seen = {entry["mountpoint"]: entry["fstype"] for entry in partitions}
    usage = []
    for mountpoint, fstype in seen.items():
        try:
            space = source.space(mountpoint)
        except OSError:
            continue
        usage.append(dict(_space(space), path=_text(mountpoint), fstype=fstype))
    return usage


def _space(space: Any) -> Dict[str, Any]:
    """Return bytes and inodes; ``free`` and the percentage are those of an unprivileged user, as in
    df.
    """
    total = space.f_blocks * space.f_frsize
    free = space.f_bavail * space.f_frsize
    used = (space.f_blocks - space.f_bfree) * space.f_frsize
    inodes_used = space.f_files - space.f_ffree
    return {
        "total": total,
        "free": free,
        "used": used,
        "usedPercent": percent(used, used + free),
        "inodesTotal": space.f_files,
        "inodesUsed": inodes_used,
        "inodesFree": space.f_ffree,
        "inodesUsedPercent": percent(inodes_used, space.f_files),
    }


def _shown(entry: Dict[str, Any]) -> Dict[str, Any]:
    return dict(entry, device=_text(entry["device"]), mountpoint=_text(entry["mountpoint"]))


def _text(name: str) -> str:
    """Return a name that JSON can carry: bytes that are not text are replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
