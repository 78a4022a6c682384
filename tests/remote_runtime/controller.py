"""The controller's end of the channel, for tests: it starts a real runtime and talks to it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional

import remote_runtime
from remote_runtime.plan_item import each_of
from remote_runtime.plans.plan import parse
from remote_runtime.protocol import wire
from remote_runtime.protocol.unchanged_events import implied_members, whole_events
from remote_runtime.reporting.events import EventMaker, secrets_of
from remote_runtime.reporting.masking import Mask
from tests.remote_runtime.fakes import DirectoryTest
from tests.remote_runtime.forked import Forked

NONCE = "n0nce"
SILENCE, PING = 30.0, 10.0  # as users have them
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(remote_runtime.__file__)))
PROGRAM = """\
import sys
sys.path.insert(0, %r)
from remote_runtime.protocol import wire
wire.SILENCE, wire.PING_INTERVAL = %r, %r
from remote_runtime.session import serve
sys.exit(serve(%r, "0" * 64, %r, %r))
"""


class Target(object):
    """A runtime in a process of its own; ``blobs`` are the contents that it may ask for.

    ``prologue`` is run before the runtime in the same process. A process with anything of its own,
    or that is to be ``started``, is a new interpreter's; others are forked from one, which costs
    a third.
    """

    def __init__(
        self,
        lock: str,
        state: str,
        blobs: Any = (),
        silence: float = SILENCE,
        ping: float = PING,
        before: Optional[Callable[[], None]] = None,
        prologue: str = "",
        started: bool = False,
    ) -> None:
        self.blobs = {hashlib.sha256(b).hexdigest(): b for b in blobs}
        self.frames = []  # type: List[Dict[str, Any]]
        self.raw = []  # type: List[bytes]
        self.read_files = []  # type: List[Dict[str, Any]]
        self.on = {}  # type: Dict[str, Callable[[Dict[str, Any]], object]]
        self.answer = self._answer  # to each frame
        self.plan = {}  # type: Dict[str, Any]
        self.process = None  # type: Any  # its pipes are there
        self._decoder = wire.Decoder(wire.MAX_FROM_TARGET)
        if started or prologue or before or (silence, ping) != (SILENCE, PING):
            program = prologue + PROGRAM % (ROOT, silence, ping, NONCE, lock, state)
            self.process = _start(program, before)
        else:
            self.process = Forked(ROOT, [NONCE, lock, state])
        self.line = self._first_line()

    def _first_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.process.stdout.fileno(), 1)
            assert byte, self.process.stderr.read()
            line += byte
        return line

    def send(self, message: Dict[str, Any]) -> None:
        self.write(wire.encode(message))

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def until(self, kind: str) -> Dict[str, Any]:
        """Read and answer frames until one of this kind; the end of the stream is an error."""
        while True:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the stream ended: %r %s" % (
                self.frames[-3:],
                self.process.stderr.read(),
            )
            found = None
            for frame in self._decoder.feed(data):
                if isinstance(frame, bytes):
                    self.raw.append(frame)
                    continue
                self.frames.append(frame)
                self.answer(frame)
                if frame["t"] == kind:
                    found = found or frame
            if found is not None:
                return found

    def _answer(self, frame: Dict[str, Any]) -> None:
        if frame["t"] == "want":
            for sha in frame["shas"]:
                data = self.blobs.get(sha)
                if data is None:
                    self.send({"t": "blob", "sha": sha, "error": "the source was removed"})
                    continue
                self.send({"t": "blob", "sha": sha, "size": len(data)})
                for piece in wire.split(data):
                    self.write(piece)
        if frame["t"] in self.on:
            self.on[frame["t"]](frame)

    def push(self, *resources: Dict[str, Any], **settings: Any) -> List[Dict[str, Any]]:
        """Run a plan to its end and return its events."""
        self.start(*resources, **settings)
        self.until("done")
        self.end()
        return self.events

    def start(self, *resources: Dict[str, Any], **settings: Any) -> None:
        """Send a plan once the facts are there."""
        if not self.of("facts"):
            self.until("facts")
        plan = {"t": "plan", "run_id": "R1", "user": "alice@desk", "resources": list(resources)}
        plan.update(settings)
        self.plan = plan
        self.send(plan)

    def end(self) -> int:
        """Wait for the process and return its exit code."""
        code: int = self.process.wait(20)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        return code

    @property
    def events(self) -> List[Dict[str, Any]]:
        return events_of(self.frames, self.plan)

    def of(self, kind: str) -> List[Dict[str, Any]]:
        """Every frame of one kind."""
        return [f for f in self.frames if f["t"] == kind]


def _start(program: str, before: Optional[Callable[[], None]]) -> Any:
    """A new interpreter with pipes; ``before`` is called in its process first."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=before,
        bufsize=0,
    )


def events_of(frames: List[Dict[str, Any]], plan: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The events that a runtime has told of a plan, those of stable resources expanded."""
    events = []  # type: List[Dict[str, Any]]
    for frame in frames:
        if frame["t"] == "event":
            events.append(frame["event"])
        elif frame["t"] == "stable":
            events += _expanded(frame, plan)
    return events


def _expanded(frame: Dict[str, Any], plan: Dict[str, Any]) -> List[Dict[str, Any]]:
    parsed = parse(json.loads(json.dumps(plan)))
    mask = Mask(parsed.secrets)
    for item in each_of(parsed.items, managed=True):
        if item.secrets and not item.sensitive:
            mask.add(secrets_of(item))
    items, maker = list(each_of(parsed.items)), EventMaker(mask)
    implied = [implied_members(items[row[0]], maker) for row in frame["rows"]]
    return list(whole_events(frame, implied))


class RuntimeTest(DirectoryTest):
    """A test with runtimes of its own; ``state`` is what the host remembers."""

    def setUp(self) -> None:
        super().setUp()
        self.state = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, self.state)

    def target(self, *blobs: bytes, **options: Any) -> Target:
        target = Target(self.path("ccm.lock"), self.state, blobs, **options)
        self.addCleanup(self.stop, target)
        return target

    def stop(self, target: Target) -> None:
        if target.process.poll() is None:
            target.process.kill()
            target.end()


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def within(seconds: float, condition: Callable[[], object]) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.time() + seconds
    while time.time() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
