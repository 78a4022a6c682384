"""What the scripts of removed RPMs may change if the removal is not predicted (target; in previews
only)."""

from typing import TYPE_CHECKING, List, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Effect, PathEffect
from remote_runtime.packages.dnf import effects as dnf_effects
from remote_runtime.packages.dpkg.installed_packages import InstalledPackage
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts import uncertainty as script_uncertainty
from remote_runtime.packages.maintainer_scripts.effects import Open
from remote_runtime.packages.rpm import installed_packages, triggers
from remote_runtime.packages.rpm.effects import REMOVING

if TYPE_CHECKING:
    from remote_runtime.context import Context

_UNREADABLE = "commands that ccm cannot read"


def scripts(context: "Context", names: Sequence[str]) -> List[Effect]:
    """Return the unknown effects of the scripts that run if these packages are removed."""
    if not names:
        return []
    try:
        ask = dnf_effects.asking(context)
        packages = installed_packages.found(names, ask)
        triggered = triggers.of_removal(names, ask)
    except Unknowable:
        calls = [Open(_UNREADABLE, None)]
        return [e for name in names for e in script_uncertainty.unknown_effect(name, calls, ())]
    own = [effect for name, package in packages for effect in _of(context, name, package)]
    return own + triggers.effects(context, triggered, ())


def _of(context: "Context", name: str, package: InstalledPackage) -> List[Effect]:
    """Return the effects of a package's scripts, with its files and without them."""
    gone = [
        PathEffect(path, "absent")
        for path in package.paths
        if context.files.is_there(path) and not context.files.is_directory(path)
    ]
    calls: List[Open] = []
    for without in ([], gone):
        before: List[Effect] = [*without]
        for run in script_sequence.runs(name, package.scripts, REMOVING):
            result = script_sequence.follow(context, before, run, lambda overlay, call: None)
            before += result.effects
            calls += script_sequence.opened(result)
    return [*script_uncertainty.unknown_effect(name, calls, package.paths)]
