"""Files from a server on loopback."""

import hashlib
import os
from pathlib import Path
from typing import Any

from tests.contract.cases.file import OWNED, ownership
from tests.contract.scenario import PASSWORD, SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.archive.server import Web, content

DATA = b"#!/bin/sh\necho tool\n"


def served(world: World) -> dict[str, Any]:
    """The properties of a download, and a checksum file beside it."""
    web = Web()
    world.later.callback(web.close)
    web.answers["/tool"] = content(DATA)
    listed = f"{hashlib.sha512(DATA).hexdigest()} *./dist/tool\n"
    web.answers["/SHA512SUMS"] = content(listed.encode())
    os.mkdir(world.path("dl"))
    return {
        "url": web.url("/tool"),
        "username": "deploy",
        "password": f"{PASSWORD}-1",
        "headers": {"X-Token": f"{PASSWORD}-2"},
        **OWNED,
    }


def checked(world: World) -> Scenario:
    """A file with a checksum and a mode, which is not there yet."""
    path = world.path("dl", "tool")
    return Scenario(
        path,
        {**served(world), "checksum": hashlib.sha256(DATA).hexdigest().upper(), "mode": "0750"},
        {
            "type": lambda: os.remove(path),
            "checksum": lambda: Path(path).write_bytes(b"broken"),
            "mode": lambda: os.chmod(path, 0o640),
            **ownership(path),
        },
    )


def long_checksum(world: World) -> Scenario:
    """Another file is there; SHA-512 tells."""
    path, properties = world.path("dl", "tool"), served(world)
    Path(path).write_text(SECRET)
    return Scenario(
        path,
        {**properties, "checksum": "sha512:" + hashlib.sha512(DATA).hexdigest()},
        {
            "type": lambda: os.remove(path),
            "checksum": lambda: Path(path).write_bytes(b"broken"),
            **ownership(path),
        },
    )


def listed(world: World) -> Scenario:
    """The checksum stands in a file beside it, which a verify does not read."""
    path, properties = world.path("dl", "tool"), served(world)
    url = properties["url"].replace("/tool", "/SHA512SUMS")
    breaks = {"type": lambda: os.remove(path), **ownership(path)}
    return Scenario(path, {**properties, "checksum_url": url}, breaks)


def absent(world: World) -> Scenario:
    """A file that has to go."""
    path = world.write("dl/tool", SECRET)
    return Scenario(
        path,
        {"ensure": "absent", "url": "https://example.net/tool"},
        {"path": lambda: world.write("dl/tool", "again")},
    )


SCENARIOS = (checked, long_checksum, listed, absent)
