"""Logging in and out, and the session of a request (controller)."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orchestrator.studio.pages.page import Page
from orchestrator.studio.web.audit import AuditLog
from orchestrator.studio.web.sessions import (
    FailedLogins,
    LoginLinks,
    Session,
    Sessions,
    is_same,
)
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.studio.web.users import User, UserFile

MAX_NAME_LENGTH = 64  # characters
BY_ITSELF = "x-studio-news"
"""The header that marks automatic requests of a page."""


class Origin(NamedTuple):
    """The address of these pages: ``url`` without a path, and whether it uses TLS."""

    url: str
    secure: bool
    cookie: str


class RoleError(HTTPException):
    """The role of a user does not allow the request."""

    def __init__(self) -> None:
        super().__init__(403)


class TrustedProxy(NamedTuple):
    """A proxy that has logged the user in: requests from its ``address`` name the user
    in a ``header``.
    """

    address: str
    header: str

    def user_of(self, request: Request) -> str | None:
        """The user in the header of the proxy; "" for none, None for a request from
        another address.
        """
        if request.client is None or not _is_same_address(request.client.host, self.address):
            return None
        names = request.headers.getlist(self.header)
        return names[0].strip() if len(names) == 1 else ""


def _is_same_address(found: str, named: str) -> bool:
    try:
        return ipaddress.ip_address(found) == ipaddress.ip_address(named)
    except ValueError:
        return False


class _Person(NamedTuple):
    """A login with its rights; ``entry`` is the version of the entry in the users file."""

    name: str
    role: str
    groups: tuple[str, ...] = ()
    entry: str = ""


class Access:
    """The current user. With ``users``, by name and password, or by the ``proxy``; else with the
    link that ``tell`` receives, which is replaced after each login.
    """

    def __init__(
        self,
        origin: Origin,
        audit: AuditLog,
        *,
        users: UserFile | None,
        user: str,
        tell: Callable[[str], None],
        proxy: TrustedProxy | None = None,
    ) -> None:
        self._proxy = proxy
        self._origin = origin
        self._audit = audit
        self._users = users
        self._user = user
        self._tell = tell
        self._failures = FailedLogins()
        self._turns = asyncio.Lock()
        self.sessions = Sessions()
        self.links = LoginLinks()

    @property
    def has_users(self) -> bool:
        """Whether people log in by name and password."""
        return self._users is not None

    def announce(self) -> None:
        """Report the login link."""
        if self._users is not None:
            self._tell(f"{self._origin.url}/login")
        else:
            self._tell(f"{self._origin.url}/login?token={self.links.create()}")

    def session(self, request: Request) -> Session | None:
        """The session of a request. Automatic requests of a page do not extend it."""
        cookie = _cookie(request, self._origin.cookie)
        is_use = BY_ITSELF not in request.headers and request.url.path != "/live"
        found = self.sessions.find(cookie, is_use=is_use) if cookie else None
        if found is None or self._is_valid(found, request):
            return found
        self.sessions.end(cookie)
        return None

    def require_role(self, request: Request, session: Session, role: str) -> None:
        """RoleError for a session without the role."""
        if not session.may(role):
            self.note("refused", request, session, 403)
            raise RoleError

    def note(self, action: str, request: Request, session: Session, status: int) -> None:
        """Write a request and its status to the audit log."""
        self._audit.write_routine(
            action,
            user=session.user,
            address=address_of(request),
            path=request.url.path,
            query=request.url.query,
            status=status,
        )

    def _is_valid(self, session: Session, request: Request) -> bool:
        """Whether the user's entry is unchanged since the login, and the proxy still
        names this user.
        """
        if self._users is None:
            return True
        named = self._proxy.user_of(request) if self._proxy else None
        if named and named != session.user:
            return False
        user = self._users.user(session.user)
        return user is not None and user.version == session.entry

    def log_in_by_proxy(self, request: Request) -> Response | Page | None:
        """Log in the user named by the proxy: returns a redirect with a cookie, or a page with the
        reason for a refusal. None for a request without a user from a proxy.
        """
        name = (self._proxy.user_of(request) if self._proxy else None) or ""
        if not name or self._users is None:
            return None
        address = address_of(request)
        try:
            user = self._users.users().get(name)
        except UsageError as error:
            return self._unusable(error, name[:MAX_NAME_LENGTH], address)
        if user is None:
            self._audit.write_refusal("login failed", user=name[:MAX_NAME_LENGTH], address=address)
            text = "The proxy has logged you in, but the users file does not contain your name."
            return self.login_page(problem=text)
        return self._welcome(_person(user), address)

    def login_page(self, token: str = "", problem: str = "", name: str = "") -> Page:
        """The login page."""
        values = {
            "with_users": self.has_users,
            "token": "" if self.has_users else token,
            "problem": problem,
            "name": name,
        }
        return Page("login.html", "Log in", values, status=403 if problem else 200)

    async def log_in(self, request: Request) -> Response | Page:
        """Log in with the fields of the form: returns a redirect with a cookie, or the
        page again.

        One login at a time: guesses at the same time would all pass before the first has failed.
        """
        fields, address = await form_of(request), address_of(request)
        async with self._turns:
            return await self._log_in(fields, address)

    async def _log_in(self, fields: dict[str, str], address: str) -> Response | Page:
        name = fields.get("name", "")[:MAX_NAME_LENGTH]
        wait = self._failures.wait(address)
        if wait:
            self._audit.write_refusal("login refused", user=name, address=address)
            text = f"Too many failed logins. Try again in {int(wait) + 1} seconds."
            return self.login_page(problem=text)._replace(status=429)
        try:
            found = await self._check(fields)
        except UsageError as error:
            return self._unusable(error, name, address)
        if found is None:
            self._failures.add(address)
            self._audit.write_refusal("login failed", user=name, address=address)
            text = (
                "The name or the password is wrong." if self.has_users else "The link is not valid."
            )
            return self.login_page(problem=text, name=name)
        return self._welcome(found, address)

    def _unusable(self, error: UsageError, name: str, address: str) -> Page:
        """The login page if the users file cannot be used."""
        self._audit.write_refusal("login failed", user=name, address=address, problem=error.message)
        text = "Nobody can log in: the users file cannot be used. The audit log shows the reason."
        return self.login_page(problem=text, name=name)._replace(status=503)

    def _welcome(self, found: _Person, address: str) -> Response:
        """Begin a session, and return the response with its cookie."""
        self._audit.write("login", user=found.name, address=address)
        response = RedirectResponse("/", 303)
        response.set_cookie(
            self._origin.cookie,
            self.sessions.create(found.name, found.role, found.groups, found.entry),
            httponly=True,
            secure=self._origin.secure,
            samesite="strict",
            path="/",
        )
        if not self.has_users:
            self.announce()
        return response

    async def _check(self, fields: dict[str, str]) -> _Person | None:
        """The user or link that the fields identify, if they are valid."""
        if self._users is None:
            valid = self.links.redeem(fields.get("token", ""))
            return _Person(self._user, "push") if valid else None
        user = await asyncio.to_thread(
            self._users.find, fields.get("name", ""), fields.get("password", "")
        )
        return _person(user) if user else None

    async def log_out(self, request: Request) -> Response:
        """End the session of a request whose form has been checked."""
        cookie = _cookie(request, self._origin.cookie)
        self.sessions.end(cookie)
        response = RedirectResponse("/login", 303)
        response.delete_cookie(
            self._origin.cookie, path="/", httponly=True, secure=self._origin.secure,
            samesite="strict",
        )  # fmt: skip
        return response


def _cookie(request: Request, name: str) -> str:
    """The value of a cookie; "" for none. Ours has no quotes, for which Python's own reader takes
    quadratic time.
    """
    pairs = [part.partition("=") for part in request.headers.get("cookie", "").split(";")]
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def _person(user: User) -> _Person:
    return _Person(user.name, user.role, user.groups, user.version)


async def has_token(request: Request, session: Session) -> bool:
    """Whether the form of a request has the token of its session."""
    return is_same((await form_of(request)).get("csrf", ""), session.csrf)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; the size of the body has already been limited."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    try:
        fields = parse_qs((await request.body()).decode("utf-8"), max_num_fields=100)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def address_of(request: Request) -> str:
    """The address of the browser."""
    return request.client.host if request.client else ""
