"""The transport's door: from a host of the inventory to the link of its runtime (controller)."""

from __future__ import annotations

import contextlib
import secrets
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.image import Image
from orchestrator.transport.command import become_command, quote, start_command
from orchestrator.transport.credentials import Credentials
from orchestrator.transport.dialing import Call
from orchestrator.transport.key_files import encrypted
from orchestrator.transport.opening import Opening
from orchestrator.transport.pipe import Link, Pipe
from orchestrator.transport.route import Route, Router
from orchestrator.transport.settings import Settings, Target
from remote_runtime.errors import InputError, Problem, UnreachableError

if TYPE_CHECKING:
    from orchestrator.transport.ssh_connect import Dialer

OnPhase = Callable[[str], None]


class _Run(NamedTuple):
    """A command, its nonce, and what sudo shows when it wants the password."""

    command: list[str]
    nonce: str
    prompt: str | None


class Connector:
    """Opens the links of a run; thread-safe. ``close`` it at the end of the run."""

    def __init__(self, settings: Settings, credentials: Credentials, image: Image) -> None:
        self._settings = settings
        self._credentials = credentials
        self._image = image
        self._router = Router(settings)
        self._dialer: Dialer | None = None
        self._lock = threading.Lock()

    def prepare(self, hosts: Iterable[Target]) -> None:
        """Ask for passwords, and find what is wrong with the routes, before a host is contacted.

        InputError with every problem; UsageError for a password that cannot be had.
        """
        problems: dict[str, Problem] = {}
        routes: dict[tuple[object, ...], Route] = {}
        for host in hosts:
            if host.connection == "local":
                continue
            try:
                route = self._router.route(host)
                for one in (*route.jumps, route):
                    routes[one.identities, one.agent, one.identities_only] = one
            except InputError as error:
                problems.update((str(problem), problem) for problem in error.problems)
        if problems:
            raise InputError(list(problems.values()))
        self._credentials.prepare()
        for route in routes.values():
            if any(path.exists() and encrypted(path) for path in route.identities):
                self._ssh().unlock(route)

    def open(self, host: Target, on_phase: OnPhase) -> Link:
        """The link to a host's runtime, which is ready. UnreachableError; every wait is bounded.

        ``on_phase`` is told connecting, authenticating, starting.
        """
        if host.connection == "local":
            return self._open_local(host, on_phase)
        try:
            route = self._router.route(host)
        except InputError as error:
            raise UnreachableError(str(error), "transport.config") from error
        return self._open_ssh(host, route, on_phase)

    def close(self) -> None:
        """Let go of what the hosts shared."""
        with self._lock:
            dialer, self._dialer = self._dialer, None
        if dialer is not None:
            dialer.close()

    def __enter__(self) -> Connector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_ssh(self, host: Target, route: Route, on_phase: OnPhase) -> Link:
        on_phase("connecting")
        # Before the SSH libraries are loaded: the servers begin to work while that takes its time.
        call = Call.to(route)
        dialer = self._ssh()
        from orchestrator.transport.ssh_pipe import SshPipe
        from orchestrator.transport.ssh_session import start

        connection = dialer.open(route, on_phase, call)
        with contextlib.ExitStack() as undo:
            undo.callback(connection.close)
            on_phase("starting")
            run = self._command(host, route.user)
            try:
                channel = start(connection.session, quote(run.command))
            except Exception as error:
                message = f"{host.name} opens no session: {error}"
                raise UnreachableError(message, "transport.session") from error
            link = self._opening(host, SshPipe(channel, connection.close), run).link()
            undo.pop_all()
            return link

    def _open_local(self, host: Target, on_phase: OnPhase) -> Link:
        import getpass

        from orchestrator.transport.local import LocalPipe

        on_phase("starting")
        run = self._command(host, getpass.getuser(), prefer=sys.executable)
        pipe = LocalPipe(run.command)
        link = self._opening(host, pipe, run).link()
        pipe.started()
        return link

    def _command(self, host: Target, login: str, prefer: str | None = None) -> _Run:
        nonce = secrets.token_hex(16)
        command = start_command(self._image, nonce, host.python, prefer)
        user = self._settings.become_user(host)
        if user is None or user == login:
            return _Run(command, nonce, None)
        prompt = f"ccm-{secrets.token_hex(8)}:" if self._credentials.become_password else None
        return _Run(become_command(command, user, prompt), nonce, prompt)

    def _opening(self, host: Target, pipe: Pipe, run: _Run) -> Opening:
        password = self._credentials.become_password if run.prompt else None
        return Opening(
            host.name, pipe, run.nonce, self._image, run.prompt, password, python=host.python
        )

    def _ssh(self) -> Dialer:
        """The SSH libraries take a while to import, so only once a host needs them."""
        with self._lock:
            if self._dialer is None:
                from orchestrator.transport.ssh_connect import Dialer

                self._dialer = Dialer(self._credentials)
            return self._dialer
