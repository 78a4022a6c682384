"""Sends files of this host to the controller (target): ``ccm fetch``.

Each file is a ``file`` frame, its bytes, and ``file_end``. Only regular files are sent, and links
are not followed. Data appended to a file while it is sent is omitted.
"""

import os
import stat
from typing import Any, Dict, List, Tuple

from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.protocol.channel import Channel
from remote_runtime.system.errno_messages import failure

BLOCK = 256 << 10
MAX_FILES = 100_000
MAX_DEPTH = 100  # directories in each other
_TOLD = 5  # of the files that are not fetched

Parts = Tuple[str, ...]


class Fetch(object):
    """The files of one command; its properties limit the bytes of one file and of all files."""

    def __init__(self, context: Context, channel: Channel, properties: Dict[str, Any]) -> None:
        self._context = context
        self._channel = channel
        self._recursive = bool(properties.get("recursive"))
        self._maximum = int(properties["max_size"])
        self._left = int(properties["max_total"])
        self._files = self._bytes = self._skipped = 0
        self._lacking: List[str] = []
        self.is_partial = False  # whether a path was fetched without some of its files

    def path(self, number: int, path: str) -> str:
        """Send the files at the path with this number, and return a
        description. ``ResourceError``.
        """
        self._files = self._bytes = self._skipped = 0
        self._lacking = []
        status = self._context.files.status(path)
        if status is None:
            raise ResourceError("%s does not exist" % path)
        if status.kind == "directory":
            if not self._recursive:
                hint = "use --recursive to fetch its contents"
                raise ResourceError("%s is a directory" % path, hint=hint)
            self._send_tree(number, path)
        elif status.kind == "file":
            self._send_file(number, path, ())
        elif status.kind == "symlink":
            to = self._context.files.link(path)
            raise ResourceError(
                "%s is a symlink to %s" % (path, to), hint="specify its target instead"
            )
        else:
            raise ResourceError("%s is not a regular file" % path)
        if self._lacking:
            self.is_partial = self.is_partial or self._files > 0
            more = len(self._lacking) - _TOLD
            message = "; ".join(self._lacking[:_TOLD]) + ("; %d more" % more if more > 0 else "")
            raise ResourceError("%s; not fetched: %s" % (self._summary(path), message))
        return self._summary(path)

    def _summary(self, path: str) -> str:
        files = "1 file" if self._files == 1 else "%d files" % self._files
        text = "%s: %s, %d bytes" % (path, files, self._bytes)
        if self._skipped:
            one = self._skipped == 1
            left = "1 link or special file" if one else "%d links and special files" % self._skipped
            text += ", %s omitted" % left
        return text

    def _send_tree(self, number: int, top: str) -> None:
        waiting: List[Parts] = [()]
        while waiting:
            parts = waiting.pop()
            directory = os.path.join(top, *parts)
            try:
                names = self._context.files.entries(directory)
            except ResourceError as error:
                self._lacking.append(error.message)
                continue
            below = []
            for name in names:
                self._context.check_cancelled()
                one = parts + (name,)
                try:
                    if self._send_entry(number, os.path.join(directory, name), one):
                        below.append(one)
                except ResourceError as error:
                    self._lacking.append(error.message)
            waiting += reversed(below)

    def _send_entry(self, number: int, path: str, parts: Parts) -> bool:
        """Send an entry of a directory; return whether it is a directory to descend into."""
        status: Any = self._context.files.status(path)
        if status is None:
            return False  # gone in the meantime
        if status.kind not in ("file", "directory"):
            self._skipped += 1
            return False
        if not parts[-1].isprintable():
            raise ResourceError("%r, which is not a printable name" % path)
        if len(parts) > MAX_DEPTH:
            raise ResourceError("%s, which is nested too deeply" % path)
        if status.kind == "file":
            self._send_file(number, path, parts)
        return bool(status.kind == "directory")

    def _send_file(self, number: int, path: str, parts: Parts) -> None:
        descriptor = self._context.files.opened(path, "read")
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ResourceError("%s is no longer a regular file" % path)
            self._check_limits(path, status.st_size)
            self._channel.send({"t": "file", "path": number, "name": list(parts)})
            whole = False
            try:
                # Files that the kernel generates have no size before they are read.
                limit = min(self._maximum, self._left)
                sent = self._send_content(descriptor, status.st_size or limit + 1)
                self._check_limits(path, sent)
                remaining_size = os.fstat(descriptor).st_size
                if remaining_size < status.st_size:
                    message = "%s: it shrank from %d bytes to %d while it was read"
                    raise ResourceError(message % (path, status.st_size, remaining_size))
                whole = True
            except OSError as error:
                raise failure("read", path, error) from error
            finally:
                self._channel.send({"t": "file_end", "whole": whole})
            self._files += 1
            self._bytes += sent
            self._left -= sent
        finally:
            os.close(descriptor)

    def _check_limits(self, path: str, size: int) -> None:
        if size > self._maximum:
            raise ResourceError(
                "%s has %d bytes, more than the limit of %d (--max-size)"
                % (path, size, self._maximum)
            )
        if size > self._left:
            message = "%s has %d bytes, more than the %d that --max-total still allows"
            raise ResourceError(message % (path, size, self._left))
        if self._files >= MAX_FILES:
            raise ResourceError("%s: that would be more than %d files" % (path, MAX_FILES))

    def _send_content(self, descriptor: int, size: int) -> int:
        sent = 0
        while sent < size:
            self._context.check_cancelled()
            block = os.read(descriptor, min(BLOCK, size - sent))
            if not block:
                break
            self._channel.send_bytes(block)
            sent += len(block)
        return sent
