"""The contents of a Debian package: files, conffiles and scripts, read from the .deb itself
(target).

The controller stores the contents for a fleet, so they have a serialized form. This form is
validated on arrival, because another host may have sent it.
"""

import os
import stat
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content
from remote_runtime.stdlib_light.sha256_digest import sha256

MAX_MEMBERS = 20000
MAX_SIZE = 1 << 30  # bytes of all files, with the holes of sparse ones
MAX_DEPTH = 100  # directories of one path,
MAX_DIRECTORIES = 20 * MAX_MEMBERS  # and of all paths together
MAX_TEXT = 16 << 10  # bytes of one text that is kept, a conffile or a unit,
MAX_SCRIPT = 128 << 10  # of a script,
MAX_TEXTS = 512 << 10  # and of all of them together
TRIGGERS = "triggers"
CONFIG = "config"  # debconf's
SCRIPTS = ("preinst", "postinst", "prerm", "postrm", CONFIG, TRIGGERS)  # with dpkg's control file
UNIT_DIRECTORIES = ("/lib/systemd/system/", "/usr/lib/systemd/system/")
SYSUSERS = "/usr/lib/sysusers.d/"
TMPFILES = "/usr/lib/tmpfiles.d/"
_PRESETS = ("/lib/systemd/system-preset/", "/usr/lib/systemd/system-preset/")
_TEXTS = ("/etc/", SYSUSERS, TMPFILES, *UNIT_DIRECTORIES, *_PRESETS)
_DATA = ("/var/", "/srv/", "/opt/")
_MAX_DATA = 64 << 10  # bytes of the texts below these
_KINDS = ("file", "directory", "symlink", "something")
_MAX_LENGTH = 4096
_BLOCK = 1 << 16
_SMALL = 1 << 16  # bytes of a file that is always hashed


class Member(NamedTuple):
    """One path of a package.

    ``text`` is the content of a small file of a relevant kind. ``something``: it is installed, and
    everything else is unknown. ``target`` is the target of a symlink, or the other name of a hard
    link. ``owner`` and ``group`` are the names in an RPM, "" for root. ``config`` has the words of
    an RPM's configuration file, see ``rpm.contents``.
    """

    path: str
    kind: str
    mode: int
    uid: int
    gid: int
    size: int = 0
    sha256: str = ""
    target: str = ""
    text: str = ""
    owner: str = ""
    group: str = ""
    config: str = ""


def may_be(member: Member, size: int) -> bool:
    """Return whether a file of the host with this size may have the content of a member. Another
    host may have reported the member, and a large file would take long to hash.
    """
    return size <= _SMALL or size == member.size


ContentReader = Callable[[str], Optional[bytes]]


class PackagedFile(Content):
    """A file that is still in a package."""

    def __init__(
        self, member: Member, package: str, reader: Optional[ContentReader] = None
    ) -> None:
        self.sha256, self.size = member.sha256, member.size
        self._member, self._package, self._look = member, package, reader
        self._fetched: Optional[bytes] = None

    def fetch(self) -> None:
        """Return the bytes; ``Unknowable`` if their hash differs from the hash in the package."""
        if self._look is None or self._member.text or self._fetched is not None:
            return
        data = self._look(self._member.path)
        if data is not None and sha256(data).hexdigest() == self.sha256:
            self._fetched = data

    def chunks(self) -> Chunks:
        """Yield the bytes; ``Unknowable`` if they have not been read yet."""
        if self._fetched is not None:
            yield self._fetched
            return
        text = self._member.text.encode("utf-8", "surrogateescape")
        if len(text) != self.size:
            raise Unknowable(
                "the contents of %s are not known until %s is installed"
                % (self._member.path, self._package)
            )
        yield text


