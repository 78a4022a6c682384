"""Commands."""

import os

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

STATELESS = True


def creates(world: World) -> Scenario:
    """A command that runs until its file is there."""
    path = world.path("made")
    command = f"sh -c 'touch {path} # {SECRET}'"
    return Scenario(
        "make",
        {"command": command, "creates": path, "environment": [f"WORD={SECRET}"]},
        {"creates": lambda: os.remove(path)},
    )


def below_cwd(world: World) -> Scenario:
    """The file is named as the command sees it, and the resource with a text that is no command."""
    path = world.path("made")
    return Scenario(
        "don't make it twice",
        {"command": "touch made", "creates": "made", "cwd": world.path()},
        {"creates": lambda: os.remove(path)},
    )


def guarded(world: World) -> Scenario:
    """A command that its guard keeps back from then on."""
    path = world.path("made")
    breaks = {"conditions": lambda: os.remove(path)}
    return Scenario(f"touch {path}", {"unless": f"test -e {path}"}, breaks)


SCENARIOS = (creates, below_cwd, guarded)
