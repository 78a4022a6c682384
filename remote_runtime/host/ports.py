"""The interfaces through which a state type reads and changes a host (target).

A ``HostReader`` only reads. A ``Host`` can also be changed: the machine performs each call; the
overlay of a preview raises the errors that the machine would, and records the effects of all other
calls. Both implement these classes, which contain the common rules. Every method may raise
``ResourceError`` and, on the overlay, ``Unknowable`` if the result is unknown before the push.
"""

import os
from typing import TYPE_CHECKING, Any, Callable, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import LARGEST, OURS, FileReader, Files, Node

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.account_reader import AccountReader
    from remote_runtime.host.accounts import Accounts
    from remote_runtime.host.checkout_ports import CheckoutReader, Checkouts
    from remote_runtime.host.command_ports import CommandReader, Commands
    from remote_runtime.host.condition_ports import ConditionReader, Conditions
    from remote_runtime.host.credential_ports import CredentialReader, Credentials
    from remote_runtime.host.crontab_ports import CrontabReader, Crontabs
    from remote_runtime.host.download_ports import Archives, DownloadReader, Downloads
    from remote_runtime.host.kernel_ports import Kernel, KernelReader, RebootReader, Reboots
    from remote_runtime.host.machine.contents import Contents
    from remote_runtime.host.mount_ports import MountReader, Mounts
    from remote_runtime.host.package_ports import (
        PackageListReader,
        PackageLists,
        Packages,
        PackagesReader,
    )
    from remote_runtime.plan_item import Item
    from remote_runtime.units.systemd import Systemd
    from remote_runtime.units.unit_status import Status

__all__ = [
    "LARGEST",
    "OURS",
    "FileReader",
    "Files",
    "Host",
    "HostReader",
    "Node",
    "UnitReader",
    "Units",
]


class UnitReader(object):
    """Reads the units of the init system; in a preview, in their planned state. One query covers
    all units of the plan. ``USER/UNIT`` is a unit of a user's manager.

    It stores functions of the run, not the run itself, so that nothing else of the run is
    accessible.
    """

    def __init__(self, context: "Context") -> None:
        self._one = context.one

    @property
    def _systemd(self) -> "Systemd":
        from remote_runtime.units.systemd import Systemd

        systemd: Systemd = self._one(Systemd)
        return systemd

    def _of(self, name: str) -> "Tuple[Systemd, str]":
        """The manager of a unit, and the name of the unit there."""
        if "/" not in name:
            return self._systemd, name
        from remote_runtime.units.user_systemd import UserManagers, split

        user, own = split(name)
        return self._one(UserManagers).of(user), own

    def status(self, name: str) -> "Status":
        """The state of a unit. If unit files have changed, systemd reloads them first."""
        systemd, own = self._of(name)
        return systemd.seen(own)

    def carries_run(self, name: str) -> bool:
        """Return whether this run reached the host through a unit: the service of the SSH server
        for its login, the socket of that service, or another service that started the run."""
        from remote_runtime.system.process.process_identity import services_above

        if "/" in name:
            return False  # a run never comes through a user's unit
        stem, _, kind = self._systemd.own_name(name).rpartition(".")
        through = [one.rpartition(".")[0] for one in services_above(os.getpid())]
        if kind == "socket":  # it starts instances such as ssh@1
            through = [one.partition("@")[0] for one in through]
        return kind in ("service", "socket") and stem in through

    def require_calendar(self, expressions: Sequence[str]) -> None:
        """``ResourceError`` for a calendar expression that the host's systemd does not accept;
        without systemd-analyze, expressions are not checked.
        """
        self._systemd.require_calendar(expressions)


class Units(UnitReader):
    """Reads and changes units; the suffix ``.service`` is optional."""

    def start(self, name: str) -> None:
        """Start a unit. ``ResourceError`` if it does not run afterwards."""
        self._act("start", name)

    def stop(self, name: str) -> None:
        """Stop a unit."""
        self._act("stop", name)

    def restart(self, name: str) -> None:
        """Stop a unit and start it again. ``ResourceError`` if it does not run afterwards."""
        self._act("restart", name)

    def reload(self, name: str) -> None:
        """Make a running unit reload its configuration; a unit that cannot is restarted, and
        that is reported. ``ResourceError`` if the reload fails, or if the unit does not run
        afterwards."""
        self._act("reload", name)

    def enable(self, name: str) -> None:
        """Start a unit at boot."""
        self._act("enable", name)

    def disable(self, name: str) -> None:
        """Do not start a unit at boot."""
        self._act("disable", name)

    def mask(self, name: str) -> None:
        """Mask a unit, so that nothing starts it. A running unit continues."""
        self._act("mask", name)

    def unmask(self, name: str) -> None:
        """Remove the mask of a unit."""
        self._act("unmask", name)

    def _act(self, verb: str, name: str) -> None:
        """Make the init system perform the action of one of the methods above."""
        raise NotImplementedError


Parts = Callable[[str], Any]
"""Creates the ports of a host by name, so a run imports only the ports that its types use.
``AttributeError`` for an unknown name."""


class HostReader(object):
    """A host that can be read. ``make`` creates each port except ``files`` on first use."""

    accounts: "AccountReader"  # users and groups
    checkouts: "CheckoutReader"  # checkouts of git repositories
    commands: "CommandReader"  # programs
    conditions: "ConditionReader"  # conditions to wait for
    contents: "Contents"  # contents of the plan
    credentials: "CredentialReader"  # encrypted credentials of systemd
    crontabs: "CrontabReader"  # the crontabs of users
    downloads: "DownloadReader"  # files of web servers
    kernel: "KernelReader"  # the parameters and modules of the kernel
    lists: "PackageListReader"  # the package lists
    mounts: "MountReader"  # mounts
    packages: "PackagesReader"  # packages of the package managers
    reboots: "RebootReader"  # the reboot of this run
    resources: "Sequence[Item]"  # all of the run, including children and unmanaged ones
    units: UnitReader  # the units of the init system

    def __init__(self, files: FileReader, make: Parts) -> None:
        self.files = files
        self._make = make

    if not TYPE_CHECKING:  # so that mypy knows the ports above only

        def __getattr__(self, name: str) -> Any:
            """Create a port on first use."""
            if name == "_make":
                raise AttributeError(name)
            part = self.__dict__[name] = self._make(name)
            return part

    def part(self, name: str) -> Any:
        """A port by name, with the methods that only other ports call."""
        return getattr(self, name)


class Host(HostReader):
    """A host that can be read and changed. ``warn`` prints a warning. ``tries`` is the number of
    tries of the last download, 0 if only one is allowed.

    ``tolerate`` receives the error of a part that does not prevent the other parts. The final check
    finds the problem again; the error is printed, and a preview fails.
    """

    files: Files
    accounts: "Accounts"
    archives: "Archives"  # extracts archives
    checkouts: "Checkouts"
    commands: "Commands"
    conditions: "Conditions"
    credentials: "Credentials"
    crontabs: "Crontabs"
    downloads: "Downloads"
    kernel: "Kernel"
    lists: "PackageLists"
    mounts: "Mounts"
    packages: "Packages"
    reboots: "Reboots"
    units: Units

    def __init__(self, files: Files, make: Parts) -> None:
        super().__init__(files, make)
        self.warn: Callable[[str], object] = str
        self.tolerate: Callable[[ResourceError], object] = str
        self.tries = 0
