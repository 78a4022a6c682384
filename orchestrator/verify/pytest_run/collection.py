"""The pytest plugin of one ``ccm verify`` (controller): derived checks, tests and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from orchestrator.support.crash_report import DefectError
from orchestrator.support.plain_text import junit_class, one_line, plain
from orchestrator.verify.assessment import Assessment, Outcome
from orchestrator.verify.host_check import HostOutcome
from orchestrator.verify.pytest_run.masking import hide
from remote_runtime.errors import CcmError, ProtocolError, UnreachableError
from remote_runtime.reporting.masking import Mask

NOT_REACHED = "connection"
NO_PLAN = "plan"

LOST = (UnreachableError, ProtocolError)
"""Errors of an unreachable host; every other error comes from its plan or from ccm."""


class MismatchesError(Exception):
    """The unexpected results of a check."""

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__("\n".join(lines))


class ManifestFile(pytest.File):
    """Represents the manifest; its items are the checks of all hosts, host by host."""

    def __init__(self, *, visited: Callable[[], Mapping[str, HostOutcome]], **given: Any) -> None:
        super().__init__(**given)
        self._visited = visited

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each resource that can be checked, one for each host that cannot."""
        for visited in self._visited().values():
            if visited.error is not None:
                label = NOT_REACHED if isinstance(visited.error, LOST) else NO_PLAN
                yield HostItem.make(self, visited.name, label, error=visited.error)
                continue
            for verdict in visited.verdicts:
                yield CheckItem.make(self, visited.name, verdict.label, lines=verdict.lines)


class DerivedItem(pytest.Item):
    """An item created by ccm: ``web1 file#/etc/motd``."""

    def __init__(self, *, host_name: str, label: str, **given: Any) -> None:
        super().__init__(**given)
        self.host_name = host_name
        self.label = label

    @classmethod
    def make(cls, parent: ManifestFile, host: str, label: str, **given: Any) -> DerivedItem:
        """Create an item with an ID that names the host and the resource."""
        name = f"{host} {label}"
        item: DerivedItem = cls.from_parent(
            parent, name=name, nodeid=name, host_name=host, label=label, **given
        )
        return item

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Its location, for pytest's own report, which would remove dots from the ID."""
        return self.path, None, f"{self.host_name}: {self.label}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The lines of a report; a bug in ccm keeps its traceback."""
        if isinstance(excinfo.value, (MismatchesError, CcmError)):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))


class HostItem(DerivedItem):
    """A host that could not be reached."""

    def __init__(self, *, error: CcmError, **given: Any) -> None:
        super().__init__(**given)
        self.error = error

    def runtest(self) -> None:
        """Fail with the reason."""
        raise self.error


class CheckItem(DerivedItem):
    """One resource on one host; ``lines`` are the differences from the expectations.

    Its commands have already run, together with all others.
    """

    def __init__(self, *, lines: Sequence[str], **given: Any) -> None:
        super().__init__(**given)
        self._lines = lines

    def runtest(self) -> None:
        """MismatchesError with every difference, expected and actual value."""
        if self._lines:
            raise MismatchesError(self._lines)


