"""The installations or removals that dnf can do in one transaction (target)."""

from typing import Callable, List, Optional, Sequence, Set

from remote_runtime.packages.dnf import transaction as dnf_transaction
from remote_runtime.packages.package_info import Operation, VersionChange

_INSTALLATIONS = (*dnf_transaction.INSTALLING, "Upgrading", "Reinstalling")
_REMOVALS = ("Removing", "Removing unused dependencies")


def shares(
    operations: Sequence[Operation],
    resolved: str,
    name_of: Callable[[str], str],
    follows: Callable[[Sequence[str]], Set[str]],
) -> Optional[Sequence[Sequence[VersionChange]]]:
    """Return the changes of each operation to its own package; None if dnf's printed table,
    ``resolved``, contains more changes than single transactions would make.

    As in a preview, dependencies are not recorded. ``follows`` returns the names that may be
    installed or removed with an earlier operation. The first such operation and all later ones have
    an empty share; when their resources run, they find the change done.
    """
    sections = dnf_transaction.sections(resolved)
    allowed = _REMOVALS if operations[0].removal else _INSTALLATIONS
    own = [name_of(operation.name) for operation in operations]
    if not sections or not sections <= set(allowed) or len(set(own)) != len(own):
        return None
    if not set(own) <= set(dnf_transaction.changed(resolved)):
        return None
    dependent_names = follows(own)
    result: List[List[VersionChange]] = []
    for operation, name in zip(operations, own):
        if result and name in dependent_names:
            break
        result.append([VersionChange(operation.name, "", operation.version)])
    return result + [[] for _ in operations[len(result) :]]


def needed(names: Sequence[str], query: Callable[..., str]) -> Set[str]:
    """Return the packages that may be installed because packages of these names need them."""
    found: Set[str] = set()
    for words in (("--requires", "--recursive"), ("--recommends",)):
        found.update(query(*words, "--resolve", *names, form="%{name}\n").split())
    return found


def dependent(names: Sequence[str], query: Callable[..., str]) -> Set[str]:
    """Return the packages that may be removed because they need packages of these names."""
    others = ",".join(names[:-1])  # nothing can leave with the last one
    words = ("--installed", "--recursive", "--whatrequires", others)
    return set(query(*words, form="%{name}\n").split())
