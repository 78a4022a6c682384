"""The wait type (target; ``check`` on both sides)."""

import time
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple

from remote_runtime.base import ActionStateType, Properties
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.resources.wait import rules
from remote_runtime.text import duration

if TYPE_CHECKING:
    from remote_runtime.host.condition_ports import Condition, ConditionResult
    from remote_runtime.host.ports import Host, HostReader

TIMEOUT = "5m"
INTERVAL = "1s"


class Resource(ActionStateType):
    """Waits for a condition before the run continues, regardless of what makes it true.

    A check is limited to the remaining time, which starts with the first check.
    """

    done = "waited"
    read_only = True
    _deadline = 0.0
    _sight: "Optional[ConditionResult]" = None  # the result of the last check

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(properties)

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.exec.warnings import of_commands

        return of_commands([("command", properties.get("command"))], properties)

    @property
    def details(self) -> str:
        return self._condition().words(self._wanted)

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        return {} if self._look(host).holds else None

    def due(self, host: "HostReader") -> bool:
        return self._look(host).holds != self._wanted

    def act(self, host: "Host") -> None:
        """See the base class. ``UnsettledError`` with the last output if the time is up before the
        condition is met.
        """
        sight = host.conditions.wait(
            self._condition(),
            self._wanted,
            first=self._look(host),
            until=self._deadline,
            interval=self._seconds("interval", INTERVAL),
        )
        if sight.holds != self._wanted:
            raise UnsettledError(
                "timed out after %g s waiting %s; last result: %s"
                % (self._seconds("timeout", TIMEOUT), self.details, sight.seen),
                kind="resource.timeout",
                hint="raise timeout, or find out what causes the delay",
                output=sight.output,
            )
        self._sight = sight

    @property
    def _wanted(self) -> bool:
        """Whether it waits for the condition to become true, not false."""
        return self.ensure == "present"

    def _look(self, host: "HostReader") -> "ConditionResult":
        """Return the result of the last check, or of the first if there was none."""
        if self._sight is None:
            seconds = self._seconds("timeout", TIMEOUT)
            self._deadline = time.monotonic() + seconds
            self._sight = host.conditions.look(self._condition(), seconds)
        return self._sight

    def _condition(self) -> "Condition":
        from remote_runtime.host.command_ports import of_command
        from remote_runtime.host.condition_ports import Condition

        properties = self.properties
        if not any(properties.get(key) is not None for key in rules.CONDITIONS):
            raise ResourceError("a wait has no state to inspect, only a condition")
        return Condition(
            host=properties.get("host", "127.0.0.1"),
            port=properties.get("port") or 0,
            url=properties.get("url") or "",
            statuses=properties.get("status") or [200],
            allow_insecure=properties.get("allow_insecure", False),
            file=properties.get("file") or "",
            command=of_command("", properties, self.provider)
            if properties.get("command")
            else None,
        )

    def _seconds(self, key: str, default: str) -> float:
        return duration.parse(str(self.properties.get(key, default)))
