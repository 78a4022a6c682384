"""Resources while they run (target)."""

from typing import Type

from remote_runtime.base import ActionStateType, PathStateType, StateType
from remote_runtime.managed.resource import ManagedResource


def managed_class(kind: Type[StateType]) -> Type[ManagedResource]:
    """The class that runs the resources of a type."""
    if issubclass(kind, ActionStateType):
        from remote_runtime.managed import action

        return action.ActionResource
    if hasattr(kind, "tasks"):
        from remote_runtime.managed import steps

        return steps.PathTaskResource if issubclass(kind, PathStateType) else steps.TaskResource
    return ManagedResource
