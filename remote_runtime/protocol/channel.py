"""The runtime's end of the channel (target): one thread reads, one writes, and the run
uses both.
"""

import os
import time
from typing import Any, Callable, List, Optional, Tuple

from remote_runtime.cancellation import Cancellation, await_input
from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import wire
from remote_runtime.protocol.unchanged_batch import MAX_ROWS, UnchangedBatch, UnchangedEvent
from remote_runtime.stdlib_light.threads import Condition, Event, Thread

FLUSH = 0.05  # seconds that an event may wait for others to share its write
_ROOM_IN = 1 << 20  # bytes that are read ahead of the run
_ROOM_OUT = 1 << 20  # bytes that the run may be ahead of the controller
_LOST = "the connection to the controller was lost"
_LAST_WRITE = 3.0  # seconds that the end of the run waits for the controller to read


class Channel(object):
    """Frames in both directions, heartbeats, and the end of the run when the controller is gone.

    ``on_stuck`` is called from the reading thread if a run that was ended early still exists
    ``patience`` seconds later, not counting the time of commands that must not be killed.
    ``before_write`` is called by the writing thread before each write and returns the data to write
    first; it receives a function that sends a heartbeat while it runs.
    """

    def __init__(
        self,
        reading: int,
        writing: int,
        *,
        cancellation: Cancellation,
        on_stuck: Callable[[], None],
        before_write: Callable[[Callable[[], None]], bytes] = lambda beat: b"",
        silence: float = wire.SILENCE,
        patience: float = 5.0,
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._cancellation = cancellation
        self._on_stuck = on_stuck
        self._before_write = before_write
        self._silence = silence
        self._patience = patience
        self._arrived: List[wire.Frame] = []
        self._arrived_bytes = 0
        self._inbox = Condition()
        self._outbox = Condition()
        self._buffer = bytearray()
        self._progress: Optional[Tuple[int, str]] = None
        self._unchanged = UnchangedBatch()
        self._urgent = False
        self._closing = False
        self._broken = False
        self._in_before_write = False
        self._finished = Event()
        self._error: Optional[ProtocolError] = None
        self._threads = [Thread(loop) for loop in (self._read_loop, self._write_loop)]

    def start(self) -> None:
        """Start reading and writing."""
        for thread in self._threads:
            thread.start()

    # -- what the run calls -----------------------------------------------------------------------

    def send(self, message: wire.Message, now: bool = False) -> None:
        """Queue a message; ``now`` is for a message that the controller waits for, others may share
        a write.
        """
        self._queue(wire.encode(message), now)

    def send_text(self, text: str) -> None:
        """Queue a message that is already JSON text, in ASCII."""
        self._queue(wire.encode_json(text.encode("ascii")), False)

    def send_bytes(self, data: bytes) -> None:
        """Queue raw bytes that belong to the message before them."""
        for frame in wire.split(data):
            self._queue(frame, True)

    def send_unchanged(self, event: UnchangedEvent) -> None:
        """Queue the row of a converged resource: consecutive rows in one write are sent as one
        message.
        """
        if not self._unchanged.fits(event):
            self._queue(b"", False)
        with self._outbox:
            if self._idle:
                self._outbox.notify_all()
            self._unchanged.add(event)
            full = self._unchanged.count >= MAX_ROWS
        if full:
            self._queue(b"", False)

    @property
    def gathers(self) -> bool:
        """Whether a row is waiting to be sent with others."""
        return self._unchanged.count > 0

    def progress(self, index: int, action: str) -> None:
        """Report the current action; if there are several within one write, only the last
        is sent.
        """
        with self._outbox:
            if self._idle:
                self._outbox.notify_all()
            self._progress = (index, action)

    def settled(self) -> None:
        """Discard the pending progress report of the running resource, which is done."""
        self._progress = None

    def receive(self) -> wire.Frame:
        """Wait for the next frame. ``ProtocolError``; ``Cancelled`` if the run must end."""
        with self._inbox:
            while not self._arrived:
                if self._error is not None:
                    raise self._error
                self._cancellation.check()
                self._inbox.wait()
            frame = self._arrived.pop(0)
            self._arrived_bytes -= _weight(frame)
            self._inbox.notify_all()
            return frame

    def expect(self, *types: str) -> wire.Message:
        """Wait for a message of one of these types. ``ProtocolError`` for other frames."""
        frame = self.receive()
        if isinstance(frame, dict) and frame["t"] in types:
            return frame
        got = frame["t"] if isinstance(frame, dict) else "raw bytes"
        raise ProtocolError("expected %s, got %s" % (" or ".join(types), got))

    def await_bye(self, seconds: float) -> bool:
        """Wait for the controller to confirm the end of the run; False if it does not."""
        due = time.monotonic() + seconds
        with self._inbox:
            while not any(isinstance(one, dict) and one["t"] == "bye" for one in self._arrived):
                left = due - time.monotonic()
                if left <= 0 or self._cancellation.is_set():
                    return False
                self._inbox.wait(left)
        return True

    def close(self) -> None:
        """Write the queued data, for at most a few seconds once nothing holds it back, and stop."""
        with self._outbox:
            self._closing = True
            self._outbox.notify_all()
        in_before_write = True
        while in_before_write:
            # At the beginning of these seconds, or at their end.
            in_before_write = self._in_before_write
            if self._threads[1].join(_LAST_WRITE):
                break
            in_before_write = in_before_write or self._in_before_write
        self._finished.set()

    # -- writing ----------------------------------------------------------------------------------

    def _queue(self, frame: bytes, now: bool) -> None:
        with self._outbox:
            while len(self._buffer) > _ROOM_OUT and not self._broken:
                if self._cancellation.is_set():
                    break
                self._outbox.wait(0.5)
            was_idle = self._idle
            self._take_unchanged()
            self._buffer += frame
            self._urgent = self._urgent or now
            if was_idle or now:
                self._outbox.notify_all()

    @property
    def _idle(self) -> bool:
        """Whether there is nothing to write."""
        return not (self._buffer or self._progress or self._unchanged.count)

    def _take_unchanged(self) -> None:
        if self._unchanged.count:
            self._buffer += wire.encode(self._unchanged.take())

    def _write_loop(self) -> None:
        while True:
            data = self._next_data()
            if not data:
                return
            try:
                self._in_before_write = True
                first = self._before_write(self._beat)
                self._in_before_write = False
                self._write(first + data)
            except OSError:
                # The controller is gone. The reading thread sees that too and ends the run.
                with self._outbox:
                    self._broken = True
                    self._outbox.notify_all()
                return

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._writing, view) :]

    def _beat(self) -> None:
        try:
            self._write(wire.encode({"t": "ping"}))
        except OSError:
            pass  # the write that waits fails, too

    def _next_data(self) -> bytes:
        with self._outbox:
            due = time.monotonic() + wire.PING_INTERVAL
            while self._idle and not self._closing:
                seconds = due - time.monotonic()
                if seconds <= 0:
                    self._buffer += wire.encode({"t": "ping"})
                    break
                self._outbox.wait(seconds)
            flush = time.monotonic() + FLUSH
            while not (self._urgent or self._closing):
                seconds = flush - time.monotonic()
                if seconds <= 0:
                    break
                self._outbox.wait(seconds)
            self._take_unchanged()
            if self._progress is not None:
                index, action = self._progress
                self._buffer += wire.encode({"t": "progress", "index": index, "action": action})
                self._progress = None
            data = bytes(self._buffer)
            del self._buffer[:]
            self._urgent = False
            self._outbox.notify_all()
            return data if data or self._closing else wire.encode({"t": "ping"})

    # -- reading ----------------------------------------------------------------------------------

    def _read_loop(self) -> None:
        try:
            reason = self._read_until_end()
        except ProtocolError as error:
            self._error = error
            reason = str(error)
        except OSError:  # a socket that is closed before all is read is reset
            reason = _LOST
        except Exception as error:  # without this thread nothing ends the run
            reason = "reading failed: %s" % type(error).__name__
        if not self._finished.is_set():
            self._cancellation.set(reason)
        with self._inbox:
            self._inbox.notify_all()
        self._watch()

    def _read_until_end(self) -> str:
        """Read frames until the run is over; return why it ended."""
        decoder = wire.Decoder(wire.MAX_FROM_CONTROLLER)
        wakeup = self._cancellation.wakeup
        while not self._cancellation.is_set():
            ready = await_input([self._reading, wakeup], self._silence)
            if not ready:
                return "no response from the controller for %g s" % self._silence
            if self._reading not in ready:
                continue
            data = os.read(self._reading, wire.CHUNK)
            if not data:
                return _LOST
            for frame in decoder.feed(data):
                if isinstance(frame, dict) and frame["t"] == "cancel":
                    return str(frame.get("reason") or "the controller stopped the run")
                if not (isinstance(frame, dict) and frame["t"] == "ping"):
                    self._arrive(frame)
        return self._cancellation.reason

    def _arrive(self, frame: wire.Frame) -> None:
        with self._inbox:
            while self._arrived and self._arrived_bytes > _ROOM_IN:
                if self._cancellation.is_set() or self._finished.is_set():
                    return
                self._inbox.wait(0.5)
            self._arrived.append(frame)
            self._arrived_bytes += _weight(frame)
            self._inbox.notify_all()

    def _watch(self) -> None:
        """Give an ended run a little time to stop; commands that must not be killed have unlimited
        time.
        """
        seconds = self._patience
        while not self._finished.wait(0.1):
            if not self._cancellation.protecting:
                seconds -= 0.1
            if seconds <= 0:
                self._on_stuck()
                return


def _weight(frame: Any) -> int:
    return len(frame) if isinstance(frame, bytes) else 1024
