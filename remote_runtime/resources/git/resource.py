"""The git type: a checkout of a repository at a ref (target; ``check`` on both sides)."""

from typing import Any, Dict, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, PathStateType, Properties
from remote_runtime.errors import ResourceError
from remote_runtime.host.checkout_ports import Source, Target, commit_of
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.resources.git import addresses
from remote_runtime.text import duration

_LIMIT = "10m"


class Resource(PathStateType):
    """One checkout."""

    noun = "checkout"
    inputs = ("url",)

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self._target: Optional[Target] = None
        self._is_cut = False

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. Checks the rules for addresses and refs."""
        wrong = super().check(name, properties)
        if name == "/":
            wrong.append(("name", "the root directory cannot be a checkout"))
        if properties.get("ensure") == "absent":
            return wrong
        url = properties.get("url")
        wrong += [("url", message) for message in addresses.of_url(url)] if url else []
        ref = properties.get("ref")
        wrong += [("ref", message) for message in addresses.of_ref(ref)] if ref else []
        wrong += addresses.of_credentials(properties)
        limit = properties.get("timeout")
        if limit is not None:
            try:
                if duration.parse(limit) <= 0:
                    wrong.append(("timeout", "it must be greater than 0"))
            except ValueError as error:
                wrong.append(("timeout", str(error)))
        return wrong

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """See the base class. A token over http:// and any use of git:// can be read or modified in
        transit.
        """
        url = properties.get("url", "")
        if url.startswith("http://") and properties.get("token"):
            return [("url", "the token is sent unencrypted", "use https://")]
        if url.startswith("git://"):
            return [("url", "git:// does not authenticate the server", "use https:// or ssh://")]
        return []

    def _source(self) -> Source:
        def text(key: str) -> str:
            return str(self.properties.get(key) or "")

        return Source(
            url=text("url"),
            ref=text("ref"),
            user=self.properties.get("owner"),
            group=self.properties.get("group"),
            depth=self.properties.get("depth") or 0,
            submodules=self.properties.get("submodules", True) is not False,
            timeout=duration.parse(text("timeout") or _LIMIT),
            ssh_key=text("ssh_key"),
            known_host=text("known_host"),
            username=text("username"),
            token=text("token"),
        )

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Return the commit with the other compared properties; the remote is
        contacted once.
        """
        source = self._source()
        checkout = host.checkouts.find(self.name, source)
        wanted = self.ensure != "absent" and bool(source.url)
        if checkout is None:
            if wanted and self._target is None:
                self._target = host.checkouts.resolve(self.name, source)
            return None
        self._is_cut = checkout.was_cut
        follows = self.properties.get("update", True) is not False
        # Nobody but the owner that is wanted gets the credentials; apply refuses any other.
        ours = source.user is None or host.accounts.uid(source.user) == checkout.uid
        if wanted and self._target is None and ours and (follows or not checkout.is_at_ref):
            self._target = host.checkouts.resolve(self.name, source)
        state: Dict[str, Any] = {
            "url": checkout.url or None,
            "commit": checkout.commit or None,
            "ref": checkout.branch or checkout.commit or None,
            "submodules": checkout.is_current,
            "owner": _name(host.accounts.uid, host.accounts.user_name, source.user, checkout.uid),
            "group": _name(host.accounts.gid, host.accounts.group_name, source.group, checkout.gid),
        }
        if checkout.was_cut:
            state["complete"] = False
        if wanted and self.properties.get("force") is True:
            state["changes"] = host.checkouts.changes(self.name) or None
        return state

    def desired(self) -> Mapping[str, Any]:
        """See the base class. ``commit`` is the target of the ref if it was queried, otherwise only
        a ref that is a commit.
        """
        wanted: Dict[str, Any] = {"url": self.properties.get("url")}
        if self._target is not None:
            wanted["commit"] = self._target.commit
        elif commit_of(str(self.properties.get("ref") or "")):
            wanted["commit"] = self.properties["ref"]
        for key in ("owner", "group"):
            if key in self.properties:
                wanted[key] = self.properties[key]
        if self.properties.get("submodules", True) is not False:
            wanted["submodules"] = True
        if self._is_cut:
            wanted["complete"] = True
        if self.properties.get("force") is True:
            wanted["changes"] = None
        return wanted

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Clones or updates. Refuses to change the owner or group of an
        existing checkout.
        """
        source = self._source()
        if diff.new:
            host.checkouts.clone(self.name, source, self._target)
            return
        current = diff.found or {}
        for key in ("owner", "group"):
            if key in diff:
                raise ResourceError(
                    "the checkout has the %s %s, not %s" % (key, current[key], diff.desired[key]),
                    kind="resource.git.owner",
                    hint="make that user the owner of the whole checkout, or use another path",
                )
        moves = self._target
        if moves is None and (self._is_cut or "changes" in diff):
            moves = Target(str(current["commit"]))
        if not {"commit", "complete", "changes"} & set(diff.keys):
            moves = None
        force = self.properties.get("force") is True
        host.checkouts.update(self.name, source, moves, force)

    def remove(self, host: Host) -> None:
        host.checkouts.remove(self.name, self.properties.get("force") is True)


def _name(number_of: Any, name_of: Any, wanted: Optional[str], number: int) -> str:
    """The owner as written in the resource, if it means the one that was found."""
    if wanted is not None and number_of(wanted) == number:
        return wanted
    return name_of(number) or str(number)
