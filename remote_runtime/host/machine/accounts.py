"""Users and groups of the machine (target)."""

from typing import TYPE_CHECKING, List, Optional

from remote_runtime.host import ports

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts as Door

_LARGEST = 4 << 20  # bytes of a file of accounts


class AccountReader(ports.AccountReader):
    """Reads through the door to accounts: the machine's own, or that of an overlay."""

    def __init__(self, door: "Door") -> None:
        self._door = door

    def uid(self, user: str) -> Optional[int]:
        """See the base class."""
        return self._door.number("user", user)

    def gid(self, group: str) -> Optional[int]:
        """See the base class."""
        return self._door.number("group", group)

    def group_name(self, gid: int) -> str:
        """See the base class."""
        name = self._door.group_name(gid)
        # A number without a name is its own; a planned group may have given the number back.
        return name if name != str(gid) and self.gid(name) == gid else ""

    def primary_users(self, gid: int) -> List[str]:
        """See the base class."""
        import pwd

        names = [entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == gid]
        return sorted(name for name in names if self.uid(name) is not None)


class Accounts(AccountReader, ports.Accounts):
    """Changes users and groups with the programs of the shadow suite."""

    def __init__(self, door: "Door", files: ports.FileReader, commands: ports.Commands) -> None:
        super().__init__(door)
        self._files, self._commands = files, commands

    def _is_local_group(self, name: str) -> bool:
        return in_table(self._files, ports.GROUPS, name)

    def _add_group(self, name: str, gid: Optional[int], system: bool) -> None:
        number = [] if gid is None else ["-g", str(gid)]
        self._commands.run(["groupadd", *(["-r"] if system else []), *number, name])

    def _set_gid(self, name: str, gid: int) -> None:
        self._commands.run(["groupmod", "-g", str(gid), name])

    def _remove_group(self, name: str) -> None:
        self._commands.run(["groupdel", name])


def in_table(files: ports.FileReader, path: str, name: str) -> bool:
    """Whether a name has a line in /etc/passwd or /etc/group."""
    text = files.read(path, _LARGEST).decode("utf-8", "replace")
    return any(line.startswith(name + ":") for line in text.split("\n"))
