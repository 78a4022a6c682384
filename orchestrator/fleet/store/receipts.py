"""Marks of runs that may lack outcomes of hosts, and the receipts for them (controller).

``$XDG_STATE_HOME/ccm/lost/RUN_ID`` marks such a run. It is created when a push starts, and removed
when every host has confirmed the end of its run. It has a line for each host that was sent a plan,
with the user ID of its runtime: a record is in that user's state directory, so its absence from
another user's directory means nothing. A receipt, with which ``lost_runs`` requests a record, is a
keyed digest of run and host: only the host that was given the plan knows it.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from orchestrator.support.atomic_file import replacing
from orchestrator.support.hashing import keyed_sha256
from orchestrator.support.state_directory import make_private, state_directory
from remote_runtime.errors import CcmError

_KEY_FILE = "receipts.key"


def key_of(run_id: str) -> str:
    """The secret key for a run's receipts; "" if the state directory cannot store one."""
    try:
        secret = _secret()
    except (OSError, CcmError):
        return ""
    return keyed_sha256(secret, run_id.encode())


def receipt_of(key: str, host: str) -> str:
    """The receipt that requests a host's record of the run."""
    return keyed_sha256(key.encode(), host.encode())[:32]


def _secret() -> bytes:
    path = make_private(state_directory()) / _KEY_FILE
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    # Another run may create it first.
    with contextlib.suppress(FileExistsError), replacing(path, durable=True, is_new=True) as out:
        out.write(os.urandom(32))
    return path.read_bytes()


def _directory() -> Path:
    return state_directory() / "lost"


def mark_of(run_id: str) -> Path:
    """The file that marks a run; it may not exist."""
    return _directory() / run_id


def marked_runs(current: str = "") -> set[str]:
    """The IDs of the runs that may lack outcomes, except for the ``current`` run."""
    try:
        return set(os.listdir(_directory())) - {current}
    except OSError:
        return set()


def begin(run_id: str) -> None:
    """Record the start of a push, so that missing reports are requested even if ccm is killed.
    OSError.
    """
    (make_private(_directory()) / run_id).touch(mode=0o600)


def note(run_id: str, host: str, uid: int) -> None:
    """Record that a host is sent its plan and which user its runtime runs as. Only if the run was
    started here.
    """
    with contextlib.suppress(OSError):
        handle = os.open(mark_of(run_id), os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        try:
            os.write(handle, (json.dumps([host, uid]) + "\n").encode())
        finally:
            os.close(handle)


def forget(run_id: str) -> None:
    """Stop requesting reports of a run."""
    with contextlib.suppress(OSError):
        mark_of(run_id).unlink()
