"""The connection options, and the required interface of a host (controller)."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

CONNECT_TIMEOUT = 10.0
UNDECIDED = "transport.undecided"
"""The kind of a problem that refuses only its own host."""


class Target(Protocol):
    """The members of a host in the inventory that the transport uses."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def port(self) -> int | None: ...

    @property
    def user(self) -> str | None: ...

    @property
    def key_file(self) -> str | None: ...

    @property
    def known_hosts(self) -> str | None: ...

    @property
    def become(self) -> bool | str | None: ...

    @property
    def python(self) -> str | None: ...

    @property
    def connection(self) -> Literal["ssh", "local"]: ...

    @property
    def connect_timeout(self) -> float | None: ...

    @property
    def jump(self) -> str | None: ...


def is_active(value: str | None) -> bool:
    """Whether a value is set: ``none`` means that it is not, as in OpenSSH."""
    return bool(value) and str(value).lower() != "none"


def hop_names(jump: str | None) -> list[str]:
    """The hops of ``jump`` or ProxyJump, in order: hosts of the inventory, or
    [USER@]HOST[:PORT]."""
    return [text.strip() for text in str(jump).split(",")] if is_active(jump) else []


class Settings(NamedTuple):
    """Options that override the inventory, and the files that are read.

    ``hosts`` are those of the inventory by name, because a ``jump`` may name one of them.
    ``connect_timeout`` is in seconds and covers everything before the login. ``inventory`` is the
    value of ``-i``, for hints with a command.
    """

    hosts: Mapping[str, Target] = {}
    user: str | None = None
    become: bool | str | None = None
    connect_timeout: float | None = None
    ssh_config: tuple[Path, ...] = ()
    inventory: tuple[str, ...] = ("hosts.yaml",)

    def config_files(self) -> tuple[Path, ...]:
        """The SSH configuration: the user's, then the system's."""
        return self.ssh_config or (
            Path("~/.ssh/config").expanduser(),
            Path("/etc/ssh/ssh_config"),
        )

    @property
    def trust_command(self) -> str:
        """The command that checks the keys of the inventory's hosts."""
        words = [word for name in self.inventory for word in ("-i", name)]
        return shlex.join(["ccm", "hosts", "trust", *words])

    def patience(self, host: Target) -> float:
        """The connect timeout from ccm's own options and the inventory; the SSH configuration is
        not read for this.
        """
        seconds = host.connect_timeout if self.connect_timeout is None else self.connect_timeout
        return CONNECT_TIMEOUT if seconds is None else seconds

    def become_user(self, host: Target) -> str | None:
        """The user to become on a host, or None."""
        chosen = host.become if self.become is None else self.become
        if chosen is True:
            # --become without a name keeps the name from the inventory
            return host.become if isinstance(host.become, str) else "root"
        return chosen or None

    def has_our_python(self, host: Target) -> bool:
        """Whether a host is this machine, with the controller's user and interpreter."""
        differs = host.connection != "local" or host.python or self.become_user(host)
        return bool(sys.executable) and not differs
