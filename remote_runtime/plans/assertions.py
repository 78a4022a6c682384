"""The certain predictions of a plan file for the resources of a run (target)."""

from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Sequence

from remote_runtime.changes import Action, Change, shortened
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item


class _Promise(NamedTuple):
    changes: List[Change]
    failing: Optional[int]


class PlanAssertions(object):
    """The plan's assertions, by resource; other resources have none."""

    def __init__(self) -> None:
        self._kept: Dict[int, _Promise] = {}

    def add(self, item: Item, changes: Sequence[Change], failing: Optional[int] = None) -> None:
        """These changes will be made to a resource, and no others.

        ``failing`` is the number of its actions that make them, if the next one is expected to
        fail.
        """
        self._kept[item.index] = _Promise(list(changes), failing)

    def hold(self, item: Item, actions: Sequence[Action]) -> List[Action]:
        """Check the actions against the prediction, including one that must fail.

        ``ResourceError`` if the results would differ.
        """
        promise = self._kept.get(item.index)
        if promise is None:
            return list(actions)
        now = _changes(actions[: promise.failing])
        if _records(now) != _records(promise.changes):
            _refuse(_words(promise.changes, item), _words(_changes(actions), item))
        if promise.failing is None or promise.failing >= len(actions):
            return list(actions)
        return [*actions[: promise.failing], *_to_fail(item, actions[promise.failing])]


def _to_fail(item: Item, action: Action) -> List[Action]:
    """An action that was predicted to fail.

    It does not start if nothing prevents its success now; if it succeeds anyway, the resource
    fails.
    """

    def otherwise() -> NoReturn:
        _refuse("a failure", _words(action.changes, item), done="Nothing more was changed")

    def call() -> None:
        try:
            if action.preflight is not None:
                action.preflight()
        except ResourceError:
            action.call()
        else:
            otherwise()

    return [action._replace(call=call), Action(action.message, otherwise, effects=())]


def _refuse(promised: str, now: str, done: str = "Nothing was changed") -> NoReturn:
    raise ResourceError(
        "expected by the plan: %s; the host would now do: %s. %s"
        % (promised or "nothing", now or "something else", done),
        kind="plan.otherwise",
        hint="find out what changed, then create a new plan",
    )


def _changes(actions: Sequence[Action]) -> List[Change]:
    return [change for action in actions for change in action.changes]


def _records(changes: Sequence[Change]) -> List[Any]:
    return [(change.what, change.before, change.after) for change in changes]


def _words(changes: Sequence[Change], item: Item) -> str:
    """The changes, without the values of a sensitive resource."""
    if item.sensitive:
        return ", ".join([change.what for change in changes])
    values = [(c.what, shortened(c.before), shortened(c.after)) for c in changes]
    return ", ".join(["%s %s → %s" % one for one in values])
