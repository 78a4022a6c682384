"""The hosts of one verify, each with one connection that is opened on first use (controller)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.fleet.host.host_task import InterruptedRunError
from orchestrator.fleet.host.protocol import gather
from orchestrator.fleet.host.resource_inspection import inspect_resources
from orchestrator.verify.checks import Expectations, expectations_of
from orchestrator.verify.shell import Shell, image
from orchestrator.verify.user_commands import with_timeout
from remote_runtime.errors import UnreachableError, UsageError

if TYPE_CHECKING:
    from inventory import Host, Inventory
    from orchestrator.expressions import Scope
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.image import Image
    from orchestrator.planning import Planner
    from orchestrator.planning.host_plan import HostPlan
    from orchestrator.transport import Connector, Link
    from orchestrator.transport.login import Login
    from remote_runtime.plan_item import Item

TIMEOUT = 300.0
_SESSION_WAIT = 5.0
_SESSION_PAUSE = 0.2


class VerifyContext(NamedTuple):
    """The data that the hosts share; without a ``planner``, there is no manifest.

    ``timeout`` is the maximum number of seconds for one command.
    """

    connector: Connector
    planner: Planner | None = None
    timeout: float = TIMEOUT


class Member:
    """One host: its connection, its shell, its plan. Thread-safe."""

    def __init__(self, host: Host, context: VerifyContext) -> None:
        self.host = host
        self.name = host.name
        self._context = context
        self._lock = threading.RLock()
        self._login: Login | None = None
        self._shell: Shell | None = None
        self._gathered: HostFacts | None = None
        self._plan: HostPlan | None = None
        self._abandoned = False
        self._secrets: frozenset[str] = frozenset()

    @property
    def secrets(self) -> frozenset[str]:
        """The strings to mask in messages about the host, if known."""
        return self._secrets

    def shell(self) -> Shell:
        """The channel for commands; UnreachableError."""
        with self._lock:
            if self._shell is None:
                self._shell = Shell(self.name, self._start(image()), self._context.timeout)
            return self._shell

    def run_commands(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """The events of these resources, whose guards and health checks the runtime has run.

        CcmError.
        """
        with self._lock:
            if self._shell is not None:  # a server may allow one session at a time
                self._shell.close()
                self._shell = None
            plan = self.plan().of([with_timeout(item, self._context.timeout) for item in items])
            link = FramedLink(self._start(self._context.connector.image))
            with contextlib.closing(link):
                return inspect_resources(link, plan, self.name)

    def _start(self, program: Image) -> Link:
        """The channel of a program on the host.

        A server that allows only one session (MaxSessions 1) refuses it until the previous one has
        ended.
        """
        login, end = self._logged_in(), time.monotonic() + _SESSION_WAIT
        while True:
            try:
                return login.start(program)
            except UnreachableError as error:
                if error.kind != "transport.session" or time.monotonic() > end:
                    raise
                time.sleep(_SESSION_PAUSE)

    def plan(self) -> HostPlan:
        """The plan for this host; its facts are gathered over the connection.

        CcmError. The runtime only sends facts; it has ended before a check runs.
        """
        with self._lock:
            if self._plan is None:
                self._plan = self._planner().plan(self.host, self._gather())
                self._secrets |= frozenset(self._plan.secrets)
            return self._plan

    def expectations(self, type_name: str) -> Expectations | None:
        """The function that creates the expectations of a type in the manifest; InputError."""
        return expectations_of(type_name, self._planner().site.types)

    def scope(self) -> Scope:
        """The facts and data of this host; CcmError."""
        with self._lock:
            scope, secrets = self._planner().scope(self.host, self._gather())
            self._secrets |= frozenset(secrets)
            return scope

    def close(self) -> None:
        """Close the connection; it may be opened again."""
        with self._lock:
            self._hang_up()
            self._login = self._shell = None

    def forget(self) -> None:
        """Release the plan, which is large; it can be made again."""
        with self._lock:
            self._plan = self._gathered = None

    def abandon(self) -> None:
        """Close the connection, even if another thread waits for it."""
        self._abandoned = True
        self._hang_up()

    def _planner(self) -> Planner:
        if self._context.planner is None:
            raise UsageError(
                "a manifest is required for facts, data and resources",
                hint="write ccm://HOST?inventory=hosts.yaml&manifest=site.yaml",
            )
        return self._context.planner

    def _gather(self) -> HostFacts:
        if self._gathered is None:
            link = FramedLink(self._logged_in().start(self._context.connector.image))
            with contextlib.closing(link):
                self._gathered = gather(link, host=self.name, require=self._require)
        return self._gathered

    def _require(self, gathered: HostFacts) -> None:
        """See ``gather``."""
        if self._context.planner is not None:
            self._context.planner.require_answers(self.host, gathered)

    def _hang_up(self) -> None:
        shell, login = self._shell, self._login
        for one in (shell, login):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.close()

    def _logged_in(self) -> Login:
        if self._abandoned:
            raise InterruptedRunError
        if self._login is None:
            self._login = self._context.connector.login(self.host, lambda phase: None)
        return self._login


class Fleet:
    """The members by name, and the members that a pattern selects."""

    def __init__(self, inventory: Inventory, context: VerifyContext, hosts: Iterable[Host]) -> None:
        self._inventory = inventory
        self._context = context
        self._picked: dict[str, list[str]] = {}
        self._members = {host.name: Member(host, context) for host in hosts}

    @property
    def members(self) -> list[Member]:
        """All members, in the order of the inventory."""
        return list(self._members.values())

    def member(self, name: str) -> Member:
        """The host with that name; InputError."""
        if name not in self._members:
            self._members[name] = Member(self._inventory.host(name), self._context)
        return self._members[name]

    def names(self, pattern: str) -> list[str]:
        """The hosts that a pattern selects; InputError."""
        if pattern not in self._picked:
            self._picked[pattern] = [host.name for host in self._inventory.select(pattern)]
        return self._picked[pattern]

    def close(self) -> None:
        """Close all connections permanently, including those for which another thread
        still waits.
        """
        for member in self._members.values():
            member.abandon()

    def hang_up(self) -> None:
        """Close everything, and release the resources that the connections share."""
        self.close()
        self._context.connector.close()
