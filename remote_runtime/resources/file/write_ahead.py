"""Writes the files of the turns to come together with that of a turn (target).

Each new file costs a wait for the disk. Files that are written one after the other and synced
behind the last share it: what is written for a turn to come is finished beside its place, under a
name of this run's, and lasts. It is that turn which puts it there; where it finds the host
otherwise than it was, it writes the file anew.
"""

from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

from remote_runtime.base import ResourceType
from remote_runtime.content import Content
from remote_runtime.context import Ahead, Context
from remote_runtime.errors import ResourceError
from remote_runtime.item import Item
from remote_runtime.system.attributes import labels_files
from remote_runtime.system.temporary import Temporary

_MOST = 64  # files of which each has a descriptor
_LARGEST = 1 << 20  # bytes in all


class Store(NamedTuple):
    """A regular file that is to be put at a path: what it takes to be the same one.

    ``replaces`` is the identity of what was there when that was found out; () for nothing.
    """

    path: str
    content: Content
    uid: int
    gid: int
    mode: int
    replaces: Tuple[int, ...] = ()

    @property
    def made_of(self) -> Tuple[str, int, int, int]:
        """What is in the file and who may do what with it."""
        return (self.content.sha256, self.uid, self.gid, self.mode)


# Writes a file, all but its sync; the other one was begun right before.
Write = Callable[[Store, Temporary], Temporary]

# A turn to come and what it will put; None where there is nothing to be done, as far as is known.
Coming = Tuple[Item, Optional[Store]]


def coming_after(resource: ResourceType) -> Iterator[Coming]:
    """The turns behind this resource's that put a file, and do nothing else that can be told."""
    context, provider = resource.context, resource.provider
    for item in context.coming():
        if item.type != resource.item.type or item.provider not in ("", provider.name):
            return
        if item.noop or item.monitor_only or item.deferred_error or item.deferred_render:
            return
        other: Any = type(resource)(item, provider, context)
        # What a command sees or does belongs between two turns.
        if other.ensure != "present" or item.health_checks or "validate" in item.properties:
            return
        with context.turn(item, False):
            store = other.to_store()
        yield item, store


class _WrittenFile(NamedTuple):
    temporary: Temporary
    store: Store


class WriteBatch(Ahead):
    """What one run has written for turns to come.

    ``labels``: the label of each file is asked for with a command, which may fail.
    """

    def __init__(self, context: Context, write: Write) -> None:
        self._context = context
        self._write = write
        self._written: Dict[str, _WrittenFile] = {}
        self._turns: Set[str] = set()
        self.labels = labels_files()

    def sync(self, first: Temporary, coming: Iterable[Coming]) -> None:
        """Sync a file that was written, together with those that ``coming`` turns will put."""
        if self._written or self.labels:
            return first.sync()
        try:
            self._write_all(coming, first)
            others = [written.temporary for written in self._written.values()]
            for temporary in [first, *others] if others else []:
                temporary.begin_sync()
            first.sync()
        except BaseException:
            self.drop()
            raise
        try:
            for temporary in others:
                temporary.sync()
        except ResourceError:
            self.drop()  # whose it is finds that at its turn
        return None

    def _write_all(self, coming: Iterable[Coming], latest: Temporary) -> None:
        self.drop()
        room = _LARGEST
        for item, store in coming:
            if store is not None:
                room -= store.content.size
                if room < 0 or len(self._written) + 1 >= _MOST or store.path in self._written:
                    break
                try:
                    latest = self._write(store, latest)
                    self._written[store.path] = _WrittenFile(latest, store)
                except ResourceError:
                    break  # which is told at its turn
            self._turns.add(item.id)
        if self._written:
            self._context.ahead = self

    def take(self, store: Store) -> Optional[Temporary]:
        """What was written for this turn, if it is still what it takes; it is the caller's now."""
        written = self._written.pop(store.path, None)
        if written is None:
            return None
        try:
            if self._fits(written, store):
                return written.temporary
        except (OSError, ResourceError):
            pass  # it is found again by who writes it anew
        written.temporary.discard()
        return None

    def _fits(self, written: _WrittenFile, store: Store) -> bool:
        if written.store.made_of != store.made_of:
            return False
        files = self._context.files
        place = files.place(store.path, "write")
        status = files.status_at(place)
        if written.store.replaces != (() if status is None else status.identity):
            return False
        return written.temporary.is_whole(place)

    def begin(self, item: Item) -> None:
        """The turn of an item begins: one that was not looked at comes upon nothing of this."""
        if item.id not in self._turns:
            self.drop()

    def drop(self) -> None:
        """Throw away what no turn has put."""
        for written in self._written.values():
            try:
                written.temporary.discard()
            except OSError:
                continue  # it is registered still, and removed in the end
        self._written.clear()
        self._turns.clear()
        self._context.ahead = None
