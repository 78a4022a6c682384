"""Runs an executable inventory and returns its output (controller).

The program is called with ``--list``, has 30 s and may print 64 MiB. Its process group is ended
if it takes longer or prints more, including processes that it leaves running.
"""

import contextlib
import os
import subprocess
import time

from inventory.subprocesses import LastBytes, attend, running
from inventory.yaml_document import MAX_BYTES
from remote_runtime.errors import InputError, Problem

TIMEOUT = 30.0
"""The maximum number of seconds that an inventory program may take."""
STDERR_TAIL = 2000
"""The number of bytes at the end of standard error that an error shows."""

_KIND = "inventory.program"


def run_program(path: str, timeout: float = TIMEOUT, max_bytes: int = MAX_BYTES) -> str:
    """The output of the program; InputError (``inventory.program``) if it fails in any way."""
    stdout, stderr = bytearray(), LastBytes(STDERR_TAIL)
    with contextlib.ExitStack() as stack:
        try:
            program = running([os.path.abspath(path), "--list"], stdin=subprocess.DEVNULL)
            process = stack.enter_context(program)
        except OSError as error:
            hint = (
                "start it with a line such as #!/usr/bin/env python3; if it is a text file, "
                "run chmod -x on it"
            )
            raise _failure(path, f"could not be started: {error.strerror}", hint) from error
        end = time.monotonic() + timeout
        code = attend(
            process, stdout, errors=stderr, left=lambda: end - time.monotonic(), maximum=max_bytes
        )
    if len(stdout) > max_bytes:
        raise _failure(path, f"printed more than {max_bytes} bytes", "")
    if code is None:
        raise _failure(path, f"timed out after {timeout:g} s", _tail(stderr))
    if code != 0:
        how = f"was killed by signal {-code}" if code < 0 else f"exited with {code}"
        raise _failure(path, how, _tail(stderr) or "it printed nothing to standard error")
    try:
        return stdout.decode("utf-8")
    except UnicodeDecodeError:
        hint = "an inventory must be printed as UTF-8"
        raise _failure(path, "printed text that is not UTF-8", hint) from None


def _tail(stderr: bytearray) -> str:
    """The end of the standard error as one line that is safe to show on a terminal."""
    text = bytes(stderr).decode("utf-8", "replace")
    return " | ".join("".join(c if c.isprintable() else " " for c in t) for t in text.splitlines())


def _failure(path: str, how: str, detail: str) -> InputError:
    return InputError([Problem(f"the inventory program {path} {how}", None, detail, _KIND)])
