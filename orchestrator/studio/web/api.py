"""The API for programs with a token: posting runs and reading them (controller).

The token is checked before a body is read: without one, a body may only be as large as that of a
form. A browser session cannot post here, and a token gives no access to pages. Both can read the
feed and badges.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from orchestrator.studio.pages.page import Parameters
from orchestrator.studio.pages.page_context import Studio
from orchestrator.studio.pages.visibility import VisibleParts
from orchestrator.studio.sharing.feed import badge, badge_document, badge_image, feed
from orchestrator.studio.sharing.inbox import RunInbox
from orchestrator.studio.sharing.token_usage import RefusalError
from orchestrator.studio.sharing.tokens import Token, TokenFile
from orchestrator.studio.web.audit import AuditLog
from orchestrator.studio.web.authentication import Access, address_of
from orchestrator.studio.web.request_checks import FORM, BodyLimit
from remote_runtime.errors import CcmError

PREFIX = "/api/v1"
POSTED = BodyLimit(20 << 20, 60.0)
"""The limits of a body: a line of up to 16 MiB, from a slow client."""
_LAST = 1 << 40  # bytes


class ApiCall(NamedTuple):
    """A request of a client with a valid token; ``body`` is its complete body."""

    request: Request
    token: Token
    body: bytes


Handler = Callable[[ApiCall], Response]
Reader = Callable[[Studio, Parameters, "frozenset[str] | None"], Response]


class HistoryApi:
    """Answers requests of clients with a token."""

    def __init__(
        self,
        studio: Studio,
        access: Access,
        *,
        audit: AuditLog,
        tokens: TokenFile,
        inbox: RunInbox,
        public_badges: bool,
    ) -> None:
        self._studio = studio
        self._visible = VisibleParts(studio)
        self._access = access
        self._public_badges = public_badges
        self._tokens = tokens
        self._inbox = inbox
        self._audit = audit

    def limit(self, scope: Scope) -> BodyLimit:
        """The maximum size and duration of a body."""
        if not str(scope["path"]).startswith(f"{PREFIX}/"):
            return FORM
        return POSTED if self._token(Headers(scope=scope)) else FORM

    def routes(self) -> list[Route]:
        """The routes of the API."""
        run, public = f"{PREFIX}/runs/{{run}}", self._public_badges
        return [
            Route(f"{PREFIX}/runs", self._answer(self._list), methods=["GET"]),
            Route(run, self._answer(self._begin), methods=["POST"]),
            Route(f"{run}/{{name}}", self._answer(self._content), methods=["GET"]),
            Route(f"{run}/{{name}}", self._answer(self._append), methods=["POST"]),
            Route(f"{PREFIX}/feed", self._read(self._feed), methods=["GET"]),
            Route("/badge.svg", self._read(self._badge_image, public), methods=["GET"]),
            Route("/badge.json", self._read(self._badge_document, public), methods=["GET"]),
        ]

    def token(self, request: Request) -> Token | None:
        """The token of a request; None without a valid one."""
        return self._token(request.headers)

    def _token(self, headers: Headers) -> Token | None:
        found = headers.getlist("authorization")
        scheme, _, text = found[0].partition(" ") if len(found) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            return None
        try:
            return self._tokens.find(text.strip())
        except CcmError:
            return None

    def _answer(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answering(request: Request) -> Response:
            """The response for a client with a token."""
            token, address = self.token(request), address_of(request)
            if token is None:
                self._audit.write_refusal(
                    "token refused", user="", address=address, path=request.url.path
                )
                return _refusal(RefusalError(401, "a valid token is missing"))
            if "content-encoding" in request.headers:
                return _refusal(RefusalError(415, "a compressed body is not supported"))
            call = ApiCall(request, token, await request.body())
            try:
                return await asyncio.to_thread(handler, call)
            except RefusalError as error:
                self._audit.write_routine(
                    "post refused" if request.method == "POST" else "read refused",
                    user=token.name,
                    address=address,
                    path=request.url.path,
                    status=error.status,
                    problem=error.text,
                )
                return _refusal(error)

        return answering

    def _read(
        self, reader: Reader, public: bool = False
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the access of a token or a session, or that of everybody if the data is public."""

        async def answering(request: Request) -> Response:
            """The response, limited to the hosts that the reader may see."""
            token, session = self.token(request), self._access.session(request)
            if token is None and not public and session is None:
                return _refusal(RefusalError(401, "a login or a valid token is missing"))
            groups = token.groups if token else ()
            allowed = self._studio.hosts.of_groups(groups) if groups else None
            studio = self._visible.of(session.groups if session and not token else ())
            asked = Parameters(dict(request.query_params))
            response = await asyncio.to_thread(reader, studio, asked, allowed)
            if public:
                response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            return response

        return answering

    def _feed(
        self, studio: Studio, parameters: Parameters, allowed: frozenset[str] | None
    ) -> Response:
        return JSONResponse(feed(studio, parameters, allowed))

    def _badge_image(
        self, studio: Studio, parameters: Parameters, allowed: frozenset[str] | None
    ) -> Response:
        image = badge_image(badge(studio, parameters, allowed))
        return Response(image, media_type="image/svg+xml")

    def _badge_document(
        self, studio: Studio, parameters: Parameters, allowed: frozenset[str] | None
    ) -> Response:
        return JSONResponse(badge_document(badge(studio, parameters, allowed)))

    def _list(self, call: ApiCall) -> Response:
        return JSONResponse({"runs": self._inbox.runs(call.token)})

    def _begin(self, call: ApiCall) -> Response:
        request, token, body = call
        run = request.path_params["run"]
        sizes = self._inbox.begin(token, run, body)
        self._audit.write_routine(
            "run posted", user=token.name, address=address_of(request), run=run
        )
        return JSONResponse({"sizes": sizes})

    def _append(self, call: ApiCall) -> Response:
        request, token, body = call
        run, name = request.path_params["run"], request.path_params["name"]
        stored, size = self._inbox.append(token, run, name=name, at=_offset(request), data=body)
        return JSONResponse({"size": size}, 200 if stored else 409)

    def _content(self, call: ApiCall) -> Response:
        run, name = (call.request.path_params[key] for key in ("run", "name"))
        content = self._inbox.content(call.token, run, name, _offset(call.request))
        return Response(content, media_type="application/octet-stream")


def _offset(request: Request) -> int:
    text: Any = request.query_params.get("at", "0")
    if not text.isascii() or not text.isdecimal() or len(text) > 13:
        raise RefusalError(400, "'at' is not an offset")
    return min(int(text), _LAST)


def _refusal(error: RefusalError) -> Response:
    return JSONResponse({"problem": error.text}, error.status)
