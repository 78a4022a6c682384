"""What of Dask is used here: it says no types of its own (both sides)."""

import asyncio
import logging
from importlib.metadata import version
from typing import Any, NoReturn

import dask
import distributed
from distributed.protocol import pickle

CONNECT = 10.0  # seconds that a scheduler has to answer
CONNECTING = {"distributed.comm.timeouts.connect": f"{CONNECT:.0f}s"}


class BoundedClient(distributed.Client):
    """A client that heeds no topic by itself: what is told in some would be unpickled.

    ``TimeoutError`` where nothing answers: Dask bounds how long it takes to reach a port, and not
    how long what listens there says nothing.
    """

    _default_event_handlers: dict[str, Any] = {}

    async def _start(self, *given: Any, **named: Any) -> None:
        starting: Any = super()._start
        await asyncio.wait_for(starting(*given, **named), CONNECT)


Client: Any = BoundedClient
Queue: Any = distributed.Queue
Security: Any = distributed.Security
Worker: Any = distributed.Worker
get_worker: Any = distributed.get_worker
configure: Any = dask.config.set
VERSION = version("distributed")


def tell_only(level: int) -> None:
    """Have Dask write no log below a level; some of its parts have a level of their own."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(level)


def refuse_pickles() -> None:
    """From now on nothing that others send is unpickled in this process.

    A pickle is code of whoever has made it, and who is in a cluster of Dask may be taken over.
    """

    def refuse(*_: object, **__: object) -> NoReturn:
        raise ValueError("a pickle came, which is not opened here")

    vars(pickle)["loads"] = refuse
