"""Custom facts: files of the target, shipped as text (target; Python 3.6 and newer).

The controller parses them, because the target has no YAML library and both formats shall be treated
alike. The list's order is the order of merging: later files win.
"""

import errno
import os
import stat
from typing import Dict, List, Optional, Tuple

from .source import Source

LIMIT = 1 << 20
_ENDINGS = (b".json", b".yaml")
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

Files = List[Dict[str, str]]


class UnfitError(Exception):
    """A file that cannot be shipped; the text says why."""


def read(source: Source, limit: int = LIMIT) -> Tuple[Files, List[str]]:
    """Return the files ({path, text}; at most ``limit`` bytes in all), a line for each bad one."""
    files: Files = []
    warnings: List[str] = []
    for folder in source.fact_folders():
        for name in _names(folder, warnings):
            path = os.path.join(folder, name)
            shown = path.decode("utf-8", "replace")
            try:
                data = _contents(path, limit)
                if data is None:
                    continue
                files.append({"path": shown, "text": _decode(data)})
                limit -= len(data)
            except OSError as error:
                warnings.append("%s: %s" % (shown, error.strerror))
            except UnfitError as error:
                warnings.append("%s: %s" % (shown, error))
    return files, warnings


def _names(folder: bytes, warnings: List[str]) -> List[bytes]:
    """The files of one folder in their order; those of ``facts.d`` by name, hidden ones not."""
    inner = os.path.join(folder, b"facts.d")
    listed: List[bytes] = []
    try:
        if not os.path.islink(inner):
            listed = sorted(os.listdir(inner))
    except OSError as error:
        if error.errno != errno.ENOENT:
            warnings.append("%s: %s" % (inner.decode("utf-8", "replace"), error.strerror))
    return [b"facts.json", b"facts.yaml"] + [
        b"facts.d/" + name
        for name in listed
        if name.endswith(_ENDINGS) and not name.startswith(b".")
    ]


def _contents(path: bytes, limit: int) -> Optional[bytes]:
    """Return the bytes, None where there is no file or a symlink."""
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnfitError("not a regular file")
        data = b""
        while len(data) <= limit:
            piece = os.read(handle, limit + 1 - len(data))
            if not piece:
                return data
            data += piece
        raise UnfitError("left out, custom facts are at most %d bytes in all" % LIMIT)
    finally:
        os.close(handle)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnfitError("not UTF-8 text (at byte %d)" % error.start) from error
