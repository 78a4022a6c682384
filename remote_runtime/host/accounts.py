"""Changes of users and groups, the same on the machine and on the overlay (target).

Each change consists of programs to run on the host, and of the content of the databases afterwards.
The machine runs the programs, and the overlay records the result. A value that a program would
choose itself, such as the next number, is chosen here and passed to it.
"""

import os
from typing import (
    Any,
    ContextManager,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.account_reader import AccountReader
from remote_runtime.host.file_ports import Files
from remote_runtime.host.login_defs import LoginRules
from remote_runtime.system import account_files
from remote_runtime.system.account_files import LOCKED, Group, User
from remote_runtime.system.paths import resolved

Entry = Union[User, Group]
_OPTIONS = (("uid", "-u"), ("comment", "-c"), ("home", "-d"), ("shell", "-s"))
_FILES = {"user": "passwd", "group": "group"}


class Outcome(NamedTuple):
    """The new content of the databases, and the accounts (kind and name) that no longer exist."""

    entries: Sequence[Entry] = ()
    gone: Sequence[Tuple[str, str]] = ()


class Accounts(AccountReader):
    """Reads and changes users and groups. Only root may change them, in the files of the host.

    ``wanted`` has only the properties that must change: ``uid``, ``group`` (the primary one),
    ``groups``, ``append`` (to keep other groups), ``comment``, ``home``, ``move_home``,
    ``create_home``, ``shell``, ``password`` (a hash), ``locked`` and ``expires`` (the day since the
    epoch, None for never). The methods here decide what to do; a subclass carries it out.
    """

    files: Files

    @property
    def _rules(self) -> LoginRules:
        return LoginRules(self.files)

    # -- methods of an implementation -------------------------------------------------------------

    def _require_idle(self, user: User) -> None:
        """``ResourceError`` while processes run as a user."""
        raise NotImplementedError

    def _kill(self, user: User) -> None:
        """End the processes of a user."""
        raise NotImplementedError

    def _perform(self, argv: Sequence[str], outcome: Outcome, secret: str = "") -> None:
        """Run a program of the host, with a text on its standard input."""
        raise NotImplementedError

    def _moved(self, user: User, new: str) -> ContextManager[None]:
        """Move a user's home directory to a path that does not exist, and back if the block
        fails."""
        raise NotImplementedError

    def _removed_with(self, user: User, paths: Sequence[str]) -> ContextManager[None]:
        """Remove a user's files and directories once the block has removed the user."""
        raise NotImplementedError

    def _made(self, user: User) -> None:
        """Plan what ``useradd`` creates in addition to the account; on the overlay."""

    def _changed(self, user: User, new: User) -> None:
        """Plan what ``usermod`` changes in addition to the account; on the overlay."""

    # -- groups -----------------------------------------------------------------------------------

    def add_group(self, name: str, gid: Optional[int] = None, system: bool = False) -> None:
        """Create a group; ``gid`` is None for the next number; ``system`` selects the range of
        numbers.
        """
        _require_root("group")
        if gid is None:
            try:
                gid = self._next("group", system)
            except Unknowable:  # which keeps the group itself certain
                gid = -1
        else:
            self._require_free("group", gid)
        words = ["groupadd", *(["-r"] if system else []), "-g", str(gid), name]
        self._perform(words, Outcome([Group(name, gid)]))

    def set_gid(self, name: str, gid: int) -> None:
        """Give a group a new number. Files keep the old one; the primary groups of users follow."""
        self._require_local("group", name)
        self._require_free("group", gid)
        group = self.group(name) or Group(name, gid)
        users = [u._replace(gid=gid) for u in self._primary_users(group.gid)]
        self._perform(
            ["groupmod", "-g", str(gid), name], Outcome([group._replace(gid=gid), *users])
        )

    def remove_group(self, name: str, force: bool = False) -> None:
        """Remove a group; ``force``: even if the user of the run belongs to it."""
        gid = self.gid(name)
        if gid is None:
            return
        self._require_local("group", name)
        users = self._primary_users(gid)
        if users:
            raise ResourceError(
                "%s is the primary group of the user %s" % (name, users[0].name),
                kind="resource.account",
                hint="give the user another primary group first",
            )
        if gid in own_groups() and not force:
            raise ResourceError(
                "the user of this run belongs to the group %s" % name,
                kind="resource.account.lockout",
                hint="without the group, the next login may fail; change the user's group first",
            )
        self._perform(["groupdel", name], Outcome(gone=[("group", name)]))

    def _primary_users(self, gid: int) -> List[User]:
        return [u for u in self._all("user") if isinstance(u, User) and u.gid == gid >= 0]

    # -- users ------------------------------------------------------------------------------------

    def add_user(self, name: str, wanted: Mapping[str, Any], system: bool = False) -> None:
        """Create a user; without ``group``, it gets a group with its own name."""
        _require_root("user")
        if "uid" in wanted:
            self._require_free("user", wanted["uid"])
        uid = int(wanted["uid"]) if "uid" in wanted else self._next("user", system)
        groups = self._supplementary(wanted.get("groups") or ())
        home = str(wanted.get("home") or "%s/%s" % (self._rules.get("HOME"), name))
        if wanted.get("create_home"):
            self._require_home(home)
        own = "group" not in wanted and self.gid(name) is None
        gid = self._primary(name, uid, wanted.get("group"), system)
        shell = str(wanted.get("shell") or self._rules.get("SHELL"))
        comment = str(wanted.get("comment") or "")
        day = None if system else wanted.get("expires")  # useradd ignores that of a system user
        user = User(
            name,
            uid,
            gid=gid,
            comment=comment,
            home=home,
            shell=shell,
            shadow=LOCKED,
            expires=day,
        )
        words = ["useradd", "-M", *(["-r"] if system else []), "-u", str(uid), "-g", str(gid)]
        words += [
            "-d",
            home,
            "-s",
            shell,
            "-c",
            comment,
            "-e",
            _day(day),
            *(["-G", ",".join(groups)] if groups else []),
        ]
        members = self._memberships(name, groups, keep=True)
        try:
            self._perform([*words, name], Outcome([user, *members]))
        except ResourceError:
            if own:
                self._perform(["groupdel", name], Outcome(gone=[("group", name)]))
            raise
        if self._rules.get("CREATE_MAIL_SPOOL") == "yes" and not system:
            self._made(user)
        self._finish(user, wanted)

    def change_user(self, name: str, wanted: Mapping[str, Any]) -> None:
        """Change a user. A new number or home is refused while processes run as the user."""
        self._require_local("user", name)
        user = new = self._known(name)
        words: List[str] = []
        for key, option in _OPTIONS:
            if key in wanted:
                words += [option, str(wanted[key])]
                new = new._replace(**{key: wanted[key]})
        if "group" in wanted:
            new = new._replace(gid=self._existing(wanted["group"]))
            words += ["-g", str(wanted["group"])]
        if new.uid != user.uid:
            self._require_free("user", new.uid)
        if (new.uid, new.home) != (user.uid, user.home):
            self._require_idle(user)
        members: Sequence[Entry] = ()
        if "groups" in wanted:
            groups, keep = self._supplementary(wanted["groups"]), bool(wanted.get("append"))
            words += [*(["-a"] if keep else []), "-G", ",".join(groups)]
            members = self._memberships(name, groups, keep)
        moves = new.home != user.home and wanted.get("move_home")
        if moves and self._has_to_move(user, new.home):
            with self._moved(user, new.home):
                self._perform(["usermod", *words, name], Outcome([new, *members]))
        elif words:
            self._perform(["usermod", *words, name], Outcome([new, *members]))
        if words:
            self._changed(user, new)
        self._finish(new, wanted)

    def _finish(self, user: User, wanted: Mapping[str, Any]) -> None:
        """Make the changes one by one, in an order that a later run can complete."""
        if "password" in wanted or "locked" in wanted:
            user = self._with_password(user, wanted)
        if "expires" in wanted and wanted["expires"] != user.expires:
            day = wanted["expires"]
            words = ["usermod", "-e", _day(day), user.name]
            self._perform(words, Outcome([user._replace(expires=day)]))
        node = self.files.stat(user.home) if wanted.get("create_home") else None
        if wanted.get("create_home") and (node is None or node.kind != "directory"):
            mode = self._rules.home_mode
            skeleton = self._rules.get("SKEL")
            self.files.copy_tree(skeleton, user.home, mode=mode, uid=user.uid, gid=user.gid)

    def _with_password(self, user: User, wanted: Mapping[str, Any]) -> User:
        before = user.shadow or ""
        shadow = str(wanted.get("password", before.lstrip(LOCKED)))
        locked = wanted.get("locked", before.startswith(LOCKED) and "password" not in wanted)
        if not (locked or shadow):
            raise ResourceError(
                "the user %s has no password, and cannot be unlocked" % user.name,
                kind="resource.account",
                hint="set password to a hash",
            )
        new = user._replace(shadow=(LOCKED if locked else "") + shadow)
        if new.shadow == LOCKED + before:
            self._perform(["usermod", "-L", user.name], Outcome([new]))
        elif before == LOCKED + shadow and not locked:
            self._perform(["usermod", "-U", user.name], Outcome([new]))
        elif new.shadow != before:  # sets the day of the last change, too
            self._perform(["chpasswd", "-e"], Outcome([new]), "%s:%s\n" % (user.name, new.shadow))
        return new

    def remove_user(
        self, name: str, home: Optional[bool] = False, kill: Optional[bool] = False
    ) -> None:
        """Remove a user, and its own group as the system's tools do. With ``home``, also remove its
        home directory and mail; these are kept if the user is not removed.

        Refused while processes run as the user; ``kill`` ends them.
        """
        if self.uid(name) is None:
            return
        self._require_local("user", name)
        user = self._known(name)
        if kill:
            self._require_own_processes(user)
        belongings = self._belongings(user) if home else []
        gone = [("user", name)]
        own = self.group(name)
        others = [u for u in self._primary_users(user.gid) if u.name != name]
        goes = own is not None and own.gid == user.gid and not set(own.members) - {name}
        if goes and not others and self._rules.get("USERGROUPS_ENAB") == "yes":
            gone.append(("group", name))
        remaining_groups = self._memberships(name, [], keep=False)
        members = [group for group in remaining_groups if ("group", group.name) not in gone]
        with self._removed_with(user, belongings):  # which first checks whether they can be removed
            if kill:
                self._kill(user)
            else:
                self._require_idle(user)
            self._perform(["userdel", name], Outcome(members, gone))

    def _require_own_processes(self, user: User) -> None:
        """``ResourceError`` if processes with the user's number may not belong to the user."""
        others = [u.name for u in self._all("user") if isinstance(u, User) and u.uid == user.uid]
        others = [name for name in others if name != user.name]
        if user.uid == 0 or others:
            whose = "root" if user.uid == 0 else others[0]
            raise ResourceError(
                "the processes of %s and %s cannot be distinguished: both users have the uid %d"
                % (user.name, whose, user.uid)
                if whose != user.name
                else "the processes of root keep the host running",
                kind="resource.account",
                hint="omit kill_processes, and end the processes in an earlier resource",
            )

    # -- home directories -------------------------------------------------------------------------

    def _require_home(self, home: str) -> None:
        """``ResourceError`` if the home directory cannot be created."""
        node, parent = self.files.stat(home), os.path.dirname(home)
        above = self.files.stat(parent)
        if node is not None and node.kind != "directory":
            raise ResourceError(
                "the home directory %s is a %s" % (home, node.kind),
                kind="resource.file.kind",
                hint="choose another home directory",
            )
        if node is None and (above is None or above.kind != "directory"):
            what = "does not exist" if above is None else "is not a directory"
            raise ResourceError(
                "the parent directory %s %s" % (parent, what),
                kind="resource.missing",
                hint="manage it in an earlier file resource with ensure: directory",
            )

    def _has_to_move(self, user: User, new: str) -> bool:
        """Return whether there is something to move; a move that was interrupted after its rename
        is complete. ``ResourceError`` if it cannot be moved.
        """
        old = user.home
        there = self.files.lstat(old)
        if there is None:
            return False
        if self.files.lstat(new) is not None:
            raise ResourceError(
                "%s cannot be moved to %s, which already exists" % (old, new),
                kind="resource.account",
                hint="choose another home directory, or omit move_home",
            )
        if there.kind != "directory":
            raise ResourceError("the home directory %s is a %s" % (old, there.kind))
        if there.uid != user.uid:
            owner = self.user_name(there.uid) or str(there.uid)
            raise ResourceError(
                "the home directory %s belongs to the user %s" % (old, owner),
                kind="resource.account",
                hint="omit move_home",
            )
        self._require_alone(user)
        self._require_home(new)
        return True

    def _require_alone(self, user: User) -> None:
        """``ResourceError`` for a home directory that contains those of other users."""
        home = user.home.rstrip("/") or "/"
        inside = os.path.join(self._resolved(home), "")
        for other in self._all("user"):
            its = other.home.rstrip("/") if isinstance(other, User) else ""
            if other.name != user.name and os.path.join(self._resolved(its), "").startswith(inside):
                raise ResourceError(
                    "the home directory %s of the user %s is in %s" % (its, other.name, home),
                    kind="resource.account",
                    hint="check the home directories; nothing was changed",
                )

    def _resolved(self, path: str) -> str:
        """Return the path without symlinks, as far as these can be followed."""

        def target_of(above: str) -> str:
            try:
                node = self.files.lstat(above)
            except ResourceError:
                return ""  # such as a symlink of another user
            return "" if node is None else node.target

        return resolved(path, target_of)

    def _belongings(self, user: User) -> List[str]:
        """The user's own directory and mail; a directory that contains those of others is an
        error."""
        home = user.home.rstrip("/") or "/"
        mail = "%s/%s" % (self._rules.get("MAIL_DIR"), user.name)
        result = []
        for path, kind in ((home, "directory"), (mail, "file")):
            node = self.files.lstat(path)
            if path != "/" and node is not None and (node.kind, node.uid) == (kind, user.uid):
                result.append(path)
        if home in result:
            self._require_alone(user)
        return result

    # -- rules ------------------------------------------------------------------------------------

    def _next(self, kind: str, system: bool) -> int:
        """The next number. Packages create only system accounts, whose numbers are not known in
        advance."""
        numbers = [entry.uid if isinstance(entry, User) else entry.gid for entry in self._all(kind)]
        if system and min(numbers, default=0) < 0:
            raise Unknowable("the IDs of accounts that packages create are not known yet")
        rules, what = self._rules, "UID" if kind == "user" else "GID"
        regular = rules.regular(what)
        highest = max([n for n in numbers if n in regular], default=-1)
        used, named = set(numbers), self.user_name if kind == "user" else self.group_name
        while True:  # databases that cannot be listed have more numbers
            number = rules.next_number(what, system, used, highest)
            if not named(number):
                return number
            used.add(number)
            highest = max(highest, number)

    def _primary(self, name: str, uid: int, group: Optional[str], system: bool) -> int:
        """The number of a new user's primary group, which is created if it belongs only to the
        user.
        """
        if group is not None:
            return self._existing(group)
        own = self.gid(name)
        if own is None:
            taken = self.group_name(uid) != ""
            own = self._next("group", system) if taken else uid
            self.add_group(name, own, system)
        if own < 0:
            raise Unknowable("the gid of %s is not known until it is created" % name)
        return own

    def _require_free(self, kind: str, number: int) -> None:
        other = self.user_name(number) if kind == "user" else self.group_name(number)
        if other:
            what = "uid" if kind == "user" else "gid"
            raise ResourceError(
                "%s %d belongs to the %s %s" % (what, number, kind, other),
                kind="resource.account",
                hint="choose another %s, or change that %s in an earlier resource" % (what, kind),
            )

    def _existing(self, group: str) -> int:
        """The number of a group, which must exist."""
        gid = self.gid(group)
        if gid is None or (group.isdigit() and not self.group_name(gid)):
            raise ResourceError(
                "group %r does not exist" % group,
                kind="resource.account",
                hint="create it in an earlier resource",
            )
        if gid < 0:
            raise Unknowable("the gid of %s is not known until it is created" % group)
        return gid

    def _supplementary(self, groups: Sequence[str]) -> List[str]:
        """Return these groups; each must be in the host's file."""
        for name in groups:
            if self.gid(name) is None:
                self._existing(name)
            self._require_local("group", name)
        return sorted(set(groups))

    def _known(self, name: str) -> User:
        user = self.user(name)
        if user is None:
            raise ResourceError("user %r does not exist" % name, kind="resource.account")
        return user

    def _require_local(self, kind: str, name: str) -> None:
        _require_root(kind)
        if not self._is_local(kind, name):
            path = "%s/%s" % (account_files.ETC, _FILES[kind])
            raise ResourceError(
                "the %s %s is not in %s" % (kind, name, path),
                kind="resource.account",
                hint="it comes from another database of the host, such as LDAP; change it there",
            )

    def _memberships(self, user: str, groups: Sequence[str], keep: bool) -> List[Group]:
        """The groups whose members change if a user gets these groups."""
        changed = []
        for group in self._all("group"):
            if not isinstance(group, Group) or not self._is_local("group", group.name):
                continue
            member = user in group.members
            wanted = group.name in groups or (keep and member)
            if member != wanted:
                members = tuple(name for name in group.members if name != user)
                changed.append(group._replace(members=(*members, user) if wanted else members))
        return changed


def _day(day: Optional[int]) -> str:
    """A date for the programs, which read dates in the host's time zone; "" means never."""
    return "" if day is None else str(day)


def _require_root(kind: str) -> None:
    if os.geteuid() != 0:
        raise ResourceError(
            "only root may change %ss" % kind,
            kind="resource.account",
            hint="use become for the host, or connect as root",
        )


def own_groups() -> Set[int]:
    """The groups of the login user of this run, even if it became root with sudo."""
    import pwd

    groups = {os.getegid(), *os.getgroups()}
    try:
        entry = pwd.getpwnam(os.environ.get("SUDO_USER", ""))
    except KeyError:
        return groups
    return groups | set(os.getgrouplist(entry.pw_name, entry.pw_gid))
