"""Users and groups as they will be at a resource's turn (target)."""

from typing import Dict, NamedTuple, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import AccountEffect
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.accounts import Accounts, Identity

_FIRST = -1000  # numbers below stand for accounts that get theirs when they are made


class Table(NamedTuple):
    """What a planned /etc/passwd or /etc/group says: numbers by name, with those that the host's
    own file has today, which are gone where it does not."""

    numbers: Dict[str, int]
    today: Dict[str, int]
    since: int


def parsed(text: str) -> Dict[str, int]:
    """The numbers of the accounts in such a file, the first of a name."""
    found: Dict[str, int] = {}
    for line in text.split("\n"):
        fields = line.split(":")
        if len(fields) > 3 and fields[2].isdigit() and fields[0][:1] not in ("", "+", "-", "#"):
            found.setdefault(fields[0], int(fields[2]))
    return found


class WorldAccounts(Accounts):
    """Those of the host, and what is planned of them."""

    def __init__(self, host: Accounts, clouds: UnknownRegions) -> None:
        super().__init__()
        self._host, self._clouds = host, clouds
        self.planned: Dict[Tuple[str, str], Tuple[AccountEffect, int]] = {}
        self.tables: Dict[str, Table] = {}
        self._stand_ins: Dict[int, str] = {}

    def forget(self) -> None:
        """Ask the system again."""
        self._host.forget()

    def _find(self, kind: str, name: str) -> Optional[int]:
        effect, since = self.planned.get((kind, name), (None, 0))
        table = self.tables.get(kind)
        if table is not None and table.since > since:
            effect = None
        if effect is not None:
            found = self._planned(effect)
        elif table is None or name.isdigit():
            found = self._host.number(kind, name)
        elif name in table.numbers:
            found = table.numbers[name]
        else:  # of another database
            found = None if name in table.today else self._host.number(kind, name)
        if not name.isdigit():
            self._clouds.heed(kind, name, found is not None, since)
        return found

    def _planned(self, effect: AccountEffect) -> Optional[int]:
        if not effect.present:
            return None
        if effect.number >= 0:
            return effect.number
        number = _FIRST - sum(ord(c) << (i % 16) for i, c in enumerate(effect.name))
        self._stand_ins[number] = effect.name
        return number

    def user_name(self, uid: int) -> str:
        return self._named("user", uid) or self._host.user_name(uid)

    def group_name(self, gid: int) -> str:
        return self._named("group", gid) or self._host.group_name(gid)

    def _named(self, kind: str, number: int) -> str:
        """The name that a planned account gives a number, itself where one takes it away; ""."""
        table = self.tables.get(kind)
        for (its_kind, name), (effect, since) in self.planned.items():
            newer = table is None or since > table.since
            if its_kind == kind and effect.present and effect.number == number and newer:
                return name
        if number in self._stand_ins or table is None:
            return self._stand_ins.get(number, "")
        names = [name for name, its in table.numbers.items() if its == number]
        gone = str(number) if number in table.today.values() else ""
        return names[0] if names else gone

    def identity(self, user: Optional[str] = None, group: Optional[str] = None) -> Identity:
        for kind, name in (("user", user), ("group", group)):
            changed = (kind, name) in self.planned or kind in self.tables
            if (
                name is not None
                and changed
                and self._find(kind, name) != self._host.number(kind, name)
            ):
                raise Unknowable("the %s %s is not there before the push makes it" % (kind, name))
        return self._host.identity(user, group)