class Contents(NamedTuple):
    """The contents of a package.

    ``conffiles`` are the paths that are not replaced if they were edited. ``scripts`` are texts by
    name; those of an RPM use the names of a .deb. ``is_so`` verifies contents that another host
    reported; None for contents read here. ``look`` reads a file from the package itself, and
    returns its bytes or None.
    """

    members: Sequence[Member]
    conffiles: Sequence[str]
    scripts: Dict[str, str]
    is_so: Optional[Callable[[], bool]] = None
    look: Optional[ContentReader] = None

    def form(self) -> Dict[str, Any]:
        """Return the serialized form, JSON."""
        return {
            "members": [list(member) for member in self.members],
            "conffiles": list(self.conffiles),
            "scripts": dict(self.scripts),
        }


def parse(form: Any) -> Contents:
    """Parse the serialized form; ``ValueError`` for anything that ``read`` would not return."""
    if not isinstance(form, dict) or set(form) != {"members", "conffiles", "scripts"}:
        raise ValueError("not the contents of a package")
    members, conffiles, scripts = form["members"], form["conffiles"], form["scripts"]
    if not isinstance(members, list) or len(members) > MAX_MEMBERS:
        raise ValueError("not the files of a package")
    if not isinstance(conffiles, list) or len(conffiles) > len(members):
        raise ValueError("not the conffiles of a package")
    if not isinstance(scripts, dict) or not set(scripts) <= set(SCRIPTS):
        raise ValueError("not the scripts of a package")
    parsed_members = [_member(entry) for entry in members]
    for path in conffiles:
        _check_path(path)
    if not all(_is_text(text, MAX_SCRIPT) for text in scripts.values()):
        raise ValueError("a script of a package is too long or not text")
    if sum(map(len, [*scripts.values(), *(member.text for member in parsed_members)])) > MAX_TEXTS:
        raise ValueError("the texts of a package are too long")
    if sum(member.size for member in parsed_members) > MAX_SIZE:
        raise ValueError("the files of a package are too large")
    if sum(member.path.count("/") for member in parsed_members) > MAX_DIRECTORIES:
        raise ValueError("the paths of a package are too long")
    return Contents(parsed_members, conffiles, scripts)


def _member(entry: Any) -> Member:
    if not isinstance(entry, list) or len(entry) != len(Member._fields):
        raise ValueError("not a file of a package")
    member = Member(*entry)
    _check_path(member.path)
    numbers = (member.mode, member.uid, member.gid, member.size)
    if not all(type(number) is int and 0 <= number < 1 << 48 for number in numbers):
        raise ValueError("an entry of a package has invalid numbers")
    if member.kind not in _KINDS or member.mode > 0o7777:
        raise ValueError("a file of a package is of an unknown kind")
    names = (member.sha256, member.target, member.owner, member.group, member.config)
    limits = [*((name, _MAX_LENGTH) for name in names), (member.text, MAX_SCRIPT)]
    if not all(_is_text(text, maximum) and "\0" not in text for text, maximum in limits):
        raise ValueError("an entry of a package has invalid text")
    return member


def _check_path(path: Any) -> None:
    if not _is_text(path, _MAX_LENGTH) or not path.startswith("/") or "\0" in path:
        raise ValueError("a path of a package is invalid")
    if os.path.normpath(path) != path or path.startswith("//"):
        raise ValueError("a path of a package is not normalized")
    _check_depth(path)


def _check_depth(path: str) -> None:
    if path.count("/") > MAX_DEPTH:
        raise ValueError("a path of a package has more than %d directories" % MAX_DEPTH)


def _is_text(value: Any, longest: int) -> bool:
    """Return whether the value is a text that can be encoded; may raise ``ValueError`` if it
    cannot.
    """
    if not isinstance(value, str) or len(value) > longest:
        return False
    value.encode("utf-8", "surrogateescape")
    return True


def read(directory: str) -> Contents:
    """Read a directory that ``dpkg-deb --raw-extract`` filled. ``OSError``, ``ValueError``."""
    control = os.path.join(directory, "DEBIAN")
    scripts = {}
    for name in SCRIPTS:
        path = os.path.join(control, name)
        if _is_file(path):
            scripts[name] = _script(path)
    listed = os.path.join(control, "conffiles")
    conffiles = []
    if _is_file(listed):
        with open(listed, encoding="utf-8") as file:
            words = [line.split() for line in file]
        conffiles = [w[0] for w in words if len(w) == 1]  # more is a flag, as "remove-on-upgrade"
    return Contents(members_below(directory, _is_own), conffiles, scripts)


