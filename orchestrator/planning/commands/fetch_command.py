"""Plans of ``ccm fetch``: the same paths on every host (controller)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from orchestrator.fleet.host.fetch_destination import FetchTarget
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.compiled_resource import CompleteResource
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.errors import UsageError
from remote_runtime.execution.fleet_commands import FETCH
from remote_runtime.plan_item import Item


class FetchCommand:
    """A request for files; ``title`` is shown to users. UsageError for an invalid path."""

    def __init__(self, paths: Sequence[str], landing: FetchTarget, recursive: bool) -> None:
        for path in paths:
            _check(path)
        self.title = shlex.join(paths)
        self._paths = list(paths)
        self._landing = landing
        properties: dict[str, Any] = {
            "paths": self._paths,
            "recursive": recursive,
            "max_size": landing.max_file,
            "max_total": landing.max_total,
        }
        item = Item(index=0, type=FETCH, name=self.title, properties=properties)
        self._whole = [CompleteResource.alone(item)]

    def share(self) -> None:
        """Share the size limit with copies of this process that are created later."""
        self._landing.share()

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of a host, with the destinations of its files."""
        plan = HostPlan(
            self._whole,
            self._whole,
            declared=(),
            secrets=(),
            warnings=(),
            fail_on_error=False,
        )
        plan.incoming = self._landing.of(host.name, self._paths)
        return plan


def _check(path: str) -> None:
    parts = path.rstrip("/").split("/")
    if parts[0] or not all(parts[1:]) or len(parts) < 2:
        hint = "write a path such as /var/log/syslog"
        raise UsageError(
            f"fetch: {path!r} is not an absolute path of a file or directory", hint=hint
        )
    if {".", ".."} & set(parts) or not path.isprintable():
        hint = "write it without ., .. and control characters"
        raise UsageError(f"fetch: {path!r} is not a plain path", hint=hint)
