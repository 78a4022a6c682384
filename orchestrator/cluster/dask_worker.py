"""The worker of ``ccm worker``: a Dask worker reduced to ccm's functions (worker)."""

import asyncio
import contextlib
import fcntl
import logging
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from orchestrator.cluster import worker_info
from orchestrator.cluster.certificates import is_loopback, no_answer
from orchestrator.cluster.dask_api import CONNECT, CONNECTING, Worker, configure, set_log_level

_TASKS = 256  # runs that may be under way; the task of each only waits
_PREFIX = "ccm-worker."
_NEW = 60.0  # seconds in which a directory may not be locked yet
_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    **CONNECTING,
    "distributed.admin.low-level-log-length": 100,
    "distributed.worker.http.routes": [],
}


def run(address: str, security: Any, sites: Sequence[str], told: Callable[[str], None]) -> bool:
    """Work for a scheduler until a signal stops it; False if the scheduler was lost.

    ``told`` receives the address of the worker. UsageError if there is no scheduler.
    """
    resources = worker_info.resources(sites)
    set_log_level(logging.WARNING)
    logging.getLogger("distributed.worker.state_machine").setLevel(logging.ERROR)  # of tasks' ends
    warnings.filterwarnings("ignore", module="distributed")  # the following error is clearer
    configure(_SETTINGS)
    _remove_directories_of_killed()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as directory, _locked(directory):
        return asyncio.run(_run(address, security, resources, directory, told))


@contextlib.contextmanager
def _locked(directory: str) -> Iterator[None]:
    """Hold a lock on a directory, which the kernel releases when this process ends. OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_directories_of_killed() -> None:
    """Remove the directories of this user's killed workers, whose locks are free."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is at work, or gone
            about = path.lstat()
            if about.st_uid != os.geteuid() or time.time() - about.st_mtime < _NEW:
                continue
            with _locked(str(path)):
                shutil.rmtree(path, ignore_errors=True)


async def _run(
    address: str,
    security: Any,
    resources: dict[str, float],
    directory: str,
    told: Callable[[str], None],
) -> bool:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as SIGHUP is under nohup
            loop.add_signal_handler(number, asked.set)
    worker = Worker(
        address,
        security=security,
        host=_own_host(address),
        nthreads=_TASKS,
        memory_limit=0,
        resources=resources,
        dashboard=False,
        dashboard_address="127.0.0.1:0",  # Dask answers HTTP even so: without TLS, to anybody
        local_directory=directory,
        death_timeout=CONNECT,
    )
    signalled = asyncio.create_task(asked.wait())
    there = asyncio.ensure_future(worker)
    await asyncio.wait([there, signalled], return_when=asyncio.FIRST_COMPLETED)
    if not there.done():
        there.cancel()
    try:
        await there
    except asyncio.CancelledError:
        await _closed(worker)
        return True
    except (OSError, ValueError, asyncio.TimeoutError, RuntimeError) as error:
        await _closed(worker)
        raise no_answer("--scheduler", address, security, error) from error
    told(worker.address)
    ended = asyncio.create_task(worker.finished())
    await asyncio.wait([ended, signalled], return_when=asyncio.FIRST_COMPLETED)
    with contextlib.suppress(Exception):  # it ends; Dask has many errors for lost connections
        await worker.close(timeout=5, nanny=False)
    return asked.is_set()


async def _closed(worker: Any) -> None:
    """Close a worker that has not connected to its scheduler."""
    with contextlib.suppress(Exception):  # any error: what kept it from starting is reported
        await worker.close(timeout=2)


def _own_host(address: str) -> str | None:
    """The address on which the worker listens: only this machine if the scheduler is local.

    Anybody who can reach a worker without TLS can run any code on it.
    """
    place = address.partition("://")[2]
    return place.rpartition(":")[0] if is_loopback(place) else None
