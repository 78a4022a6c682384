"""Archives, from a server on loopback."""

import hashlib
import os
from pathlib import Path
from typing import Any

from tests.contract.cases.file import OWNED, ownership
from tests.contract.scenario import PASSWORD, SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.archive.making import member, tar
from tests.remote_runtime.archive.server import Web, content

DATA = tar([member("app/run", b"#!/bin/sh\n")])


def served(world: World) -> dict[str, Any]:
    """The properties of a download."""
    web = Web()
    world.later.callback(web.close)
    web.answers["/app.tar.gz"] = content(DATA)
    os.mkdir(world.path("dl"))
    return {
        "url": web.url("/app.tar.gz"),
        "username": "deploy",
        "password": f"{PASSWORD}-1",
        "headers": {"X-Token": f"{PASSWORD}-2"},
        **OWNED,
    }


def download(world: World) -> Scenario:
    """An archive that is not there yet."""
    path = world.path("dl", "app.tar.gz")
    return Scenario(
        path,
        {**served(world), "checksum": hashlib.sha256(DATA).hexdigest()},
        {
            "type": lambda: os.remove(path),
            "checksum": lambda: Path(path).write_bytes(b"broken"),
            **ownership(path),
        },
    )


def extracted(world: World) -> Scenario:
    """What is in it is wanted, and the archive is not kept."""
    made, path = world.path("opt", "app", "run"), world.path("dl", "app.tar.gz")
    more = {"extract_parent": world.path("opt"), "creates": made, "cleanup": True}
    return Scenario(
        path,
        {**served(world), **more},
        {
            "creates": lambda: os.remove(made),
            "archive": lambda: Path(path).write_bytes(DATA),
        },
    )


def absent(world: World) -> Scenario:
    """An archive that has to go."""
    path = world.write("dl/app.tar.gz", SECRET)
    return Scenario(
        path,
        {"ensure": "absent", "url": "https://example.net/app.tar.gz", **OWNED},
        {"path": lambda: world.write("dl/app.tar.gz", "again")},
    )


SCENARIOS = (download, extracted, absent)
