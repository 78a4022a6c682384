"""News for open pages, as server-sent events (controller).

An event says only that something changed: the page then asks for itself again, with its own limits
and rights.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse

PAUSE = 1.0  # seconds between two looks at the version
KEEP_ALIVE = 15.0  # seconds without an event
MAX_SECONDS = 600.0  # of a stream; a browser then connects again, and its session is checked
MAX_COUNT = 60  # streams

Look = Callable[[], tuple[int, bool]]
"""A version, and whether there is more to come."""


class LiveStreams:
    """The open streams, which are limited."""

    def __init__(self, pause: float = PAUSE) -> None:
        self._open = 0
        self._pause = pause

    @property
    def is_full(self) -> bool:
        """Whether no further stream may begin."""
        return self._open >= MAX_COUNT

    def response(self, look: Look) -> StreamingResponse:
        """A stream of what ``look`` finds."""
        return StreamingResponse(self._events(look), media_type="text/event-stream")

    async def _events(self, look: Look) -> AsyncIterator[str]:
        self._open += 1
        try:
            async for text in _changes(look, self._pause):
                yield text
        finally:
            self._open -= 1


async def _changes(look: Look, pause: float) -> AsyncIterator[str]:
    version, goes_on = look()
    yield "retry: 3000\n\n"
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + MAX_SECONDS
    said = loop.time()
    while goes_on and loop.time() < end:
        await asyncio.sleep(pause)
        latest, goes_on = look()
        if latest != version:
            version, said = latest, loop.time()
            yield f"event: changed\ndata: {version}\n\n"
        elif loop.time() - said >= KEEP_ALIVE:
            said = loop.time()
            yield ": alive\n\n"
    if not goes_on:
        yield "event: ended\ndata: 0\n\n"
