"""Frames over one host's link, with heartbeats and limited waits (controller).

One thread holds the conversation; another thread may call ``tend`` at any time. Silence counts only
while the first thread waits for the host, so that neither a slow plan nor a stopped terminal looks
like a dead host.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet.outcome import STALLED, TIMED_OUT
from remote_runtime.errors import ProtocolError, UnreachableError
from remote_runtime.protocol import wire

if TYPE_CHECKING:
    from orchestrator.fleet.interfaces import Link

FRAMES_AT_ONCE = 50_000
FRAMES_PER_SECOND = 1_000
EXPIRY_GRACE = 3.0  # for the last events of a host whose time is up
IDLE_BYTES = 64 << 20  # maximum input of a host between two steps of progress, including notices
TICK = 1.0  # maximum delay until a cancel is noticed


class _Overdue(NamedTuple):
    """The message to a host that exceeded its time, and the error that follows its last answer."""

    reason: str
    error: UnreachableError


class FramedLink:
    """The link to one runtime; not used again after an error.

    ``until`` is the time (``time.monotonic()``) at which the host times out, None for never. A host
    that supports cancellation is then cancelled, so that it can report the interrupted resource;
    ``expired`` is the error. ``uid`` is the user that the runtime reports.
    """

    def __init__(self, link: "Link", until: float | None = None) -> None:
        self._link = link
        self.nonce, self.runtime, self.host_key = link.nonce, link.runtime, link.host_key
        self.login_keys = link.login_keys
        self.uid: int | None = None
        self.until = until
        self._decoder = wire.Decoder(wire.MAX_FROM_TARGET)
        self._sending = threading.Lock()
        self._opened = time.monotonic()
        self._last_sent = self._opened
        self._send_began = 0.0
        self._received = 0
        self._cancelling = False
        self._pinging = False
        self._due: tuple[float, str] | None = None
        self._heeds_cancel = False
        self._stall: Callable[[], float] = lambda: 0.0
        self._stall_from = float("inf")
        self._progressed = self._opened
        self._idle_bytes = 0
        self.expired: UnreachableError | None = None
        self.torn = ""

    def runs_as(self, uid: int) -> None:
        """The runtime has reported its user."""
        self.uid = uid

    def send(self, message: wire.Message) -> None:
        """Send one message; UnreachableError if the link breaks or no longer accepts data."""
        self.send_bytes(wire.encode(message))

    def send_bytes(self, data: bytes) -> None:
        """Send complete frames."""
        with self._sending:
            self._send_began = time.monotonic()
            try:
                self._link.send(data)
            except UnreachableError:
                raise self._lost() from None
            except OSError as error:
                raise self._lost(str(error)) from error
            finally:
                self._send_began = 0.0
                self._last_sent = time.monotonic()

    def next(
        self, wait: float = wire.SILENCE, *, before: Callable[[], None] = lambda: None
    ) -> wire.Frame:
        """Return the host's next frame, without heartbeats; ``before`` is called before the wait.

        UnreachableError after ``wait`` seconds of silence, at the end of the link, or when the
        host's time is up; ProtocolError for bytes that are not a frame, and for a flood of frames.
        """
        while True:
            self.arrive(wait, before=before)
            frame = self.take()
            if frame is not None:
                return frame

    def arrive(
        self, wait: float = wire.SILENCE, *, before: Callable[[], None] = lambda: None
    ) -> None:
        """Wait for a complete frame without parsing it; limits and errors are those of ``next``. A
        heartbeat also counts as a frame.
        """
        last_received = time.monotonic()
        while not self._decoder.is_whole():
            before()
            last_received = self._read(last_received, wait)

    def take(self) -> wire.Frame | None:
        """Read the received frame; None for a heartbeat. ProtocolError."""
        frame = self._decoder.take()
        self._count()
        return frame if isinstance(frame, bytes) or frame["t"] != "ping" else None

    def message(
        self, wait: float = wire.SILENCE, *, before: Callable[[], None] = lambda: None
    ) -> wire.Message:
        """Return the next frame, which must be a message."""
        return message_of(self.next(wait, before=before))

    @contextlib.contextmanager
    def within(self, seconds: float, what: str) -> Iterator[None]:
        """Limit the time to receive ``what`` in this block, regardless of heartbeats."""
        self._due = time.monotonic() + seconds, f"no {what} within {seconds:.0f} s"
        try:
            yield
        finally:
            self._due = None

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Do something else in this block; deadlines are extended by its duration."""
        start = time.monotonic()
        try:
            yield
        finally:
            if self._due is not None:
                end, text = self._due
                self._due = end + time.monotonic() - start, text

    def stderr_tail(self) -> str:
        """The end of the host's standard error."""
        return self._link.stderr_tail()

    def close(self) -> None:
        """Close the link immediately."""
        self._link.close()

    def _read(self, last_received: float, wait: float) -> float:
        now = time.monotonic()
        overdue = self._overdue(now)
        if overdue is not None:
            if not self._heeds_cancel or self._cancelling or self.expired:
                raise self.expired or overdue.error
            self.expired = overdue.error
            self.until = now + EXPIRY_GRACE
            self._aside({"t": "cancel", "reason": overdue.reason})
        if now - last_received >= wait:
            raise UnreachableError(f"no response for {wait:.0f} s", kind="transport.silent")
        bounds = [wait - (now - last_received), TICK]
        if self._due is not None:
            end, text = self._due
            if now >= end:
                raise UnreachableError(text, kind="transport.silent")
            bounds.append(end - now)
        if self.until is not None:
            bounds.append(self.until - now)
        limit = max(0.01, min(bounds))
        try:
            data = self._link.receive(limit)
        except TimeoutError:
            # Time in which this process was stopped, or had no processor, does not count as silence
            # of the host: its messages of that time are still unread.
            return last_received + max(0.0, time.monotonic() - now - limit - TICK)
        except (UnreachableError, OSError) as error:
            raise self._lost(str(error)) from error
        if not data:
            raise self._lost("the connection ended")
        self._idle_bytes += len(data)
        if self._idle_bytes > IDLE_BYTES:
            text = f"{IDLE_BYTES >> 20} MiB of messages without progress"
            raise ProtocolError(text, kind="protocol.flood")
        self._decoder.hold(data)
        return time.monotonic()

    def _count(self) -> None:
        self._received += 1
        if self._received > FRAMES_AT_ONCE:
            allowed = FRAMES_AT_ONCE + FRAMES_PER_SECOND * (time.monotonic() - self._opened)
            if self._received > allowed:
                raise ProtocolError(f"too many frames ({self._received})", kind="protocol.flood")

    def _overdue(self, now: float) -> _Overdue | None:
        if self.until is not None and now >= self.until:
            return _Overdue("timed out (--timeout)", _time_up())
        if now - self._progressed < self._stall_from or self.expired:
            return None
        bound = self._stall()
        if now - self._progressed < bound:
            self._stall_from = bound
            return None
        span = f"{bound / 3600:.3g} h" if bound >= 3600 else f"{bound:.3g} s"
        return _Overdue(f"no progress for {span} (--stall-timeout)", UnreachableError(
            f"no progress for {span}; the resources in progress were interrupted",
            kind=STALLED,
            hint=(
                "find out what hangs on the host, set a timeout for the command, or raise "
                "--stall-timeout"
),
        ))  # fmt: skip

    def _lost(self, reason: str = "") -> UnreachableError:
        if self.expired:
            return self.expired
        if self.torn:
            return UnreachableError(self.torn, kind="transport.silent")
        return UnreachableError(
            reason or "the connection broke",
            kind="transport.lost",
            hint=(
                "did the host reboot or lose its network? Push again: completed resources "
                "are not repeated"
            ),
        )

    def bound_stall(self, seconds: float, longest: Callable[[], float]) -> None:
        """Limit the time from one step of progress to the next; 0 seconds are no limit.

        The limit is at least ``longest()``, which is called only after the seconds have passed.
        """
        if seconds:
            self._stall_from, self._stall = seconds, lambda: max(seconds, longest())
        self.progressed()

    def progressed(self) -> None:
        """Record progress of a kind that the plan limits."""
        self._progressed = time.monotonic()
        self._idle_bytes = 0

    def cancel(self, grace: float) -> None:
        """Ask the runtime to stop, from any thread, without waiting; it has ``grace`` seconds."""
        self._cancelling = True
        end = time.monotonic() + grace
        self.until = end if self.until is None else min(self.until, end)
        self._aside({"t": "cancel"})

    def heed_cancel(self) -> None:
        """Record that the host supports cancellation and reports the interrupted resource."""
        self._heeds_cancel = True

    @property
    def cancelling(self) -> bool:
        """Whether the run was cancelled."""
        return self._cancelling

    def tend(self, now: float) -> None:
        """Keep the link alive; called about once a second by a thread that must not block.

        Sends a ping if nothing was sent for a while, and closes a link that no longer accepts data
        or whose host has exceeded its time.
        """
        began = self._send_began
        if began and now - began > wire.SILENCE:
            self.torn = f"the host accepted no data for {wire.SILENCE:.0f} s"
            self._link.close()
        elif began and self.until is not None and now > self.until + EXPIRY_GRACE:
            self.expired = self.expired or _time_up()
            self._link.close()
        elif not began and not self._pinging and now - self._last_sent >= wire.PING_INTERVAL:
            self._pinging = True
            self._aside({"t": "ping"})

    def _aside(self, message: dict[str, Any]) -> None:
        # A host that takes no bytes blocks the sender, so each message gets its own thread.
        threading.Thread(target=self._try_send, args=(message,), daemon=True).start()

    def _try_send(self, message: dict[str, Any]) -> None:
        try:
            self.send(message)
        except UnreachableError:
            return  # the conversing thread meets the same broken link and reports it
        finally:
            self._pinging = False


def message_of(frame: wire.Frame) -> wire.Message:
    """The message in a frame; ProtocolError if the frame is not a message."""
    if isinstance(frame, bytes):
        raise ProtocolError("expected a message, got raw bytes")
    return frame


def _time_up() -> UnreachableError:
    return UnreachableError(
        "timed out; the resources in progress were interrupted",
        kind=TIMED_OUT,
        hint="raise --timeout, or find out what is taking so long",
    )
