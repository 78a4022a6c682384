"""Reads users and groups (target)."""

import os
from typing import TYPE_CHECKING, List, Optional, Sequence

from remote_runtime.host import ports

if TYPE_CHECKING:
    from remote_runtime.host.accounts import Entry
    from remote_runtime.system.account_files import Group, User
    from remote_runtime.system.accounts import Accounts as Door


class AccountReader(ports.AccountReader):
    """Reads through the door to users and groups: the machine's own, or that of an overlay."""

    def __init__(self, door: "Door") -> None:
        self._door = door

    def uid(self, user: str) -> Optional[int]:
        """See the base class."""
        return self._door.number("user", user)

    def gid(self, group: str) -> Optional[int]:
        """See the base class."""
        return self._door.number("group", group)

    def user(self, name: str) -> "Optional[User]":
        """See the base class."""
        return self._door.user(name)

    def group(self, name: str) -> "Optional[Group]":
        """See the base class."""
        return self._door.group(name)

    def user_name(self, uid: int) -> str:
        """See the base class."""
        name = self._door.user_name(uid)
        # A number without a name is its own; a planned user may have given the number back.
        return name if name != str(uid) and self.uid(name) == uid else ""

    def group_name(self, gid: int) -> str:
        """See the base class."""
        name = self._door.group_name(gid)
        return name if name != str(gid) and self.gid(name) == gid else ""

    def groups_of(self, user: str) -> List[str]:
        """See the base class."""
        names = [group.name for group in self._door.groups() if user in group.members]
        return sorted(name for name in names if self._is_local("group", name))

    def logins(self) -> Sequence[str]:
        """See the base class."""
        numbers = {0, os.geteuid()}
        try:
            with open("/proc/self/loginuid", "rb") as file:
                numbers.add(int(file.read()))
        except (OSError, ValueError):
            pass  # a kernel that does not tell
        if os.environ.get("SUDO_UID", "").isdigit():
            numbers.add(int(os.environ["SUDO_UID"]))
        return [user.name for user in self._door.users() if user.uid in numbers]

    def login_keys(self) -> Sequence[str]:
        """See the base class."""
        return self._door.login_keys

    def _all(self, kind: str) -> "Sequence[Entry]":
        return self._door.users() if kind == "user" else self._door.groups()

    def _is_local(self, kind: str, name: str) -> bool:
        return self._door.is_local(kind, name)