class CheckPlugin:
    """Adds the checks of the hosts to pytest, and the hosts to the user's tests.

    ``visit`` is called after everything else was collected without errors. ``token`` names the
    fleet for testinfra, ``told`` receives each outcome immediately.
    """

    def __init__(
        self,
        manifest: Path,
        hosts: Sequence[str],
        *,
        visit: Callable[[], Mapping[str, HostOutcome]],
        token: str,
        on_outcome: Callable[[Outcome], None],
    ) -> None:
        self._manifest = manifest
        self._hosts = hosts
        self._visit = visit
        self._token = token
        self._told = on_outcome
        self._visited: Mapping[str, HostOutcome] = {}
        self._places: dict[str, tuple[str, str, bool]] = {}
        self._masks: dict[str, Mask] = {}
        self._ran: set[str] = set()
        self._outcomes: list[Outcome] = []
        self._refused: list[str] = []
        self._unreached: dict[str, str] = {}
        self._selection = ""  # the options that deselected tests
        self._defect = False
        self._interrupted = False

    def assessment(self, code: int) -> Assessment:
        """The result; ``code`` is the exit code of pytest."""
        refused, visited = list(self._refused), self._visited.values()
        if code == pytest.ExitCode.USAGE_ERROR:
            refused.append("pytest did not run the checks; see its message above")
        elif code == pytest.ExitCode.NO_TESTS_COLLECTED and self._selection:
            refused.append(f"no checks selected: none matches {self._selection}")
        stopped = code == pytest.ExitCode.INTERRUPTED and not refused
        return Assessment(
            hosts=len(self._hosts),
            outcomes=self._outcomes,
            refused=refused,
            unreached=self._unreached,
            warnings=[f"{one.name}: {text}" for one in visited for text in one.warnings],
            left_out=sum((one.left_out for one in visited), Counter()),
            not_run=Counter(
                place[0] for node, place in self._places.items() if node not in self._ran
            ),
            defect=self._defect or code == pytest.ExitCode.INTERNAL_ERROR,
            interrupted=self._interrupted or stopped,
        )

    def visited(self) -> Mapping[str, HostOutcome]:
        """The results of the hosts; none is contacted if a test was refused."""
        if not self._visited and not self._refused:
            self._visited = self._visit()
            for one in self._visited.values():
                self._note(one.name, one.error)
        return self._visited

    def mask(self, host: str) -> Mask:
        """The function that masks the secrets of a host."""
        if host not in self._masks:
            self._masks[host] = Mask(self._visited[host].secrets if host in self._visited else ())
        return self._masks[host]

    def _note(self, host: str, error: BaseException | None) -> None:
        if isinstance(error, LOST):
            self._unreached[host] = one_line(str(error))
        elif isinstance(error, CcmError) and error.kind == DefectError.default_kind:
            self._defect = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Make testinfra create the user's tests for every host."""
        if getattr(config.option, "numprocesses", None):
            raise pytest.UsageError("ccm verify checks hosts in parallel by itself; omit -n")
        token = self._token
        config.option.hosts = ",".join(f"ccm://{name}?fleet={token}" for name in self._hosts)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        """Add the checks in the directory of the manifest."""
        if file_path != self._manifest:
            return None
        return ManifestFile.from_parent(parent, path=file_path, visited=self.visited)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort the tests host by host."""
        order = {name: number for number, name in enumerate(self._hosts)}
        items.sort(key=lambda item: order.get(_host_of(item), len(order)))
        for item in items:
            host, derived = _host_of(item), isinstance(item, DerivedItem)
            label = item.label if isinstance(item, DerivedItem) else item.nodeid
            self._places[item.nodeid] = host, label.replace(f"[{host}]", ""), derived

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Set its name in the JUnit report; skip the user's tests of a host that cannot
        be reached.
        """
        host, label, derived = self._places[item.nodeid]
        if host:
            _name_in_junit(item, host, label)
        if not derived and host in self._visited and self._visited[host].error is not None:
            pytest.skip(f"{host} could not be reached")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Make the report plain text without secrets, regardless of its source."""
        report = yield
        host = _host_of(item)
        if call.excinfo is not None:
            self._note(host, call.excinfo.value)
            expected = (MismatchesError, CcmError, pytest.skip.Exception)
            if isinstance(item, DerivedItem) and not isinstance(call.excinfo.value, expected):
                self._defect = True
        hide(report, self.mask(host))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the test: it passes if its call succeeded, and fails if any phase fails."""
        if report.when != "call" and report.passed:
            return
        host, label, _ = self._places.get(report.nodeid, ("", report.nodeid, False))
        self._ran.add(report.nodeid)
        outcome = Outcome(host, label, status=report.outcome, text=_why(report))
        self._outcomes.append(outcome)
        self._told(outcome)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Record the options, to distinguish an empty selection from an empty manifest."""
        option = items[0].config.option
        named = {"-k": option.keyword, "-m": option.markexpr}
        given = (f"{flag} {quote(text)}" for flag, text in named.items() if text)
        self._selection = " ".join(given) or "the pytest options"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a test file that cannot be collected as refused input."""
        if report.failed:
            self._refused.append(plain(report.longreprtext).strip())

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record that the user ended the run; pytest's own reasons to stop are subclasses of the
        same exception.
        """
        self._interrupted |= excinfo.type is KeyboardInterrupt

    def pytest_internalerror(self) -> None:
        """Record a bug in pytest, in one of its plugins, or in ccm."""
        self._defect = True


def _host_of(item: pytest.Item) -> str:
    """The name of a test's host, "" without one."""
    if isinstance(item, DerivedItem):
        return item.host_name
    callspec = getattr(item, "callspec", None)
    host = callspec.params.get("_testinfra_host") if callspec is not None else None
    return str(host.backend.get_pytest_id()) if host is not None else ""


def _why(report: pytest.TestReport) -> str:
    if report.passed:
        return ""
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        return one_line(str(reason).removeprefix("Skipped: "))
    shown = [f"{name}\n{text.rstrip()}" for name, text in report.sections if text.strip()]
    return "\n".join([str(report.longrepr).rstrip(), *shown])


def _name_in_junit(item: pytest.Item, host: str, label: str) -> None:
    """The name in the JUnit report, whose readers group by class: the class is the host. pytest
    would split the ID at its slashes.
    """
    from _pytest.junitxml import xml_key

    xml = item.config.stash.get(xml_key, None)
    if xml is not None:
        reporter = xml.node_reporter(item.nodeid)
        reporter.add_attribute("classname", junit_class(host))
        reporter.add_attribute("name", label)
