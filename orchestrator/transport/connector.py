"""Connects hosts of the inventory to their runtimes (controller)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable
from itertools import starmap
from typing import TYPE_CHECKING

from orchestrator.fleet.host.phases import Phase
from orchestrator.image import Image
from orchestrator.transport.command_pipe import Link
from orchestrator.transport.connection_settings import UNDECIDED, Settings, Target
from orchestrator.transport.credentials import Credentials
from orchestrator.transport.login import Login
from remote_runtime.errors import InputError, Problem, UnreachableError

if TYPE_CHECKING:
    from orchestrator.fleet.interfaces import OnPhase
    from orchestrator.transport.local import WaitingInterpreter
    from orchestrator.transport.route import Route, Router
    from orchestrator.transport.ssh_connect import Dialer


class Connector:
    """Opens the links of a run; thread-safe. ``close`` it at the end of the run.

    The first runtime on this machine may run in the ``waiting`` interpreter.
    """

    def __init__(
        self,
        settings: Settings,
        credentials: Credentials,
        image: Image,
        waiting: WaitingInterpreter | None = None,
    ) -> None:
        self._settings = settings
        self._credentials = credentials
        self._image = image
        self._router: Router | None = None
        self._dialer: Dialer | None = None
        self._waiting = waiting
        self._lock = threading.Lock()
        self._loading = threading.Lock()

    def prepare(self, hosts: Iterable[Target]) -> None:
        """Prompt for passwords, and check the routes, before a host is contacted.

        A host whose SSH configuration cannot be decided is left to ``open``, which refuses it.
        InputError with every problem; UsageError for a password that is not available.
        """
        problems: dict[Problem, list[str]] = {}
        routes: dict[tuple[object, ...], Route] = {}
        has_ours = False
        for host in hosts:
            if host.connection == "local":
                has_ours = has_ours or self._settings.has_our_python(host)
                continue
            try:
                route = self._route(host)
                for one in (*route.jumps, route):
                    keys = one.identities, one.certificates, one.agent, one.identities_only
                    routes[keys] = one
            except InputError as error:
                for problem in error.problems:
                    if problem.kind == UNDECIDED:
                        continue
                    problems.setdefault(problem, []).append(host.name)
        if problems:
            raise InputError(list(starmap(_of_hosts, problems.items())))
        self._credentials.prepare()
        if routes:
            self._unlock(routes.values())
        if has_ours and self._waiting is None:
            from orchestrator.transport.local import WaitingInterpreter

            with contextlib.suppress(UnreachableError):  # ``open`` tries again and reports it
                self._waiting = WaitingInterpreter()

    def begin(self, first: Iterable[Target]) -> None:
        """Start the runtime of this machine, if it is one of the ``first`` hosts of a run, which
        are about to be opened.
        """
        waiting = self._waiting
        if waiting is not None and any(map(self._settings.has_our_python, first)):
            with contextlib.suppress(UnreachableError):  # ``open`` reports it
                waiting.start(self._image)

    def open(self, host: Target, on_phase: OnPhase, until: float | None = None) -> Link:
        """The link to a host's runtime, which is ready.

        UnreachableError; every wait is limited. ``on_phase`` receives connecting, authenticating
        and starting. ``until`` is the time (``time.monotonic()``) at which the host times out, None
        for never: no wait exceeds it.
        """
        with contextlib.ExitStack() as undo:
            login = self.login(host, on_phase, until)
            undo.callback(login.close)
            link = login.start(self._image, hang_up=True)
            undo.pop_all()
            return link

    def patience(self, host: Target) -> float:
        """The number of seconds within which a host must report its facts; after that, others do
        not wait for it.
        """
        return self._settings.patience(host)

    def login(self, host: Target, on_phase: OnPhase, until: float | None = None) -> Login:
        """A logged-in host, for programs of any kind; see ``open``."""
        if host.connection == "local":
            on_phase(Phase.STARTING)
            return self._local(host, until)
        try:
            route = self._route(host)._replace(until=until)
        except InputError as error:
            raise UnreachableError(str(error), "transport.config") from error
        on_phase(Phase.CONNECTING)
        from orchestrator.transport.tcp_connect import ConnectAttempt

        call = ConnectAttempt.to(route)
        connection = self._ssh().open(route, on_phase, call)
        on_phase(Phase.STARTING)
        return Login(
            host,
            route.user,
            settings=self._settings,
            credentials=self._credentials,
            connection=connection,
            until=until,
        )

    @property
    def image(self) -> Image:
        """The runtime that ``open`` starts."""
        return self._image

    def become_password(self) -> str | None:
        """The password for sudo, for workers that open the links; UsageError."""
        password = self._credentials.become_password
        return None if password is None else password.read()

    def share(self) -> None:
        """Prepare forks of this process to open links. OSError."""
        self._credentials.share()
        self._end_waiting()  # forks would use the same one

    def begin_anew(self) -> None:
        """Stop sharing agents and connections with the process of which this one is a copy."""
        self._dialer = None

    def close(self) -> None:
        """Release the resources that the hosts share."""
        with self._loading:
            dialer, self._dialer = self._dialer, None
        if dialer is not None:
            dialer.close()
        self._end_waiting()

    def __enter__(self) -> Connector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _local(self, host: Target, until: float | None = None) -> Login:
        waiting = self._take_waiting() if self._settings.has_our_python(host) else None
        return Login.local(
            host,
            self._settings,
            credentials=self._credentials,
            until=until,
            waiting=waiting,
        )

    def _take_waiting(self) -> WaitingInterpreter | None:
        with self._lock:
            waiting, self._waiting = self._waiting, None
        return waiting

    def _end_waiting(self) -> None:
        waiting = self._take_waiting()
        if waiting is not None:
            waiting.close()

    def _unlock(self, routes: Iterable[Route]) -> None:
        from orchestrator.transport.key_files import is_encrypted

        for route in routes:
            if any(path.exists() and is_encrypted(path) for path in route.identities):
                self._ssh().unlock(route)

    def _route(self, host: Target) -> Route:
        """The route to a host that is not this machine."""
        with self._lock:
            if self._router is None:
                from orchestrator.transport.route import Router

                self._router = Router(self._settings)
        return self._router.route(host)

    def _ssh(self) -> Dialer:
        """The SSH libraries, which take a while to import, so they are loaded only when a host
        needs them.
        """
        with self._loading:
            if self._dialer is None:
                from orchestrator.transport.ssh_connect import Dialer

                self._dialer = Dialer(self._credentials)
            return self._dialer


def _of_hosts(problem: Problem, names: list[str]) -> Problem:
    """The problems of routes, each once with the hosts that use these routes."""
    others = len(names) - 1
    more = f" and {others:,} more host{'s' if others > 1 else ''}" if others else ""
    told = problem.message.removeprefix(f"{names[0]}: ")
    return problem._replace(message=f"{names[0]}{more}: {told}")
