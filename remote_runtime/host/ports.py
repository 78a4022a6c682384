"""The interfaces through which a state type reads and changes a host (target).

A ``HostReader`` only reads. A ``Host`` also changes things: the machine does what is called; the
overlay of a preview checks what the machine would refuse and records the rest. Both implement these
classes, which contain the common rules. Every method may raise ``ResourceError``; on the overlay
also ``Unknowable``, if the result is unknown before the push.
"""

import os
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    List,
    Mapping,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
)

from remote_runtime.errors import ResourceError
from remote_runtime.host.kernel_ports import Kernel, KernelReader
from remote_runtime.retries import ONCE, Tries

if TYPE_CHECKING:
    from remote_runtime.changes import Ended
    from remote_runtime.host.checkouts import CheckoutReader, Checkouts
    from remote_runtime.host.command import Command
    from remote_runtime.host.downloads import DownloadReader, Downloads
    from remote_runtime.host.mount_ports import MountReader, Mounts
    from remote_runtime.host.package_ports import PackageListReader, PackageLists
    from remote_runtime.system.account_files import Group, User
    from remote_runtime.system.process.commands import Result
    from remote_runtime.units.status import Status

LARGEST = 1 << 20  # bytes of a file that is read completely
OURS = -1  # the user or group that the kernel gives to what the run makes


class Node(NamedTuple):
    """What is at a path: ``kind`` is file, directory, symlink or other.

    ``mode`` has the special bits, ``target`` is the text of a symlink as it was written.
    """

    kind: str
    mode: int
    uid: int
    gid: int
    size: int  # bytes
    target: str = ""


class FileReader(object):
    """Reads paths. Symlinks of other users are refused, as everywhere in ccm."""

    def lstat(self, path: str) -> Optional[Node]:
        """What is at the path itself, None where nothing is."""
        raise NotImplementedError

    def stat(self, path: str) -> Optional[Node]:
        """What the path leads to, symlinks followed; None where nothing is."""
        raise NotImplementedError

    def real(self, path: str) -> str:
        """The path without symlinks: on its way and at its end they are followed."""
        raise NotImplementedError

    def exists(self, path: str) -> bool:
        """Whether something is there, looked up as a shell does."""
        raise NotImplementedError

    def is_created(self, path: str) -> bool:
        """The same of a path that makes a resource needless once it exists."""
        raise NotImplementedError

    def read(self, path: str, limit: int = LARGEST) -> bytes:
        """The content of a regular file of at most ``limit`` bytes."""
        raise NotImplementedError

    def digest(self, path: str, algorithm: str = "sha256") -> str:
        """The hash of the regular file at the path itself, sha256 or sha512, in hexadecimal."""
        raise NotImplementedError

    def entries(self, path: str) -> List[str]:
        """The names in a directory, sorted."""
        raise NotImplementedError


