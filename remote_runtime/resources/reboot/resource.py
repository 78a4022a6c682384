"""The reboot type (target; ``check`` on both sides)."""

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple

from remote_runtime.base import ActionStateType, Properties
from remote_runtime.errors import ResourceError
from remote_runtime.text import duration
from remote_runtime.validation.command_rules import of_settings, of_words

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader

TIMEOUT = "10m"


class Resource(ActionStateType):
    """One reboot, if it is requested. A run reboots a host at most once."""

    done = "rebooted"

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. Something must trigger the reboot, ``onlyif`` must be splittable, and
        the timeout positive.
        """
        problems = of_settings("", properties)
        if not properties.get("onlyif") and not properties.get("subscribe"):
            problems.append(("", "nothing triggers it: set subscribe or onlyif"))
        if properties.get("provider", "posix") == "posix":
            problems += of_words("onlyif", properties.get("onlyif"))
        if not problems and not duration.parse(properties.get("timeout", TIMEOUT)):
            problems.append(("timeout", "it must be greater than 0"))
        return problems

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.exec.warnings import of_commands

        return of_commands([("onlyif", properties.get("onlyif"))], properties)

    def unsupported(self, host: "HostReader") -> str:
        return host.reboots.unsupported()

    def desired(self) -> Mapping[str, Any]:
        return {"ensure": "rebooted"}

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        if not self.properties.get("onlyif"):
            raise ResourceError("a reboot has no state to inspect, only triggers")
        return super().read(host)

    def due(self, host: "HostReader") -> bool:
        """See the base class. It remains due after the reboot of this run. ``onlyif`` also runs in
        a preview.
        """
        guard = self.properties.get("onlyif")
        if host.reboots.is_done() or not guard:
            return host.reboots.is_done()
        from remote_runtime.host.command_ports import of_guard

        command = of_guard(guard, self.properties, self.provider)
        return host.commands.holds(command, "guard onlyif")

    def is_served(self, host: "HostReader", fired: bool) -> bool:
        return host.reboots.is_served(fired)

    def act(self, host: "Host") -> None:
        host.reboots.reboot(str(self.properties.get("timeout", TIMEOUT)))
