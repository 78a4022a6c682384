"""The only provider (target): the templates were rendered on the controller, here are its files."""

from typing import Optional, Tuple

from remote_runtime.base import Properties
from remote_runtime.content import Content
from remote_runtime.resources.file.providers.posix import Provider as Posix
from remote_runtime.system.files import Status


class Provider(Posix):
    """Writes and removes files one by one, each whole at every instant."""

    name = "choria"
    priority = 1

    def unsupported_reason(self, properties: Properties) -> str:
        return ""

    def put(self, path: str, content: Content, mode: int, old: Optional[Status]) -> None:
        """Put a file at ``path`` with the owner of the one that it replaces."""
        uid, gid = _owner(old)
        self.store(path, content, uid=uid, gid=gid, mode=mode)

    def rehearse_put(self, path: str, size: int, old: Optional[Status]) -> None:
        """``ResourceError`` where a file of so many bytes could not be put there."""
        self.context.files.obstacles(path).writing(size, *_owner(old))

    def make_directory(self, path: str) -> None:
        """Create a directory; missing ones above it get the same mode."""
        self.create_directory(path, -1, -1, 0o755)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of a file."""
        self.set_attributes(path, -1, -1, mode)


def _owner(old: Optional[Status]) -> Tuple[int, int]:
    return (old.uid, old.gid) if old is not None and old.kind == "file" else (-1, -1)
