"""The routes of the studio (controller).

Each page needs a session; each form needs its token. Names in requests are looked up in the index,
and never used as paths in the file system.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from orchestrator.studio.pages.compare import compare_hosts_page, compare_page, compare_plans_page
from orchestrator.studio.pages.design import Designer
from orchestrator.studio.pages.fleet import fleet_page
from orchestrator.studio.pages.host import host_page
from orchestrator.studio.pages.page import MissingPageError, Page, Parameters
from orchestrator.studio.pages.page_context import Studio
from orchestrator.studio.pages.plan import NO_PLANS, PlanDesk, plan_list_page, plan_page
from orchestrator.studio.pages.renderer import Renderer, static_files
from orchestrator.studio.pages.resource import resource_page
from orchestrator.studio.pages.run import host_in_run_page, run_page
from orchestrator.studio.pages.run_list import run_list_page
from orchestrator.studio.pages.search import search_page
from orchestrator.studio.pages.visibility import VisibleParts
from orchestrator.studio.web.api import HistoryApi
from orchestrator.studio.web.audit import AuditLog
from orchestrator.studio.web.authentication import Access, RoleError, address_of, has_token
from orchestrator.studio.web.design import DesignRoutes
from orchestrator.studio.web.event_stream import LiveStreams
from orchestrator.studio.web.plans import PlanRoutes
from orchestrator.studio.web.sessions import Session
from remote_runtime.errors import CcmError, InputError

Handler = Callable[[Request], Awaitable[Response]]
Maker = Callable[[Studio, Request, Parameters], Page]


class StudioApp:
    """Creates the responses for pages."""

    def __init__(
        self,
        studio: Studio,
        access: Access,
        *,
        audit: AuditLog,
        api: HistoryApi,
        designer: Designer,
        plans: PlanDesk = NO_PLANS,
    ) -> None:
        self.studio = studio
        self._plans = plans
        self._visible = VisibleParts(studio)
        self.design = DesignRoutes(
            designer, access, audit=audit, render=self._rendered, visible=self._visible
        )
        self._pushes = PlanRoutes(
            plans, access, audit=audit, render=self._rendered, visible=self._visible
        )
        self._access = access
        self._audit = audit
        self._api = api
        self._renderer = Renderer()
        self._streams = LiveStreams()

    def prepare(self) -> None:
        """Prepare data for the first pages in advance."""
        self._renderer.prepare()

    def starlette(self) -> Starlette:
        """The application, without the guard."""
        makers: dict[str, Maker] = {
            "/": lambda studio, request, asked: fleet_page(studio, asked),
            "/runs": lambda studio, request, asked: run_list_page(studio, asked),
            "/runs/{run}": lambda studio, request, asked: run_page(
                studio, _part(request, "run"), asked
            ),
            "/runs/{run}/hosts/{host:path}": lambda studio, request, asked: host_in_run_page(
                studio, _part(request, "run"), _part(request, "host")
            ),
            "/hosts/{host:path}": lambda studio, request, asked: host_page(
                studio, _part(request, "host"), asked
            ),
            "/resource": lambda studio, request, asked: resource_page(studio, asked),
            "/compare": lambda studio, request, asked: compare_page(studio, asked),
            "/plans": lambda studio, request, asked: plan_list_page(
                studio, self._plans.stored_plans
            ),
            "/plan": lambda studio, request, asked: plan_page(studio, self._plans, asked),
            "/compare/plans": lambda studio, request, asked: compare_plans_page(
                studio, self._plans.stored_plans, asked
            ),
            "/compare/hosts": lambda studio, request, asked: compare_hosts_page(studio, asked),
            "/search": lambda studio, request, asked: search_page(studio, asked),
        }
        pages = [Route(path, self._page(maker), methods=["GET"]) for path, maker in makers.items()]
        return Starlette(
            routes=[
                Route("/static/{name}", self._static, methods=["GET"]),
                Route("/login", self._login, methods=["GET", "POST"]),
                Route("/logout", self._logout, methods=["POST"]),
                Route("/live", self._live, methods=["GET"]),
                *self._api.routes(),
                *self.design.routes(),
                *self._pushes.routes(),
                *pages,
            ],
            exception_handlers={HTTPException: self._problem, Exception: self._defect},
        )

    def _page(self, maker: Maker) -> Handler:
        async def handler(request: Request) -> Response:
            """A page for a user with a session."""
            session = self._access.session(request)
            if session is None:
                return RedirectResponse("/login", 303)
            asked = Parameters(dict(request.query_params))
            response = await asyncio.to_thread(self._made, maker, request, asked, session)
            self._access.note("page", request, session, response.status_code)
            return response

        return handler

    def _made(
        self, maker: Maker, request: Request, parameters: Parameters, session: Session
    ) -> Response:
        try:
            page = maker(self._visible.of(session.groups), request, parameters)
        except MissingPageError as error:
            page = _message("Not found", str(error), 404)
        except InputError as error:
            page = _message("Cannot be read", "; ".join(map(str, error.problems)), 500)
        except CcmError as error:
            page = _message("Cannot be shown", error.message, 500)
        return self._rendered(page, request, parameters, session)

    def _rendered(
        self, page: Page, request: Request, parameters: Parameters, session: Session | None
    ) -> Response:
        text = self._renderer.render(
            page,
            parameters,
            session=session,
            path=request.url.path,
            index=self.studio.keeper if session else None,
        )
        return HTMLResponse(text, page.status)

    async def _static(self, request: Request) -> Response:
        found = static_files().get(_part(request, "name"))
        if found is None:
            raise HTTPException(404)
        headers = {"Cache-Control": "no-cache"}
        return Response(found[0], media_type=found[1], headers=headers)

    async def _login(self, request: Request) -> Response:
        asked = Parameters({})
        if request.method == "POST":
            done = await self._access.log_in(request)
            if isinstance(done, Response):
                return done
            return self._rendered(done, request, asked, None)
        by_proxy = self._access.log_in_by_proxy(request)
        if isinstance(by_proxy, Response):
            return by_proxy
        if by_proxy is not None:
            return self._rendered(by_proxy, request, asked, None)
        token = request.query_params.get("token", "")
        return self._rendered(self._access.login_page(token), request, asked, None)

    async def _logout(self, request: Request) -> Response:
        session = self._access.session(request)
        if session is None or not await has_token(request, session):
            raise HTTPException(403)
        self._audit.write("logout", user=session.user, address=address_of(request))
        return await self._access.log_out(request)

    async def _live(self, request: Request) -> Response:
        session = self._access.session(request)
        if session is None:
            raise HTTPException(401)
        if self._streams.is_full(session.user):
            raise HTTPException(503)
        run = Parameters(dict(request.query_params)).text("run")
        look = functools.partial(self._news, session.groups, run)
        return self._streams.response(session.user, look)

    def _news(self, groups: tuple[str, ...], run: str) -> tuple[int, bool]:
        """The version of a run, or of everything, and whether it may still change."""
        studio = self._visible.of(groups)
        if not run:
            return studio.version_of(""), True
        state = studio.reader.value("SELECT state FROM runs WHERE id = ?", (run,))
        return studio.version_of(run), state == "running"

    async def _problem(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = _TEXTS.get(status, "The request failed.")
        if isinstance(error, RoleError):
            text = "Your role does not allow this. ccm studio user add --role sets another one."
        page = _message(_TITLES.get(status, "Error"), text, status)
        return self._rendered(page, request, Parameters({}), self._access.session(request))

    async def _defect(self, request: Request, error: Exception) -> Response:
        from orchestrator.support.crash_report import describe_crash

        path = describe_crash(error, "ccm studio")
        where = f" Please report this error with {path}." if path else ""
        text = f"Internal error: {type(error).__name__}.{where}"
        page = _message("Internal error", text, 500)
        return self._rendered(page, request, Parameters({}), self._access.session(request))


_TITLES = {401: "Log in", 403: "Refused", 404: "Not found", 405: "Refused", 503: "Busy"}
_TEXTS = {
    401: "There is no session.",
    403: "The form does not belong to this session. Go back, reload the page and try again.",
    404: "There is no such page.",
    405: "This method is not supported here.",
    503: "Too many pages are open.",
}


def _message(title: str, text: str, status: int) -> Page:
    return Page("message.html", title, {"text": text}, status=status)


def _part(request: Request, name: str) -> Any:
    return request.path_params[name]
