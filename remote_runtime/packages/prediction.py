"""Predictions for the packages of later resources (target; in previews only)."""

from typing import Mapping, NamedTuple, Sequence, Tuple

from remote_runtime.packages.package_info import Operation, VersionChange


class PlannedState(NamedTuple):
    """What earlier resources of a preview change: the ``versions`` of packages, "" for removed
    ones, the ``sources`` of packages with the time of each change, and ``holds``.
    """

    versions: Mapping[str, str]
    sources: Sequence[Tuple[str, int]]
    holds: Mapping[str, bool]

    def after(self, changes: Sequence[VersionChange]) -> "PlannedState":
        """Return the state after changes of packages."""
        changed = {change.name: change.after for change in changes}
        return self._replace(versions={**self.versions, **changed})


class Prediction(NamedTuple):
    """The predicted changes of an operation, if everything is as in ``state``."""

    operation: Operation
    state: PlannedState
    changes: Sequence[VersionChange]
