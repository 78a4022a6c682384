"""Groups, on a host with a small shadow suite: one file of groups."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from remote_runtime.system import account_files
from tests.contract.scenario import Scenario
from tests.contract.world import World

ON_A_HOST = True

NAME = "team"

GROUPADD = 'echo "$3:x:$2:" >> group\n'
GROUPMOD = 'sed -i "s/^$3:x:[0-9]*:/$3:x:$2:/" group\n'
GROUPDEL = 'sed -i "/^$1:/d" group\n'
GETENT = 'grep "^$2:" group || exit 2\n'


def host(world: World, text: str) -> Path:
    """The file of groups of a host whose programs and database of groups are of this directory."""
    for name, script in (("groupadd", GROUPADD), ("groupmod", GROUPMOD), ("groupdel", GROUPDEL)):
        world.program(name, script)
    world.program("getent", GETENT)
    path = Path(world.write("group", text))

    def find(place: int) -> Callable[[Any], tuple[str, str, int, list[str]]]:
        def entry(key: Any) -> tuple[str, str, int, list[str]]:
            for line in path.read_text().splitlines():
                name, _, number, _ = line.split(":")
                if (name, int(number))[place] == key:
                    return name, "x", int(number), []
            raise KeyError(key)

        return entry

    for target, new in (
        ("grp.getgrnam", find(0)),
        ("grp.getgrgid", find(1)),
        ("os.geteuid", lambda: 0),
    ):
        world.later.enter_context(mock.patch(target, new))
    world.later.enter_context(mock.patch.object(account_files, "ETC", str(world.root)))
    return path


def present(world: World) -> Scenario:
    """A group that is missing."""
    path = host(world, "root:x:0:\n")
    breaks = {
        "ensure": lambda: path.write_text("root:x:0:\n"),
        "gid": lambda: path.write_text(f"root:x:0:\n{NAME}:x:4200:\n"),
    }
    return Scenario(NAME, {"gid": 4100}, breaks)


def renumbered(world: World) -> Scenario:
    """A group with another number."""
    path = host(world, f"root:x:0:\n{NAME}:x:4200:\n")
    kept = world.path("kept")
    shutil.copy(path, kept)
    breaks = {
        "ensure": lambda: path.write_text("root:x:0:\n"),
        "gid": lambda: shutil.copy(kept, path),
    }
    return Scenario(NAME, {"gid": 4100}, breaks)


def absent(world: World) -> Scenario:
    """A group that has to go."""
    path = host(world, f"root:x:0:\n{NAME}:x:4100:\n")
    text = f"{NAME}:x:4200:\n"
    return Scenario(NAME, {"ensure": "absent"}, {"ensure": lambda: path.write_text(text)})


SCENARIOS = (present, renumbered, absent)
