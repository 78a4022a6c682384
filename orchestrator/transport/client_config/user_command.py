"""Commands that the user names in a setting or in ~/.ssh/config (controller)."""

from __future__ import annotations

import subprocess
import time

from inventory.subprocesses import LastBytes, attend, running

MAX_OUTPUT = 1 << 20
_KEPT = 1 << 16  # bytes at the end of its standard error


def run_shell(command: str, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Run a shell command line without input, and return its output.

    None if it runs for too long or prints too much. All processes that it started end with it.
    """
    output, errors, end = bytearray(), LastBytes(_KEPT), time.monotonic() + seconds
    with running(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL) as process:
        code = attend(
            process, output, errors=errors, left=lambda: end - time.monotonic(), maximum=MAX_OUTPUT
        )
    if code is None:
        return None
    return subprocess.CompletedProcess(command, code, bytes(output), bytes(errors))
