"""The only door to users and groups (target)."""

import os
from typing import Dict, NamedTuple, Optional, Tuple

from remote_runtime.changes import Condition, Missing


class Identity(NamedTuple):
    """Whom a command runs as. ``current`` says that this is whom the runtime runs as already."""

    uid: int
    gid: int
    groups: Tuple[int, ...]
    name: str
    home: str
    shell: str
    current: bool


class Accounts(object):
    """Names to numbers and back; what was found is kept until ``forget``."""

    def __init__(self) -> None:
        self._users: Dict[str, int] = {}
        self._groups: Dict[str, int] = {}
        self._user_names: Dict[int, str] = {}
        self._group_names: Dict[int, str] = {}

    def forget(self) -> None:
        """Ask the system again; after a package or a command may have changed accounts."""
        self.__init__()  # type: ignore[misc]  # as new; no class is below this one

    def uid(self, owner: str) -> int:
        """The id of a user; digits only are an id already. ``Missing`` for an unknown name."""
        if owner.isdigit():
            return int(owner)
        if owner not in self._users:
            import pwd

            try:
                self._users[owner] = pwd.getpwnam(owner).pw_uid
            except KeyError:
                raise Missing(
                    Condition("user", owner),
                    "there is no user %r" % owner,
                    hint="create it in an earlier resource",
                ) from None
        return self._users[owner]

    def gid(self, group: str) -> int:
        """The id of a group; digits only are an id already. ``Missing`` for an unknown name."""
        if group.isdigit():
            return int(group)
        if group not in self._groups:
            import grp

            try:
                self._groups[group] = grp.getgrnam(group).gr_gid
            except KeyError:
                raise Missing(
                    Condition("group", group),
                    "there is no group %r" % group,
                    hint="create it in an earlier resource",
                ) from None
        return self._groups[group]

    def user_name(self, uid: int) -> str:
        """The name of a user, or its id as text where it has none."""
        if uid not in self._user_names:
            import pwd

            try:
                self._user_names[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._user_names[uid] = str(uid)
        return self._user_names[uid]

    def group_name(self, gid: int) -> str:
        """The name of a group, or its id as text where it has none."""
        if gid not in self._group_names:
            import grp

            try:
                self._group_names[gid] = grp.getgrgid(gid).gr_name
            except KeyError:
                self._group_names[gid] = str(gid)
        return self._group_names[gid]

    def identity(self, user: Optional[str] = None, group: Optional[str] = None) -> Identity:
        """Whom a command runs as: the runtime's own user and groups where nothing is given."""
        import pwd

        own = user is None
        uid = os.geteuid() if user is None else self.uid(user)
        try:
            entry = pwd.getpwuid(uid)
            name, home, shell, primary = entry[0], entry[5], entry[6] or "/bin/sh", entry[3]
        except KeyError:
            name, home, shell, primary = str(uid), "/", "/bin/sh", os.getegid() if own else uid
        if own and group is None:
            return Identity(uid, os.getegid(), tuple(os.getgroups()), name, home, shell, True)
        gid = primary if group is None else self.gid(group)
        groups = tuple(os.getgroups()) if own else tuple(os.getgrouplist(name, gid))
        current = uid == os.geteuid() and gid == os.getegid() and set(groups) == set(os.getgroups())
        return Identity(uid, gid, groups, name, home, shell, current)
