"""Follows the maintainer scripts of a package that is installed or removed (target; in previews
only)."""

from typing import TYPE_CHECKING, Callable, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages import tmpfiles
from remote_runtime.packages.maintainer_scripts import alternatives, maintscript_helper
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.effects import (
    Declared,
    Open,
    ScriptEffects,
    ScriptOutcome,
    possible_calls,
)
from remote_runtime.packages.maintainer_scripts.path_commands import LookupBudget
from remote_runtime.packages.maintainer_scripts.shell import Call
from remote_runtime.uncertainty import Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.effects import Effect
    from remote_runtime.overlay.host_overlay import HostOverlay

Declare = Callable[["HostOverlay", Call], Optional[Declared]]


class Run(NamedTuple):
    """One script with its arguments."""

    package: str
    name: str
    text: str
    arguments: Sequence[str]

    def calls(self) -> List[Call]:
        """Return the calls that the arguments do not exclude."""
        return possible_calls(self.package, self.name, self.text, self.arguments)


def runs(
    package: str, scripts: Mapping[str, str], arguments: Mapping[str, Sequence[str]]
) -> List[Run]:
    """Return the scripts of a package that are run, each with its arguments, in order."""
    return [
        Run(package, name, scripts[name], words)
        for name, words in arguments.items()
        if scripts.get(name)
    ]


def calls_of_scripts(runs: Sequence[Run]) -> deb_scripts.UnitAndAccountCalls:
    """Return the effects on units and accounts of the calls that these runs may make."""
    calls = [call for run in runs for call in run.calls()]
    return deb_scripts.read("\n".join(call.text for call in calls), [call.words for call in calls])


def requests(runs: Sequence[Run]) -> List[maintscript_helper.Request]:
    """Return their requests to dpkg-maintscript-helper."""
    all_requests = [maintscript_helper.request(call) for run in runs for call in run.calls()]
    return [one for one in all_requests if one is not None]


def no_declared(call: Call) -> Optional[Declared]:
    """Return no effects for a call of dpkg-maintscript-helper, whose work belongs to upgrades and
    other scripts; None for another call."""
    return Declared([], []) if call.name == maintscript_helper.NAME else None


def follow(
    context: "Context", effects: Sequence["Effect"], run: Run, declare: Declare
) -> ScriptOutcome:
    """Return the effects of a script on the host, after these effects of the packages."""
    overlay = context.overlay_with(effects)

    def lay(effect: PathEffect) -> None:
        overlay.lay((effect,), Uncertainty(), "")

    def declared(call: Call) -> Optional[Declared]:
        budget.spend(word for word in call.words if word.startswith("/"))
        try:
            known = declare(overlay, call)
            known = known or tmpfiles.declared(overlay.files, overlay.accounts, call, budget)
            return known or alternatives.declared(overlay.files, call)
        except (ResourceError, Unknowable):
            return Declared([], [UNKNOWN])  # of an unreadable path

    budget = LookupBudget()
    follower = ScriptEffects(
        overlay.files, overlay.accounts, lay=lay, declared=declared, budget=budget
    )
    return follower.follow(run.package, run.name, run.text, run.arguments)


def opened(followed: ScriptOutcome) -> List[Open]:
    """Return all possible changes of a script, including the known ones."""
    paths = [effect.path for effect in followed.effects]
    return followed.open + ([Open("", paths)] if paths else [])
