"""Requests of workers to the controller, each answered once for all of them (controller)."""

import functools
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from orchestrator.support.crash import describe_crash
from remote_runtime.errors import CcmError

Ask = Callable[[Any], Any]


@runtime_checkable
class RpcService(Protocol):
    """A planner, or another object with requests that are answered once per run."""

    def forward_to(self, ask: Ask) -> None:
        """Forward requests to ``ask``, which returns the result of ``answer`` on the controller; it
        may raise CcmError.
        """
        ...

    def answer(self, question: Any) -> Any:
        """Return the answer for JSON; CcmError for a request that is not allowed. Thread-safe."""
        ...


class RpcClient:
    """The questions of a worker; ``put`` sends each to the controller with a number."""

    def __init__(self, put: Callable[[int, Any], None]) -> None:
        self._put = put
        self._lock = threading.Lock()
        self._last = 0
        self._open: dict[int, queue.SimpleQueue[Any]] = {}

    def forward(self, askers: Iterable[object]) -> None:
        """Redirect the requests of these objects through this one."""
        for place, asker in enumerate(_services(askers)):
            asker.forward_to(functools.partial(self._ask, place))

    def receive(self, number: int, message: Any) -> None:
        """Receive the answer to the question with that number."""
        with self._lock:
            waiting = self._open.pop(number)
        waiting.put(message)

    def _ask(self, place: int, question: Any) -> Any:
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self._lock:
            self._last += 1
            number = self._last
            self._open[number] = answer
        self._put(number, [place, question])
        told, defect = answer.get()
        if defect is not None:
            raise CcmError(defect, "defect")
        return told


class RpcServer:
    """Answers such requests on the controller; its objects have the same order."""

    def __init__(self, askers: Iterable[object] = ()) -> None:
        self._askers: Sequence[RpcService] = _services(askers)

    def begin(self, asked: Any, tell: Callable[[Any], None]) -> None:
        """Answer in another thread. LookupError, TypeError or ValueError for an invalid request."""
        place, question = asked
        asker = self._askers[place]
        threading.Thread(
            target=self._answer, args=(asker, question, tell), name="answer", daemon=True
        ).start()

    def _answer(self, asker: RpcService, question: Any, tell: Callable[[Any], None]) -> None:
        try:
            told = [asker.answer(question), None]
        except CcmError as error:  # an invalid question of a worker, which is not trusted
            told = [None, error.message]
        except Exception as error:  # a defect: the worker must not wait for its answer forever
            report = describe_crash(error, "a request from a worker")
            told = [None, f"internal error in ccm, see {report}"]
        tell(told)


def _services(askers: Iterable[object]) -> list[RpcService]:
    return [asker for asker in askers if isinstance(asker, RpcService)]
