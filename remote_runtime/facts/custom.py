"""Custom facts: files of the target, sent as text (target; Python 3.6 and newer).

The controller parses them, because the target has no YAML library and both formats should be
treated alike. The order of the list is the order of merging: later files win.
"""

import errno
import os
import stat
from typing import Dict, List, Optional, Tuple

from remote_runtime.facts.fact_source import Source

LIMIT = 1 << 20
_NAMES = (b"facts.json", b"facts.yaml")
_DIRECTORY = b"facts.d"
_ENDINGS = (b".json", b".yaml")
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

Files = List[Dict[str, str]]


class UnusableFileError(Exception):
    """A file that cannot be sent; the text says why."""


def read(source: Source, limit: int = LIMIT) -> Tuple[Files, List[str]]:
    """Return the files ({path, text}; at most ``limit`` bytes in total), and a line for each bad
    one.
    """
    files: Files = []
    warnings: List[str] = []
    remaining_size = limit
    for path in _paths(source, warnings):
        visible_path = path.decode("utf-8", "replace")
        try:
            data = _contents(path, remaining_size)
            if data is None:
                continue
            if len(data) > remaining_size:
                raise UnusableFileError(
                    "omitted: custom facts may have at most %d bytes in total" % limit
                )
            files.append({"path": visible_path, "text": _decode(data)})
            remaining_size -= len(data)
        except OSError as error:
            warnings.append("%s: %s" % (visible_path, error.strerror))
        except UnusableFileError as error:
            warnings.append("%s: %s" % (visible_path, error))
    return files, warnings


def _paths(source: Source, warnings: List[str]) -> List[bytes]:
    """Return all files that may contain facts, in the order of merging; hidden files
    are ignored.
    """
    paths = []
    for directory in source.fact_directories():
        names = _listed(directory, warnings)
        paths += [os.path.join(directory, name) for name in _NAMES if name in names]
        inner = os.path.join(directory, _DIRECTORY)
        if _DIRECTORY in names and not os.path.islink(inner):
            paths += [
                os.path.join(inner, name)
                for name in sorted(_listed(inner, warnings))
                if name.endswith(_ENDINGS) and not name.startswith(b".")
            ]
    return paths


def _listed(directory: bytes, warnings: List[str]) -> List[bytes]:
    try:
        return os.listdir(directory)
    except OSError as error:
        if error.errno != errno.ENOENT:
            warnings.append("%s: %s" % (directory.decode("utf-8", "replace"), error.strerror))
        return []


def _contents(path: bytes, limit: int) -> Optional[bytes]:
    """Return the bytes, at most one over ``limit``; None for a missing file or a symlink."""
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnusableFileError("not a regular file")
        data = b""
        while len(data) <= limit:
            piece = os.read(handle, limit + 1 - len(data))
            if not piece:
                break
            data += piece
        return data
    finally:
        os.close(handle)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableFileError("not UTF-8 text (at byte %d)" % error.start) from error
