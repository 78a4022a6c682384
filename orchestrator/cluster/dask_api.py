"""Types for the parts of Dask in use, which has no type hints (both sides)."""

import asyncio
import logging
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import dask
import distributed
from distributed.comm import tcp
from distributed.protocol import core, pickle

from orchestrator.cluster import pickle_guard

CONNECT = 10.0  # seconds that a scheduler has to answer
CONNECTING = {"distributed.comm.timeouts.connect": f"{CONNECT:.0f}s"}


class BoundedClient(distributed.Client):
    """A client without message handlers, which does not deserialize the results of tasks.

    ``TimeoutError`` if there is no answer: Dask limits the time to connect to a port, but not the
    time to wait for an answer.
    """

    _default_event_handlers: dict[str, Any] = {}

    async def _start(self, *given: Any, **named: Any) -> None:
        vars(self.rpc)["deserialize"] = False
        starting: Any = super()._start
        await asyncio.wait_for(starting(*given, **named), CONNECT)

    async def _ensure_connected(self, *given: Any, **named: Any) -> None:
        connecting: Any = super()._ensure_connected
        await connecting(*given, **named)
        if self.scheduler_comm is not None:
            self.scheduler_comm.comm.deserialize = False

    def _handle_key_in_memory(self, key: Any = None, *_given: Any, **_named: Any) -> None:
        """Note that a task has ended; Dask would unpickle the type of its result."""
        self._end_task(key, lambda state: state.finish(None))

    def _handle_task_erred(
        self, key: Any = None, exception: Any = None, traceback: Any = None
    ) -> None:
        """Note that a task has failed; Dask would unpickle its exception."""
        self._end_task(key, lambda state: state.set_error(RuntimeError("it failed"), None))

    def _handle_error(self, exception: Any = None) -> None:
        """Discard the errors of the scheduler."""

    def _end_task(self, key: Any, end: Callable[[Any], object]) -> None:
        state = self.futures.get(key)
        if state is not None:
            end(state)


Client: Any = BoundedClient
Queue: Any = distributed.Queue
Security: Any = distributed.Security
Worker: Any = distributed.Worker
get_worker: Any = distributed.get_worker
configure: Any = dask.config.set
VERSION = version("distributed")


def set_log_level(level: int) -> None:
    """Prevent Dask from logging below a level; some of its parts have their own level."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(level)


def refuse_pickles() -> None:
    """Prevent this process from unpickling anything that others send; see ``pickle_guard``."""
    pickle_guard.refuse_pickles(core, pickle, tcp)
