"""All access to users and groups (target)."""

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.account_files import Database, Group, User

_NAME, _NUMBER = 0, 2  # in the entries of users and groups alike
_NO_ID = (1 << 32) - 1  # stands for no user or group
_MAX_DIGITS = 18


class Identity(NamedTuple):
    """The user of a command. ``current``: the runtime already runs as this user."""

    uid: int
    gid: int
    groups: Tuple[int, ...]
    name: str
    home: str
    shell: str
    current: bool


class Accounts(object):
    """Converts names to numbers and back; results are cached until ``forget``.

    ``login_keys`` has the fingerprints of the SSH key that was used to log in for this run.
    """

    login_keys: Sequence[str] = ()

    def __init__(self) -> None:
        self._users: Dict[str, int] = {}
        self._groups: Dict[str, int] = {}
        self._user_names: Dict[int, str] = {}
        self._group_names: Dict[int, str] = {}
        self._whole: Optional["Database"] = None

    def forget(self) -> None:
        """Query the system again, because a package or a command may have changed accounts."""
        Accounts.__init__(self)

    @property
    def whole(self) -> "Database":
        """Every user and group with all stored attributes, read once."""
        if self._whole is None:
            from remote_runtime.system.account_files import Database

            self._whole = Database()
        return self._whole

    def user(self, name: str) -> "Optional[User]":
        """All stored attributes of a user, None if the user is unknown."""
        return self.whole.user(name)

    def password_of(self, name: str) -> Optional[Sequence[str]]:
        """The fields of a user in /etc/shadow, None if they do not exist or are not readable."""
        return self.whole.password_of(name)

    def group(self, name: str) -> "Optional[Group]":
        """All stored attributes of a group, None if the group is unknown."""
        return self.whole.group(name)

    def users(self) -> "Sequence[User]":
        """Every user that the databases list."""
        return self.whole.users()

    def groups(self) -> "Sequence[Group]":
        """Every group that the databases list."""
        return self.whole.groups()

    def groups_of(self, user: str) -> Sequence[str]:
        """The names of the groups that list a user as a member."""
        return self.whole.groups_of(user)

    def is_local(self, kind: str, name: str) -> bool:
        """Return whether a user or group (``kind``) is in one of this host's files, where it can be
        changed.
        """
        return self.whole.is_local(kind, name)

    def uid(self, owner: str) -> int:
        """The ID of a user; a name that consists of digits is an ID. ``ResourceError`` for an
        unknown name.
        """
        return self._number("user", owner)

    def gid(self, group: str) -> int:
        """The ID of a group; a name that consists of digits is an ID. ``ResourceError`` for an
        unknown name.
        """
        return self._number("group", group)

    def lacking(self, kind: str, name: str) -> Tuple[str, str]:
        """Return the message about a missing user or group (``kind``) and a hint; ("", "") if it
        exists.
        """
        if self.number(kind, name) is not None:
            return "", ""
        return "%s %r does not exist" % (kind, name), "create it in an earlier resource"

    def number(self, kind: str, name: str) -> Optional[int]:
        """The ID of a user or group (``kind``), or None."""
        known = self._users if kind == "user" else self._groups
        if name in known:
            return known[name]
        if name and not name.strip("0123456789"):
            number = int(name) if len(name) <= _MAX_DIGITS else _NO_ID
            found = number if number < _NO_ID else None
        else:
            import grp
            import pwd

            found = _field(_NUMBER, pwd.getpwnam if kind == "user" else grp.getgrnam, name)
        if found is not None:
            known[name] = int(found)
        return known.get(name)

    def _number(self, kind: str, name: str) -> int:
        number = self.number(kind, name)
        if number is None:
            reason, hint = self.lacking(kind, name)
            raise ResourceError(reason, kind="resource.account", hint=hint)
        return number

    def user_name(self, uid: int) -> str:
        """The name of a user, or the ID as text if it has none."""
        if uid not in self._user_names:
            import pwd

            self._user_names[uid] = str(_field(_NAME, pwd.getpwuid, uid) or uid)
        return self._user_names[uid]

    def group_name(self, gid: int) -> str:
        """The name of a group, or the ID as text if it has none."""
        if gid not in self._group_names:
            import grp

            # A list of everything that was already read is faster than a lookup for each.
            listed = None if self._whole is None else self._whole.group_name(gid)
            name = listed or str(_field(_NAME, grp.getgrgid, gid) or gid)
            self._group_names[gid] = name
            if listed:
                self._groups.setdefault(name, gid)
        return self._group_names[gid]

    def identity(self, user: Optional[str] = None, group: Optional[str] = None) -> Identity:
        """The user of a command: the runtime's own user and groups by default."""
        import pwd

        own = user is None
        uid = os.geteuid() if user is None else self.uid(user)
        try:
            entry = pwd.getpwuid(uid)
            name, home, shell, primary = entry[0], entry[5], entry[6] or "/bin/sh", entry[3]
        except KeyError:
            name, home, shell, primary = str(uid), "/", "/bin/sh", os.getegid() if own else uid
        if own and group is None:
            return Identity(
                uid,
                os.getegid(),
                groups=tuple(os.getgroups()),
                name=name,
                home=home,
                shell=shell,
                current=True,
            )
        gid = primary if group is None else self.gid(group)
        groups = tuple(os.getgroups()) if own else tuple(os.getgrouplist(name, gid))
        current = uid == os.geteuid() and gid == os.getegid() and set(groups) == set(os.getgroups())
        return Identity(uid, gid, groups=groups, name=name, home=home, shell=shell, current=current)


def own_group(uid: int, gid: int) -> Optional[str]:
    """The group of a directory for the commands of its owner; None if the owner is not a member: a
    directory makes nobody a member.
    """
    import pwd

    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return None
    return str(gid) if gid in os.getgrouplist(entry[0], entry[3]) else None


def _field(place: int, look_up: Callable[[Any], Sequence[Any]], key: Any) -> Any:
    """A field of the database entry for a key, None if there is no entry."""
    try:
        return look_up(key)[place]
    except KeyError:
        return None
