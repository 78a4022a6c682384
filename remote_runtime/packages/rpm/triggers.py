"""Scripts of RPMs that run because packages are removed (target; in previews only)."""

from typing import TYPE_CHECKING, Callable, FrozenSet, List, Sequence, Tuple

from remote_runtime.effects import Effect
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts import uncertainty as script_uncertainty
from remote_runtime.packages.maintainer_scripts.script_sequence import Run
from remote_runtime.packages.rpm import package_contents as rpm_contents

if TYPE_CHECKING:
    from remote_runtime.context import Context

_PART, _END = "\x1e", "\x1d"
_TAGS = ("=NAME", "TRIGGERTYPE", "TRIGGERCONDS", "TRIGGERSCRIPTPROG", "TRIGGERSCRIPTS")
_FORM = "[%s%s]" % (_PART.join("%%{%s}" % tag for tag in _TAGS), _END)
_OWN = ("rpm", "-q", "--queryformat", _FORM, "--")
_OTHERS = ("rpm", "-q", "--triggeredby", "--queryformat", _FORM, "--")
_TOO_LONG = "#!a-script-that-is-too-long\n"


def of_removal(names: Sequence[str], ask: Callable[[Sequence[str]], str]) -> List[Run]:
    """Return the triggers that the removal of these packages may run: those of other packages, and
    their own ones. ``ask`` runs a query and returns its output.
    """
    if not names:
        return []
    others = [
        Run(name, "trigger" + kind, text, ["1", "0"])
        for name, kind, conditions, text in _rows(ask((*_OTHERS, *names)))
        if kind in ("un", "postun") and not conditions.isdisjoint(names)
    ]
    own = [
        Run(name, "trigger" + kind, text, ["0", "1"])
        for name, kind, _, text in _rows(ask((*_OWN, *names)))
        if kind == "un"
    ]
    return others + own


def effects(context: "Context", runs: Sequence[Run], removed: Sequence[Effect]) -> List[Effect]:
    """Return the unknown effects of triggers, before and after the removal with these effects."""
    found: List[Effect] = []
    for run in runs:
        for before in ((), removed):
            result = script_sequence.follow(context, before, run, lambda overlay, call: None)
            opened = script_sequence.opened(result)
            found += script_uncertainty.unknown_effect(run.package, opened, ())
    return found


def _rows(printed: str) -> List[Tuple[str, str, FrozenSet[str], str]]:
    """Return the package, the kind, the names in the conditions and the text of each trigger."""
    rows = []
    for row in printed.split(_END)[:-1]:
        fields = row.split(_PART)
        if len(fields) != len(_TAGS):
            continue
        name, kind, conditions, program, text = fields
        names = frozenset(one.partition(" ")[0] for one in conditions.split(", "))
        try:
            text = rpm_contents.script_text(program, text)
        except ValueError:
            text = _TOO_LONG
        # A sentence about a package without triggers may come before it.
        rows.append((name.rpartition("\n")[2], kind, names, text))
    return rows
