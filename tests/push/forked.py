"""The command line in a process that is forked from one that has loaded it.

To start Python and import ccm takes longer than most commands of the tests. How that goes is what
others test (``tests/orchestrator/cli``, ``tests/docs``, ``Ccm.start``).
"""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.push.loaded"])
_MOUNTS = 0x20000
_AT_THE_START = ("PYTHON", "LANG", "LC_")
"""How the names of variables begin that Python itself reads when it starts."""


def serves(environment: Mapping[str, str], repository: Path) -> bool:
    """Whether a process forked from this one is as one started with the environment."""
    names = {name for name in {*os.environ, *environment} if name.startswith(_AT_THE_START)} - {
        "PYTHONPATH"
    }
    return environment.get("PYTHONPATH") == str(repository) and all(
        environment.get(name) == os.environ.get(name) for name in names
    )


def run(
    words: tuple[str, ...], environment: Mapping[str, str], directory: Path, seconds: float
) -> tuple[int, str, str]:
    """Run a command to its end, with nothing to read: its exit code, its output, its errors.

    ``TimeoutExpired`` after so many seconds.
    """
    with tempfile.TemporaryDirectory(prefix="ccm-test-") as place:
        told = (f"{place}/stdout", f"{place}/stderr")
        process = _FORKS.Process(
            target=_main, args=(os.getpid(), words, dict(environment), directory, told)
        )
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
            raise TimeoutExpired(["ccm", *words], seconds)
        code = process.exitcode
        assert code is not None
        assert Path(told[1]).exists(), f"no command was begun; the process ended with {code}"
        stdout, stderr = (Path(path).read_text(encoding="utf-8") for path in told)
    process.close()
    return code, stdout, stderr


def _enter_mounts(starter: int) -> None:
    """See the mounts that the process sees which asks: it may have others since the first command
    (``tests.own_lock``)."""
    wanted = f"/proc/{starter}/ns/mnt"
    if not os.path.exists(wanted) or os.readlink(wanted) == os.readlink("/proc/self/ns/mnt"):
        return
    handle = os.open(wanted, os.O_RDONLY | os.O_CLOEXEC)
    if ctypes.CDLL(None, use_errno=True).setns(handle, _MOUNTS):
        raise OSError(ctypes.get_errno(), "cannot be entered", wanted)
    os.close(handle)


def _main(
    starter: int,
    words: tuple[str, ...],
    environment: dict[str, str],
    directory: Path,
    told: tuple[str, str],
) -> None:
    """What a process of its own would have from its start, then the command."""
    _enter_mounts(starter)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
    nothing, end = os.pipe()
    os.close(end)
    os.dup2(nothing, 0)
    os.close(nothing)
    for number, path in enumerate(told, start=1):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open while the process lives
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as above
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - as above
    sys.argv = ["ccm", *words]
    from orchestrator.cli import app

    try:
        sys.exit(app.main())
    finally:
        atexit._run_exitfuncs()
