"""What a plan that was kept says for certain of the resources of a run (target)."""

from typing import Any, Dict, List, Sequence

from remote_runtime.changes import Action, Change, shortened
from remote_runtime.errors import ResourceError
from remote_runtime.item import Item


class Promises(object):
    """The changes that were promised, by resource; of others nothing was."""

    def __init__(self) -> None:
        self._changes: Dict[int, List[Change]] = {}

    def add(self, item: Item, changes: Sequence[Change]) -> None:
        """These changes will be made of a resource, and no others."""
        self._changes[item.index] = list(changes)

    def hold(self, item: Item, actions: Sequence[Action]) -> None:
        """``ResourceError`` where actions would not come out as it was promised."""
        promised = self._changes.get(item.index)
        if promised is None:
            return
        now = [change for action in actions for change in action.changes]
        if _records(now) != _records(promised):
            raise ResourceError(
                "the plan says for certain: %s; now it would be: %s. Nothing was done"
                % (
                    _words(promised, item) or "nothing to do",
                    _words(now, item) or "something else",
                ),
                kind="plan.otherwise",
                hint="find out what came in between, then plan anew",
            )


def _records(changes: Sequence[Change]) -> List[Any]:
    return [(change.what, change.before, change.after) for change in changes]


def _words(changes: Sequence[Change], item: Item) -> str:
    """The changes, without the values of a sensitive resource."""
    if item.sensitive:
        return ", ".join([change.what for change in changes])
    told = [(c.what, shortened(c.before), shortened(c.after)) for c in changes]
    return ", ".join(["%s %s → %s" % one for one in told])
