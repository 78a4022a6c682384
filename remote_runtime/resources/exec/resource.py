"""The exec type (target; ``check`` on both sides)."""

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from remote_runtime.base import ActionStateType, Properties
from remote_runtime.errors import ResourceError
from remote_runtime.resources.exec import rules

if TYPE_CHECKING:
    from remote_runtime.host.command_ports import Command
    from remote_runtime.host.ports import Host, HostReader

_SHELL_SIGNS = frozenset("&|;<>")
GUARDS = {"onlyif": True, "unless": False}


class Resource(ActionStateType):
    """One command. It has no state: it runs, or its conditions show that it need not run."""

    done = "executed"

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(name, properties)

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """See the base class. Loads the rules only for a text with a sign that they check."""
        if _SHELL_SIGNS.isdisjoint(repr((name, properties))):
            return []
        from remote_runtime.resources.exec.warnings import warnings

        return warnings(name, properties)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        path = _creates(properties)
        return [(path, True)] if path else []

    @property
    def refresh_only(self) -> bool:
        return bool(self.properties.get("refresh_only"))

    def desired(self) -> Mapping[str, Any]:
        return {"command": self._command().text}

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        if not self._guards():
            raise ResourceError(
                "an exec has no state to inspect, only conditions under which it runs"
            )
        return super().read(host)

    def left(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """See the base class. Return whether the path in ``creates`` exists; the results of guards
        are known only when the resource runs.
        """
        path = _creates(self.properties)
        if path:
            return {"created": host.files.exists(path)}
        return None if self._guards() and not self.refresh_only else {}

    def due(self, host: "HostReader") -> bool:
        """See the base class. Return whether its conditions allow it to run; the guards run only if
        all other conditions allow it.
        """
        path = _creates(self.properties)
        if path and host.files.is_created(path):
            return False
        for key, guard in self._guards().items():
            from remote_runtime.host.command_ports import of_guard

            command = of_guard(guard, self.properties, self.provider)
            if host.commands.holds(command, "guard %s" % key) != GUARDS[key]:
                return False
        return True

    def require(self, host: "HostReader") -> None:
        host.commands.require_start(self._command(), "command")

    def act(self, host: "Host") -> None:
        """See the base class. The command runs up to ``tries`` times, or until the path ``creates``
        appears.
        """
        from remote_runtime.retries import tries_of

        host.commands.execute(
            self._command(),
            creates=_creates(self.properties),
            affects=self.properties.get("affects"),
            log=self.properties.get("logoutput") is True,
            tries=tries_of(self.properties),
        )

    def _command(self) -> "Command":
        from remote_runtime.host.command_ports import of_command

        return of_command(self.name, self.properties, self.provider)

    def _guards(self) -> Dict[str, Any]:
        properties = self.properties
        return {key: properties[key] for key in GUARDS if properties.get(key) is not None}


def _creates(properties: Properties) -> str:
    """The path whose existence means that the command need not run, "" for none."""
    creates = properties.get("creates")
    return os.path.join(properties.get("cwd") or "/", creates) if creates else ""
