"""The process that forks a runtime for each request: it has imported the runtime once.

It imports no more than the bootstrap does, so that a runtime finds itself in a process like a
host's. ``forked`` is its client.
"""

import gc
import os
import sys
from typing import Any, List

_socket: Any = __import__("_socket")  # its functions without its enumerations
STREAMS = 4
"""Standard input, output and error of a runtime, and where its process id and status are told."""


def settings(number: int, root: str) -> List[str]:
    """Fork at each request that comes through a socket; return in the forked process, with the
    settings of its runtime. The server itself ends with its client."""
    _import_all(os.path.join(root, "remote_runtime"))
    if hasattr(gc, "freeze"):  # from Python 3.7 on
        gc.freeze()
    requests = _socket.socket(fileno=number)
    space = _socket.CMSG_SPACE(4 * STREAMS)
    while True:
        data, ancillary, _, _ = requests.recvmsg(1 << 16, space)
        if not data:
            sys.exit(0)
        streams = _numbers(ancillary[0][2])
        if os.fork() == 0:
            requests.close()
            _become(streams)
            return list(data.decode().split("\0"))
        for stream in streams:
            os.close(stream)
        _reap()


def _import_all(directory: str) -> None:
    for top, _, names in sorted(os.walk(directory)):
        package = top[len(os.path.dirname(directory)) + 1 :].replace(os.sep, ".")
        for name in sorted(names):
            if name.endswith(".py") and name != "__main__.py":
                __import__(package + ("" if name == "__init__.py" else "." + name[:-3]))


def _numbers(data: bytes) -> List[int]:
    return [int.from_bytes(data[at : at + 4], sys.byteorder) for at in range(0, len(data), 4)]


def _become(streams: List[int]) -> None:
    """Let a child be the runtime, while this process waits for it and tells how it ended."""
    status = streams.pop()
    child = os.fork()
    if child == 0:
        os.close(status)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        return
    for stream in streams:
        os.close(stream)
    os.write(status, b"%d\n" % child)
    _, code = os.waitpid(child, 0)
    try:
        os.write(status, b"%d\n" % code)
    finally:
        os._exit(0)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
