"""Files and directories."""

import os
from collections.abc import Callable
from pathlib import Path

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.fakes import GROUP, OWNER, ROOT

OWNED = {"owner": OWNER, "group": GROUP}
STRANGER = 4711


def ownership(path: str) -> dict[str, Callable[[], object]]:
    """What only root can undo."""
    if not ROOT:
        return {}
    return {
        "owner": lambda: os.chown(path, STRANGER, -1),
        "group": lambda: os.chown(path, -1, STRANGER),
    }


def content(world: World) -> Scenario:
    """Another content and another mode than those of the file that is there."""
    path = world.write("motd", f"not {SECRET}\n", 0o640)
    return Scenario(
        path,
        {"content": world.blob(f"{SECRET}\n"), "mode": "0644", **OWNED},
        {
            "content": lambda: Path(path).write_text("edited\n"),
            "mode": lambda: os.chmod(path, 0o600),
            "type": lambda: os.remove(path),
            **ownership(path),
        },
    )


def directory(world: World) -> Scenario:
    """A directory with a parent, which both are missing."""
    path = world.path("srv", "app")
    return Scenario(
        path,
        {"ensure": "directory", "mode": "0750", **OWNED},
        {
            "type": lambda: os.rmdir(path),
            "mode": lambda: os.chmod(path, 0o700),
            **ownership(path),
        },
    )


def absent(world: World) -> Scenario:
    """A file that has to go."""
    path = world.write("old", f"{SECRET}\n")
    return Scenario(
        path,
        {"ensure": "absent"},
        {
            "path": lambda: world.write("old", "again\n"),
            "path: a symlink that leads nowhere": lambda: os.symlink("nowhere", path),
        },
    )


def backup(world: World) -> Scenario:
    """Another content, and the old one beside it."""
    made = content(world)
    return made._replace(properties={**made.properties, "backup": True})


def kept(world: World) -> Scenario:
    """A file whose content counts only while it is missing."""
    path = world.path("seed")
    return Scenario(
        path,
        {"content": world.blob(f"{SECRET}\n"), "replace": False, "mode": "0600", **OWNED},
        {
            "mode": lambda: os.chmod(path, 0o644),
            "type": lambda: os.remove(path),
            **ownership(path),
        },
    )


SCENARIOS = (content, directory, absent, backup, kept)
