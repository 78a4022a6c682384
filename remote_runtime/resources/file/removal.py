"""How a path becomes absent (target)."""

from typing import List, Optional

from remote_runtime.base import Action, Change, Missing, PathEffect, ResourceType
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file import wording
from remote_runtime.system.paths import Status


def actions(resource: ResourceType, status: Optional[Status]) -> List[Action]:
    """What removes what is there. ``Missing`` for a directory that is not empty, without force."""
    if status is None:
        return []
    if status.kind != "directory":
        return [_removing(resource, wording.REMOVED, "present", False)]
    if resource.properties.get("force") is True:
        message = wording.DIRECTORY_REMOVED_RECURSIVELY
        return [_removing(resource, message, "directory", True)]
    action = _removing(resource, wording.DIRECTORY_REMOVED, "directory", False)
    left = resource.context.files.entries(resource.name)
    if left:
        raise Missing(
            "the directory %s is not empty: it contains %s" % (resource.name, _some(left)),
            would=[action],
            hint="not removed. See `ccm docs file` for removing directories with their contents",
        )
    return [action]


def assumed_actions(resource: ResourceType) -> Action:
    """The removal of what nobody can tell what it is."""
    return _removing(resource, wording.REMOVED, "present", False)


def _removing(resource: ResourceType, message: str, before: str, recursively: bool) -> Action:
    def remove() -> None:
        if resource.name == "/":
            raise ResourceError("the root directory cannot be removed")
        resource.provider.remove(resource.name, recursively)
        resource.context.changed_paths.add(resource.name)

    def rehearse() -> None:
        resource.context.files.obstacles(resource.name).removing(recursively)

    effects = [PathEffect(resource.name, "absent")]
    return Action(
        message,
        remove,
        changes=[Change("ensure", before, "absent")],
        effects=effects,
        rehearse=rehearse,
    )


def _some(entries: List[str]) -> str:
    shown = ", ".join(entries[:3])
    return shown if len(entries) <= 3 else "%s and %d more" % (shown, len(entries) - 3)
