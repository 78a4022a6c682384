"""The derived checks as pytest items (controller)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from orchestrator.verify.host_check import HostOutcome
from remote_runtime.errors import CcmError, ProtocolError, UnreachableError

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
