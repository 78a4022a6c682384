"""The hold that keeps a package at its version (target)."""

from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from remote_runtime.base import Action, Change
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.values import Installed
from remote_runtime.resources.package import wording

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.values import VersionChange

    Changes = Sequence[VersionChange]


class Hold(object):
    """What one resource wants of it: ``wanted`` is None where it leaves it alone."""

    def __init__(self, provider: PackageManager, name: str, wanted: Optional[bool]) -> None:
        self._provider, self._name, self.wanted = provider, name, wanted

    def is_right(self, installed: Installed) -> bool:
        """Whether nothing is to be done about it."""
        return self.wanted in (None, self._provider.is_held(self._name, installed))

    def counts(self, installed: Installed) -> Installed:
        """The package as it is for a change of its version: a hold of its own is in no way."""
        return installed if self.wanted is None else installed._replace(held=False)

    def lift(self, installed: Installed) -> None:
        """Let the package manager predict a change of a package that the push releases before."""
        if self.wanted is not None and installed.held:
            self._provider.plan_hold(self._name, False)

    def released(self, installed: Installed, change: "Callable[[], Changes]") -> "Changes":
        """Change the version of a package whose hold is released meanwhile. If that fails, it is on
        hold again."""
        if self.wanted is None or not installed.held:
            return change()
        self._provider.set_hold(self._name, False)
        try:
            return change()
        except BaseException:
            self._provider.set_hold(self._name, True)
            raise

    def actions(self, context: "Context", installed: Installed, changing: bool) -> List[Action]:
        """What is to be done about it, behind a change of the version if there is one."""
        wanted, held = self.wanted, self._provider.is_held(self._name, installed)
        if wanted is None or (wanted == held and not (changing and wanted)):
            return []
        trouble = self._provider.hold_trouble()
        if trouble is not None:
            raise trouble
        if context.noop:
            self._provider.plan_hold(self._name, wanted)
        if changing and not wanted:
            return [Action("", lambda: None, [Change("hold", held, wanted)], [])]

        def act() -> None:
            self._provider.set_hold(self._name, wanted is True)
            self._provider.acted()

        if wanted == held:  # again, behind the change
            return [Action("", act, [], [])]
        message = wording.HELD if wanted else wording.RELEASED
        return [Action(message, act, [Change("hold", held, wanted)], [])]
