"""The routes that push a plan, which exist only with ``--allow-push`` (controller).

They need the role ``push``, and a form with the number of hosts and the digest of the plan that the
person has seen.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from orchestrator.studio.pages.page import MissingPageError, Page, Parameters
from orchestrator.studio.pages.plan import PlanDesk, plan_of, push_page
from orchestrator.studio.pages.visibility import VisibleParts
from orchestrator.studio.plans.plan_cache import OpenPlan, problem_of
from orchestrator.studio.plans.pushes import PlanPush, Tell
from orchestrator.studio.web.audit import AuditLog
from orchestrator.studio.web.authentication import Access, address_of, form_of
from orchestrator.studio.web.sessions import Session, is_same
from remote_runtime.errors import UsageError

ADDRESS = "/plan/push"
ROLE = "push"

Render = Callable[[Page, Request, Parameters, Session], Response]
_WRONG_NUMBER = "That is not the number of hosts in the plan. Nothing was pushed."
_REPLACED = "The plan was replaced after you opened it. Nothing was pushed. Review it again."


class PlanRoutes(NamedTuple):
    """Handles the requests; ``render`` creates the response for a page. A user who is limited to
    groups can push only plans whose hosts are all in these groups.
    """

    plans: PlanDesk
    access: Access
    audit: AuditLog
    render: Render
    visible: VisibleParts

    def routes(self) -> list[Route]:
        """The routes; none unless pushes are allowed."""
        if self.plans.pushes is None:
            return []
        return [
            Route(ADDRESS, self._get, methods=["GET"]),
            Route(ADDRESS, self._post, methods=["POST"]),
        ]

    async def _get(self, request: Request) -> Response:
        session = self.access.session(request)
        if session is None:
            return RedirectResponse("/login", 303)
        self.access.require_role(request, session, ROLE)
        asked = Parameters(dict(request.query_params))
        page = await asyncio.to_thread(self._page, session, asked.text("name"))
        self.access.note("page", request, session, page.status)
        return self.render(page, request, asked, session)

    def _plan(self, session: Session, name: str) -> OpenPlan:
        """A plan that the user may see. MissingPageError."""
        return plan_of(self.visible.of(session.groups), self.plans.stored_plans, name)

    def _page(self, session: Session, name: str, *, problem: str = "", status: int = 200) -> Page:
        try:
            plan = self._plan(session, name)
        except MissingPageError as error:
            return Page("message.html", "Not found", {"text": str(error)}, status=404)
        return push_page(self.plans, plan, problem)._replace(status=status)

    async def _post(self, request: Request) -> Response:
        session = self.access.session(request)
        sent = await form_of(request)
        if session is None or not is_same(sent.get("csrf", ""), session.csrf):
            raise HTTPException(403)
        self.access.require_role(request, session, ROLE)
        done = await asyncio.to_thread(self._push, Parameters(sent), request, session)
        if isinstance(done, Page):
            return self.render(done, request, Parameters({}), session)
        return RedirectResponse(done, 303)

    def _push(self, sent: Parameters, request: Request, session: Session) -> Page | str:
        """Push the confirmed plan; return the address of the run, or the page with the reason for
        the failure.
        """
        name, pushes = sent.text("name"), self.plans.pushes
        assert pushes is not None
        try:
            plan = self._plan(session, name)
        except MissingPageError:
            return self._page(session, name)
        tell = self._teller(plan, request, session)
        problem = self._problem(plan, sent)
        if not problem:
            tell("push confirmed", PlanPush(session.user))
            try:
                push = pushes.start(plan, session.user, tell)
            except UsageError as error:
                problem = f"{problem_of(error)}. Nothing was pushed."
            else:
                found = push.run and f"/runs/{push.run}"
                return found or f"/plan?{urlencode({'name': plan.summary.name})}"
        refused = PlanPush(session.user)
        refused.problem = problem
        tell("push refused", refused)
        return self._page(session, name, problem=problem, status=409)

    def _problem(self, plan: OpenPlan, sent: Parameters) -> str:
        """The reason why the plan is not pushed; "" if it is."""
        pushes = self.plans.pushes
        assert pushes is not None
        if not is_same(sent.text("digest"), plan.summary.digest):
            return _REPLACED
        if sent.text("hosts") != str(len(plan.summary.hosts)):
            return _WRONG_NUMBER
        obstacles = pushes.obstacles(plan)
        return " ".join([*obstacles, "Nothing was pushed."]) if obstacles else ""

    def _teller(self, plan: OpenPlan, request: Request, session: Session) -> Tell:
        address, short = address_of(request), plan.summary
        assert self.plans.stored_plans is not None
        people = self.plans.stored_plans.approvals(plan.stored, short.manifest).people

        def tell(action: str, push: PlanPush) -> None:
            """Record the result of the push."""
            self.audit.write(
                action,
                user=session.user,
                address=address,
                plan=short.name,
                id=short.id,
                digest=short.digest,
                hosts=len(short.hosts),
                approved=", ".join(people),
                run=push.run,
                problem=push.problem,
            )

        return tell
