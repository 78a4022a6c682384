"""Files and directories through POSIX system calls (target)."""

from typing import TYPE_CHECKING, Callable, Iterable, Optional

from remote_runtime.base import PathEffect, Properties
from remote_runtime.base import Provider as BaseProvider
from remote_runtime.content import Content

if TYPE_CHECKING:
    from remote_runtime.resources.file.write_ahead import Coming, Store, WriteBatch
    from remote_runtime.system.temporary import Temporary


class Provider(BaseProvider):
    """Writes atomically: a temporary file beside the destination, finished, then renamed."""

    name = "posix"
    priority = 1
    _ahead: Optional["WriteBatch"] = None

    def unsupported_reason(self, properties: Properties) -> str:
        return ""

    def store(
        self,
        path: str,
        content: Content,
        *,
        uid: int,
        gid: int,
        mode: int,
        validate: str = "",
        coming: Iterable["Coming"] = (),
        replacing: Optional[Callable[[], None]] = None,
    ) -> None:
        """Put a regular file with this content at ``path``; whatever fails leaves it as it was.

        ``coming``: what the turns behind this one will store, as far as that is known.
        ``replacing`` is called right before the new file takes its place.
        """
        from remote_runtime.resources.file.write_ahead import Store, WriteBatch

        if self._ahead is None:
            self._ahead = WriteBatch(self.context, self._write_ahead)
        store = Store(path, content, uid, gid, mode)
        temporary = self._ahead.take(store)
        chunks = content.chunks()
        try:
            if temporary is None:
                temporary = self._written(store, chunks, labels=self._ahead.labels)
                self._ahead.sync(temporary, () if validate else coming)
            else:
                for _ in chunks:
                    pass  # they are in it already, and needed no more
            if validate:
                from remote_runtime.host import validation

                commands = self.context.user_commands
                validation.run(commands, validate, finished=temporary.path, path=path)
            if replacing is not None:
                replacing()
            temporary.commit()
        finally:
            chunks.close()  # `closing` would have to be imported, which costs a target much
            if temporary is not None:
                temporary.discard()

    def _write_ahead(self, store: "Store", latest: "Temporary") -> "Temporary":
        content = [store.content.read()]
        new = not store.replaces
        return self._written(store, content, labels=False, latest=latest, new=new)

    def _written(
        self,
        store: "Store",
        chunks: Iterable[bytes],
        *,
        labels: bool,
        latest: Optional["Temporary"] = None,
        new: bool = False,
    ) -> "Temporary":
        """The file, beside its place; all that is left is to sync it.

        ``latest`` was begun right before. ``new``: nothing is at its place.
        """
        from remote_runtime.system.attributes import Attributes

        temporary = self.context.files.temporary(store.path, latest)
        try:
            for chunk in chunks:
                self.context.check_cancelled()
                temporary.write(chunk)
            attributes = Attributes(self.context.commands, labels, carried=not new)
            temporary.dress(store.uid, store.gid, store.mode, attributes)
        except BaseException:
            temporary.discard()
            raise
        return temporary

    def rehearse(
        self, path: str, content: Content, *, uid: int, gid: int, mode: int, validate: str
    ) -> None:
        """Validate a copy; fail as ``store`` would, and leave alone what is there."""
        from remote_runtime.host import validation

        file = PathEffect(path, "file", mode=mode, uid=uid, gid=gid, content=content)
        world, step = self.context.world_with(()), self.context.check_cancelled
        validation.preview(world, validate, file, step)

    def create_directory(self, path: str, uid: int, gid: int, mode: int) -> None:
        """Create a directory and its missing parents, which get the permissions of ``mode``."""
        self.context.files.create_directory(path, mode, uid, gid)

    def set_attributes(self, path: str, uid: int, gid: int, mode: int) -> None:
        """Set owner, group and mode of what is there."""
        self.context.files.set_attributes(path, uid, gid, mode)

    def set_directory_attributes(self, path: str, uid: int, gid: int, mode: int) -> None:
        """Set those of the directory that is there, or that symlinks lead to."""
        self.context.files.set_directory_attributes(path, uid, gid, mode)

    def remove(self, path: str, recursively: bool) -> None:
        """Remove a file, an empty directory, or a directory with everything in it."""
        if recursively:
            self.context.files.remove_tree(path)
        else:
            self.context.files.remove(path)
