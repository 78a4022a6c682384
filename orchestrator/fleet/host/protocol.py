"""The conversation over an open channel (controller): greeting, plan, events, done."""

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.event_check import EventCheck
from orchestrator.fleet.checks.unchanged_resources import UnchangedResources, check_unchanged
from orchestrator.fleet.event_bus import Notices
from orchestrator.fleet.host.blob_server import BlobServer
from orchestrator.fleet.host.framed_link import FramedLink, message_of
from orchestrator.fleet.host.host_facts import (
    HostFacts,
    NeedAnswersError,
    check_facts,
    check_hello,
)
from orchestrator.fleet.host.host_task import InterruptedRunError
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.outcome import Tally, is_apply
from orchestrator.fleet.package_cache import HostPackages, PackageMetadataCache
from orchestrator.fleet.resource_stability import is_stable
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.fleet.store.receipts import marked_runs, note, receipt_of
from orchestrator.support.plain_text import one_line, plain
from remote_runtime.errors import PlanError, ProtocolError, UnreachableError
from remote_runtime.protocol import wire
from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from orchestrator.fleet.host.reboot_wait import Reboot
    from orchestrator.fleet.interfaces import Plan, Publisher
    from orchestrator.fleet.store.lost_runs import LostEvents

GREETING = 60.0  # facts take two seconds, and may be a megabyte on a slow line
MAX_CONCURRENT = 4
"""Maximum number of hosts whose facts are read and used at the same time."""
_turns = threading.BoundedSemaphore(MAX_CONCURRENT)
R = TypeVar("R")
_GATHERED = ("event", "stable")  # messages whose events are published together with the next ones
# Error kinds that a target may use: not those of the controller for a connection or a user.
_KIND = r"(host|package|plan|protocol|resource|runtime|service)(\.[a-z]+){0,2}\Z"


class Enter(Protocol):
    """Receives the next phase of a host, with the events to publish with it."""

    def __call__(self, phase: Phase, /, *events: run_events.Event) -> None: ...


def greet(link: FramedLink, enter: Callable[[Phase], None]) -> HostFacts:
    """Receive a runtime's hello and facts, and check them."""
    return greet_then(link, enter, lambda gathered: gathered)


def greet_then(
    link: FramedLink, enter: Callable[[Phase], None], then: Callable[[HostFacts], R]
) -> R:
    """Receive a runtime's hello and facts, check them, and return the result of ``then``.

    Only a few hosts do this at a time; the data of the others is not even read yet. Otherwise,
    hundreds of hosts would store some hundred kilobytes each and compete for one processor. No
    active host waits for another. If ``then`` raises NeedAnswersError, the host answers the
    lookups, and ``then`` is called again.
    """
    with link.within(GREETING, "facts"):
        try:
            hello = check_hello(link.message(), link.nonce, link.runtime)
            link.runs_as(hello["uid"])
            enter(Phase.GATHERING)
            while True:
                link.arrive()
                with link.away(), _turns:
                    frame = link.take()
                    if frame is None:
                        continue
                    message = message_of(frame)
                    gathered = check_facts(message, hello)
                    try:
                        return then(gathered._replace(host_key=link.host_key))
                    except NeedAnswersError as error:
                        from orchestrator.fleet.host.lookup_exchange import LookupExchange

                        asking, need = LookupExchange(link, message, hello), error
                        break
        except UnreachableError as error:
            last = link.stderr_tail().strip().rpartition("\n")[2]
            if error.kind != "transport.lost" or not last:
                raise
            text = f"{error.message} before the facts: {one_line(last)}"
            raise UnreachableError(text, error.kind, hint=error.hint) from error
    while True:
        asking.ask(need.questions)
        with _turns:
            try:
                return then(asking.gathered())
            except NeedAnswersError as error:
                need = error


