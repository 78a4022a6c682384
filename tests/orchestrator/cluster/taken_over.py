"""A ``ccm worker`` that somebody has taken over: what it sends runs code wherever it is opened.

    python -m tests.orchestrator.cluster.taken_over ATTACK worker --scheduler HOST:PORT

The code leaves a file in the directory that ``OPENED_IN`` names, called as the process that has run
it: a scheduler and other workers of Dask may, the controller may not.
"""

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from distributed import get_worker, worker_state_machine
from distributed.protocol import pickle as dask_pickle
from distributed.protocol.serialize import Serialize as DaskSerialize
from distributed.protocol.serialize import ToPickle as DaskToPickle

from orchestrator.cli.app import main
from orchestrator.cluster import frames, relay
from orchestrator.cluster.dask_api import Queue

pickle: Any = dask_pickle
Serialize: Any = DaskSerialize
ToPickle: Any = DaskToPickle
DIRECTORY = "OPENED_IN"
_CODE = "import os; open(os.path.join(os.environ['OPENED_IN'], str(os.getpid())), 'w').close()"


class Evil:
    """Runs the code where it is opened."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, (_CODE,)


class EvilError(Exception):
    """The same of an error."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, (_CODE,)


def _report_type() -> None:
    """Report such a type for the result of each task."""
    evil = types.ModuleType("pickle")
    vars(evil).update(vars(pickle))
    vars(evil)["dumps"] = lambda *_, **__: pickle.dumps(Evil())
    vars(worker_state_machine)["pickle"] = evil


def _work(attack: str, order: bytes) -> Any:
    """What it does in the place of its part of a run."""
    told = relay.JoinRequest.decode(order)
    client = relay._client(get_worker())
    topic = frames.topic(told.run)
    if attack == "event":
        for message in ({"hand": Serialize(Evil())}, {"hand": ToPickle(Evil())}):
            client.log_event(topic, message)
        category = {"message": pickle.dumps(Evil()), "category": pickle.dumps(Evil())}
        client.log_event("warn", category)
        client.log_event("print", {"args": (Evil,)})
    if attack == "queue":
        up = Queue(frames.up_queue(told.run), client=client)
        for value in (Serialize(Evil()), ToPickle(Evil()), [Serialize(Evil())], {"type": "Future"}):
            up.put(value)
        up.put(client.submit(_fail, key=f"evil-{told.run}-{told.worker}", pure=False))
    if attack == "error":
        raise EvilError
    return Evil() if attack == "result" else b"over"


def _fail() -> None:
    raise EvilError


if __name__ == "__main__":
    attack = sys.argv.pop(1)
    if attack == "type":
        _report_type()
    vars(relay)["work"] = functools.partial(_work, attack)
    sys.exit(main())