def _is_file(path: str) -> bool:
    """Return whether a package contains this file. ``ValueError`` for a symlink, which may lead
    outside the package.
    """
    if os.path.islink(path):
        raise ValueError("%s is a symlink" % os.path.basename(path))
    return os.path.isfile(path)


def _is_own(path: str) -> bool:
    return path != "/DEBIAN" and not path.startswith("/DEBIAN/")


def members_below(root: str, own: Callable[[str], bool]) -> List[Member]:
    """Return the members below the directory with an unpacked package, limited to its ``own``
    paths.

    ``OSError``, ``ValueError``.
    """
    members: List[Member] = []
    _walk(root, "", own=own, members=members, size=0)
    first: Dict[Tuple[int, int], str] = {}
    for at, member in enumerate(members):
        if member.kind == "file":
            status = os.lstat(root + member.path)
            name = first.setdefault((status.st_dev, status.st_ino), member.path)
            if name != member.path:
                members[at] = member._replace(target=name)
    return _with_data(root, members)


def _with_data(root: str, members: List[Member]) -> List[Member]:
    """Return the members with the smallest texts of world-readable files: previews show how a
    managed file differs from them.
    """
    files = [m for m in members if m.kind == "file" and m.path.startswith(_DATA)]
    data = [member for member in files if member.mode & stat.S_IROTH]
    texts: Dict[str, str] = {}
    remaining_size = _MAX_DATA
    for member in sorted(data, key=lambda member: (member.size, member.path)):
        remaining_size -= member.size
        if remaining_size < 0:
            break
        texts[member.path] = _text(root + member.path)
    return [m._replace(text=texts[m.path]) if m.path in texts else m for m in members]


def _walk(
    root: str, below: str, *, own: Callable[[str], bool], members: List[Member], size: int
) -> int:
    """Append the members below a directory; return ``size`` plus their bytes."""
    _check_depth(below)
    for name in sorted(os.listdir(root + below)):
        path = "%s/%s" % (below, name)
        if len(members) == MAX_MEMBERS:
            raise ValueError("more than %d files" % MAX_MEMBERS)
        status = os.lstat(root + path)
        if own(path):
            size += status.st_size
            if size > MAX_SIZE:
                raise ValueError("files of more than %d bytes" % MAX_SIZE)
            members.append(_found(root, path, status))
        if stat.S_ISDIR(status.st_mode):
            size = _walk(root, path, own=own, members=members, size=size)
    return size


def _found(root: str, path: str, status: os.stat_result) -> Member:
    owned = Member(
        path, "something", mode=stat.S_IMODE(status.st_mode), uid=status.st_uid, gid=status.st_gid
    )
    if stat.S_ISDIR(status.st_mode):
        return owned._replace(kind="directory")
    if stat.S_ISLNK(status.st_mode):
        return owned._replace(kind="symlink", mode=0o777, target=os.readlink(root + path))
    if not stat.S_ISREG(status.st_mode):
        return owned
    text = _text(root + path) if path.startswith(_TEXTS) else ""
    sha = digest(root + path)
    return owned._replace(kind="file", size=status.st_size, sha256=sha, text=text)


def digest(path: str) -> str:
    """Return the SHA-256 of a file. ``OSError``."""
    hasher = sha256(size=os.path.getsize(path))
    with open(path, "rb") as file:
        while True:
            block = file.read(_BLOCK)
            if not block:
                return str(hasher.hexdigest())
            hasher.update(block)


def _text(path: str) -> str:
    """Return a small text; "" for anything else."""
    with open(path, "rb") as file:
        data = file.read(MAX_TEXT + 1)
    try:
        return data.decode("utf-8") if len(data) <= MAX_TEXT and b"\0" not in data else ""
    except ValueError:
        return ""


def _script(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read(MAX_SCRIPT + 1)
    if len(data) > MAX_SCRIPT:
        raise ValueError("%s is too long" % os.path.basename(path))
    return data.decode("utf-8", "replace")
