"""The unknown effects of package scripts (target; in previews only)."""

from typing import List, Sequence

from remote_runtime.effects import Covers, UnknownEffect
from remote_runtime.packages.maintainer_scripts.account_commands import Account, AccountCalls
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.effects import Open, may_fit, paths_of
from remote_runtime.packages.maintainer_scripts.known_commands import OPEN
from remote_runtime.packages.maintainer_scripts.unit_and_account_calls import stands_in
from remote_runtime.system.paths import is_within
from remote_runtime.uncertainty import UNKNOWN as NOT_KNOWN
from remote_runtime.uncertainty import Uncertainty


def unknown_effect(package: str, calls: Sequence[Open], own: Sequence[str]) -> List[UnknownEffect]:
    """Return the unknown effects of a package's open script calls; ``own`` are the package's
    paths."""
    effects = []
    limited = [call for call in calls if paths_of(call) is not None]
    if limited:
        text = "the scripts of the package %s may create or change it" % package
        patterns = [path for call in limited for path in paths_of(call) or ()]
        effects.append(UnknownEffect(Uncertainty(NOT_KNOWN, text), _named(patterns)))
    unknown = [call for call in calls if paths_of(call) is None]
    if unknown:
        names = sorted({call.call for call in unknown})
        text = "the scripts of the package %s run %s, which may create or change it"
        uncertainty = Uncertainty(NOT_KNOWN, text % (package, _listed(names)))
        effects.append(
            UnknownEffect(uncertainty, _anything(" ".join(call.text for call in unknown), own))
        )
    return effects


def of_accounts(package: str, calls: AccountCalls) -> List[UnknownEffect]:
    """Return the unknown effects of a package's scripts on accounts."""
    if not (calls.removed or calls.renamed or calls.nameless):
        return []

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind not in ("user", "group"):
            return False
        if (kind, value) in calls.renamed or (present and (kind, value) in calls.removed):
            return True
        return calls.nameless and not present

    text = "the scripts of the package %s create, remove or rename accounts" % package
    return [UnknownEffect(Uncertainty(NOT_KNOWN, text), covers)]


def of_taken_numbers(package: str, accounts: Sequence[Account]) -> List[UnknownEffect]:
    """Return the unknown effects of a script that creates accounts whose numbers others have."""
    names = {account[:2] for account in accounts}

    def covers(kind: str, value: str, present: bool) -> bool:
        return (kind, value) in names and not present

    text = "the scripts of the package %s use a uid or gid that another account has" % package
    return [UnknownEffect(Uncertainty(NOT_KNOWN, text), covers)] if names else []


def _listed(names: Sequence[str]) -> str:
    visible_names = [name.replace(UNKNOWN, "...") for name in names[:3]]
    more = len(names) - len(visible_names)
    return ", ".join(visible_names) + (" and %d more" % more if more else "")


def _named(patterns: Sequence[str]) -> Covers:
    def covers(kind: str, value: str, present: bool) -> bool:
        return kind == "path" and any(may_fit(value, pattern, present) for pattern in patterns)

    return covers


def _anything(text: str, own: Sequence[str]) -> Covers:
    inside = frozenset(own)

    def covers(kind: str, value: str, present: bool) -> bool:
        """Return whether the script may change the object with this value."""
        if kind == "path":
            return (
                value in inside
                or value in text
                or any(value != top and is_within(value, top) for top in OPEN)
            )
        return not present and kind in ("user", "group", "unit") and stands_in(value, text)

    return covers
