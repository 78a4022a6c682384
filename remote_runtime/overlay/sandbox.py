"""Runs a command on the predicted host (target): in a new interpreter, inside a mount namespace.

``unshare`` creates that namespace as root; everything that is created in it ends with it. The
functions below are sent there as compiled code, without this module: each imports what it needs,
and finds the others in ``FUNCTIONS``.
"""

from typing import Any, Dict, List, NoReturn

Plan = Dict[str, Any]


def main(plan: Plan) -> NoReturn:
    """Lay the nodes of the plan over the host, run its command there, and exit in the same way.

    The lines on stderr start with the plan's token: ``ready`` before the command starts, and ``read
    PATH`` after it for each file that it read although its content is unknown.
    """
    import os
    import signal

    token, base = plan["token"], plan["base"]
    try:
        stand_ins = build(plan, base)
    except OSError as error:
        os.write(2, ("%s\n" % error).encode("utf-8", "replace"))
        os._exit(1)
    os.write(2, token + b" ready\n")
    child = os.fork()
    if child == 0:
        try:
            become(plan, base)
        except OSError as error:
            reason = error.strerror or str(error)
            os.write(2, b"\n" + token + b" lost " + reason.encode("utf-8", "replace") + b"\n")
        os._exit(127)
    status = os.waitpid(child, 0)[1]
    for path, upper in stand_ins:
        if os.lstat(upper).st_atime_ns:
            os.write(2, b"\n" + token + b" read " + path + b"\n")
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def become(plan: Plan, base: bytes) -> None:
    """Turn this process into the command, as ``Commands`` does on the host."""
    import os

    data = b"/dev/null"
    if plan["input"] is not None:
        data = base + b"/input"
        with open(data, "wb") as file:
            file.write(plan["input"])
    os.dup2(os.open(data, os.O_RDONLY), 0)
    os.chroot(base + b"/root")
    os.chdir(plan["cwd"])
    os.umask(plan["umask"])
    if plan["identity"] is not None:
        uid, gid, groups = plan["identity"]
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)
    os.execve(plan["program"], plan["argv"], plan["env"])


def build(plan: Plan, base: bytes) -> List[Any]:
    """Create the tree below ``base``; return (path, its upper file) of files with
    unknown content.
    """
    import os

    mounts = mounted()
    nodes = sorted(plan["nodes"])
    mount(b"ccm", base, kind=b"tmpfs", flags=0, options=b"mode=0755")
    parts: Dict[bytes, List[Any]] = {}
    for node in nodes:
        parts.setdefault(nearest(mounts, node[0]), []).append(node)
    stand_ins: List[Any] = []
    whole: List[bytes] = []  # bound with all that is mounted below
    for number, point in enumerate(sorted(mounts)):
        root = base + b"/root"
        target = root + point.rstrip(b"/")
        if point == b"/":
            os.mkdir(target)
        elif any(point.startswith(above + b"/") for above in whole) or not os.path.exists(target):
            continue
        if point in parts:
            place = base + b"/%d" % number
            options = b"lowerdir=%s,upperdir=%s/upper,workdir=%s/work" % (point, place, place)
            for directory in (place, place + b"/upper", place + b"/work"):
                os.mkdir(directory)
            copy_attributes(place + b"/upper", point)
            for node in parts[point]:
                stand_ins += lay(node, point, place + b"/upper")
            keep_times(parts[point], point, place + b"/upper")
            mount(b"ccm", target, kind=b"overlay", flags=mounts[point], options=options)
            for kept in socket_directories(point, mounts, nodes) + plan["own"]:
                if nearest(mounts, kept) == point:
                    bind(kept, root + kept, True)
        elif point == b"/" or any(p.startswith(point + b"/") for p in parts):
            bind(point, target, False)
        else:
            bind(point, target, True)
            whole.append(point)
    return stand_ins


def nearest(mounts: Dict[bytes, int], path: bytes) -> bytes:
    """Return the mount point of the file system that contains a path."""
    around = [p for p in mounts if path == p or path.startswith(p.rstrip(b"/") + b"/")]
    return max(around, key=len)


def mounted() -> Dict[bytes, int]:
    """Return the mount points, with the flags of mount(2) that an overlay there must also have."""
    import os

    flags = {b"nosuid": 2, b"nodev": 4, b"noexec": 8}

    result = {}
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            fields = line.split()
            point = fields[4].decode("unicode_escape").encode("latin-1")
            if os.path.lexists(point) and not fields[3].endswith(b"//deleted"):
                result[point] = sum([flags.get(option, 0) for option in fields[5].split(b",")])
    return result


