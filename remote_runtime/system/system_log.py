"""The system log (target): one line for a run that changed something."""

import os
from typing import Any

SOCKET = "/dev/log"  # of syslog or of the journal, which takes the same
MAX_LENGTH = 900  # bytes; a syslog line has 1,024 without other agreements
_DAEMON = 3 << 3
WARNING, NOTICE = 4, 5


def write(level: int, text: str, path: str = SOCKET) -> None:
    """Send a line without waiting; nothing happens if no log daemon listens or it is busy."""
    line = " ".join("".join([c if c.isprintable() else " " for c in text]).split())
    data = line.encode("utf-8", "replace")[:MAX_LENGTH]
    socket: Any = __import__("_socket")  # without its enumerations
    try:
        out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            out.setblocking(False)
            out.connect(path)
            out.send(b"<%d>ccm[%d]: %s" % (_DAEMON | level, os.getpid(), data))
        finally:
            out.close()
    except OSError:
        pass