class Files(FileReader):
    """Reads and changes paths. What fails leaves the path as it was.

    The parent directory of what is made must exist. A symlink at the end of a path is replaced,
    never written through.
    """

    def write(
        self,
        path: str,
        data: bytes,
        *,
        mode: int,
        uid: int = OURS,
        gid: int = OURS,
        validate: str = "",
        part: bool = False,
    ) -> None:
        """Put a regular file with these bytes there, in one rename. Refused over a directory.

        Extended attributes and ACL of a replaced file are kept. ``validate`` is a command with
        ``{}`` for the finished file: if it fails, nothing is replaced; a preview runs it, too.
        ``part``: the resource manages a part of the content only.
        """
        self.require_file_place(path)
        self._write(path, data, mode=mode, uid=uid, gid=gid, validate=validate, part=part)

    def rewrite(self, path: str, data: bytes, *, validate: str = "") -> None:
        """Give a regular file these bytes, in one rename; it keeps owner, mode, extended attributes
        and ACL.

        For types that change a part of a file: symlinks at the path are followed, so that they
        stay, and other hard links keep the old content. ``validate`` as in ``write``.
        """
        there = self.stat(path) is not None
        real = self.real(path) if there else path  # others may turn the links: only this counts
        node = self.lstat(real) if there else None
        if node is None:
            raise ResourceError("%s does not exist" % path, kind="resource.file.enoent")
        if node.kind != "file":
            _refuse(path, node, "use the path of a regular file")
        mode, uid, gid = node.mode, node.uid, node.gid
        self._write(real, data, mode=mode, uid=uid, gid=gid, validate=validate, part=True)

    def mkdir(self, path: str, mode: int, uid: int = OURS, gid: int = OURS) -> None:
        """Create a directory. Refused where anything is at the path."""
        self._require_parent(path)
        node = self.lstat(path)
        if node is not None:
            _refuse(path, node, "use another path")
        self._mkdir(path, mode, uid, gid)

    def symlink(self, target: str, path: str, replace: bool = False) -> None:
        """Put a symlink with this text there, in one rename.

        It takes the place of another symlink; with ``replace`` of an empty directory, too. Anything
        else at the path is refused.
        """
        self._require_parent(path)
        node = self.lstat(path)
        empty = node is not None and node.kind == "directory" and replace
        if node is not None and node.kind != "symlink" and not empty:
            _refuse(path, node, "use another path, or move it away first")
        if empty:
            self._require_empty(path)
        self._symlink(target, path, in_directory=empty)

    def copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        """Make a directory with a copy of all that is in another one, in one rename.

        It gets this mode; what is in it keeps its own. All of it gets this owner and group.
        Devices, sockets and pipes are left out. Refused where anything is at the path.
        """
        self._require_parent(path)
        node = self.lstat(path)
        if node is not None:
            _refuse(path, node, "use another path")
        self._copy_tree(source, path, mode=mode, uid=uid, gid=gid)

    def set_attributes(self, path: str, mode: int, uid: int, gid: int) -> None:
        """Set mode, owner and group of the file or directory at the path itself."""
        node = self.lstat(path)
        if node is None:
            raise ResourceError("%s does not exist" % path, kind="resource.file.enoent")
        if node.kind not in ("file", "directory"):
            _refuse(path, node, "use the path that it leads to")
        self._set_attributes(path, mode, uid, gid)

    def unlink(self, path: str, kind: str = "") -> None:
        """Remove what is at the path, which is no directory; ``kind`` is what it has to be."""
        node = self.lstat(path)
        if node is None:
            return
        if node.kind == "directory" or (kind and node.kind != kind):
            _refuse(path, node, "check the path; it was not changed")
        self._unlink(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        node = self.lstat(path)
        if node is None:
            return
        if node.kind != "directory":
            _refuse(path, node, "check the path; it was not changed")
        self._require_empty(path)
        self._unlink(path)

    def remove_tree(self, path: str) -> None:
        """Remove a directory with everything in it; symlinks in it are removed, not followed."""
        if path.strip("/") == "":
            raise ResourceError("the root directory cannot be removed")
        node = self.lstat(path)
        if node is None:
            return
        if node.kind != "directory":
            _refuse(path, node, "check the path; it was not changed")
        self._remove_tree(path)

    def require_file_place(self, path: str) -> None:
        """``ResourceError`` where no file can be put: over a directory, or without its parent."""
        self._require_parent(path)
        node = self.lstat(path)
        if node is not None and node.kind not in ("file", "symlink"):
            _refuse(path, node, "use another path")

    # -- what an implementation does, once the rules above are met ------------------------------

    def _write(
        self,
        path: str,
        data: bytes,
        *,
        mode: int,
        uid: int,
        gid: int,
        validate: str,
        part: bool,
    ) -> None:
        raise NotImplementedError

    def _mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        raise NotImplementedError

    def _copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        raise NotImplementedError

    def _symlink(self, target: str, path: str, in_directory: bool) -> None:
        """``in_directory``: an empty directory is at the path."""
        raise NotImplementedError

    def _set_attributes(self, path: str, mode: int, uid: int, gid: int) -> None:
        raise NotImplementedError

    def _unlink(self, path: str) -> None:
        """Also an empty directory."""
        raise NotImplementedError

    def _remove_tree(self, path: str) -> None:
        raise NotImplementedError

    def _require_parent(self, path: str) -> None:
        directory = os.path.dirname(path)
        above = self.stat(directory)
        if above is None or above.kind != "directory":
            what = "does not exist" if above is None else "is not a directory"
            raise ResourceError(
                "the parent directory %s %s" % (directory, what),
                kind="resource.missing",
                hint="manage it in an earlier file resource with ensure: directory",
            )

    def _require_empty(self, path: str) -> None:
        left = self.entries(path)
        if left:
            shown = ", ".join(left[:3]) + (" and %d more" % (len(left) - 3) if left[3:] else "")
            raise ResourceError(
                "the directory %s is not empty: it contains %s" % (path, shown),
                kind="resource.file.enotempty",
                hint="check the path; it was not changed",
            )


def _refuse(path: str, node: Node, hint: str) -> NoReturn:
    what = "device, socket or pipe" if node.kind == "other" else node.kind
    raise ResourceError("%s is a %s" % (path, what), kind="resource.file.kind", hint=hint)


class AccountReader(object):
    """Reads users and groups, of every database that the host uses."""

    def uid(self, user: str) -> Optional[int]:
        """The number of a user, None for an unknown one; digits are a number. Negative where the
        push gives it."""
        raise NotImplementedError

    def gid(self, group: str) -> Optional[int]:
        """The number of a group, None for an unknown one; digits are a number. Negative where the
        push gives it."""
        raise NotImplementedError

    def user(self, name: str) -> "Optional[User]":
        """All that is kept of a user, None for an unknown one."""
        raise NotImplementedError

    def group(self, name: str) -> "Optional[Group]":
        """All that is kept of a group, None for an unknown one."""
        raise NotImplementedError

    def user_name(self, uid: int) -> str:
        """The user that has a number, "" where none has."""
        raise NotImplementedError

    def group_name(self, gid: int) -> str:
        """The group that has a number, "" where none has."""
        raise NotImplementedError

    def groups_of(self, user: str) -> List[str]:
        """The supplementary groups of a user that are in the host's own file, sorted."""
        raise NotImplementedError

    def logins(self) -> Sequence[str]:
        """The users that must not be locked out: root, and who is logged in for this run."""
        raise NotImplementedError

    def login_keys(self) -> Sequence[str]:
        """The SHA-256 fingerprints of the SSH key that the login of this run used, and of the CA
        that signed it; none where it used no key."""
        raise NotImplementedError


class Accounts(AccountReader):
    """Reads and changes users and groups. Only root may change them, in the files of the host.

    ``wanted`` has what is to be changed, and nothing else: ``uid``, ``group`` (the primary one),
    ``groups``, ``append`` (keep other groups), ``comment``, ``home``, ``move_home``,
    ``create_home``, ``shell``, ``password`` (a hash), ``locked`` and ``expires`` (the day since the
    epoch, None for never).
    """

    def add_group(self, name: str, gid: Optional[int] = None, system: bool = False) -> None:
        """Create a group; ``gid`` is None for the next number; ``system`` selects the range of
        numbers.
        """
        raise NotImplementedError

    def set_gid(self, name: str, gid: int) -> None:
        """Give a group another number. Files keep the old one; primary groups of users follow."""
        raise NotImplementedError

    def remove_group(self, name: str, force: bool = False) -> None:
        """Remove a group; ``force``: even one that the user of the run belongs to."""
        raise NotImplementedError

    def add_user(self, name: str, wanted: Mapping[str, Any], system: bool = False) -> None:
        """Create a user; without a ``group`` it gets one of its own name."""
        raise NotImplementedError

    def change_user(self, name: str, wanted: Mapping[str, Any]) -> None:
        """Change a user. Another number or home is refused while processes run as the user."""
        raise NotImplementedError

    def remove_user(
        self, name: str, home: Optional[bool] = False, kill: Optional[bool] = False
    ) -> None:
        """Remove a user, and its own group as the system's tools do; with ``home`` its home
        directory and mail, too; if the user stays, they stay.

        Refused while processes run as the user; ``kill`` ends them.
        """
        raise NotImplementedError


class CommandReader(object):
    """Looks programs up, and runs commands of the user that only look.

    What programs print is for the ports to read, not for a type.
    """

    def find(self, program: str) -> str:
        """The path of a program, "" where there is none."""
        raise NotImplementedError

    def require_start(self, command: "Command", own: str) -> None:
        """``Missing`` for what keeps a command from starting: its directory, user, group or
        program. ``own`` names the command in messages."""
        raise NotImplementedError

    def look(self, command: "Command") -> "Result":
        """Run a command that changes nothing, in a preview on the host as it will be."""
        raise NotImplementedError

    def holds(self, guard: "Command", own: str) -> bool:
        """Whether a guard exits with one of its codes; ``own`` names it in messages. Runs in
        previews as ``look`` does."""
        raise NotImplementedError


class Commands(CommandReader):
    """Runs programs that change the host. ``ended`` is how the last command of the user ended,
    ``tries`` the number of tries that it took, 0 where only one was allowed."""

    ended: "Optional[Ended]"
    tries = 0

    def run(
        self,
        argv: Sequence[str],
        *,
        input: Optional[bytes] = None,  # noqa: A002 - the name that subprocess gives it
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
    ) -> None:
        """Run a program to its end; ``ResourceError`` where it does not exit with 0.

        ``timeout`` in seconds, None for none. ``affects`` are the paths that it may change, with
        all below them; None stands for everything on the host. A preview does not run it, and is
        uncertain about these from then on.
        """
        raise NotImplementedError

    def execute(
        self,
        command: "Command",
        *,
        creates: str = "",
        affects: Optional[Sequence[str]] = None,
        log: bool = False,
        tries: Tries = ONCE,
    ) -> None:
        """Run a command of the user to its end. ``UnsettledError`` where it exits with none of its
        codes and has not created the path ``creates`` either.

        ``affects`` are paths, with all below them, and resources as TYPE#NAME; None stands for
        everything. ``log``: its standard output is reported. ``tries``: it runs again if that
        fails, unless ``creates`` is there by then. A preview checks whether the command can start,
        and is uncertain about what it affects from then on.
        """
        raise NotImplementedError


class UnitReader(object):
    """Reads the units of the init system. One query answers for all units of the plan."""

    def status(self, name: str) -> "Status":
        """The state of a unit; where systemd has not read what was changed, it is told to first."""
        raise NotImplementedError


class Units(UnitReader):
    """Reads and changes units; the suffix ``.service`` is optional."""

    def start(self, name: str) -> None:
        """Start a unit. ``ResourceError`` if it does not run then."""
        raise NotImplementedError

    def stop(self, name: str) -> None:
        """Stop a unit."""
        raise NotImplementedError

    def restart(self, name: str) -> None:
        """Stop a unit and start it again. ``ResourceError`` if it does not run then."""
        raise NotImplementedError

    def reload(self, name: str) -> None:
        """Have a unit that runs read its configuration again; one that cannot is restarted, and
        that is reported. ``ResourceError`` if the unit says that it failed, or does not run then.
        """
        raise NotImplementedError

    def enable(self, name: str) -> None:
        """Have a unit started at boot."""
        raise NotImplementedError

    def disable(self, name: str) -> None:
        """Have a unit not started at boot."""
        raise NotImplementedError

    def mask(self, name: str) -> None:
        """Have nothing start a unit, at boot neither. What runs goes on."""
        raise NotImplementedError

    def unmask(self, name: str) -> None:
        """Let a unit be started again."""
        raise NotImplementedError


RareParts = Callable[[str], Any]
"""Makes the ports that few types use, by their names."""


def _no_parts(name: str) -> Any:
    raise AttributeError(name)


class HostReader(object):
    """A host that can be read."""

    def __init__(
        self,
        files: FileReader,
        accounts: AccountReader,
        commands: CommandReader,
        kernel: KernelReader,
    ) -> None:
        self.files = files
        self.accounts = accounts
        self.commands = commands
        self.kernel = kernel
        self.parts: RareParts = _no_parts

    @property
    def lists(self) -> "PackageListReader":
        """The package lists."""
        lists: PackageListReader = self.parts("lists")
        return lists

    @property
    def checkouts(self) -> "CheckoutReader":
        """Checkouts of git repositories."""
        checkouts: CheckoutReader = self.parts("checkouts")
        return checkouts

    @property
    def mounts(self) -> "MountReader":
        """What is mounted."""
        mounts: MountReader = self.parts("mounts")
        return mounts

    @property
    def downloads(self) -> "DownloadReader":
        """Files of web servers."""
        downloads: DownloadReader = self.parts("downloads")
        return downloads

    @property
    def units(self) -> UnitReader:
        """The units of the init system."""
        units: UnitReader = self.parts("units")
        return units


class Host(HostReader):
    """A host that can be read and changed. ``warn`` gets a line for people. ``tries`` is the number
    of tries that the last download took, 0 where only one was allowed."""

    files: Files
    accounts: Accounts
    commands: Commands
    kernel: Kernel

    def __init__(
        self,
        files: Files,
        accounts: Accounts,
        commands: Commands,
        kernel: Kernel,
    ) -> None:
        super().__init__(files, accounts, commands, kernel)
        self.warn: Callable[[str], object] = str
        self.tries = 0

    @property
    def checkouts(self) -> "Checkouts":
        """Checkouts of git repositories."""
        checkouts: Checkouts = self.parts("checkouts")
        return checkouts

    @property
    def mounts(self) -> "Mounts":
        """What is mounted."""
        mounts: Mounts = self.parts("mounts")
        return mounts

    @property
    def lists(self) -> "PackageLists":
        """The package lists."""
        lists: PackageLists = self.parts("lists")
        return lists

    @property
    def units(self) -> Units:
        """The units of the init system."""
        units: Units = self.parts("units")
        return units

    @property
    def downloads(self) -> "Downloads":
        """Files of web servers."""
        downloads: Downloads = self.parts("downloads")
        return downloads