def gather(
    link: FramedLink,
    enter: Callable[[Phase], None] = lambda phase: None,
    host: str = "",
    require: Callable[[HostFacts], None] = lambda gathered: None,
) -> HostFacts:
    """Receive a runtime's facts and the outcome of earlier runs on ``host``, then end the runtime.

    ``require`` raises NeedAnswersError with the lookups that the runtime must answer as well.
    """

    def whole(gathered: HostFacts) -> HostFacts:
        """Check the facts, and keep all of them."""
        require(gathered)
        return gathered

    gathered = greet_then(link, enter, whole)
    recall = _lost_events(host, gathered.hello["uid"])
    link.send({"t": "bye", **(recall.wish() if recall else {})})
    with link.within(GREETING, "report of earlier runs"):
        while recall and recall.wish() and (message := link.message())["t"] != "done":
            recall.take(message)
    return gathered


def _lost_events(host: str, uid: int | None, current: str = "") -> "LostEvents | None":
    """The earlier runs to request from a host; None if no run lacks outcomes."""
    if not marked_runs(current):
        return None
    from orchestrator.fleet.store.lost_runs import LostEvents

    return LostEvents(host, uid, current)


class Conversation:
    """The run of one plan.

    ``tally`` is the total of its events so far; ``untried`` are the resources that did not run
    because ``fail_on_error`` ended it. ``confirmed``: the host reported the end of its run.
    """

    def __init__(
        self,
        link: FramedLink,
        plan: "Plan",
        *,
        settings: RunSettings,
        notices: Notices,
        publisher: "Publisher | None" = None,
        package_metadata: PackageMetadataCache | None = None,
    ) -> None:
        self.tally = Tally()
        self.untried = 0
        self.confirmed = False
        self._host, self._bus = notices.host, notices.bus
        self._plan = plan
        self._settings = settings
        self._notices = notices
        self._publisher = publisher
        self._resources = tuple(plan.identities())
        self._has_applies = any(map(is_apply, self._resources))
        self._mask = Mask(plan.secrets)
        self._together: list[run_events.Event] = []  # what arrived at once, yet to be published
        self._reboots = 0
        self._reboot: Reboot | None = None
        self._before = plan.total - self.planned
        place = plan.place if settings.manifest else lambda identity: ""
        self._check = EventCheck(
            self._host,
            settings.run_id,
            planned=self._resources,
            place=place,
            observed=plan.observes,
            mask=self._mask.value,
        )
        self._uid = link.uid
        self._recall = _lost_events(host_in(self._host), link.uid, settings.run_id)
        self._shared_package_metadata = package_metadata or PackageMetadataCache()
        self._talk_over(link)

    def _talk_over(self, link: FramedLink) -> None:
        self._link = link
        self._packages = HostPackages(link, self._shared_package_metadata, self._host)

    @property
    def planned(self) -> int:
        """The number of resources in the plan."""
        return len(self._resources)

    def carry_out(self, enter: Enter) -> "Reboot | None":
        """Send the plan and receive everything up to ``done``; returns the reboot if the host goes
        down before. CcmError."""
        wish = self._recall.wish() if self._recall else {}
        return self._converse(enter, wish, self._planned())

    def _receipt(self) -> dict[str, str]:
        """The receipt with which a later run requests the host's record of this run."""
        key = self._settings.key
        if not key:
            return {}
        if self._uid is not None:
            note(self._settings.run_id, self._host, self._uid)
        return {"receipt": receipt_of(key, self._host)}

    def _planned(self) -> run_events.HostPlanned:
        together = " ".join(self._resources)  # most plans have nothing to hide or to leave out
        as_they_are = self._shown(together) == together
        names = self._resources if as_they_are else tuple(map(self._shown, self._resources))
        plan = self._plan
        subscribed, required, applied = (
            tuple((self._shown(name), tuple(map(self._shown, others))) for name, others in pairs)
            for pairs in (plan.subscriptions(), plan.requirements(), plan.members())
        )
        return run_events.HostPlanned(self._host, names, subscribed, required, applied)

    def go_on(self, link: FramedLink, reboot: "Reboot", enter: Enter) -> None:
        """Continue with the plan after the reboot of the host. CcmError."""
        self._reboot = None
        self._check.begin_anew()
        self._talk_over(link)
        self._converse(enter, {"earlier": reboot.earlier})

    def _converse(
        self, enter: Enter, more: Mapping[str, object], *events: run_events.Event
    ) -> "Reboot | None":
        enter(Phase.RUNNING, *events)
        envelope = {**self._settings.envelope(), **self._receipt(), **more}
        if self._link.login_keys:
            envelope["login_keys"] = list(self._link.login_keys)
        self._link.send_bytes(wire.encode_json(self._plan.payload(envelope)))
        self._link.heed_cancel()
        options, plan = self._settings.options, self._plan
        # The link has no reference to this object, so that both are freed when their host has
        # ended: Python collects reference cycles only from time to time.
        self._link.bound_stall(options.stall_timeout, lambda: options.lock_timeout + plan.longest())
        serving = BlobServer(self._link, plan, self._aside)
        # Each of these is limited in number; messages without a limit do not count as progress.
        steps: dict[str, Callable[[wire.Message], bool | None]] = {
            "event": self._event,
            "want": serving.want,
            "render": serving.render,
            "passed": self._passed,
            "past": self._take_past,
        }
        if options.noop or plan.previews:
            steps |= {"packages": self._packages.ask, "package": self._packages.tell}
        if plan.incoming is not None:
            steps |= {"file": self._file}
        if not options.noop:
            steps |= {"installed": self._packages.confirm, "rebooting": self._goes_down}
        whole = options.monitor_only or options.status_only or options.adhoc
        if not (whole or plan.observes or plan.rounds > 1):
            steps |= {"stable": self._stable}
        try:
            self._take(steps)
        except UnreachableError:
            if self._reboot is None or self._link.expired or self._link.cancelling:
                raise
        finally:
            self._publish()
            self._packages.close()
        return self._reboot

    def _take_past(self, message: wire.Message) -> bool:
        if self._recall is None:
            raise ProtocolError("a report of an earlier run that was not requested")
        return self._recall.take(message)

    def _goes_down(self, message: wire.Message) -> None:
        """Record that the host reboots, which it may do once per run, and confirm that the
        controller waits for it.
        """
        if self._reboots:
            raise ProtocolError("a second reboot in the same run")
        from orchestrator.fleet.host.reboot_wait import read_reboot

        self._reboots += 1
        self._reboot = read_reboot(message, self.planned, self._plan.longest())
        self._link.send({"t": "reboot"})

    def _shown(self, name: str) -> str:
        return plain(self._mask.text(name))

    def _take(self, steps: Mapping[str, Callable[[wire.Message], bool | None]]) -> None:
        while True:
            message = self._link.message(before=self._publish)
            kind = message["t"]
            if kind not in _GATHERED:
                self._publish()
            if kind == "done" and self._reboot is None:
                return self._done(message)
            if kind == "done":
                raise UnreachableError("the host is shutting down", kind="transport.lost")
            step = steps.get(kind)
            if step is None:
                self._aside(message)
            elif step(message) is not False:
                self._link.progressed()

    def _publish(self) -> None:
        if self._together:
            self._bus.publish(*self._together)
            self._together.clear()

    def _passed(self, message: wire.Message) -> None:
        self._before -= 1
        if self._before < 0:
            raise ProtocolError("more resources than announced")

    def _event(self, message: wire.Message) -> None:
        self._reboot = None  # the host is still up, despite its announcement
        checked = self._check.check(message.get("seq"), message.get("event"))
        misprediction = self._plan.misprediction(checked.event)
        self.tally.add(checked.event, again=checked.again, misprediction=misprediction)
        event, line = checked.event, checked.line
        if misprediction:
            event = {**event, "planned": misprediction}
            line = json.dumps(event, separators=(",", ":"))
        self._together.append(run_events.ResourceEvent(self._host, event, line))
        if self._publisher is not None:
            registrations = self._plan.registrations(checked.identity)
            if registrations and is_stable(checked.event):
                self._announce(checked.identity, registrations)

    def _stable(self, message: wire.Message) -> None:
        self._reboot = None
        unchanged, again = check_unchanged(self._check, message, self._plan.implied)
        self.tally.add_stable(unchanged.total, again, self._applies_in(unchanged))
        self._together.append(run_events.ResourcesStable(self._host, unchanged))
        if self._publisher is None:
            return
        for index in unchanged.indices if not unchanged.noop else ():
            registrations = self._plan.registrations(self._resources[index])
            if registrations:
                self._announce(self._resources[index], registrations)

    def _announce(self, identity: str, registrations: Sequence[Mapping[str, Any]]) -> None:
        """Publish the registrations of a resource, with the fields that identify this host."""
        from orchestrator.registration.entry import source_of

        assert self._publisher is not None
        source = source_of(self._settings.manifest, host_in(self._host), identity)
        self._publisher.add(self._host, [{**one, "source": source} for one in registrations])

    def _applies_in(self, unchanged: UnchangedResources) -> int:
        """The number of ``apply`` resources among these."""
        if not self._has_applies:
            return 0
        return sum(is_apply(self._resources[index]) for index in unchanged.indices)

    def _file(self, message: wire.Message) -> None:
        if self._plan.incoming is not None:
            self._plan.incoming.take(message, self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        """The bytes of a file as they arrive."""
        while True:
            frame = self._link.next()
            if isinstance(frame, bytes):
                if frame:
                    self._link.progressed()
                yield frame
            elif frame["t"] != "file_end":
                self._aside(frame)
            elif frame.get("whole") is True:
                return
            else:
                from orchestrator.fleet.host.fetch_destination import TransferAbortedError

                raise TransferAbortedError

    def _aside(self, message: wire.Message) -> None:
        """Process messages that may arrive at any time."""
        if message["t"] == "progress":
            index, action = message.get("index"), message.get("action")
            if type(index) is not int or not 0 <= index < self.planned:
                raise ProtocolError("progress of a resource that is not in the plan")
            resource = one_line(self._mask.text(self._resources[index]), 200)
            action = one_line(self._mask.text(plain(str(action))), 80)
            self._bus.publish(
                run_events.ResourceProgress(self._host, resource, action, time.time())
            )
        elif message["t"] == "notice":
            level = message.get("level")
            level = level if level in ("waiting", "warning", "error") else "info"
            text = self._mask.text(plain(str(message.get("text"))))
            self._notices.say(str(level), one_line(text))
        else:
            raise ProtocolError(f"{one_line(message['t'], 40)!r} was not expected here")

    def _done(self, message: wire.Message) -> None:
        error, events = message.get("error"), message.get("events")
        if type(events) is not int or events != self._check.count:
            theirs = one_line(str(events), 20)
            raise ProtocolError(
                f"the host reported {theirs} events, but {self._check.count} arrived",
                kind="protocol.sequence",
            )
        self.confirmed = True
        if self._settings.key:
            with contextlib.suppress(UnreachableError):  # then the host keeps its own record
                self._link.send({"t": "bye"})
        if isinstance(error, dict):
            text = self._mask.text(plain(str(error.get("message", "no reason given"))))[:4000]
            kind = error.get("kind")
            is_valid = isinstance(kind, str) and len(kind) <= 60 and re.match(_KIND, kind)
            raise PlanError(text, kind=str(kind) if is_valid else "target")
        cancelled = message.get("cancelled") is True
        if cancelled and self._link.expired:
            raise self._link.expired
        if cancelled and not self._link.cancelling:
            raise UnreachableError("the run was canceled on the host", kind="run.cancelled")
        if cancelled:
            raise InterruptedRunError
        if self.tally.failed or self.tally.unmet:
            self.untried = self._check.unreported if self._plan.fail_on_error else 0
        elif not self.tally.skipped and self._check.unreported:
            # After a failure a run may stop short, and a skipped apply is silent on its children.
            raise ProtocolError(
                f"the run ended on the host, but {self._check.unreported} of {self.planned} "
                "resources were not reported",
                kind="protocol.sequence",
            )
