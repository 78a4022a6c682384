"""News for open pages, as server-sent events (controller).

An event only reports that something changed; the page then reloads itself, with the usual limits
and rights.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

PAUSE = 1.0  # seconds between two looks at the version
KEEP_ALIVE = 15.0  # seconds without an event
MAX_SECONDS = 600.0  # of a stream; a browser then connects again, and its session is checked
MAX_STREAMS = 60
MAX_STREAMS_OF_USER = 20

Look = Callable[[], tuple[int, bool]]
"""A version, and whether it may still change."""


class LiveStreams:
    """The open streams, whose number is limited."""

    def __init__(self) -> None:
        self._open = Counter[str]()

    def is_full(self, user: str) -> bool:
        """Whether a user has reached the limit of open streams."""
        return self._open[user] >= MAX_STREAMS_OF_USER or self._open.total() >= MAX_STREAMS

    def response(self, user: str, look: Look) -> StreamingResponse:
        """A stream of the results of ``look``. It counts from now on, before it is sent: many
        requests at the same time would all find room."""
        self._open[user] += 1

        def release() -> None:
            """The stream has ended."""
            self._open[user] -= 1

        return _Stream(_changes(look), release)


class _Stream(StreamingResponse):
    """Calls ``release`` when it ends, even if its client leaves before it begins."""

    def __init__(self, content: AsyncIterator[str], release: Callable[[], None]) -> None:
        super().__init__(content, media_type="text/event-stream")
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()


async def _changes(look: Look) -> AsyncIterator[str]:
    version, goes_on = look()
    yield "retry: 3000\n\n"
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + MAX_SECONDS
    said = loop.time()
    while goes_on and loop.time() < end:
        await asyncio.sleep(PAUSE)
        latest, goes_on = look()
        if latest != version:
            version, said = latest, loop.time()
            yield f"event: changed\ndata: {version}\n\n"
        elif loop.time() - said >= KEEP_ALIVE:
            said = loop.time()
            yield ": alive\n\n"
    if not goes_on:
        yield "event: ended\ndata: 0\n\n"
