"""Users and groups as they will be at a resource's turn (target)."""

from typing import Dict, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import AccountEffect
from remote_runtime.system.accounts import Accounts, Identity
from remote_runtime.world.clouds import Clouds

_FIRST = -1000  # numbers below stand for accounts that get theirs when they are made


class WorldAccounts(Accounts):
    """Those of the host, and what is planned of them."""

    def __init__(self, host: Accounts, clouds: Clouds) -> None:
        super().__init__()
        self._host, self._clouds = host, clouds
        self.planned: Dict[Tuple[str, str], Tuple[AccountEffect, int]] = {}
        self._stand_ins: Dict[int, str] = {}

    def forget(self) -> None:
        """Ask the system again."""
        self._host.forget()

    def _find(self, kind: str, name: str) -> Optional[int]:
        effect, since = self.planned.get((kind, name), (None, 0))
        found = self._host.number(kind, name) if effect is None else self._planned(effect)
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
        return self._stand_ins.get(uid) or self._host.user_name(uid)

    def group_name(self, gid: int) -> str:
        return self._stand_ins.get(gid) or self._host.group_name(gid)

    def identity(self, user: Optional[str] = None, group: Optional[str] = None) -> Identity:
        for kind, name in (("user", user), ("group", group)):
            if name is not None and (kind, name) in self.planned:
                raise Unknowable("the %s %s is not there before the push makes it" % (kind, name))
        return self._host.identity(user, group)
