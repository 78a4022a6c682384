"""The interfaces through which a state type reads and changes a host (target).

A ``HostReader`` only reads. A ``Host`` also changes things: the machine does what is called; the
overlay of a preview checks what the machine would refuse and records the rest. Both implement these
classes, which contain the common rules. Every method may raise ``ResourceError``; on the overlay
also ``Unknowable``, if the result is unknown before the push.
"""

from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Sequence

from remote_runtime.changes import Missing
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import LARGEST, OURS, Contents, FileReader, Files, Node
from remote_runtime.retries import ONCE, RetryPolicy

if TYPE_CHECKING:
    from remote_runtime.changes import Ended
    from remote_runtime.host.checkouts import CheckoutReader, Checkouts
    from remote_runtime.host.command import Command
    from remote_runtime.host.conditions import ConditionReader, Conditions
    from remote_runtime.host.credential_ports import CredentialReader, Credentials
    from remote_runtime.host.crontab_ports import CrontabReader, Crontabs
    from remote_runtime.host.downloads import Archives, DownloadReader, Downloads
    from remote_runtime.host.kernel_ports import Kernel, KernelReader, RebootReader, Reboots
    from remote_runtime.host.mount_ports import MountReader, Mounts
    from remote_runtime.host.package_ports import PackageListReader, PackageLists
    from remote_runtime.item import Item
    from remote_runtime.system.account_files import Group, User
    from remote_runtime.system.process.commands import Result
    from remote_runtime.units.status import Status

__all__ = [
    "LARGEST",
    "OURS",
    "AccountReader",
    "Accounts",
    "CommandReader",
    "Commands",
    "FileReader",
    "Files",
    "Host",
    "HostReader",
    "Node",
    "UnitReader",
    "Units",
]

_CREATE = "create it in an earlier resource"


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

    def number(self, kind: str, name: str) -> int:
        """The number of a user or group (``kind``); ``Missing`` for an unknown one."""
        number = self.uid(name) if kind == "user" else self.gid(name)
        if number is None:
            raise Missing("%s %r does not exist" % (kind, name), hint=_CREATE)
        return number

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
        tries: RetryPolicy = ONCE,
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
    """Reads the units of the init system. One query answers for all units of the plan.

    ``USER/UNIT`` is a unit of the manager of a user.
    """

    def status(self, name: str) -> "Status":
        """The state of a unit; where systemd has not read what was changed, it is told to first."""
        raise NotImplementedError

    def carries_run(self, name: str) -> bool:
        """Whether this run came to the host through a unit: the service of the SSH server that its
        login came through, the socket of it, or another service that started the run."""
        raise NotImplementedError

    def require_calendar(self, expressions: Sequence[str]) -> None:
        """``ResourceError`` for a calendar expression that the systemd of the host does not read;
        nothing is known of any where it has no systemd-analyze."""
        raise NotImplementedError


class Units(UnitReader):
    """Reads and changes units; the suffix ``.service`` is optional."""

    def start(self, name: str) -> None:
        """Start a unit. ``ResourceError`` if it does not run then."""
        self._act("start", name)

    def stop(self, name: str) -> None:
        """Stop a unit."""
        self._act("stop", name)

    def restart(self, name: str) -> None:
        """Stop a unit and start it again. ``ResourceError`` if it does not run then."""
        self._act("restart", name)

    def reload(self, name: str) -> None:
        """Have a unit that runs read its configuration again; one that cannot is restarted, and
        that is reported. ``ResourceError`` if the unit says that it failed, or does not run then.
        """
        self._act("reload", name)

    def enable(self, name: str) -> None:
        """Have a unit started at boot."""
        self._act("enable", name)

    def disable(self, name: str) -> None:
        """Have a unit not started at boot."""
        self._act("disable", name)

    def mask(self, name: str) -> None:
        """Have nothing start a unit, at boot neither. What runs goes on."""
        self._act("mask", name)

    def unmask(self, name: str) -> None:
        """Let a unit be started again."""
        self._act("unmask", name)

    def _act(self, verb: str, name: str) -> None:
        """Have the init system do what one of the methods above asks for."""
        raise NotImplementedError


Parts = Callable[[str], Any]
"""Makes the ports of a host by their names, so that a run imports those that its types use.
``AttributeError`` for another name."""


class HostReader(object):
    """A host that can be read. ``make`` makes each port but ``files`` once it is asked for."""

    accounts: AccountReader  # users and groups
    checkouts: "CheckoutReader"  # checkouts of git repositories
    commands: CommandReader  # programs
    conditions: "ConditionReader"  # what can be waited for
    contents: "Contents"  # contents of the plan
    credentials: "CredentialReader"  # encrypted credentials of systemd
    crontabs: "CrontabReader"  # the crontabs of users
    downloads: "DownloadReader"  # files of web servers
    kernel: "KernelReader"  # the parameters and modules of the kernel
    lists: "PackageListReader"  # the package lists
    mounts: "MountReader"  # what is mounted
    reboots: "RebootReader"  # the reboot of this run
    resources: "Sequence[Item]"  # every one of the run, those not managed and children included
    units: UnitReader  # the units of the init system

    def __init__(self, files: FileReader, make: Parts) -> None:
        self.files = files
        self._make = make

    if not TYPE_CHECKING:  # or any name were that of a port

        def __getattr__(self, name: str) -> Any:
            """A port that nobody has asked for yet."""
            if name == "_make":
                raise AttributeError(name)
            made = self.__dict__[name] = self._make(name)
            return made

    def part(self, name: str) -> Any:
        """The port of a name, with the methods that only other ports call."""
        return getattr(self, name)


class Host(HostReader):
    """A host that can be read and changed. ``warn`` gets a line for people. ``tries`` is the number
    of tries that the last download took, 0 where only one was allowed.

    ``tolerate`` gets the error of a part that keeps no other from being done, and is found by the
    look afterwards: people are told, and a preview fails."""

    files: Files
    accounts: Accounts
    archives: "Archives"  # archives that are extracted
    checkouts: "Checkouts"
    commands: Commands
    conditions: "Conditions"
    credentials: "Credentials"
    crontabs: "Crontabs"
    downloads: "Downloads"
    kernel: "Kernel"
    lists: "PackageLists"
    mounts: "Mounts"
    reboots: "Reboots"
    units: Units

    def __init__(self, files: Files, make: Parts) -> None:
        super().__init__(files, make)
        self.warn: Callable[[str], object] = str
        self.tolerate: Callable[[ResourceError], object] = str
        self.tries = 0
