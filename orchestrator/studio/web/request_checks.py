"""Checks of every request, before any page is created (controller).

The Host header must name this server, so that another site cannot reach it under its own name (DNS
rebinding). A form sent by another site is refused. The size and the duration of bodies are limited.
Every response forbids external scripts and styles, framing, content sniffing and caching.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 64 << 10
BODY_TIME = 10.0  # seconds
MAX_HELD_BYTES = 100 << 20  # of the bodies of all requests in progress, beyond those of forms
MAX_TARGET_LENGTH = 4_096  # characters of a path with its query


class BodyLimit(NamedTuple):
    """The maximum size of a body in bytes, and the maximum time for it in seconds."""

    size: int
    seconds: float


FORM = BodyLimit(MAX_BODY_BYTES, BODY_TIME)
METHODS = ("GET", "HEAD", "POST")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_OWN_SITE = ("same-origin", "none")


class Guard:
    """An ASGI application that wraps another one; ``hosts`` are the accepted values of the Host
    header, and ``scheme`` is http or https. ``limit`` returns the maximum size of a request's body.
    ``behind_proxy`` are the names under which a proxy offers the pages by https.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        *,
        scheme: str,
        body_time: float | None = None,
        limit: Callable[[Scope], BodyLimit] = lambda scope: FORM,
        behind_proxy: Collection[str] = (),
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(
            [f"{scheme}://{host}" for host in self._hosts]
            + [f"https://{name.lower()}" for name in behind_proxy]
        )
        self._secure = scheme == "https"
        self._body_time = body_time
        self._limit = limit
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = self._with_headers(send)
        limit = self._limit(scope)
        refusal = self._refusal(scope, limit.size)
        body = _Body(receive)
        try:
            if refusal is None and scope["method"] == "POST":
                refusal = await self._read(body, limit)
                receive = _replay(bytes(body.data), receive)
            await (refusal or self._app)(scope, receive, send)
        finally:
            self._held_bytes -= len(body.data)

    async def _read(self, body: "_Body", limit: BodyLimit) -> ASGIApp | None:
        """Read a complete body, or return the reason why it is refused."""
        time = limit.seconds if self._body_time is None else self._body_time
        try:
            await asyncio.wait_for(self._read_all(body, limit.size), time)
        except asyncio.TimeoutError:
            return PlainTextResponse("The request took too long.\n", 408)
        if body.is_disconnected:
            return PlainTextResponse("The request is incomplete.\n", 400)
        if len(body.data) > limit.size:
            return PlainTextResponse("The request is too large.\n", 413)
        if self._is_full(body):
            return PlainTextResponse("There are too many large requests.\n", 503)
        return None

    async def _read_all(self, body: "_Body", maximum: int) -> None:
        """Read a body, or more than its maximum, or until there are too many bytes in all."""
        goes_on = True
        while goes_on and len(body.data) <= maximum and not self._is_full(body):
            before = len(body.data)
            goes_on = await body.read()
            self._held_bytes += len(body.data) - before

    def _is_full(self, body: "_Body") -> bool:
        """Whether there is no room for a large body; there always is for that of a form."""
        return self._held_bytes > MAX_HELD_BYTES and len(body.data) > MAX_BODY_BYTES

    def _refusal(self, scope: Scope, maximum: int) -> ASGIApp | None:
        headers = Headers(scope=scope)
        target = len(scope["path"]) + len(scope["query_string"])
        if headers.get("host", "").lower() not in self._hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("This server does not have the requested host name.\n", 421)
        if scope["method"] not in METHODS:
            return PlainTextResponse("This method is not supported.\n", 405)
        if target > MAX_TARGET_LENGTH:
            return PlainTextResponse("The address is too long.\n", 414)
        if scope["method"] == "POST" and not self._is_own_form(headers):
            return PlainTextResponse("A page on another site sent this form.\n", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > maximum:
            return PlainTextResponse("The request is too large.\n", 413)
        return None

    def _is_own_form(self, headers: Headers) -> bool:
        """Whether a browser sends a form of these pages. Either of the two headers is enough to
        refuse a request; the token in the form is checked later.
        """
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return False
        return headers.get("sec-fetch-site", "same-origin") in _OWN_SITE

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            """Add the headers to a response."""
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self._secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        return sending


class _Body:
    """The body of a request, as far as it was read; ``is_disconnected``: its client has gone."""

    def __init__(self, receive: Receive) -> None:
        self.data = bytearray()
        self.is_disconnected = False
        self._receive = receive

    async def read(self) -> bool:
        """Read the next part; return whether there is more."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.is_disconnected = True
            return False
        self.data += message.get("body", b"")
        return bool(message.get("more_body", False))


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return first the body that was already read, then the remaining messages."""
    left: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        """The next message."""
        return left.pop() if left else await receive()

    return receiving
