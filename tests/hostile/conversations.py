"""Recorded conversations with something wrong in them, for the controller and for the runtime.

Each side hears them in a process of its own whose memory is limited. Whatever it hears it ends the
run in one of its own ways: no defect, no error without a kind, no more memory. What it tells comes
through a worker's pipe as it was.
"""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.outcome import DEFECT
from orchestrator.report.run_collector import RunCollector
from remote_runtime.cancellation import Cancellation
from remote_runtime.protocol import wire
from remote_runtime.session import Session
from tests.hostile.figures import Figures
from tests.hostile.mutating import Mutator
from tests.hostile.pipes import WorkersPipe
from tests.hostile.recorded import LogicalHost, Recording, record

TITLE = "Frames of recorded conversations"
NOBODY = 65534
MEMORY = 384 << 20  # bytes of address space that a side may take beyond what it begins with
PATIENCE = 60.0  # seconds for one conversation
KIND = re.compile(
    r"(host|package|plan|protocol|resource|runtime|service|template|input|facts|run|transport)"
    r"(\.[a-z_]+)*\Z"
)


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """Both directions by turns until the time is up."""
    counts: Counter[str] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ccm-frames-") as top:
        directory = Path(os.path.realpath(top))
        directory.chmod(0o755)
        uid = NOBODY if os.geteuid() == 0 else os.getuid()
        recording = record(directory, uid, uid if uid == NOBODY else os.getgid())
        if recording.result.kind or not recording.result.tally.total:
            return Figures({}, [f"the conversation itself went wrong: {recording.result}"])
        until = now() + seconds  # a slow machine takes as long for the recording
        while now() < until:
            turn = min(20.0, max(1.0, until - now()))
            started = []
            for side in (_controller, _controller, *[_runtime] * 6):  # which mostly waits
                seed += 1
                started.append((seed, Apart(side, recording, directory, seed, turn)))
            for number, one in started:
                found = one.answer()
                counts.update(found["counts"])
                broken += [f"seed {number}: {text}" for text in found["broken"]]
    total = {"frames": sum(n for what, n in counts.items() if what.startswith("frames"))}
    return Figures({**total, **dict(sorted(counts.items()))}, broken[:20])


class Apart:
    """A side at work in a process of its own, within so much more memory."""

    def __init__(
        self, side: Callable[..., dict[str, Any]], *given: Any, memory: int = MEMORY
    ) -> None:
        self._reading, writing = os.pipe()
        self._child = os.fork()
        if not self._child:
            code = 1
            try:
                os.close(self._reading)
                limit = _taken() + memory
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
                with os.fdopen(writing, "w") as out:
                    json.dump(side(*given), out)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)

    def answer(self) -> dict[str, Any]:
        """What it comes to."""
        with os.fdopen(self._reading) as pipe:
            text = pipe.read()
        _, status = os.waitpid(self._child, 0)
        if status or not text:
            return {"counts": {}, "broken": [f"the process ended with {status}"]}
        found: dict[str, Any] = json.loads(text)
        return found


def _taken() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


