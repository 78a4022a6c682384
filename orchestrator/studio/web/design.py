"""The routes of the designer (controller). Each needs the role ``design``."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from orchestrator.studio.design.drafts import Draft, Refused
from orchestrator.studio.design.form_edits import Fields
from orchestrator.studio.design.git_commit import Commit, commit
from orchestrator.studio.pages.design import (
    Designer,
    address_of,
    diff_page,
    edit_page,
    files_page,
    try_page,
)
from orchestrator.studio.pages.page import MissingPageError, Page, Parameters
from orchestrator.studio.pages.visibility import VisibleParts
from orchestrator.studio.path_guard import problem_text
from orchestrator.studio.web.audit import AuditLog
from orchestrator.studio.web.authentication import Access
from orchestrator.studio.web.authentication import address_of as browser_address
from orchestrator.studio.web.request_checks import BodyLimit
from orchestrator.studio.web.sessions import Session, is_same
from remote_runtime.errors import CcmError, InputError

PREFIX = "/design"
MAX_FIELDS = 1_000
LARGE_FORM = BodyLimit(4 << 20, 30.0)
ROLE = "design"
ROLE_OF_PREVIEWS = "push"

Render = Callable[[Page, Request, Parameters, Session], Response]


class Done(NamedTuple):
    """The next page for the browser, and the action and problem for the audit log."""

    address: str
    action: str
    problem: str = ""


class DesignRoutes(NamedTuple):
    """Handles the requests; ``render`` creates the response for a page. A user who is limited to
    groups designs for the ``visible`` hosts.
    """

    designer: Designer
    access: Access
    audit: AuditLog
    render: Render
    visible: VisibleParts

    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route(PREFIX, self._get, methods=["GET"]),
            Route(f"{PREFIX}/edit", self._get, methods=["GET"]),
            Route(f"{PREFIX}/diff", self._get, methods=["GET"]),
            Route(f"{PREFIX}/try", self._get, methods=["GET"]),
            Route(f"{PREFIX}/edit", self._post, methods=["POST"]),
        ]

    def _designer_of(self, session: Session) -> Designer:
        """The designer with the hosts that a user may see."""
        return self.designer._replace(hosts=self.visible.of(session.groups).hosts)

    def limit(self, scope: Scope) -> BodyLimit | None:
        """The maximum size of a designer's form; None for other requests."""
        if scope["path"] != f"{PREFIX}/edit":
            return None
        session = self.access.session(Request(scope))
        return LARGE_FORM if session is not None and session.may(ROLE) else None

    async def _get(self, request: Request) -> Response:
        session = self.access.session(request)
        if session is None:
            return RedirectResponse("/login", 303)
        self.access.require_role(request, session, ROLE)
        asked = Parameters(dict(request.query_params))
        response = await asyncio.to_thread(self._page, request, asked, session)
        self.access.note("page", request, session, response.status_code)
        return response

    def _page(self, request: Request, parameters: Parameters, session: Session) -> Response:
        designer, user = self._designer_of(session), session.user
        path = request.url.path
        try:
            if path.endswith("/edit"):
                page = edit_page(designer, user, parameters)
            elif path.endswith("/diff"):
                page = diff_page(designer, user, parameters)
            elif path.endswith("/try"):
                page = try_page(designer, user, parameters, session.may(ROLE_OF_PREVIEWS))
            else:
                page = files_page(designer, user)
        except MissingPageError as error:
            page = Page("message.html", "Not found", {"text": str(error)}, status=404)
        return self.render(page, request, parameters, session)

    async def _post(self, request: Request) -> Response:
        session = self.access.session(request)
        sent = await _fields(request)
        if session is None or not is_same((sent.get("csrf") or [""])[0], session.csrf):
            raise HTTPException(403)
        action = (sent.get("action") or [""])[0]
        role = ROLE_OF_PREVIEWS if action == "preview" else ROLE
        self.access.require_role(request, session, role)
        if self.designer.desk is None:
            raise HTTPException(404)
        name = request.query_params.get("file", "")
        done = await asyncio.to_thread(self._done, session, name, sent, action)
        self.audit.write(
            f"design {done.action}",
            user=session.user,
            address=browser_address(request),
            file=name,
            problem=done.problem,
        )
        return RedirectResponse(done.address, 303)

    def _done(self, session: Session, name: str, sent: Fields, action: str) -> Done:
        designer = self._designer_of(session)
        desk = designer.require_desk()
        try:
            draft = desk.open(session.user, name)
        except (InputError, OSError):
            return Done(address_of(name), "refused", "it cannot be opened")
        special = _SPECIAL.get(action)
        if special is None:
            number = desk.do(session.user, name, sent)
            problem = draft.refused.message if draft.refused else ""
            section = (sent.get("section") or [""])[0]
            return Done(address_of(name, number, section), action.partition(":")[0][:20], problem)
        with draft.lock:
            draft.refused, draft.message = None, ""
            page = "try" if action == "preview" else "diff"
            back = f"{PREFIX}/{page}?{urlencode({'file': name})}"
            try:
                draft.require((sent.get("revision") or [""])[0])
                return Done(special(designer, session.user, draft, sent) or back, action)
            except (CcmError, OSError) as error:
                problem = desk.hide(draft, problem_text(error, desk.files.root))
            draft.refused = Refused(problem)
            return Done(back, action, problem)


async def _fields(request: Request) -> dict[str, list[str]]:
    """The fields of a form, including empty ones; the size of the body has already been limited."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    body = await request.body()
    try:
        return await asyncio.to_thread(
            parse_qs,
            body.decode("utf-8"),
            keep_blank_values=True,
            max_num_fields=MAX_FIELDS,
            errors="strict",
        )
    except ValueError:
        return {}


def _save(designer: Designer, user: str, draft: Draft, sent: Fields) -> str:
    designer.require_desk().save(user, draft)
    draft.message = f"Saved {draft.stored.name}."
    return address_of(draft.stored.name)


def _discard(designer: Designer, user: str, draft: Draft, sent: Fields) -> str:
    designer.require_desk().drafts.end(user, draft.stored.name)
    return PREFIX


def _commit(designer: Designer, user: str, draft: Draft, sent: Fields) -> str:
    desk = designer.require_desk()
    branch, message = ((sent.get(key) or [""])[0].strip() for key in ("branch", "message"))
    branch = branch or f"design/{user}"
    root, name, data = desk.files.root, draft.stored.name, draft.text.encode()
    desk.files.require_current(name, draft.stored.stamp)
    made = commit(root, name, data, Commit(branch, message, user))
    desk.save(user, draft)
    draft.message = f"Saved {name} and committed it to {branch} as {made[:12]}."
    return address_of(name)


def _preview(designer: Designer, user: str, draft: Draft, sent: Fields) -> str:
    desk, pattern = designer.require_desk(), (sent.get("hosts") or [""])[0]
    previews, hosts = designer.previews, designer.hosts
    found = previews.start(desk, draft, user=user, pattern=pattern, hosts=hosts)
    return f"/runs/{found.run}" if found.run and not found.problem else ""


_SPECIAL: dict[str, Callable[[Designer, str, Draft, Fields], str]] = {
    "save": _save,
    "discard": _discard,
    "commit": _commit,
    "preview": _preview,
}
