"""A TCP proxy on loopback that makes the way to a host long, or lets it fail.

Needs no root. The bandwidth is not limited. The proxy runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from types import TracebackType

_CHUNK = 256 * 1024
_CHUNKS_UNDER_WAY = 256
_POLL_SECONDS = 0.01

_Queue = asyncio.Queue[tuple[float, int, bytes]]
"""When bytes are due, the turn of the conversation that they belong to, and the bytes."""


class _Side:
    """Who speaks on one side of a connection, and the last turn that it has heard of."""

    def __init__(self, begins: int) -> None:
        self.received = 0
        self.begins = begins
        """1 for the client, each word of which begins a turn, 0 for the target, which answers."""


class DelayProxy:
    """Forwards connections to a target, each byte `delay_seconds` late in each direction.

    A round trip takes twice the delay; so does connecting, as it would over such a line: the target
    sees a connection after three times the delay, when the third packet of TCP's handshake would
    reach it. Faults, which may also be set while the proxy runs:

    - `reset_first`: so many connections are reset before the target says anything.
    - `drop_after`: a connection is reset once the target has sent so many bytes over it.
    - `black_hole`: nothing is passed on and nothing is closed, until it is set to False again.
    """

    def __init__(
        self,
        target_host: str,
        target_port: int = 22,
        delay_seconds: float = 0.0,
        *,
        reset_first: int = 0,
        drop_after: int | None = None,
        black_hole: bool = False,
    ) -> None:
        self.host = "127.0.0.1"
        self.port = 0
        """The port that the proxy listens on, once it is started."""
        self.delay_seconds = delay_seconds
        self.reset_first = reset_first
        self.drop_after = drop_after
        self.black_hole = black_hole
        self.connections = 0
        """How many connections have been accepted so far."""
        self.turns = 0
        """How often the client of the latest connection waited for an answer before it went on.

        These are its round trips after connecting, whatever else takes time on a busy machine.
        """
        self.sent = self.received = 0
        """Bytes that clients have sent so far, and that they have received."""
        self._target = (target_host, target_port)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> DelayProxy:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listen, on a free port. Raises OSError if that is not possible."""
        listener = socket.create_server((self.host, 0), backlog=1024)
        self.port = listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening and cut all connections. May be called again."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop = self._thread = None

    def _run(self, listener: socket.socket) -> None:
        loop = self._loop
        assert loop is not None
        server = loop.run_until_complete(asyncio.start_server(self._accept, sock=listener))
        try:
            loop.run_forever()
        finally:
            server.close()
            loop.run_until_complete(self._cut_all())
            loop.close()

    async def _cut_all(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.turns = 0
        if self.connections <= self.reset_first:
            _reset(writer)
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until both sides have ended it, or one has broken it."""
        client, target = _Side(begins=1), _Side(begins=0)
        upward: _Queue = asyncio.Queue(_CHUNKS_UNDER_WAY)
        downward: _Queue = asyncio.Queue(_CHUNKS_UNDER_WAY)
        tasks = [asyncio.create_task(self._collect(client, reader, upward))]
        writers = [writer]
        try:
            await asyncio.sleep(3 * self.delay_seconds)
            await self._until_passable()
            far_reader, far_writer = await asyncio.open_connection(*self._target)
            writers.append(far_writer)
            tasks += [
                asyncio.create_task(self._collect(target, far_reader, downward)),
                asyncio.create_task(self._deliver(target, upward, far_writer)),
                asyncio.create_task(self._deliver(client, downward, writer, limited=True)),
            ]
            await asyncio.gather(*tasks)
            for each in writers:
                each.close()
        except OSError:
            pass  # One side has gone; the other learns of it below.
        finally:
            for task in tasks:
                task.cancel()
            for each in writers:
                _reset(each)

    async def _collect(self, side: _Side, reader: asyncio.StreamReader, queue: _Queue) -> None:
        """Read what one side sends and note when it is due at the other."""
        now = asyncio.get_running_loop().time
        while True:
            data = await reader.read(_CHUNK)
            await queue.put((now() + self.delay_seconds, side.received + side.begins, data))
            if not data:
                return

    async def _deliver(
        self, side: _Side, queue: _Queue, writer: asyncio.StreamWriter, *, limited: bool = False
    ) -> None:
        """Write to a side what is due; if `limited`, break off after `drop_after` bytes."""
        now = asyncio.get_running_loop().time
        sent = 0
        while True:
            due, turn, data = await queue.get()
            await asyncio.sleep(max(0.0, due - now()))
            await self._until_passable()
            if not data:
                writer.write_eof()
                return
            side.received = max(side.received, turn)
            if side.begins:
                self.turns = side.received
            maximum = self.drop_after if limited else None
            data = data if maximum is None else data[: max(0, maximum - sent)]
            sent += len(data)
            if side.begins:
                self.received += len(data)
            else:
                self.sent += len(data)
            writer.write(data)
            await writer.drain()
            if maximum is not None and sent >= maximum:
                raise ConnectionResetError

    async def _until_passable(self) -> None:
        while self.black_hole:
            await asyncio.sleep(_POLL_SECONDS)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a reset, not with an orderly end; a closed one stays as it is."""
    if not writer.is_closing():
        raw: socket.socket | None = writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
