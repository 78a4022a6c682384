"""The group type: a group of users and its number (target)."""

from typing import Any, List, Mapping, Optional, Tuple

from remote_runtime.base import AccountStateType, Diff, Properties, Unknowable
from remote_runtime.host.ports import Host, HostReader


class Resource(AccountStateType):
    """One group."""

    account = "group"

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        gid = properties.get("gid")
        if name != "root" or gid in (None, 0) or properties.get("force"):
            return []
        return [("gid", "the gid of root is 0")]

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. ``Unknowable`` for the desired GID of a group that a package creates
        earlier.
        """
        gid = host.accounts.gid(self.name)
        if gid is not None and gid < 0 and "gid" in self.properties:
            raise Unknowable("the gid of %s is not known until it is created" % self.name)
        return None if gid is None else {"gid": gid}

    def desired(self) -> Mapping[str, Any]:
        return {key: self.properties[key] for key in ("gid",) if key in self.properties}

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Changes the group; the numbers of files do not change."""
        gid = self.properties.get("gid")
        if diff.new:
            host.accounts.add_group(self.name, gid, self.properties.get("system") is True)
        else:
            host.accounts.set_gid(self.name, diff.desired["gid"])

    def remove(self, host: Host) -> None:
        host.accounts.remove_group(self.name, force=self.properties.get("force") is True)
