"""Users and groups with all stored attributes (target); imported on demand."""

import time
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from remote_runtime.system.paths import content_of

LOCKED = "!"  # the prefix of the hash of a locked password
ETC = "/etc"
NEVER = "never"  # for the day on which an account expires
FORMAT = "%Y-%m-%d"
_DAY = 86400  # seconds


class User(NamedTuple):
    """A user; ``shadow`` is the password field of /etc/shadow, None if it cannot be read;
    ``expires`` is the day since the epoch, None for never.
    """

    name: str
    uid: int
    gid: int
    comment: str = ""
    home: str = ""
    shell: str = ""
    shadow: Optional[str] = None
    expires: Optional[int] = None


class Group(NamedTuple):
    """A group; ``members`` are the users for whom it is a supplementary group."""

    name: str
    gid: int
    members: Tuple[str, ...] = ()


def rows_of(text: str, fields: int) -> List[List[str]]:
    """The lines of an account file that have at least this many fields."""
    rows = [line.split(":") for line in text.splitlines()]
    return [row for row in rows if len(row) >= fields and row[0][:1] not in "#+-"]


def user_of(fields: Sequence[object], shadow: Optional[Sequence[str]] = None) -> User:
    """The user with these fields in /etc/passwd and in /etc/shadow."""
    name, _, uid, gid, comment, home, shell = [str(field) for field in fields[:7]]
    user = User(name, int(uid), gid=int(gid), comment=comment, home=home, shell=shell)
    return with_password(user, shadow)


def with_password(user: User, shadow: Optional[Sequence[str]]) -> User:
    """The user with its fields in /etc/shadow, None if the user does not exist."""
    day = shadow[7] if shadow is not None and len(shadow) > 7 else ""
    return user._replace(
        shadow=None if shadow is None else shadow[1],
        expires=int(day) if day.isdigit() else None,
    )


def date_of(day: Optional[int]) -> str:
    """The date of a day since the epoch; None is never."""
    return NEVER if day is None else time.strftime(FORMAT, time.gmtime(day * _DAY))


def day_of(date: str) -> Optional[int]:
    """The day since the epoch of a date; None for never."""
    if date == NEVER:
        return None
    import calendar

    return calendar.timegm(time.strptime(date, FORMAT)) // _DAY


class Database(object):
    """The entries of the host's databases, each read once for all users and groups."""

    def __init__(self) -> None:
        self._etc = ETC
        self._users: Optional[Dict[str, User]] = None
        self._groups: Optional[Dict[str, Group]] = None
        self._passwords: Optional[Dict[str, List[str]]] = None
        self._local: Dict[str, List[List[str]]] = {}
        self._names: Dict[str, Set[str]] = {}
        self._by_member: Optional[Dict[str, List[str]]] = None
        self._by_gid: Optional[Dict[int, str]] = None

    def user(self, name: str) -> Optional[User]:
        """See ``Accounts.user``."""
        user = self._all_users().get(name)
        if user is not None or self._etc != "/etc":
            return user
        import pwd  # of a database that cannot be listed

        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            return None
        return user_of(list(entry))

    def group(self, name: str) -> Optional[Group]:
        """See ``Accounts.group``."""
        group = self._all_groups().get(name)
        if group is not None or self._etc != "/etc":
            return group
        import grp

        try:
            entry = grp.getgrnam(name)
        except KeyError:
            return None
        return Group(entry.gr_name, entry.gr_gid, tuple(entry.gr_mem))

    def users(self) -> List[User]:
        """See ``Accounts.users``."""
        return list(self._all_users().values())

    def groups(self) -> List[Group]:
        """See ``Accounts.groups``."""
        return list(self._all_groups().values())

    def groups_of(self, user: str) -> List[str]:
        """See ``Accounts.groups_of``."""
        if self._by_member is None:
            self._by_member = {}
            for group in self._all_groups().values():
                for member in group.members:
                    self._by_member.setdefault(member, []).append(group.name)
        return self._by_member.get(user, [])

    def group_name(self, gid: int) -> Optional[str]:
        """The name of a group in the databases, None for an unknown group."""
        if self._by_gid is None:
            self._by_gid = {}
            for group in self._all_groups().values():
                self._by_gid.setdefault(group.gid, group.name)
        return self._by_gid.get(gid)

    def is_local(self, kind: str, name: str) -> bool:
        """See ``Accounts.is_local``."""
        file = "passwd" if kind == "user" else "group"
        if file not in self._names:
            self._names[file] = {line[0] for line in self._lines(file)}
        return name in self._names[file]

    def _all_users(self) -> Dict[str, User]:
        if self._users is None:
            entries: List[List[object]] = [list(line) for line in self._lines("passwd")]
            if self._etc == "/etc":
                import pwd

                entries = [list(entry) for entry in pwd.getpwall()]
            self._users = {}
            for entry in entries:
                user = user_of(entry, self.password_of(str(entry[0])))
                self._users.setdefault(user.name, user)
        return self._users

    def password_of(self, name: str) -> Optional[List[str]]:
        """See ``Accounts.password_of``."""
        if self._passwords is None:
            self._passwords = {row[0]: row for row in self._lines("shadow")}
        return self._passwords.get(name)

    def _all_groups(self) -> Dict[str, Group]:
        if self._groups is None:
            result: Dict[str, Group] = {}
            if self._etc == "/etc":
                import grp

                for entry in grp.getgrall():
                    group = Group(entry.gr_name, entry.gr_gid, tuple(entry.gr_mem))
                    result.setdefault(group.name, group)
            else:
                for line in self._lines("group"):
                    members = tuple(name for name in line[3].split(",") if name)
                    result.setdefault(line[0], Group(line[0], int(line[2]), members))
            self._groups = result
        return self._groups

    def _lines(self, file: str) -> List[List[str]]:
        """The fields of an account file; empty if the file is missing or not readable."""
        if file not in self._local:
            text = content_of("%s/%s" % (self._etc, file)).decode("utf-8", "replace")
            self._local[file] = rows_of(text, 4 if file == "group" else 7)
        return self._local[file]
