"""The predicted users and groups when a resource runs (target)."""

import os
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from remote_runtime.changes import Unknowable
from remote_runtime.effects import OWN_GROUP, SHADOW, AccountEffect
from remote_runtime.overlay.account_tables import Passwords, Table
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.account_files import Group, User, with_password
from remote_runtime.system.accounts import Accounts, Identity

_FIRST = -1000  # numbers below stand for accounts that get theirs when they are made


class OverlayAccounts(Accounts):
    """The accounts of the host, with planned changes."""

    def __init__(self, host: Accounts, unknown_regions: UnknownRegions) -> None:
        super().__init__()
        self._host, self._unknown_regions = host, unknown_regions
        self.login_keys = host.login_keys
        self.planned: Dict[Tuple[str, str], Tuple[AccountEffect, int]] = {}
        self.tables: Dict[str, Table] = {}
        self.passwords: Optional[Passwords] = None
        self._stand_ins: Dict[int, str] = {}

    def forget(self) -> None:
        """Discard the answers of the system, so that it is queried again."""
        self._host.forget()

    def number(self, kind: str, name: str) -> Optional[int]:
        """See the base class. Includes planned accounts."""
        effect, since = self.planned.get((kind, name), (None, 0))
        table = self.tables.get(kind)
        if table is not None and table.since > since:
            effect = None
        if effect is not None:
            number = self._planned(effect)
        elif table is None or name.isdigit():
            number = self._host.number(kind, name)
        elif name in table.numbers:
            number = table.numbers[name]
        else:  # of another database
            number = None if name in table.today else self._host.number(kind, name)
        if not name.isdigit():
            self._unknown_regions.record_read(kind, name, number is not None, since)
        return number

    def _planned(self, effect: AccountEffect) -> Optional[int]:
        if not effect.present:
            return None
        if effect.number >= 0:
            return effect.number
        number = _FIRST - sum(ord(c) << (i % 16) for i, c in enumerate(effect.name))
        self._stand_ins[number] = effect.name
        return number

    def user(self, name: str) -> Optional[User]:
        user: Optional[User] = self._entry("user", name, self._host.user(name))
        return user

    def group(self, name: str) -> Optional[Group]:
        group: Optional[Group] = self._entry("group", name, self._host.group(name))
        return group

    def _entry(self, kind: str, name: str, on_host: Any) -> Any:
        """Return the planned entry of an account. ``Unknowable`` if only its number is known."""
        effect, since = self.planned.get((kind, name), (None, 0))
        table = self.tables.get(kind)
        if table is not None and table.since > since:
            if table.entries is None or self._is_older(kind, table.since):
                raise Unknowable("%s %s depends on the new %s" % (kind, name, table.path))
            on_host = table.entries.get(name, None if name in table.today else on_host)
            effect = None
        if kind == "user":
            on_host = self._with_password(name, on_host, since)
        entry = on_host if effect is None else self._numbered(effect)
        there = entry is not None if effect is None else effect.present
        self._unknown_regions.record_read(kind, name, there, since)
        if effect is not None and effect.present and effect.entry is None:
            raise Unknowable("%s %s is not known until it is created" % (kind, name))
        return entry if there else None

    def _numbered(self, effect: AccountEffect) -> "Union[User, Group, None]":
        """Return the entry of an account; numbers that the push chooses are stand-ins."""
        entry = effect.entry
        if not isinstance(entry, User) or min(entry.uid, entry.gid) >= 0:
            return entry
        uid = self._planned(effect)
        gid = entry.gid if entry.gid != OWN_GROUP else self.number("group", entry.name)
        return entry._replace(uid=-1 if uid is None else uid, gid=-1 if gid is None else gid)

    def _with_password(self, name: str, user: Optional[User], since: int) -> Optional[User]:
        """Return a user with its planned password. ``Unknowable`` if it depends on a new
        /etc/shadow.
        """
        planned = self.passwords
        decides = planned is not None and planned.since > since
        if planned and decides and (not planned.rows or self._is_older("user", planned.since)):
            raise Unknowable("the password of %s depends on the new %s" % (name, SHADOW))
        self._unknown_regions.record_read("path", SHADOW, True, since)
        return None if user is None else self._completed(user)

    def _completed(self, user: User) -> User:
        """Return a user of the host or of a planned file with the password from the planned
        /etc/shadow, as far as that is known.
        """
        if self.passwords is not None and self.passwords.rows is not None:
            return with_password(user, self.passwords.rows.get(user.name))
        missing = "user" in self.tables  # planned users have none yet
        return with_password(user, self._host.password_of(user.name)) if missing else user

    def users(self) -> Sequence[User]:
        return self._entries("user", {user.name: user for user in self._host.users()})

    def groups(self) -> Sequence[Group]:
        return self._entries("group", {group.name: group for group in self._host.groups()})

    def groups_of(self, user: str) -> Sequence[str]:
        if self._changes_groups():
            return [group.name for group in self.groups() if user in group.members]
        self._unknown_regions.record_read("group", "*", True)
        return self._host.groups_of(user)

    def _entries(self, kind: str, entries: Dict[str, Any]) -> Sequence[Any]:
        table = self.tables.get(kind)
        if table is not None:
            if table.entries is None or self._is_older(kind, table.since):
                raise Unknowable("the accounts depend on the new %s" % table.path)
            elsewhere = {name: one for name, one in entries.items() if name not in table.today}
            entries = {**elsewhere, **table.entries}
        if kind == "user":
            entries = {name: self._completed(user) for name, user in entries.items()}
        since = 0
        for (its_kind, name), (effect, laid) in self.planned.items():
            if its_kind != kind:
                continue
            since = max(since, laid)
            self._unknown_regions.record_read(kind, name, effect.present, laid)
            if not effect.present:
                entries.pop(name, None)
            elif effect.entry is not None:
                entries[name] = self._numbered(effect)
            else:  # of a package
                entry = User(name, effect.number, gid=-1) if kind == "user" else None
                entries[name] = entry or Group(name, effect.number)
        self._unknown_regions.record_read(kind, "*", True, since)
        return list(entries.values())

    def _is_older(self, kind: str, since: int) -> bool:
        """Return whether an account was planned before a file, which may lack the account."""
        return any(its == kind and at < since for (its, _), (_, at) in self.planned.items())

    def is_local(self, kind: str, name: str) -> bool:
        effect, since = self.planned.get((kind, name), (None, 0))
        table = self.tables.get(kind)
        if table is not None and table.since > since:
            return name in table.numbers
        return effect.present if effect is not None else self._host.is_local(kind, name)

    def is_new(self, kind: str, name: str) -> bool:
        """Return whether a user or group is planned that the host does not have yet."""
        effect, _ = self.planned.get((kind, name), (None, 0))
        return effect is not None and effect.present and self._host.number(kind, name) is None

    def user_name(self, uid: int) -> str:
        return self._named("user", uid) or self._host.user_name(uid)

    def group_name(self, gid: int) -> str:
        return self._named("group", gid) or self._host.group_name(gid)

    def _named(self, kind: str, number: int) -> str:
        """Return the name of a planned account with a number; "" if there is none."""
        table = self.tables.get(kind)
        for (its_kind, name), (effect, since) in self.planned.items():
            newer = table is None or since > table.since
            if its_kind == kind and effect.present and effect.number == number and newer:
                self._unknown_regions.record_read(kind, name, True, since)
                return name
        if number in self._stand_ins or table is None:
            return self._stand_ins.get(number, "")
        names = [name for name, its in table.numbers.items() if its == number]
        gone = str(number) if number in table.today.values() else ""
        return names[0] if names else gone

    def planned_identity(self, user: Optional[str]) -> Optional[Identity]:
        """Return the identity of a command that runs as a completely planned user, or as one whose
        groups may change; None for others.
        """
        if user is None or not self._may_change(user):
            return None
        try:
            entry = self.user(user)
            members = self.groups_of(user)
        except Unknowable:
            return None
        if entry is None:
            return None
        groups = {group.gid for group in self.groups() if group.name in members}
        if min(entry.uid, entry.gid, *groups) < 0:
            return None
        return Identity(
            entry.uid,
            entry.gid,
            groups=tuple(sorted({entry.gid, *groups})),
            name=entry.name,
            home=entry.home,
            shell=entry.shell or "/bin/sh",
            current=entry.uid == os.geteuid(),
        )

    def _may_change(self, user: str) -> bool:
        """Return whether the user is planned, or a change of a group may change its groups."""
        if ("user", user) in self.planned or "user" in self.tables:
            return True
        return self._changes_groups() and not user.isdigit() and self._host.is_local("user", user)

    def _changes_groups(self) -> bool:
        """Return whether a change of a group is planned."""
        return "group" in self.tables or any(kind == "group" for kind, _ in self.planned)

    def identity(self, user: Optional[str] = None, group: Optional[str] = None) -> Identity:
        """See the base class. ``Unknowable`` for an account that only the push creates, and for
        attributes that it changes.
        """
        planned = self.planned_identity(user)
        if planned is not None:
            gid = planned.gid if group is None else self.gid(group)
            return planned._replace(gid=gid)
        for kind, name in (("user", user), ("group", group)):
            changed = (kind, name) in self.planned or kind in self.tables
            if (
                name is not None
                and changed
                and self.number(kind, name) != self._host.number(kind, name)
            ):
                raise Unknowable(
                    "the %s %s does not exist until the push creates it" % (kind, name)
                )
        table = self.tables.get("group")
        if user is not None and table is not None and table.entries is None:
            raise Unknowable("the groups of the user %s depend on the new %s" % (user, table.path))
        return self._host.identity(user, group)
