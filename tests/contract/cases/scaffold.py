"""Directories that are rendered on the controller."""

import functools
import os
import shutil
from typing import Any

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World


def source(world: World) -> dict[str, Any]:
    """The tree of a plan: a file, one that can be executed, and an empty directory."""
    files = [
        {"path": "app.conf", **world.blob(f"word = {SECRET}\n")},
        {"path": "bin/run", "executable": True, **world.blob("#!/bin/sh\n")},
    ]
    return {"$tree": "templates/app", "files": files, "directories": ["empty"]}


def moved(top: str, name: str) -> None:
    """A directory of the tree is somewhere else, and a symlink leads there."""
    os.rename(f"{top}/{name}", f"{top}-{name}")
    os.symlink(f"{top}-{name}", f"{top}/{name}")


def purged(world: World) -> Scenario:
    """A directory that is missing, but for a file that is not part of it."""
    top = world.path("app")
    world.write("app/other", "")
    return Scenario(
        top,
        {"source": source(world), "purge": True},
        {
            "type": lambda: shutil.rmtree(top),
            "app.conf": lambda: os.remove(f"{top}/app.conf"),
            "app.conf content": lambda: world.write("app/app.conf", f"not {SECRET}\n"),
            "bin/run": lambda: os.remove(f"{top}/bin/run"),
            "bin/run content": lambda: world.write("app/bin/run", "exit 1\n", 0o755),
            "bin/run mode": lambda: os.chmod(f"{top}/bin/run", 0o644),
            "app.conf mode": lambda: os.chmod(f"{top}/app.conf", 0o744),
            "bin": lambda: shutil.rmtree(f"{top}/bin"),
            "bin: a symlink to what it held": lambda: moved(top, "bin"),
            "empty": lambda: os.rmdir(f"{top}/empty"),
            "other files": lambda: world.write("app/other", ""),
        },
    )


def absent(world: World) -> Scenario:
    """The files of a directory have to go."""
    world.write("app/app.conf", f"{SECRET}\n")
    world.write("app/bin/run", "")
    return Scenario(
        world.path("app"),
        {"ensure": "absent", "source": source(world)},
        {
            name: functools.partial(world.write, f"app/{name}", "")
            for name in ("app.conf", "bin/run")
        },
    )


SCENARIOS = (purged, absent)
