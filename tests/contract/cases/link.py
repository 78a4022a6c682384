"""Symlinks."""

import os
from collections.abc import Callable

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World


def _breaks(
    path: str, gone: Callable[[], object] = lambda: None
) -> dict[str, Callable[[], object]]:
    """How to undo a link; ``gone`` is what happens to its path once it is removed."""

    def missing() -> None:
        os.remove(path)
        gone()

    def elsewhere() -> None:
        os.remove(path)
        os.symlink("elsewhere", path)

    return {"type": missing, "target": elsewhere}


def present(world: World) -> Scenario:
    """A link that is missing and leads nowhere."""
    path = world.path("current")
    return Scenario(path, {"target": f"releases/{SECRET}"}, _breaks(path))


def moved(world: World) -> Scenario:
    """A link that leads elsewhere."""
    path = world.path("current")
    os.symlink(f"not-{SECRET}", path)
    return Scenario(path, {"target": world.path(SECRET)}, _breaks(path))


def in_place_of_a_directory(world: World) -> Scenario:
    """An empty directory where the link has to be."""
    path = world.path("current")
    os.mkdir(path)
    properties = {"target": SECRET, "force": True}
    return Scenario(path, properties, _breaks(path, lambda: os.mkdir(path)))


def absent(world: World) -> Scenario:
    """A link that has to go."""
    path = world.path("current")
    os.symlink(SECRET, path)
    return Scenario(path, {"ensure": "absent"}, {"path": lambda: os.symlink("nowhere", path)})


SCENARIOS = (present, moved, in_place_of_a_directory, absent)
