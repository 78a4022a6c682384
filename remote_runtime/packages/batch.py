"""Changes the packages of consecutive resources in one transaction, and predicts it (target).

The first resource runs the transaction. Each of the other resources still runs, and its event shows
what the transaction changed for it. If the transaction fails, each package that it did not reach is
tried alone, so that each failure belongs to the package that caused it.

In a preview, the first resource simulates the transaction. Each of the other resources uses the
part that it would change, unless an earlier resource leaves something else than that transaction.
"""

from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import EarlyChange, Installed, Operation, VersionChange
from remote_runtime.plan_item import Item

Changes = Sequence[VersionChange]
Shares = Optional[Sequence[Changes]]
MAX_PACKAGES = 200  # packages of one transaction


class PlannedChange(NamedTuple):
    """The planned change of a package; ``before`` is the version installed before the change."""

    item: Item
    operation: Operation
    before: Installed


def planned_changes(
    manager: PackageManager, own: Operation, upcoming: Iterable[Tuple[Item, Any]]
) -> List[PlannedChange]:
    """Return the changes of the same kind by the resources right after the current one, whose
    operation is ``own``; ``upcoming`` has the later resources with their operations.

    A push that is bound to a plan file changes each package alone.
    """
    context = manager.context
    planned: List[PlannedChange] = []
    if context.promised or context.observes or context.halts or not manager.batches:
        return planned
    for item, change in upcoming:
        if not manager.takes(item):
            break
        if change is not None:
            operation, before = change
            if manager.kind(operation) != manager.kind(own) or len(planned) >= MAX_PACKAGES:
                break
            planned.append(PlannedChange(item, operation, before))
    return planned


def predict(
    manager: PackageManager, first: Operation, others: Callable[[], Sequence[PlannedChange]]
) -> Changes:
    """Return the predicted changes of a package that a push changes together with ``others`` of
    later resources.

    ``ResourceError`` if changing it alone would fail, too.
    """
    state = manager.planned_state()
    known = manager.predicted_ahead.get(manager.context.position)
    if known is not None and (known.operation, known.state) == (first, state):
        return known.changes
    upcoming, all_changes = _together(manager.predict_together, manager, first, others())
    if not upcoming:
        return manager.predict(first)
    from remote_runtime.packages.prediction import Prediction

    for other, earlier, share in zip(upcoming, all_changes, all_changes[1:]):
        state = state.after(earlier)
        manager.predicted_ahead[other.item.index] = Prediction(other.operation, state, share)
    return all_changes[0]


def carry_out(
    manager: PackageManager,
    first: Operation,
    *,
    others: Callable[[], Sequence[PlannedChange]],
    lock_timeout: float,
    tried: Callable[[Callable[[], Changes]], Changes] = lambda step: step(),
) -> Changes:
    """Change a package, together with ``others`` of later resources; return its changes.

    ``tried`` calls the function that changes it alone, and calls it again if that may help.

    ``ResourceError`` if changing it alone fails, too.
    """
    context = manager.context
    done = manager.changed_ahead.pop(context.position, None)
    if done is not None:
        manager.acted()  # this resource changes nothing more: the lists still hold
        return done.changes
    upcoming, all_changes = _together(manager.shares, manager, first, others())
    if not upcoming:
        return tried(lambda: manager.carry_out(first, lock_timeout))
    operations = [first, *(other.operation for other in upcoming)]
    context.before_change([other.item for other in upcoming])
    not_changed = context.ledger().announce([other.item for other in upcoming])
    failed: Optional[ResourceError] = None
    try:
        manager.carry_out_together(operations, lock_timeout)
    except ResourceError as error:
        failed = error
    try:
        if failed is not None and not manager.has_reached(first):
            reason = "%s failed together with other packages; ccm retries it alone" % str(first)
            context.notice("info", reason)
            return tried(lambda: manager.carry_out(first, lock_timeout))
        return all_changes[0]
    finally:  # another try may also complete packages that the failed transaction has unpacked
        for other, share in zip(upcoming, all_changes[1:]):
            if failed is None or manager.has_reached(other.operation):
                manager.changed_ahead[other.item.index] = EarlyChange(other.before, share)
                context.changed_ahead.add(other.item.index)
            else:
                not_changed(other.item)


def _together(
    shares: Callable[[Sequence[Operation]], Shares],
    manager: PackageManager,
    first: Operation,
    upcoming: Sequence[PlannedChange],
) -> Tuple[Sequence[PlannedChange], Sequence[Changes]]:
    """Return the later resources that are changed with the first, and the changes of each
    operation according to ``shares``, which may leave out the last ones.

    A package that an earlier one installs as a dependency is left to its own resource, which then
    finds it installed.
    """
    while upcoming:
        all_changes = shares([first, *(other.operation for other in upcoming)])
        if all_changes is None:
            break
        upcoming = upcoming[: len(all_changes) - 1]
        own = [
            other
            for other, share in zip(upcoming, all_changes[1:])
            if manager.plain(other.operation.name) in [change.name for change in share]
        ]
        if len(own) == len(upcoming):
            return upcoming, all_changes
        upcoming = own
    return (), ()


def shares(
    operations: Sequence[Operation],
    changes: Sequence[VersionChange],
    needs: Dict[str, List[str]],
) -> List[List[VersionChange]]:
    """Return the changes of each operation: its own, and those of packages that only it needs so
    far; the last one also has those that none of them needs. ``needs`` is as for ``divided``.
    """
    names = [operation.name.partition(":")[0] for operation in operations]
    result, remaining = divided(names, changes, needs)
    result[-1] += remaining
    return result


def divided(
    names: Sequence[str],
    changes: Sequence[VersionChange],
    needs: Dict[str, List[str]],
) -> Tuple[List[List[VersionChange]], List[VersionChange]]:
    """Return the changes of each named package: its own, and those of packages that only it needs
    so far; and the changes of packages that none of them needs. ``needs`` has the names of required
    packages by the name of the package that needs them.
    """
    left = {change.name: change for change in changes}
    found: List[List[VersionChange]] = []
    for first in names:
        own: List[VersionChange] = []
        waiting = [first]
        while waiting:
            name = waiting.pop()
            change = left.pop(name, None)
            if change is not None:
                own.append(change)
                waiting += needs.get(name, ())
        found.append(sorted(own))
    return found, list(left.values())