def socket_directories(point: bytes, mounts: Dict[bytes, int], nodes: List[Any]) -> List[bytes]:
    """The directories with sockets of a file system, which do not work through an overlay; a socket
    itself if something next to it is planned.
    """
    import os

    result: List[bytes] = []
    with open("/proc/net/unix", "rb") as file:
        paths = {line.split(None, 7)[7].rstrip(b"\n") for line in file if b" /" in line}
    for path in sorted(path for path in paths if path.startswith(point) and os.path.exists(path)):
        directory = os.path.dirname(path)
        if nearest(mounts, path) != point or os.path.realpath(directory) != directory:
            continue
        if any(path == node[0] or path.startswith(node[0] + b"/") for node in nodes if node[7]):
            continue  # planned to be gone
        beside = directory == point or any(n[0].startswith(directory + b"/") for n in nodes)
        kept = path if beside else directory
        if not any(kept == other or kept.startswith(other + b"/") for other in result):
            result.append(kept)
    return result


def bind(source: bytes, target: bytes, below: bool) -> None:
    """Bind a path to a second place, if ``below`` with all that is mounted below it; paths that no
    longer exist, such as sockets, are omitted. ``OSError``.
    """
    import os

    for left in (2, 1, 0):
        try:
            flags = 0x5000 if below else 0x1000  # MS_BIND, MS_REC
            mount(source, target, kind=b"", flags=flags, options=b"")
            return
        except OSError:
            if not (os.path.lexists(source) and os.path.lexists(target)):
                return
            if not left:  # else it may have come back only now
                raise


def mount(source: bytes, target: bytes, *, kind: bytes, flags: int, options: bytes) -> None:
    """Call mount(2), as a process for each mount takes longer than all the rest. ``OSError``."""
    import os

    try:
        import ctypes
    except ImportError as error:  # a minimal Python
        raise OSError(str(error)) from error
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source, target, kind, ctypes.c_ulong(flags), options):
        reason = os.strerror(ctypes.get_errno())
        raise OSError("could not mount %s: %s" % (target.decode("utf-8", "replace"), reason))


def lay(node: Any, point: bytes, upper: bytes) -> List[Any]:
    """Create one node in the upper directory of the file system that is mounted at ``point``;
    return the same as ``build``.
    """
    import os
    import stat

    path, kind, mode, uid, gid, content, target, opaque, keeps, kept = node
    cut = len(point.rstrip(b"/"))
    place = upper + path[cut:]
    above = os.path.dirname(path)
    missing = []
    while len(above) > len(point) and not os.path.lexists(upper + above[cut:]):
        missing.append(above)
        above = os.path.dirname(above)
    for directory in reversed(missing):
        os.mkdir(upper + directory[cut:])
        copy_attributes(upper + directory[cut:], directory)
    if kind == "absent":
        if os.path.lexists(path):
            os.mknod(place, stat.S_IFCHR, os.makedev(0, 0))
        return []
    if kind == "symlink":
        os.symlink(target, place)
        os.chown(place, uid, gid, follow_symlinks=False)
        return []
    if kind == "directory":
        if not os.path.isdir(place):
            os.mkdir(place)
        if opaque and os.path.isdir(path):
            os.setxattr(place, "trusted.overlay.opaque", b"y")
        elif not os.path.islink(path):
            copy_attributes(place, path)  # a directory that stays has its access lists
    else:
        with open(place, "wb") as file:
            file.write(b"\n" if content is None else content)
    if keeps and os.path.isfile(path) and not os.path.islink(path):
        copy_attributes(place, path)  # what replaces a file has its extended attributes
    os.chown(place, uid, gid)
    os.chmod(place, mode)
    if kind == "directory":
        return []
    status = os.stat(path if kept else place)
    read = 0 if content is None else status.st_atime_ns
    os.utime(place, ns=(read, status.st_mtime_ns))
    return [(path, place)] if content is None else []


def keep_times(nodes: List[Any], point: bytes, upper: bytes) -> None:
    """Give the directories of an upper directory the times that they have on the host, unless an
    entry of theirs changes.
    """
    import os

    changed = set()
    for path, kind, _, _, _, _, _, opaque, _, kept in nodes:
        if not kept and (kind != "directory" or opaque or not os.path.isdir(path)):
            changed.add(os.path.dirname(path))
    for place, _, _ in os.walk(upper):
        path = point.rstrip(b"/") + place[len(upper) :] or b"/"
        if path not in changed and os.path.isdir(path):
            status = os.stat(path)
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def copy_attributes(copy_path: bytes, original: bytes) -> None:
    """Give a directory the attributes of a directory of the host."""
    import os

    try:
        status = os.stat(original)
    except OSError:
        return
    os.chown(copy_path, status.st_uid, status.st_gid)
    os.chmod(copy_path, status.st_mode & 0o7777)
    for name in os.listxattr(original):
        try:
            os.setxattr(copy_path, name, os.getxattr(original, name))
        except OSError:
            pass


FUNCTIONS = (
    main,
    become,
    build,
    nearest,
    mounted,
    socket_directories,
    bind,
    mount,
    lay,
    keep_times,
    copy_attributes,
)