class _Replay:
    """A link that says the frames of a list, and lets go of what it is told."""

    def __init__(self, recording: Recording, frames: list[bytes]) -> None:
        self.nonce, self.runtime, self.host_key = recording.nonce, recording.runtime, ""
        self.login_keys: tuple[str, ...] = ()
        self._frames = frames
        self.said = 0

    def send(self, data: bytes) -> None:
        """Nobody listens."""

    def receive(self, timeout: float) -> bytes:
        if self.said == len(self._frames):
            return b""
        self.said += 1
        return self._frames[self.said - 1] or b"\0"

    def stderr_tail(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing is open."""


class _Planner:
    """Plans once for the facts that were recorded, which most conversations still have."""

    def __init__(self, recording: Recording) -> None:
        self._planner = recording.planner
        self._known: list[tuple[Any, Any]] = []

    def plan(self, host: Any, gathered: Any) -> Any:
        for facts, plan in self._known:
            if facts == gathered:
                return plan
        plan = self._planner.plan(host, gathered)
        self._known = self._known or [(gathered, plan)]
        return plan


def _controller(recording: Recording, directory: Path, seed: int, seconds: float) -> dict[str, Any]:
    os.environ["XDG_STATE_HOME"] = str(directory / "state")
    mutator, until = Mutator(seed), time.monotonic() + seconds
    counts: Counter[str] = Counter()
    broken = []
    planner = _Planner(recording)
    pipe = WorkersPipe(LogicalHost(), recording.settings.run_id)
    while time.monotonic() < until:
        link = _Replay(recording, mutator.changed(recording.of_target))

        class Connector:
            def open(
                self, host: Any, on_phase: Any, until: Any = None, link: _Replay = link
            ) -> _Replay:
                return link

            def patience(self, host: Any) -> float:
                return 10.0

        bus = Bus([RunCollector(verbose=True), pipe])
        pipe.begin()
        result = HostRun(
            pipe.host, Connector(), planner=planner, bus=bus, settings=recording.settings
        ).run()
        otherwise = pipe.otherwise(result)
        counts["frames for the controller"] += link.said
        counts[f"conversations that ended {result.outcome}"] += 1
        if result.outcome == DEFECT or (result.kind and not KIND.match(result.kind)) or bus.faults:
            report = Path(result.report).read_text() if result.report else str(bus.faults)
            broken.append(f"controller: {result.outcome} {result.kind} {report[-1500:]}")
        if otherwise:
            broken.append(f"through the pipe: {otherwise}")
            break
        counts["events through the pipe"] += pipe.told
    return {"counts": counts, "broken": broken}


def _runtime(recording: Recording, directory: Path, seed: int, seconds: float) -> dict[str, Any]:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    mutator, until = Mutator(seed), time.monotonic() + seconds
    counts: Counter[str] = Counter()
    broken = []
    while time.monotonic() < until:
        frames = mutator.changed(recording.of_controller)
        trouble = _heard_by_runtime(frames, str(directory))
        counts["frames for the runtime"] += len(frames)
        counts["conversations of the runtime"] += 1
        if trouble:
            broken.append(f"runtime: {trouble}")
    return {"counts": counts, "broken": broken}


def _heard_by_runtime(frames: list[bytes], directory: str) -> str:
    """Let a runtime hear them, then hang up; what is wrong with how it ended."""
    down, up = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        code = 99
        try:
            os.close(down[1])
            os.close(up[0])
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 2)
            session = Session(
                down[0],
                up[1],
                nonce="n",
                runtime_sha="0" * 64,
                cancellation=Cancellation(),
                lock=f"{directory}/none/lock",
                state=f"{directory}/none/state",
            )
            code = session.serve()
        finally:
            os._exit(code)
    os.close(down[0])
    os.close(up[1])
    said = _exchange(down[1], up[0], b"".join(frames))
    if said is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if said is None:
        return f"it did not end within {PATIENCE:.0f} s"
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in (0, 1):
        return f"it ended with status {status}"
    return _last_words(said)


def _exchange(writing: int, reading: int, data: bytes) -> bytes | None:
    """Write it all, hang up, and read to the end; None when the end does not come."""
    os.set_blocking(writing, False)
    said, view, end = bytearray(), memoryview(data), time.monotonic() + PATIENCE
    open_writing: list[int] = [writing]
    while time.monotonic() < end:
        ready = select.select([reading], open_writing, [], 1.0)
        if ready[1]:
            try:
                view = view[os.write(writing, view[: 1 << 16]) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                view = view[:0]
            if not view:
                os.close(open_writing.pop())
        if ready[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                for left in (*open_writing, reading):
                    os.close(left)
                return bytes(said)
            said += piece
    for left in (*open_writing, reading):
        os.close(left)
    return None


def _last_words(said: bytes) -> str:
    """What is wrong with what a runtime wrote, from its first line to ``done``."""
    _, _, rest = said.partition(b"\n")
    messages = [f for f in wire.Decoder(wire.MAX_FROM_TARGET).feed(rest) if isinstance(f, dict)]
    done = [message for message in messages if message["t"] == "done"]
    if len(done) != 1 or messages[-1]["t"] not in ("done", "ping"):
        return f"its last words are {messages[-1:]}"[:500]
    error = done[0].get("error", {})
    kind = error.get("kind", "protocol")
    if kind == "runtime.defect" or not KIND.match(kind):
        return f"{kind}: {error.get('message')}"[:1500]
    return ""
