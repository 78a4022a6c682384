"""A file as decoded by a program of this host, read as a stream (target)."""

import os
import subprocess
from typing import Any, Sequence

from remote_runtime.system.process.commands import DEFAULT_PATH

_KEPT = 4096  # bytes that ``seek`` can go back: tarfile looks at the last blocks again


class FilteredFile(object):
    """The output of a program with an open file as its input; ends with ``close``.

    Unread output remains in the pipe, and the program waits. ``ValueError`` at the end of a stream
    if its program failed.
    """

    def __init__(self, argv: Sequence[str], file: Any) -> None:
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        self._name = os.path.basename(argv[0])
        self._position = 0
        self._behind = b""  # what was read last
        self._ahead = b""  # what of that must be read again
        self._process = subprocess.Popen(
            list(argv),
            cwd="/",
            env={"PATH": DEFAULT_PATH, "LANG": "C", "LC_ALL": "C"},
            stdin=file.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def tell(self) -> int:
        """Return the number of bytes read."""
        return self._position

    def seek(self, position: int) -> None:
        """Go back a few bytes, which ``read`` then returns again; ValueError for a
        larger number.
        """
        back = self._position - position
        if not 0 <= back <= len(self._behind):
            raise ValueError("a stream cannot go back to byte %d" % position)
        if back:
            self._ahead = self._behind[-back:] + self._ahead
            self._behind = self._behind[:-back]
            self._position = position

    def read(self, size: int) -> bytes:
        """At most this many bytes; fewer only at the end."""
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        if len(data) < size:
            data += self._read(size - len(data))
        self._position += len(data)
        self._behind = (self._behind + data)[-_KEPT:]
        return data

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size and self._process.wait() != 0:
            raise ValueError("%s ended with exit code %d" % (self._name, self._process.returncode))
        return data

    def close(self) -> None:
        """End the program, if it has not ended by itself."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
