"""The scaffold type (target; ``check`` on both sides)."""

import errno
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

from remote_runtime import requirements
from remote_runtime.base import (
    Action,
    Change,
    Item,
    PathEffect,
    PathType,
    Properties,
    State,
)
from remote_runtime.changes import HASHED, content_before, told_by_size
from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.resources.scaffold import removal, rules, wording
from remote_runtime.resources.scaffold.diffs import Diffs
from remote_runtime.resources.scaffold.processing import Processing
from remote_runtime.resources.scaffold.tree import Tree, Wanted, entries, tree_of
from remote_runtime.resources.scaffold.tree_scan import Look, parent_in_the_way, shown
from remote_runtime.system.errno_messages import refusal
from remote_runtime.system.files import Status
from remote_runtime.system.paths import walk
from remote_runtime.system.preconditions import PAGE

_NEW = 0o644
_EXECUTE = 0o111


class Resource(PathType):
    """One directory of rendered files."""

    def __init__(self, item: Item, provider: Any, context: Context) -> None:
        super().__init__(item, provider, context)
        self._processing: Optional[Processing] = None

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(name, properties)

    def wanted(self) -> List[str]:
        if self.ensure == "absent":
            return []
        processing = Processing(self.properties, self.name, self.context)
        diffs = Diffs(self.context, self.item)
        found = []
        for entry in entries(self.properties.get("source")):
            if self._travels(entry, processing, diffs):
                found.append(entry["$blob"])
        return found

    def _travels(self, entry: Any, processing: Processing, diffs: Diffs) -> bool:
        """Whether a file's content is needed; in noop it only is for a command or a diff."""
        full = os.path.join(self.name, entry["path"])
        try:
            status = self.context.files.status(full)
            same_size = status is not None and (status.kind, status.size) == ("file", entry["size"])
            if same_size and self.context.files.sha256(full, status) == entry["$blob"]:
                return False
        except ResourceError:
            return False  # told at the resource's turn
        if processing.matches(entry["path"]) or not self.context.noop:
            return True
        return diffs.wants(status, entry["size"], file_mode(status, bool(entry.get("executable"))))

    def observe(self) -> State:
        above = parent_in_the_way(self.context, self.name)
        there = above is None and self.context.files.status(self.name) is not None
        return State("present" if there else "absent")

    def found(self) -> Properties:
        from remote_runtime.plans.observed import of_path

        status = self.context.files.status(self.name)
        there = status is not None and status.kind == "directory"
        ensure = "present" if there else "absent"
        return {"ensure": ensure, **of_path(self.context, self.name, status)}

    def drift_state(self) -> Properties:
        """With its files, and of one that purges the names of all. See the base class."""
        files = self.context.files
        contents = {}
        for entry in entries(self.properties.get("source")):
            full = os.path.join(self.name, entry["path"])
            status = files.status(full)
            if status is None or status.kind != "file" or told_by_size(status, entry["size"]):
                contents[entry["path"]] = ""
            else:
                contents[entry["path"]] = files.sha256(full, status)
        found = dict(super().drift_state() or {}, files=sorted(contents.items()))
        if self.properties.get("purge") is True:
            found["names"] = sorted([top, sorted(names)] for top, _, names in walk(self.name))
        return found

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """Of the file that differs, the one that was changed last of several: the directory's own
        times say when a name came or went. See the base class."""
        from remote_runtime.plans.observed import newest_traces

        effects = [one for action in actions for one in action.effects or ()]
        paths = [one.path for one in effects if isinstance(one, PathEffect)]
        return newest_traces(self.context, paths) or super().provenance(actions)

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """What is left to do; see the base class."""
        tree = tree_of(self.properties.get("source"), self.context)
        purge = self.properties.get("purge") is True
        look = Look(self.context, self.name, purge)
        if self.ensure == "absent":
            return removal.of_scaffold(self, look, tree)
        if self._processing is None:
            self._processing = Processing(self.properties, self.name, self.context)
        lacking = self._processing.lacking(tree.files)
        extra = removal.of_extra(self, look, tree) if purge else removal.Extra([], [])
        actions = extra.first + self._directories(look, tree)
        actions += self._files(look, tree, bool(lacking or look.unmet)) + extra.last
        actions = self._fitting(_counted(actions))
        requirements.raise_first(look.unmet + lacking, actions)
        if not actions:  # in a preview later resources may read what would be written
            self._processing.discard()
        return actions

    def _fitting(self, actions: List[Action]) -> List[Action]:
        """The same; in a preview of what is all new each sees whether there is room for it."""
        new = [e for a in actions for e in a.effects or () if isinstance(e, PathEffect)]
        files = self.context.files
        if not (self.context.noop and new) or any(files.is_there(e.path) for e in new):
            return actions
        room = files.obstacles(os.path.join(self.name, "x")).spare()  # it may be a mount point
        size = count = 0
        found = []
        for action in actions:
            for effect in action.effects or ():
                if isinstance(effect, PathEffect):
                    count += 1
                    size += _pages(effect)
            found.append(action if room.holds(size, count) else _without_room(action))
        return found

    def unachieved(self, state: Any) -> str:
        left = [c.what for action in self.actions(state, False) for c in action.changes]
        if len(left) > 3:
            left[3:] = ["%d more" % (len(left) - 3)]
        return "still different: " + ", ".join(left) if left else ""

    # -- directories ------------------------------------------------------------------------------

    def _directories(self, look: Look, tree: Tree) -> List[Action]:
        found = look.missing_directories(tree.directories, tree.files)
        missing = found if look.exists else ["", *found]
        return [self._directory(look, path) for path in missing]

    def _directory(self, look: Look, path: str) -> Action:
        full = look.full(path) if path else look.root

        def create() -> None:
            look.ensure_inside(path)
            self.provider.make_directory(full)
            self.context.changed_paths.add(full)

        above = [] if path else requirements.parents(self.context.files, full, 0o755)
        effects = [*above, PathEffect(full, "directory", 0o755, firm=False)]
        change = Change(shown(path), "absent", "directory")

        def rehearse() -> None:
            self.context.files.obstacles(full).making()

        return Action(
            wording.DIRECTORY_CREATED, create, changes=[change], effects=effects, rehearse=rehearse
        )

    # -- files ------------------------------------------------------------------------------------

    def _files(self, look: Look, tree: Tree, blocked: bool) -> List[Action]:
        diffs = Diffs(self.context, self.item)
        found: List[Action] = []
        for wanted in tree.files:
            self.context.check_cancelled()
            action = self._file(look, wanted, diffs, blocked)
            if action is not None:
                found.append(action)
        return found

    def _file(self, look: Look, wanted: Wanted, diffs: Diffs, blocked: bool) -> Optional[Action]:
        """What brings one file to its place; ``blocked``: its commands cannot be run yet."""
        if self._processing is not None and not blocked:
            wanted = self._processing(wanted)
        status = look.status(wanted.path)
        if status is not None:
            look.refuse(wanted, status)
        full = look.full(wanted.path)
        mode = file_mode(status, wanted.executable)
        before: Optional[str] = None if status is None else status.kind
        if status is not None and status.kind == "file":
            before = content_before(self.context.files, full, status, wanted.content.size)
            if before == HASHED + wanted.content.sha256:
                return self._mode(look, wanted.path, status, mode)
        diff = diffs.make(full, status, wanted.content, mode)
        change = Change(shown(wanted.path), before, HASHED + wanted.content.sha256, diff)

        def put() -> None:
            self.context.progress("writing %s" % full)
            look.ensure_inside(wanted.path)
            self.provider.put(full, wanted.content, mode, status)
            self.context.changed_paths.add(full)

        effects = [PathEffect(full, "file", mode, content=wanted.content, firm=False)]

        def rehearse() -> None:
            self.provider.rehearse_put(full, wanted.content.size, status)

        return Action(wording.CHANGED, put, changes=[change], effects=effects, rehearse=rehearse)

    def _mode(self, look: Look, path: str, status: Status, mode: int) -> Optional[Action]:
        if status.mode & 0o777 == mode:
            return None
        full = look.full(path)

        def set_mode() -> None:
            look.ensure_inside(path)
            self.provider.set_mode(full, mode)
            self.context.changed_paths.add(full)

        change = Change(shown(path), "%04o" % status.mode, "%04o" % mode)

        def rehearse() -> None:
            self.context.files.obstacles(full).changing(-1, -1)

        return Action(
            wording.CHANGED,
            set_mode,
            changes=[change],
            effects=[PathEffect(full, "file", mode, firm=False)],
            rehearse=rehearse,
        )


def file_mode(status: Optional[Status], executable: bool) -> int:
    """The permissions that a file is to have: those it has, executable or not as is wanted."""
    mode = status.mode & 0o777 if status is not None and status.kind == "file" else _NEW
    if not executable:
        return mode & ~_EXECUTE
    return mode if mode & _EXECUTE else mode | (mode & 0o444) >> 2


def _counted(actions: List[Action]) -> List[Action]:
    """The actions with the number of files in their message; directories do not count."""
    count = sum(len(action.changes) for action in actions if action.message == wording.CHANGED)
    if not count:
        return actions
    message = wording.CHANGED % count
    return [action._replace(message=message if action.message else "") for action in actions]


def _pages(effect: PathEffect) -> int:
    """How many bytes what comes takes up."""
    return 0 if effect.content is None else -(-effect.content.size // PAGE) * PAGE


def _without_room(action: Action) -> Action:
    """The same, where the disk is full by then."""

    def rehearse() -> None:
        if action.rehearse is not None:
            action.rehearse()
        for effect in action.effects or ():
            if isinstance(effect, PathEffect):
                raise refusal("write", effect.path, errno.ENOSPC)

    return action._replace(rehearse=rehearse)
