"""The archive type (target; ``check`` on both sides)."""

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple

from remote_runtime.base import Change, Properties
from remote_runtime.changes import HASHED
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.host.download_ports import NewDownload
from remote_runtime.resources.archive import rules
from remote_runtime.resources.archive.settings import settings
from remote_runtime.retries import tries_of
from remote_runtime.tasks import PathTaskStateType, Task

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader

_NEW_MODE = 0o600  # it may have been fetched with credentials
_LARGEST = 10 << 30  # bytes of an archive, unless more may be extracted from it

CurrentState = Optional[Mapping[str, Any]]


class Resource(PathTaskStateType):
    """One archive file, and its extracted content as far as ``creates`` represents it."""

    sentences = True

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self.settings = settings(name, properties)
        self._extracted = False

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(name, properties)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """See the base class. With ``cleanup``, they do not include the archive, but the path in
        ``creates``.
        """
        if properties.get("ensure") == "absent":
            return [(name, False)]
        archives = [] if properties.get("cleanup") else [name]
        created_paths = [properties["creates"]] if "creates" in properties else []
        return [(path, True) for path in archives + created_paths]

    def read(self, host: "HostReader") -> CurrentState:
        """See the base class. Refuses a directory or device at the archive's path."""
        node = host.files.lstat(self.name)
        if node is None:
            return None
        if node.kind in ("directory", "other"):
            what = "a directory" if node.kind == "directory" else "a device, socket or pipe"
            raise ResourceError("%s is %s, not an archive; it was not changed" % (self.name, what))
        return {"ensure": node.kind, "mode": node.mode, "owner": node.uid, "group": node.gid}

    def observed(self, host: "HostReader", state: CurrentState) -> Any:
        return {"ensure": None} if state is None else state

    def left(self, host: "HostReader", state: CurrentState = None) -> Mapping[str, Any]:
        """See the base class. Return whether the result of the extraction exists."""
        return {"created": self._is_created(host)}

    def _is_created(self, host: "HostReader") -> bool:
        creates = self.settings.extraction.creates
        return bool(creates) and host.files.is_created(creates)

    def require(self, host: "HostReader", state: CurrentState) -> None:
        """See the base class. Owner and group must exist unless ``creates`` exists."""
        if self.ensure == "absent" or self._is_created(host):
            return
        host.accounts.number("user", self.settings.owner)
        host.accounts.number("group", self.settings.group)
        if state is None:
            host.files.require_parent(self.name)

    def tasks(self, host: "HostReader", state: CurrentState) -> List[Task]:
        """See the base class. Nothing needs to be extracted once ``creates`` exists; ``cleanup``
        then removes the archive.
        """
        self._require_created(host)
        if self.ensure == "absent":
            return [] if state is None else [self._removing("Would have removed", "ensure")]
        if self._is_created(host):
            needs_cleanup = state is not None and self.settings.cleanup
            return [self._removing("Would have cleaned up", "archive")] if needs_cleanup else []
        tasks = self._getting(host, state)
        if self.settings.cleanup:
            tasks.append(self._removing("Would have cleaned up", "archive"))
        return tasks

    def _getting(self, host: "HostReader", state: CurrentState) -> List[Task]:
        """Download and extraction as one task: if either fails, nothing is changed."""
        changes = self._differences(host, state)
        downloads, parent = bool(changes), self.settings.extraction.parent
        extracts = bool(parent and (downloads or self.settings.extraction.creates))
        messages = ["Would have downloaded"] if downloads else []
        if extracts:
            messages.append("Would have extracted")
            changes = [*changes, Change("extracted", None, parent)]

        def act(host: "Host") -> None:
            if downloads:
                self._download(host, state, extracts)
            else:
                host.archives.extract(self.name, self.settings.extraction, self.settings.checksum)
            self._extracted = extracts

        return [Task(". ".join(messages), act, changes)] if messages else []

    def _differences(self, host: "HostReader", state: CurrentState) -> List[Change]:
        """Return the changes that make a download necessary."""
        want = self.settings.checksum
        if state is None:
            checksum = [Change("checksum", None, want)] if want else []
            return [Change("ensure", "absent", "present"), *checksum]
        if state["ensure"] == "symlink":
            return [Change("type", "symlink", "file")]
        changes = []
        accounts, settings = host.accounts, self.settings
        if state["owner"] != accounts.uid(settings.owner):
            owner = accounts.user_name(state["owner"]) or str(state["owner"])
            changes.append(Change("owner", owner, settings.owner))
        if state["group"] != accounts.gid(settings.group):
            group = accounts.group_name(state["group"]) or str(state["group"])
            changes.append(Change("group", group, settings.group))
        has = HASHED + host.files.digest(self.name) if want else ""
        if has != want:
            changes.append(Change("checksum", has, want))
        return changes

    def _download(self, host: "Host", state: CurrentState, extracts: bool) -> None:
        exists = state is not None and state["ensure"] == "file"
        uid, gid = host.accounts.uid(self.settings.owner), host.accounts.gid(self.settings.group)
        wanted = NewDownload(
            self.settings.request,
            self.name,
            mode=state["mode"] & 0o777 if state is not None and exists else _NEW_MODE,
            uid=-1 if uid is None else uid,
            gid=-1 if gid is None else gid,
            checksum=self.settings.checksum,
            maximum=max(_LARGEST, self.settings.extraction.max_size),
            tries=tries_of(self.properties),
            extraction=self.settings.extraction if extracts else None,
        )
        host.downloads.fetch(wanted)

    def _removing(self, message: str, what: str) -> Task:
        def remove(host: "Host") -> None:
            self._require_created(host)
            host.files.unlink(self.name)

        return Task(message, remove, [Change(what, "present", "absent")])

    def _require_created(self, host: "HostReader") -> None:
        """``UnsettledError`` if the extraction did not create the path ``creates``."""
        how = self.settings.extraction
        if self._extracted and how.creates and not self._is_created(host):
            raise UnsettledError(
                "%s was extracted into %s, but %s does not exist"
                % (self.name, how.parent, how.creates),
                kind="resource.archive.creates",
                hint="set creates to a path in the archive",
            )
