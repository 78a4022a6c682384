"""The port through which a state type reads users and groups (target). See ``ports``."""

import os
from typing import TYPE_CHECKING, List, Optional, Sequence, Union

from remote_runtime.changes import Missing
from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.account_files import Group, User
    from remote_runtime.system.accounts import Accounts as Adapter

_CREATE = "create it in an earlier resource"


class AccountReader(object):
    """Reads users and groups from every database that the host uses, on the machine or on an
    overlay."""

    def __init__(self, adapter: "Adapter") -> None:
        self._adapter = adapter

    def uid(self, user: str) -> Optional[int]:
        """The number of a user; None for an unknown user. A name that consists of digits is a
        number. Negative if the push chooses the number.
        """
        return self._adapter.number("user", user)

    def gid(self, group: str) -> Optional[int]:
        """The number of a group; None for an unknown group. A name that consists of digits is a
        number. Negative if the push chooses the number.
        """
        return self._adapter.number("group", group)

    def number(self, kind: str, name: str) -> int:
        """The number of a user or group (``kind``); ``Missing`` for an unknown one."""
        number = self._adapter.number(kind, name)
        if number is None:
            raise Missing("%s %r does not exist" % (kind, name), hint=_CREATE)
        return number

    def user(self, name: str) -> "Optional[User]":
        """The entry of a user; None for an unknown user."""
        return self._adapter.user(name)

    def existing_user(self, name: str) -> "User":
        """The entry of a user that must exist; ``ResourceError`` for an unknown user."""
        user = self.user(name)
        if user is None:
            raise ResourceError(
                "user %r does not exist" % name, kind="resource.account", hint=_CREATE
            )
        return user

    def require_user(self, name: str) -> None:
        """``ResourceError`` for an unknown user. The rest of the entry need not be known."""
        if name.isdigit() or self.uid(name) is None:
            self.existing_user(name)

    def group(self, name: str) -> "Optional[Group]":
        """The entry of a group; None for an unknown group."""
        return self._adapter.group(name)

    def user_name(self, uid: int) -> str:
        """The name of the user with a number, "" for an unknown number."""
        name = self._adapter.user_name(uid)
        # A number without a name is its own name; a planned user may have freed the number.
        return name if name != str(uid) and self.uid(name) == uid else ""

    def group_name(self, gid: int) -> str:
        """The name of the group with a number, "" for an unknown number."""
        name = self._adapter.group_name(gid)
        return name if name != str(gid) and self.gid(name) == gid else ""

    def groups_of(self, user: str) -> List[str]:
        """The supplementary groups of a user in the host's own file, sorted."""
        names = self._adapter.groups_of(user)
        return sorted(name for name in names if self._is_local("group", name))

    def logins(self) -> Sequence[str]:
        """The users that must not be locked out: root, and the login user of this run."""
        numbers = {0, os.geteuid()}
        try:
            with open("/proc/self/loginuid", "rb") as file:
                numbers.add(int(file.read()))
        except (OSError, ValueError):
            pass  # a kernel without it
        if os.environ.get("SUDO_UID", "").isdigit():
            numbers.add(int(os.environ["SUDO_UID"]))
        return [user.name for user in self._adapter.users() if user.uid in numbers]

    def login_keys(self) -> Sequence[str]:
        """The SHA-256 fingerprints of the SSH key that was used to log in for this run, and of the
        CA that signed it; empty for a login without a key.
        """
        return self._adapter.login_keys

    def _all(self, kind: str) -> "Sequence[Union[User, Group]]":
        return self._adapter.users() if kind == "user" else self._adapter.groups()

    def _is_local(self, kind: str, name: str) -> bool:
        return self._adapter.is_local(kind, name)
