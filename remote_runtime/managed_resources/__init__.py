"""Resources while they run (target)."""

from typing import Type

from remote_runtime.base import ActionStateType, PathStateType, StateType
from remote_runtime.managed_resources.managed_resource import ManagedResource


def managed_class(kind: Type[StateType]) -> Type[ManagedResource]:
    """The class that runs the resources of a type."""
    if issubclass(kind, ActionStateType):
        from remote_runtime.managed_resources import action_resource

        return action_resource.ActionResource
    if hasattr(kind, "tasks"):
        from remote_runtime.managed_resources import task_resource

        return (
            task_resource.PathTaskResource
            if issubclass(kind, PathStateType)
            else task_resource.TaskResource
        )
    return ManagedResource
