"""The flags that protect a file or directory from changes (target)."""

import fcntl
import os
import sys
from typing import Optional

IMMUTABLE, APPEND = 0x10, 0x20
_GET = 0x80086601  # FS_IOC_GETFLAGS of a 64-bit Linux
_LOOKED_AT = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY


def read(path: str, within: Optional[int] = None) -> int:
    """The immutable and append-only flags, 0 if the path does not exist; ``within`` is the open
    directory for a relative path.
    """
    try:
        descriptor = os.open(path, _LOOKED_AT, dir_fd=within)
    except OSError:
        return 0
    try:
        answer = fcntl.ioctl(descriptor, _GET, bytes(8))
        return int.from_bytes(answer[:4], sys.byteorder) & (IMMUTABLE | APPEND)
    except OSError:
        return 0
    finally:
        os.close(descriptor)
