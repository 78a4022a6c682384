"""The only provider (target): the templates were rendered on the controller, here are its files."""

from typing import Optional

from remote_runtime.base import Properties
from remote_runtime.content import Content
from remote_runtime.resources.file.providers.posix import Provider as Posix
from remote_runtime.system.files import Status


class Provider(Posix):
    """Writes and removes files one by one, each whole at every instant."""

    name = "choria"
    priority = 1

    def unmanageable(self, properties: Properties) -> str:
        return ""

    def put(self, path: str, content: Content, mode: int, old: Optional[Status]) -> None:
        """Put a file at ``path`` with the owner of the one that it replaces."""
        owner = (old.uid, old.gid) if old is not None and old.kind == "file" else (-1, -1)
        self.store(path, content, uid=owner[0], gid=owner[1], mode=mode)

    def make_directory(self, path: str) -> None:
        """Create a directory; missing ones above it get the same mode."""
        self.create_directory(path, -1, -1, 0o755)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of a file."""
        self.set_attributes(path, -1, -1, mode)
