"""The administrator's rules for dpkg on this host (target; in previews only).

They are diversions, overrides of owner and mode, excluded paths and configuration files. All of
them belong to this host; a package contains none of them.
"""

import os
from typing import TYPE_CHECKING, Callable, Dict, List, Mapping, NamedTuple, Sequence, Set

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg import settings as dpkg_settings
from remote_runtime.packages.dpkg.database import ADMIN
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.dpkg.settings import REFUSED, Settings

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files

DIVERSIONS, OVERRIDES = ADMIN + "/diversions", ADMIN + "/statoverride"
_LIMIT = 4 << 20  # bytes of one file
_LOCAL = ":"


class Diversion(NamedTuple):
    """The path ``to`` which a path is diverted for all packages except ``package``; "" means for
    all packages.
    """

    to: str
    package: str


class Override(NamedTuple):
    """The attributes that dpkg gives a path instead of those in its package."""

    uid: int
    gid: int
    mode: int


class HostRules(object):
    """The rules of one host; ``package`` is a package's name, regardless of the architecture."""

    def __init__(
        self,
        diversions: Mapping[str, Diversion],
        overrides: Mapping[str, Override],
        settings: Settings,
    ) -> None:
        self._diversions, self._overrides, self._settings = diversions, overrides, settings
        self._applied: Dict[str, Contents] = {}

    @property
    def unclear(self) -> str:
        """The reason why it is unknown whether dpkg changes anything, or ""."""
        return self._settings.unclear

    def forces(self, thing: str) -> bool:
        """Return whether dpkg is configured to continue where it would stop or prompt."""
        return thing in self._settings.forced

    def place(self, path: str, package: str) -> str:
        """Return where a path of a package is on this host."""
        diversion = self._diversions.get(path)
        if diversion is None or diversion.package == package.partition(":")[0]:
            return path
        return diversion.to

    def diverter(self, path: str) -> str:
        """Return the package for which a path is diverted; "" if there is none."""
        diversion = self._diversions.get(path)
        return diversion.package if diversion is not None else ""

    def diverts(self, path: str) -> bool:
        """Return whether a path is diverted."""
        return path in self._diversions

    def comes(self, member: Member) -> bool:
        """Return whether a path of a package is installed, rather than excluded."""
        path = os.fsencode(member.path)
        comes = True
        for one in self._settings.filters:
            if one.pattern.match(path):
                comes = one.include
        if comes or member.kind not in ("directory", "symlink"):
            return comes
        return any(one.include and path.startswith(one.directory) for one in self._settings.filters)

    def applied(self, contents: Contents, package: str) -> Contents:
        """Return the contents that a package installs on this host, at their paths; computed once
        per package."""
        if package not in self._applied:
            self._applied[package] = self._lying(contents, package)
        return self._applied[package]

    def _lying(self, contents: Contents, package: str) -> Contents:
        members: List[Member] = []
        for member in contents.members:
            if not self._settings.filters or self.comes(member):
                override = self._overrides.get(member.path)
                if override is not None:
                    mode = member.mode if member.kind == "symlink" else override.mode
                    member = member._replace(mode=mode, uid=override.uid, gid=override.gid)
                members.append(member._replace(path=self.place(member.path, package)))
        conffiles = [self.place(path, package) for path in contents.conffiles]
        return contents._replace(members=members, conffiles=conffiles)

    def refuse(self, files: "Files", contents: Contents, package: str) -> None:
        """Raise ``ResourceError`` if dpkg would not unpack a package because of these rules."""
        targets = {diversion.to for diversion in self._diversions.values()}
        for member in contents.members:
            if member.path in targets and not self.forces("overwrite-diverted"):
                raise _not_unpacked(package, "%s is the target of a diversion", member.path)
        applied = self.applied(contents, package).members
        if [member.path for member in applied] == [member.path for member in contents.members]:
            return
        self._refuse_links(files, contents, package)
        directories = {"/"} | {m.path for m in applied if m.kind in ("directory", "symlink")}
        for member in applied:
            above = os.path.dirname(member.path)
            if above not in directories and not files.is_directory(above):
                raise _not_unpacked(package, "the directory %s of its file will not exist", above)

    def _refuse_links(self, files: "Files", contents: Contents, package: str) -> None:
        """Refuse a hard link to an excluded file: it has no file to link to."""
        gone = {member.path for member in contents.members if not self.comes(member)}
        for member in contents.members:
            if member.kind == "file" and member.target in gone and member.path not in gone:
                if files.is_there(self.place(member.target, package)):
                    raise Unknowable("%s becomes a link to an existing path" % member.path)
                raise _not_unpacked(package, "%s is a link to an excluded file", member.path)


