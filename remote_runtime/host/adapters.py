"""Chooses the adapter of a state type (target)."""

from typing import Any, Callable, Type

from remote_runtime.base import ActionStateType, PathStateType, StateType, StepStateType
from remote_runtime.context import Context
from remote_runtime.host.adapter import ActionResource, StateResource
from remote_runtime.item import Item
from remote_runtime.resource import ManagedResource


def adapter_for(kind: Type[StateType]) -> Callable[[Item, Any, Context], ManagedResource]:
    """The function that creates resources of a state type for the lifecycle."""
    made = StateResource
    if issubclass(kind, ActionStateType):
        made = ActionResource
    elif issubclass(kind, StepStateType):
        from remote_runtime.host.step_adapter import StepResource

        made = StepResource
    elif hasattr(kind, "tasks"):
        from remote_runtime.host import step_adapter

        is_path = issubclass(kind, PathStateType)
        made = step_adapter.PathTaskResource if is_path else step_adapter.TaskResource
    return lambda item, provider, context: made(item, provider, context, kind=kind)
