"""Writes the file of a resource together with those of later resources (target).

Each new file must wait for the disk. Files that are written one after the other and then synced
share one wait. The file of a later resource gets its content under a temporary name next to its
path, and the later resource renames it. If the host has changed by then, the resource writes the
file again.
"""

from typing import Callable, Dict, Iterable, NamedTuple, Optional, Set, Tuple

from remote_runtime.context import Ahead, Context
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import NewFile
from remote_runtime.plan_item import Item
from remote_runtime.system.extended_attributes import Attributes, labels_files
from remote_runtime.system.temporary_file import Temporary

_MAX_FILES = 64  # files, each with a descriptor
_LARGEST = 1 << 20  # bytes in total

# A later resource and the file that it will put; None if it has nothing to do, as far as known.
Upcoming = Tuple[Item, Optional[NewFile]]


class _WrittenFile(NamedTuple):
    temporary: Temporary
    file: NewFile


class FileWriter(Ahead):
    """Writes the files of one run: each as a temporary file next to its destination, which is
    completed and then renamed.

    ``_labels`` is a command, which may fail, that looks up the SELinux label of each file.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._written: Dict[str, _WrittenFile] = {}
        self._inspected: Set[str] = set()
        self._labels = labels_files()

    def put(
        self,
        file: NewFile,
        upcoming: Iterable[Upcoming] = (),
        *,
        ready: Optional[Temporary] = None,
        validate: str = "",
        before: Optional[Callable[[], None]] = None,
    ) -> None:
        """Put a file in place; a failure leaves the path unchanged.

        ``ready`` is the result of ``take``. ``upcoming`` has the files that later resources will
        write, as far as known. ``before`` is called right before the new file replaces the old one.
        """
        temporary = ready
        chunks = file.content.chunks()
        try:
            if temporary is None:
                temporary = self._write(file, chunks, labels=self._labels)
                self._sync(temporary, () if validate else upcoming)
            else:
                for _ in chunks:
                    pass  # they are already synced
            if validate:
                from remote_runtime.host import file_validation

                commands = self._context.user_commands
                file_validation.run(commands, validate, finished=temporary.path)
            if before is not None:
                before()
            temporary.commit()
        finally:
            chunks.close()  # importing `closing` takes long on a target
            if temporary is not None:
                temporary.discard()

    def _write(
        self,
        file: NewFile,
        chunks: Iterable[bytes],
        *,
        labels: bool,
        latest: Optional[Temporary] = None,
        new: bool = False,
    ) -> Temporary:
        """Write the file next to its destination, without syncing it.

        ``latest`` was started immediately before. ``new``: the destination does not exist.
        """
        temporary = self._context.files.temporary(file.path, latest)
        try:
            for chunk in chunks:
                self._context.check_cancelled()
                temporary.write(chunk)
            attributes = Attributes(self._context.commands, labels, carried=not new)
            temporary.dress(file.uid, file.gid, file.mode, attributes)
        except BaseException:
            temporary.discard()
            raise
        return temporary

    def _sync(self, first: Temporary, upcoming: Iterable[Upcoming]) -> None:
        """Sync a file, together with the files that the ``upcoming`` resources will write."""
        if self._written or self._labels:
            return first.sync()
        try:
            self._write_all(upcoming, first)
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
            self.drop()  # the resource of the file writes it again and reports the error
        return None

    def _write_all(self, upcoming: Iterable[Upcoming], latest: Temporary) -> None:
        self.drop()
        budget = _LARGEST
        for item, file in upcoming:
            if file is not None:
                budget -= file.content.size
                if budget < 0 or len(self._written) + 1 >= _MAX_FILES or file.path in self._written:
                    break
                new = file.replaces is None
                try:
                    content = [file.content.read()]
                    latest = self._write(file, content, labels=False, latest=latest, new=new)
                    self._written[file.path] = _WrittenFile(latest, file)
                except ResourceError:
                    break  # the resource of the file reports the error when it runs
            self._inspected.add(item.id)
        if self._written:
            self._context.ahead = self

    def take(self, file: NewFile) -> Optional[Temporary]:
        """Return the file that was written ahead, if it still matches and its path has not changed;
        the caller passes it to ``put``.
        """
        written = self._written.pop(file.path, None)
        if written is None:
            return None
        try:
            if self._fits(written, file):
                return written.temporary
        except (OSError, ResourceError):
            pass  # the caller writes the file again and reports the error
        written.temporary.discard()
        return None

    def _fits(self, written: _WrittenFile, file: NewFile) -> bool:
        if _made_of(written.file) != _made_of(file):
            return False
        files = self._context.files
        place = files.place(file.path, "write")
        found, before = files.status_at(place), written.file.replaces
        there = () if found is None else found.identity
        if there != (() if before is None else before.identity):
            return False
        return written.temporary.is_whole(place)

    def begin(self, item: Item) -> None:
        """See the base class. A resource that was not prepared finds no file here."""
        if item.id not in self._inspected:
            self.drop()

    def drop(self) -> None:
        """Remove the files that no resource has put in place."""
        for written in self._written.values():
            try:
                written.temporary.discard()
            except OSError:
                continue  # it is still registered, and removed at the end
        self._written.clear()
        self._inspected.clear()
        self._context.ahead = None


def _made_of(file: NewFile) -> Tuple[str, int, int, int]:
    """The content of a file and its permissions."""
    return (file.content.sha256, file.uid, file.gid, file.mode)
