"""The reboot type (target; ``check`` on both sides)."""

from typing import TYPE_CHECKING, Any, Callable, List, Tuple

from remote_runtime.base import (
    Action,
    Change,
    Properties,
    ResourceType,
    State,
    Uncertainty,
    UnknownEffect,
)
from remote_runtime.effects import UNKNOWN, Effect
from remote_runtime.errors import ResourceError
from remote_runtime.host.command import of_guard
from remote_runtime.host.machine.commands import reader_of
from remote_runtime.resources.reboot import wording
from remote_runtime.text import duration
from remote_runtime.validation.command_rules import of_settings, of_words

if TYPE_CHECKING:
    from remote_runtime.item import Item

TIMEOUT = "10m"


class Resource(ResourceType):
    """One reboot, once it is asked for. A run reboots a host once at most."""

    may_fail = True

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        found = of_settings("", properties)
        if not properties.get("onlyif") and not properties.get("subscribe"):
            found.append(("", "nothing triggers it: set subscribe or onlyif"))
        if properties.get("provider", "posix") == "posix":
            found += of_words("onlyif", properties.get("onlyif"))
        if not found and not duration.parse(properties.get("timeout", TIMEOUT)):
            found.append(("timeout", "it must be greater than 0"))
        return found

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.exec.warnings import of_commands

        return of_commands([("onlyif", properties.get("onlyif"))], properties)

    def observe(self) -> State:
        return State("present")

    def found(self) -> Properties:
        """Present where its guard asks for no reboot."""
        if not self.properties.get("onlyif"):
            raise ResourceError("a reboot has no state to inspect, only triggers")
        return {"ensure": "absent" if self._asked() else "present"}

    def drift_state(self) -> Properties:
        return {}  # it leaves nothing that could drift

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        boot = self.context.boot
        if boot is not None and boot.cause == self.item.index:
            return [self._action(refresh, lambda: None)]  # that is what has been done
        if not refresh and not self._asked():
            return []
        if boot is None and self.provider.foreseen is None:
            return [self._action(refresh, self._reboot)]
        if boot is None:
            self.context.suppose(
                "%s would have rebooted the host first" % self.provider.foreseen.id
            )
            if not self._fired_behind(self.provider.foreseen):
                return []
        elif refresh and boot.knows(self.context.fired):
            return []
        raise ResourceError(
            "the host was already rebooted in this run, and this reboot was triggered later",
            kind="resource.reboot",
            hint="push again",
        )

    def _fired_behind(self, earlier: "Item") -> bool:
        """Whether something that fires it has its turn behind that of another."""
        return any(
            peer.index >= earlier.index and reference in (peer.id, "%s#%s" % (kind, peer.alias))
            for kind, reference in ((name.partition("#")[0], name) for name in self.context.fired)
            for peer in self.context.peers(kind)
        )

    def unachieved(self, state: Any) -> str:
        return ""  # it is back, or the run would not be here

    def assumed_actions(self, refresh: bool) -> List[Action]:
        return [self._action(refresh, lambda: None)]

    def _action(self, refresh: bool, call: Callable[[], None]) -> Action:
        message = wording.REBOOTED_BY_SUBSCRIBE if refresh else wording.REBOOTED
        changes = [Change("ensure", None, "rebooted")]
        return Action(
            message, call, changes=changes, effects=self._effects(), rehearse=self._foresee
        )

    def _foresee(self) -> None:
        self.provider.foreseen = self.item

    def _effects(self) -> List[Effect]:
        from remote_runtime.resources.reboot.post_reboot import Aftermath

        why = "%s would have rebooted the host first" % self.item.id
        return [UnknownEffect(Uncertainty(UNKNOWN, why), Aftermath())]

    def _asked(self) -> bool:
        given = self.properties.get("onlyif")
        if not given:
            return False
        guard = of_guard(given, self.properties, self.provider.name)
        return reader_of(self.context).holds(guard, "onlyif")

    def _reboot(self) -> None:
        span = str(self.properties.get("timeout", TIMEOUT))
        seconds = duration.parse(span)
        self.context.progress("rebooting")
        self.context.depart(seconds)
        self.provider.reboot(seconds, span)
