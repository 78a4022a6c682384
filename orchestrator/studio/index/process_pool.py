"""Reads many run directories in separate processes (controller).

Reading is most of the work of building an index, and one Python process uses only one processor. A
process receives the paths of runs on its standard input, and returns the results of ``read_run``.
Both sides are this program, run by the same user.
"""

import contextlib
import gc
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from orchestrator.fleet.store.field_checks import DAMAGED, problem_text
from orchestrator.studio.index.run_reader import IndexedRun, read_run
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError

MAX_PROCESSES = 4
LEAST = 8 << 20  # bytes of runs for which a process is worth its start
MAX_LENGTH = 300  # characters of a problem
_PENDING = 2  # runs of each process that are read but not yet stored
_LENGTH = 8  # bytes in front of an answer
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from {0} import answer_paths; answer_paths()"


class ReadRun(NamedTuple):
    """The content of a run directory; ``problem`` is the reason if it cannot be read."""

    directory: Path
    found: IndexedRun | None
    problem: str = ""


def read_here(directory: Path) -> ReadRun:
    """Read a run in this process."""
    try:
        found = read_run(directory)
        if found.run_id != directory.name:
            raise ValueError(f"the directory contains run {found.run_id}")
    except (*DAMAGED, CcmError) as error:
        return ReadRun(directory, None, one_line(problem_text(error), MAX_LENGTH))
    return ReadRun(directory, found)


def read_all(directories: Sequence[Path]) -> Iterator[ReadRun]:
    """Read runs in roughly this order; with few runs or one processor, in this process."""
    processes = min(MAX_PROCESSES, len(os.sched_getaffinity(0)), len(directories))
    if processes > 1 and not _are_large(directories):
        processes = 1
    if processes < 2:
        yield from map(read_here, directories)
        return
    todo: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for directory in directories:
        todo.put(directory)
    done: queue.Queue[ReadRun] = queue.Queue(_PENDING * processes)
    over = threading.Event()
    threads = [
        threading.Thread(target=_read_in_process, args=(todo, done, over), daemon=True)
        for _ in range(processes)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in directories:
            yield done.get()
    finally:
        over.set()
        while any(thread.is_alive() for thread in threads):
            with contextlib.suppress(queue.Empty):
                done.get(timeout=0.1)


def _are_large(directories: Sequence[Path]) -> bool:
    size = 0
    for directory in directories:
        for name in ("events.jsonl", "hosts.jsonl", "phases.jsonl"):
            with contextlib.suppress(OSError):
                size += (directory / name).stat().st_size
        if size > LEAST:
            return True
    return False


def _read_in_process(
    todo: queue.SimpleQueue[Path], done: queue.Queue[ReadRun], over: threading.Event
) -> None:
    """Let a process read runs until none is left. Runs without an answer are read in
    this process.
    """
    process = _started()
    try:
        while not over.is_set():
            try:
                directory = todo.get_nowait()
            except queue.Empty:
                break
            done.put(_asked(process, directory) or read_here(directory))
    finally:
        if process is not None:
            _end(process)


def _started() -> subprocess.Popen[bytes] | None:
    command = [sys.executable, "-c", _PROGRAM.format(__name__), *sys.path]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError:
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in filter(None, (process.stdin, process.stdout)):
        with contextlib.suppress(OSError):  # for data that it no longer reads
            pipe.close()
    process.wait()


def _asked(process: subprocess.Popen[bytes] | None, directory: Path) -> ReadRun | None:
    """The answer of a process; None without one."""
    if process is None or process.stdin is None or process.stdout is None:
        return None
    try:
        process.stdin.write(os.fsencode(directory).hex().encode("ascii") + b"\n")
        process.stdin.flush()
        return _received(process.stdout)
    except Exception:  # whatever an answer raises that another version of ccm wrote
        return None


def _received(source: IO[bytes]) -> ReadRun | None:
    size = int.from_bytes(source.read(_LENGTH), "big")
    text = source.read(size) if size else b""
    if not text or len(text) != size:
        return None
    found: ReadRun = pickle.loads(text)
    return found


def answer_paths() -> None:
    """Read the runs whose paths arrive on standard input. The main function of such a process."""
    os.nice(5)
    gc.disable()  # objects of a run are released without it
    for line in sys.stdin.buffer:
        directory = Path(os.fsdecode(bytes.fromhex(line.decode("ascii"))))
        text = pickle.dumps(read_here(directory), pickle.HIGHEST_PROTOCOL)
        sys.stdout.buffer.write(len(text).to_bytes(_LENGTH, "big") + text)
        sys.stdout.buffer.flush()
