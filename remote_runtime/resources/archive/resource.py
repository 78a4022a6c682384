"""The archive type (target; ``check`` on both sides)."""

import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from remote_runtime import requirements
from remote_runtime.base import (
    Action,
    Change,
    Effect,
    Item,
    Missing,
    PathEffect,
    PathType,
    Properties,
    State,
    Uncertainty,
    UnknownEffect,
)
from remote_runtime.changes import HASHED
from remote_runtime.context import Context
from remote_runtime.downloads.content import Fetched
from remote_runtime.effects import UNKNOWN, below
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.resources.archive import rules, wording
from remote_runtime.resources.archive.settings import settings
from remote_runtime.retries import is_transient, retried, tries_of
from remote_runtime.system.files import Status

if TYPE_CHECKING:
    from remote_runtime.system.temporary import Temporary

_NEW_MODE = 0o600  # it may have been fetched with credentials


class Resource(PathType):
    """One archive file, and what was extracted from it as far as ``creates`` tells."""

    def __init__(self, item: Item, provider: Any, context: Context) -> None:
        super().__init__(item, provider, context)
        self.settings = settings(item.name, item.properties)
        self._fetched: Optional["Temporary"] = None
        self._replaced: Optional[Status] = None  # what is at the name the download will get
        self._checked: Optional[Status] = None  # of the file with the checksum of the manifest
        self._extracted = False

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(name, properties)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        if properties.get("ensure") == "absent":
            return [(name, False)]
        kept = [] if properties.get("cleanup") else [name]
        made = [properties["creates"]] if "creates" in properties else []
        return [(path, True) for path in kept + made]

    def observe(self) -> State:
        status = self.standing()
        if status is not None and status.kind in ("directory", "other"):
            what = "a directory" if status.kind == "directory" else "a device, socket or pipe"
            raise ResourceError("%s is %s, not an archive; it was not changed" % (self.name, what))
        return State("absent" if status is None else "present", status=status)

    def observation(self, state: Any) -> Any:
        """See the base class."""
        from remote_runtime.plans.observed import attributes_of

        return attributes_of(state.status)

    def drift_state(self) -> Properties:
        """With whether what it was extracted for is there. See the base class."""
        return dict(super().drift_state() or {}, created=self._created())

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """What is left to do; see the base class."""
        status: Optional[Status] = state.status
        if self.ensure == "absent":
            return [] if status is None else [self._removing(wording.REMOVED, "ensure")]
        if self._created():
            left = status is not None and self.settings.cleanup
            return [self._removing(wording.CLEANED_UP, "archive")] if left else []
        return self._getting(status)

    def describe(self, actions: Sequence[Action]) -> str:
        return wording.JOIN.join(action.message for action in actions)

    def _created(self) -> bool:
        path = self.settings.creates
        return bool(path) and self.context.files.is_created(path)

    def _getting(self, status: Optional[Status]) -> List[Action]:
        """Download, extract and clean up, as far as needed; what creates names is not there."""
        uid, gid, unmet = self._owners()
        if status is None:
            unmet += requirements.parent(self.context, self.name)
        differences = self._differences(status, uid, gid)
        actions = [self._downloading(status, differences)] if differences else []
        if self.settings.extract_parent and (differences or self.settings.creates):
            actions = [_as_one([*actions, self._extracting(downloaded=bool(differences))])]
        if self.settings.cleanup:
            actions.append(self._removing(wording.CLEANED_UP, "archive"))
        requirements.raise_first(unmet, actions)
        return actions

    def _differences(self, status: Optional[Status], uid: int, gid: int) -> List[Change]:
        """What makes a download necessary."""
        want = self.settings.checksum and HASHED + self.settings.checksum
        if status is None:
            checksum = [Change("checksum", None, want)] if want else []
            return [Change("ensure", "absent", "present")] + checksum
        if status.kind == "symlink":
            return [Change("type", "symlink", "file")]
        changes = []
        self._checked = status if self.settings.checksum else None
        accounts = self.context.accounts
        if status.uid != uid:
            changes.append(Change("owner", accounts.user_name(status.uid), self.settings.owner))
        if status.gid != gid:
            changes.append(Change("group", accounts.group_name(status.gid), self.settings.group))
        found = HASHED + self.context.files.sha256(self.name, status) if want else ""
        if found != want:
            changes.append(Change("checksum", found, want))
        return changes

    def _owners(self) -> Tuple[int, int, List[Missing]]:
        return requirements.owners(self.context, self.settings.owner, self.settings.group)

    # -- the steps --------------------------------------------------------------------------------

    def _downloading(self, status: Optional[Status], changes: List[Change]) -> Action:
        def fetch(number: int) -> "Temporary":
            self.tries = number if self.properties.get("tries", 1) > 1 else 0
            fetched: "Temporary" = self.provider.download(self.name, self.settings)
            return fetched

        def download() -> None:
            self._fetched = retried(self.context, tries_of(self.properties), fetch, is_transient)
            self._replaced = status
            if not self.settings.extract_parent:
                self._place()

        regular = status is not None and status.kind == "file"
        mode = status.mode & 0o777 if status is not None and regular else _NEW_MODE
        uid, gid, _ = self._owners()
        fetched = PathEffect(
            self.name, "file", mode=mode, uid=uid, gid=gid, content=Fetched(self.settings.checksum)
        )

        def rehearse() -> None:
            self.context.files.obstacles(self.name).writing(0, uid, gid)
            if self.context.options.probe_urls:
                self.provider.probe(self.name, self.settings)

        return Action(
            wording.DOWNLOADED, download, changes=changes, effects=[fetched], rehearse=rehearse
        )

    def _extracting(self, downloaded: bool) -> Action:
        parent, creates = self.settings.extract_parent, self.settings.creates
        there = self.context.files.exists(parent)
        if there and not self.context.files.is_directory(parent):
            raise ResourceError(
                "extract_parent %s is not a directory" % parent,
                hint="choose another directory; ccm does not change the existing file",
            )
        above = [] if there else requirements.parents(self.context, os.path.normpath(parent), 0o755)
        # What else the archive holds is not known before it is there.
        why = "the files that %s extracts into %s are not known yet" % (self.item.id, parent)
        effects: List[Effect] = [
            *above,
            PathEffect(parent, "directory", None if there else 0o755, firm=False),
            UnknownEffect(Uncertainty(UNKNOWN, why), below(parent)),
        ]
        if creates:
            effects.append(PathEffect(creates, "something"))
        changes = [Change("extracted", None, parent)]

        def rehearse() -> None:
            self.provider.require(self.settings)
            inside = parent.rstrip("/") + "/x"
            self.context.files.status(inside)  # refuses links that are not to be trusted
            self.context.files.obstacles(inside).writing(0)
            world = self.context.world
            if not downloaded and (world is None or world.layer.find(self.name, True).node is None):
                self.provider.survey(self.name, self.settings)

        return Action(
            wording.EXTRACTED, self._extract, changes=changes, effects=effects, rehearse=rehearse
        )

    def _extract(self) -> None:
        """Extract first, put the archive at its place then: one that is there was extracted."""
        fetched = self._fetched
        try:
            extracted = self.provider.extract(self.name, self.settings, fetched, self._checked)
            self.context.changed_paths.update(extracted)
            if fetched is not None:
                self._place()
        finally:
            if fetched is not None:
                fetched.discard()
        self._extracted = True

    def unachieved(self, state: Any) -> str:
        self._refuse_other_archives()
        return super().unachieved(state)

    def _refuse_other_archives(self) -> None:
        """``UnsettledError`` where what was extracted is not what creates says."""
        if self._extracted and self.settings.creates and not self._created():
            raise UnsettledError(
                "%s was extracted into %s, but %s does not exist"
                % (self.name, self.settings.extract_parent, self.settings.creates),
                kind="resource.archive.creates",
                hint="set creates to a path in the archive",
            )

    def _place(self) -> None:
        """Give the finished download its attributes and its name."""
        fetched, self._fetched = self._fetched, None
        if fetched is None:
            raise ResourceError("%s was not downloaded" % self.name)
        uid, gid, _ = self._owners()
        old = self._replaced
        mode = old.mode & 0o777 if old is not None and old.kind == "file" else _NEW_MODE
        self.provider.place(fetched, uid, gid, mode)
        self.context.changed_paths.add(self.name)

    def _removing(self, message: str, what: str) -> Action:
        def remove() -> None:
            self._refuse_other_archives()
            self.provider.remove(self.name)
            self.context.changed_paths.add(self.name)

        changes = [Change(what, "present", "absent")]
        return Action(
            message,
            remove,
            changes=changes,
            effects=[PathEffect(self.name, "absent")],
            rehearse=lambda: self.context.files.obstacles(self.name).removing(),
        )


def _as_one(actions: Sequence[Action]) -> Action:
    """Download and extraction as one step: where either fails, nothing was changed."""

    def call() -> None:
        for action in actions:
            action.call()

    def rehearse() -> None:
        for action in actions:
            if action.rehearse is not None:
                action.rehearse()

    return Action(
        wording.JOIN.join([action.message for action in actions]),
        call,
        changes=[change for action in actions for change in action.changes],
        effects=[effect for action in actions for effect in action.effects or ()],
        rehearse=rehearse,
    )
