"""A lock of ccm, and a state directory, for these tests alone.

Root's pushes to this machine take ``/run/ccm.lock``, so tests of two processes (those of
pytest-xdist, another checkout's) would wait for each other, and in the end fail. What they leave to
be remembered in ``/var/lib/ccm`` is no business of the next ones.
"""

import ctypes
import os
import sys
import tempfile
from pathlib import Path

LOCK = Path("/run/ccm.lock")
STATE = Path("/var/lib/ccm")
_CLONE_NEWNS = 0x20000
_MS_BIND, _MS_REC, _MS_SLAVE, _MNT_DETACH = 0x1000, 0x4000, 1 << 19, 2


def take() -> None:
    """Put others at the places of the lock and the state, seen by this process and what it starts
    from now on.

    Done for root on Linux only, others have a lock in their home or none in common; and not where
    a container forbids it.
    """
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(_CLONE_NEWNS) or system.mount(b"none", b"/", None, _MS_REC | _MS_SLAVE, None):
        return
    system.umount2(bytes(LOCK), _MNT_DETACH)  # of the process that started this one
    LOCK.touch(mode=0o600)
    with tempfile.NamedTemporaryFile() as own:
        # It needs no name: the mount keeps it, as long as the last of these processes lives.
        if system.mount(own.name.encode(), bytes(LOCK), None, _MS_BIND, None):
            raise OSError(ctypes.get_errno(), "cannot be mounted", str(LOCK))
    system.umount2(bytes(STATE), _MNT_DETACH)
    STATE.mkdir(mode=0o700, exist_ok=True)
    if system.mount(b"none", bytes(STATE), b"tmpfs", 0, b"mode=0700"):
        raise OSError(ctypes.get_errno(), "cannot be mounted", str(STATE))
