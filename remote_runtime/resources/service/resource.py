"""The service type: runs now, and starts at boot (target; ``check`` on both sides)."""

from typing import Any, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, Missing, Properties, StepStateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.units.status import ENDS, Status

RUNNING, STOPPED = "running", "stopped"
_DONE = {
    ("ensure", RUNNING): "started",
    ("ensure", STOPPED): "stopped",
    ("enable", True): "enabled",
    ("enable", False): "disabled",
    ("masked", True): "masked",
    ("masked", False): "unmasked",
}

_SWITCHES = ("enable", "masked")
_ORDER = ("masked", "ensure", "enable")


class Resource(StepStateType):
    """One service. Of what is found, ``unit`` is the whole ``Status``."""

    default_ensure = RUNNING

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        from remote_runtime.resources.service import rules

        return rules.problems(name) + rules.contradictions(properties)

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        status = host.units.status(self.name)
        if not status.found and self.properties.get("masked"):
            status = status._replace(found=True, enabled=False)  # what is to come can be masked
        return _found(status)

    def desired(self) -> Mapping[str, Any]:
        """In the order of the steps: a mask goes first and comes last."""
        given = self.properties
        order = ("ensure", "enable", "masked") if given.get("masked") else _ORDER
        wanted = {"ensure": self.ensure}
        wanted.update({key: bool(given[key]) for key in _SWITCHES if given.get(key) is not None})
        return {key: wanted[key] for key in order if key in wanted}

    def opposite(self) -> Mapping[str, Any]:
        runs = self.ensure == STOPPED
        enabled = not self.properties.get("enable")
        masked = self.properties.get("masked") is False
        status = Status(True, running=runs, stoppable=runs, enabled=enabled, masked=masked)
        return _found(status) or {}

    def differs(self, found: Mapping[str, Any], key: str) -> bool:
        status: Status = found["unit"]
        if key == "masked":
            masked = status.masked and not (self.properties["masked"] and status.until_reboot)
            return masked is not self.desired()[key]
        if key == "enable":
            unmasked = status.masked and self.properties.get("masked") is False
            return unmasked or not status.enable_satisfied(self.desired()[key])
        return status.stoppable if self.ensure == STOPPED else not status.running

    def before(self, found: Mapping[str, Any], key: str) -> Any:
        if key in _SWITCHES:
            return not self.desired()[key]
        status: Status = found["unit"]
        on_its_way = self.ensure == STOPPED and not status.running
        return status.words if on_its_way else found["ensure"]

    def done(self, key: str) -> str:
        return _DONE[key, self.desired()[key]]

    def apply(self, host: Host, diff: Diff) -> None:
        verbs = {
            "started": host.units.start,
            "stopped": host.units.stop,
            "enabled": host.units.enable,
            "disabled": host.units.disable,
            "masked": host.units.mask,
            "unmasked": host.units.unmask,
        }
        for key in diff.keys:
            verbs[self.done(key)](self.name)

    def refresh(self, host: Host) -> None:
        again = host.units.reload if self.properties.get("reload") else host.units.restart
        again(self.name)

    def refreshed(self, found: Mapping[str, Any]) -> str:
        status: Status = found["unit"]
        return "reloaded" if self.properties.get("reload") and status.reloads else "restarted"

    def accepts_refresh(self) -> bool:
        return self.ensure == RUNNING

    def require(self, found: Optional[Mapping[str, Any]]) -> None:
        if found is None:
            raise Missing(
                "service not found: the unit %s does not exist" % self.name,
                hint="check the spelling, or add an earlier package or file resource that "
                "installs it",
            )
        status: Status = found["unit"]
        enable = self.properties.get("enable")
        must_start = self.ensure == RUNNING and not status.running
        stays_masked = status.masked and self.properties.get("masked") is not False
        if stays_masked and (must_start or enable is True):
            message, hint = self._masked(status)
            raise Missing(message, hint=hint)
        if status.failure and (must_start or enable is not None):
            message = "%s cannot be used: %s" % (self.name, status.failure)
            raise Missing(message, hint="correct its unit file")
        if enable is not None and status.enabled is None:
            message = "%s cannot be enabled or disabled: it has no unit file" % self.name
            raise Missing(message, hint="omit `enable`")

    def require_refresh(self, found: Mapping[str, Any]) -> None:
        status: Status = found["unit"]
        if status.masked and self.properties.get("masked") is not False:
            message, hint = self._masked(status)
            raise ResourceError(message, "service.masked", hint)

    def _masked(self, status: Status) -> Tuple[str, str]:
        if status.until_reboot:  # the other command leaves such a mask where it is
            hint = "set `masked: false`, or run `systemctl unmask --runtime %s` on the host"
            return "%s is masked until the next boot" % self.name, hint % self.name
        hint = "set `masked: false`, or run `systemctl unmask %s` on the host"
        return "%s is masked" % self.name, hint % self.name

    def unsettled(self, found: Mapping[str, Any]) -> str:
        """In the init system's words."""
        status: Status = found["unit"]
        if self.ensure == STOPPED or status.running:
            return ""
        why = ": %s" % ENDS if status.ends_by_itself else ""
        return "%s is %s, not running%s" % (self.name, status.words, why)

    def shown(self, found: Mapping[str, Any]) -> Properties:
        shown = {key: found[key] for key in ("ensure", "enable")}
        return dict(shown, **{key: found[key] for key in ("masked", "status") if found[key]})

    def observed(self, found: Mapping[str, Any]) -> Any:
        status: Status = found["unit"]
        enable = [status.enabled, status.either, status.until_reboot, status.masked]
        rest = status._replace(
            enabled=None, either=False, until_reboot=False, masked=False, words=""
        )
        return {"ensure": list(rest), "enable": enable}

    def answers(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        status = host.units.status(self.name)
        enabled = bool(status.enabled) and not status.until_reboot
        return {"active": status.running, "enabled": enabled}


def _found(status: Status) -> Optional[Mapping[str, Any]]:
    if not status.found:
        return None
    return {
        "ensure": RUNNING if status.running else STOPPED,
        "enable": status.enabled and not status.until_reboot,
        "masked": status.masked,
        "status": status.words,
        "unit": status,
    }