def _not_unpacked(package: str, reason: str, path: str) -> ResourceError:
    return ResourceError(
        "%s cannot be installed: %s" % (package, reason % path),
        kind="package.conflict",
        hint="check `dpkg-divert --list` and path-exclude in /etc/dpkg on the host",
    )


def read(
    files: "Files",
    accounts: "Accounts",
    *,
    home: str,
    options: Sequence[str],
    installs: bool,
    trouble: Callable[[str], str],
) -> HostRules:
    """Read the rules.

    ``installs``: packages are also installed, and only these need overrides. ``options`` are those
    that apt passes to dpkg; for ``trouble`` see ``dpkg_settings.read``. ``ResourceError`` if dpkg
    would refuse to run.
    """
    settings = dpkg_settings.read(files, home, options, trouble)
    overrides = _overrides(_text(files, OVERRIDES), accounts) if installs else {}
    return HostRules(_diversions(_text(files, DIVERSIONS)), overrides, settings)


def _text(files: "Files", path: str) -> str:
    if not files.exists(path):
        return ""
    text = files.read(path, _LIMIT, follow=True).decode("utf-8", "surrogateescape")
    if text and not text.endswith("\n"):
        raise _refused(path, "its last line has no line break")
    return text


def _diversions(text: str) -> Dict[str, Diversion]:
    lines = text.split("\n")[:-1]
    diversions: Dict[str, Diversion] = {}
    taken: Set[str] = set()
    if len(lines) % 3:
        raise _refused(DIVERSIONS, "it is truncated")
    for at in range(0, len(lines), 3):
        path, to = _node(lines[at]), _node(lines[at + 1])
        if taken & {path, to}:
            raise _refused(DIVERSIONS, "two diversions apply to %s or %s" % (path, to))
        taken |= {path, to}
        package = lines[at + 2]
        diversions[path] = Diversion(to, "" if package == _LOCAL else package)
    return diversions


def _overrides(text: str, accounts: "Accounts") -> Dict[str, Override]:
    overrides: Dict[str, Override] = {}
    for line in text.split("\n")[:-1]:
        words = line.split(" ", 3)
        if len(words) != 4:
            raise _refused(OVERRIDES, "it contains the invalid line %r" % line)
        user, group, mode, path = words[0], words[1], words[2], _node(words[3])
        if not mode or mode.strip("01234567") or int(mode, 8) > 0o7777:
            raise _refused(OVERRIDES, "it contains the invalid mode %r" % mode)
        if path in overrides:
            raise _refused(OVERRIDES, "it lists %s twice" % path)
        uid, gid = _number(accounts, "user", user), _number(accounts, "group", group)
        overrides[path] = Override(uid, gid, int(mode, 8))
    return overrides


def _number(accounts: "Accounts", kind: str, name: str) -> int:
    if name.startswith("#"):
        if not name[1:].isdigit():
            raise _refused(OVERRIDES, "it contains the invalid %s %r" % (kind, name))
        return int(name[1:])
    if name.isdigit():
        raise Unknowable("cannot tell whether the %s %s exists" % (kind, name))
    number = accounts.number(kind, name)
    if number is None:
        raise _refused(OVERRIDES, "it names the %s %r, which does not exist" % (kind, name))
    return number


def _node(path: str) -> str:
    """Return a path in the form that dpkg stores."""
    while path.startswith(("/", "./")):
        path = path[1:] if path.startswith("/") else path[2:]
    return "/" + path


def _refused(path: str, reason: str) -> ResourceError:
    return ResourceError(
        "dpkg would fail: %s: %s" % (path, reason),
        kind=REFUSED,
        hint="fix it with `dpkg-statoverride` or `dpkg-divert` on the host",
    )
