"""The file type (target; ``check`` on both sides)."""

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime import requirements
from remote_runtime.base import (
    Action,
    Change,
    Effect,
    Missing,
    PathEffect,
    PathType,
    Properties,
    State,
)
from remote_runtime.content import Content
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file import modes, replacement, wording
from remote_runtime.resources.file.content import desired

if TYPE_CHECKING:
    from remote_runtime.resources.file.backups import Backup
    from remote_runtime.resources.file.below import Below
    from remote_runtime.resources.file.write_ahead import Store
    from remote_runtime.system.paths import Status
    from remote_runtime.system.preconditions import Preconditions

ATTRIBUTES = ("owner", "group", "mode")


class Wanted(NamedTuple):
    """The attributes that a file is to have; -1 for an account that does not exist (yet)."""

    uid: int
    gid: int
    mode: int


class Resource(PathType):
    """One file or directory."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        from remote_runtime.resources.file import rules

        return rules.problems(name, properties)

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        given = any(properties.get(key) is not None for key in ("content", "source"))
        once = properties.get("replace") is False  # only where the file is missing
        stays = properties.get("ensure") != "absent"
        return [(name, True)] if given and stays and not once else []

    def wanted(self) -> List[str]:
        for key in ("content", "source"):
            value = self.properties.get(key)
            if isinstance(value, dict) and self._travels(value["$blob"], value["size"]):
                return [value["$blob"]]
        return []

    def _travels(self, sha: str, size: int) -> bool:
        """Whether the content is needed at all; in noop it only is for a diff."""
        if self.context.noop:
            from remote_runtime.reporting.difference import LARGEST

            if not self.context.options.diff or size > LARGEST:
                return False
        try:
            status = self.context.files.status(self.name)
            return not self._stays(status) and self._differs(sha, size, status)
        except ResourceError:
            return False  # told at the resource's turn

    def _differs(self, sha: str, size: int, status: "Optional[Status]") -> bool:
        if status is None or status.kind != "file" or status.size != size:
            return True
        return self.context.files.sha256(self.name, status) != sha

    def observe(self) -> State:
        status = self.standing()
        if status is None:
            return State("absent", status=None)
        if self.ensure == "directory" and status.kind == "symlink":
            behind = self.context.files.status(self.name, follow=True)
            if behind is not None and behind.kind == "directory":
                status = behind
        if status.kind != "directory":
            return State("present", status=status)
        return State("directory", status=status, below=self._below(status))

    def _below(self, status: "Status") -> "Optional[Below]":
        """What is in the directory, if that is managed."""
        given = self.properties
        if self.ensure != "directory" or True not in (given.get("recurse"), given.get("purge")):
            return None
        from remote_runtime.resources.file.below import Below

        return Below(self, status)

    def observation(self, state: Any) -> Any:
        """See the base class."""
        from remote_runtime.resources.file import digests

        return digests.observation(self, state)

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """Of the path below that was changed last, if any differs. See the base class."""
        from remote_runtime.resources.file import digests

        return digests.provenance(self, actions) or super().provenance(actions)

    def drift_state(self) -> Properties:
        """See the base class."""
        from remote_runtime.resources.file import digests

        return digests.drift_state(self)

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """What is left to do; see the base class."""
        status: "Optional[Status]" = state.status
        if self.ensure == "absent":
            from remote_runtime.resources.file import removal

            return removal.actions(self, status)
        if self.ensure == "directory":
            actions, unmet = self._directory(status, getattr(state, "below", None))
        else:
            actions, unmet = self._file(status)
        if actions:
            requirements.raise_first(unmet, actions)
        return actions

    def _wanted(self, status: "Optional[Status]") -> Tuple[Wanted, List[Missing]]:
        """The attributes, and the accounts of them that are not there.

        Those that are not given, as ``ccm ensure`` may leave them, are those of what is there.
        """
        given = self.properties
        left = [key for key in ATTRIBUTES if given.get(key) is None]
        if left and (status is None or status.kind not in ("file", "directory")):
            raise ResourceError(
                "%s does not exist yet: set its %s" % (self.name, " and ".join(left)),
                hint="only existing files keep their attributes; set %s"
                % " ".join("--%s" % key for key in left),
            )
        uid, gid, unmet = requirements.owners(
            self.context,
            str(given.get("owner") or (status.uid if status else -1)),
            str(given.get("group") or (status.gid if status else -1)),
        )
        return Wanted(uid, gid, self._wanted_mode(status)), unmet

    def _wanted_mode(self, status: "Optional[Status]") -> int:
        given = self.properties.get("mode")
        if given is None:
            return status.mode if status is not None else 0
        mode = modes.parse_mode(str(given))
        if self.ensure != "directory":
            return mode
        # What /tmp has beside its permissions it keeps, unless the mode speaks of it.
        kept = status is not None and modes.leaves_special_bits(str(given))
        return modes.directory_mode(mode) | (status.mode & 0o7000 if status and kept else 0)

    def _attributes(self, status: "Status", want: Wanted) -> List[Change]:
        accounts, given = self.context.accounts, self.properties
        changes = []
        if status.uid != want.uid:
            changes.append(Change("owner", accounts.user_name(status.uid), str(given["owner"])))
        if status.gid != want.gid:
            changes.append(Change("group", accounts.group_name(status.gid), str(given["group"])))
        if status.mode != want.mode:
            changes.append(Change("mode", "%04o" % status.mode, "%04o" % want.mode))
        return changes

    def assumed_actions(self, refresh: bool) -> List[Action]:
        if self.ensure == "absent":
            from remote_runtime.resources.file import removal

            return [removal.assumed_actions(self)]
        kept = any(self.properties.get(key) is None for key in ATTRIBUTES)
        want, _ = self._wanted(self.observe().status if kept else None)
        if self.ensure == "directory":
            return [self._making(want, [])]
        return [
            Action(
                wording.CREATED,
                lambda: self._store(None, want),
                [Change("content", None, None)],
                [PathEffect(self.name, "file", mode=want.mode, uid=want.uid, gid=want.gid)],
            )
        ]

    def known_effects(self, state: Any) -> Sequence[Effect]:
        if self.ensure == "absent":
            return [PathEffect(self.name, "absent")]
        want, _ = self._wanted(state.status)
        if self.ensure == "directory":
            return [self._effect("directory", want)]
        content = None if self._stays(state.status) else self._content()
        return [] if content is None else [self._effect("file", want, content)]

    def _effect(
        self, kind: str, want: Wanted, content: Optional[Content] = None, at: str = ""
    ) -> PathEffect:
        return PathEffect(
            at or self.name, kind, mode=want.mode, uid=want.uid, gid=want.gid, content=content
        )

    # -- a regular file ---------------------------------------------------------------------------

    def _file(self, status: "Optional[Status]") -> Tuple[List[Action], List[Missing]]:
        """What is left to do, and what keeps it from being done."""
        want, unmet = self._wanted(status)
        content: Optional[Content] = None
        bare = self._stays(status)
        try:
            content = None if bare else self._content()
            bare = content is None
        except Missing as source:
            unmet.append(source)
        replacement.refuse(self.name, status, bare, self._stays(status))
        if status is None:
            unmet += requirements.parent(self.context, self.name)
        if bare:
            return self._bare(status, want), unmet
        changes = replacement.changes(
            self.context, self.item, status=status, content=content, mode=want.mode
        )
        attributes = self._attributes(status, want) if status is not None else []
        if not changes:
            return self._attribute_action(attributes, want), unmet
        backup = self._backup(status)
        kept = backup.effects() if backup is not None else []
        return [
            Action(
                wording.CREATED,
                lambda: self._store(content, want, backup),
                changes=changes + attributes + (backup.changes if backup is not None else []),
                effects=[*kept, self._effect("file", want, content)],
                rehearse=lambda: self._rehearse_store(content, want, backup),
            )
        ], unmet + self._validator()

    def _stays(self, status: "Optional[Status]") -> bool:
        """Whether what is there keeps its content, whatever that is."""
        return status is not None and self.properties.get("replace") is False

    def _backup(self, status: "Optional[Status]") -> "Optional[Backup]":
        """What keeps the file that is replaced."""
        if self.properties.get("backup") is not True or status is None or status.kind != "file":
            return None
        from remote_runtime.resources.file.backups import Backup

        return Backup(self.context, self.name, status)

    def _content(self) -> Optional[Content]:
        """``Missing`` where it cannot be told what it is."""
        return desired(self.properties, self.context, self.item.deferred_render)

    def _validator(self) -> List[Missing]:
        """What keeps the validation from being started."""
        validate = str(self.properties.get("validate") or "")
        if not validate:
            return []
        from remote_runtime.text.shell_words import split

        words = split(validate)
        if not words or "{}" in words[0]:
            return []
        return requirements.program(self.context, words[0], what="it cannot be validated")

    def _bare(self, status: "Optional[Status]", want: Wanted) -> List[Action]:
        """Attributes only."""
        if status is not None:
            return self._attribute_action(self._attributes(status, want), want)
        from remote_runtime.content import Text

        empty = Text("")
        return [
            Action(
                wording.EMPTY,
                lambda: self._store(empty, want),
                changes=[Change("ensure", "absent", "present")],
                effects=[self._effect("file", want, empty)._replace(part=True)],
                rehearse=lambda: self._rehearse_store(empty, want),
            )
        ]

    def _attribute_action(self, changes: List[Change], want: Wanted) -> List[Action]:
        if not changes:
            return []
        kind = "directory" if self.ensure == "directory" else "file"
        effects = [self._effect(kind, want)]
        return [
            Action(
                wording.ATTRIBUTES,
                lambda: self._set_attributes(want),
                changes=changes,
                effects=effects,
                rehearse=lambda: self._obstacles(kind == "directory").changing(*want),
            )
        ]

    def _obstacles(self, follow: bool = False) -> "Preconditions":
        return self.context.files.obstacles(self.name, follow)

    def _rehearse_store(
        self, content: Optional[Content], want: Wanted, backup: "Optional[Backup]" = None
    ) -> None:
        size = content.size if content is not None else 0
        if backup is not None:
            backup.rehearse(size)
        self._obstacles().writing(size, *want)
        modes.require_readable(self.name, want.mode, size)
        validate = str(self.properties.get("validate") or "")
        if content is not None and validate:
            self.provider.rehearse(
                self.name,
                content,
                uid=want.uid,
                gid=want.gid,
                mode=want.mode,
                validate=validate,
            )

    def to_store(self) -> "Optional[Store]":
        """What its turn will put there, as far as can be told before; None for nothing."""
        from remote_runtime.resources.file.write_ahead import Store

        if isinstance(self.properties.get("source"), str):
            return None  # an earlier turn may yet change it
        try:
            content = self._content()
            if content is None or not content.at_hand:
                return None
            status = self.context.files.status(self.name)
            if self._stays(status) or not self._differs(content.sha256, content.size, status):
                return None
            replacement.refuse(self.name, status, False)
            want, unmet = self._wanted(status)
        except ResourceError:
            return None
        replaces = () if status is None else status.identity
        return None if unmet else Store(self.name, content, *want, replaces=replaces)

    def _store(
        self, content: Optional[Content], want: Wanted, backup: "Optional[Backup]" = None
    ) -> None:
        if content is None:
            raise ResourceError("the content of %s is not known yet" % self.name)
        from remote_runtime.resources.file.write_ahead import coming_after

        self.context.progress("writing %s" % self.name)
        validate = str(self.properties.get("validate") or "")
        self.provider.store(
            self.name,
            content,
            uid=want.uid,
            gid=want.gid,
            mode=want.mode,
            validate=validate,
            coming=coming_after(self),
            replacing=backup.make if backup is not None else None,
        )
        self.context.changed_paths.add(self.name)

    def _set_attributes(self, want: Wanted) -> None:
        change = self.provider.set_attributes
        if self.ensure == "directory":
            change = self.provider.set_directory_attributes
        change(self.name, want.uid, want.gid, want.mode)
        self.context.changed_paths.add(self.name)

    # -- a directory ------------------------------------------------------------------------------

    def _directory(
        self, status: "Optional[Status]", below: "Optional[Below]"
    ) -> Tuple[List[Action], List[Missing]]:
        """What is left to do, and what keeps it from being done."""
        if status is None:
            want, unmet = self._wanted(None)
            above = requirements.parents(self.context.files, self.name, want.mode & 0o755)
            return [self._making(want, above)], unmet
        if status.kind != "directory":
            kind = "symlink" if status.kind == "symlink" else "file"
            raise ResourceError(
                "%s is a %s, not a directory" % (self.name, kind),
                hint="use another path, or the directory that it leads to",
            )
        want, unmet = self._wanted(status)
        own = self._attribute_action(self._attributes(status, want), want)
        return own if below is None else below.actions(own, want.uid, want.gid), unmet

    def _making(self, want: Wanted, above: Sequence[PathEffect]) -> Action:
        return Action(
            wording.DIRECTORY_CREATED,
            lambda: self._create_directory(want),
            changes=[Change("ensure", "absent", "directory")],
            effects=[*above, self._effect("directory", want)],
            rehearse=lambda: self._obstacles().making(*want),
        )

    def _create_directory(self, want: Wanted) -> None:
        self.provider.create_directory(self.name, want.uid, want.gid, want.mode)
        self.context.changed_paths.add(self.name)
