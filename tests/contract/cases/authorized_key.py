"""Keys of a user whose home is a directory of the world."""

import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from remote_runtime.system.account_files import User
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

ONE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1EUs1c"
OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFpBWFdKAaQ8dXALEfTKWlB5xXEA9XGjQ1NdXJ0U2tRn"
USER = "anna"


def _home(world: World, keys: str = "", path: str = "home/.ssh/authorized_keys") -> Path:
    """A user with a home directory, and its file of keys, where there are any."""
    home = world.path("home")
    os.makedirs(home, exist_ok=True)
    anna = User(USER, os.geteuid(), os.getegid(), home=home)
    door = "remote_runtime.system.accounts.Accounts.user"
    world.later.enter_context(mock.patch(door, return_value=anna))
    entry = f"{USER}:x:{os.geteuid()}:{os.getegid()}::{home}:/bin/sh"
    world.program("getent", f"echo '{entry}'\n")
    if keys:
        world.write(path, keys, 0o600)
        os.chmod(os.path.dirname(world.path(path)), 0o700)
    return Path(world.path(path))


def _put(path: Path, text: str) -> Callable[[], object]:
    return lambda: path.write_text(text)


def present(world: World) -> Scenario:
    """A key with options that is missing, as everything above it is."""
    path = _home(world)
    options, comment = f'no-pty,command="echo {SECRET}, \\"x\\""', f"of {SECRET}"
    properties = {"user": USER, "key": f"{ONE} old", "options": options, "comment": comment}
    breaks = {
        "keys": _put(path, f"{OTHER}\n"),
        "options": _put(path, f"{ONE} of {SECRET}\n"),
        "comment": _put(path, f"{options} {ONE} other\n"),
        "permissions": lambda: path.chmod(0o660),
        "permissions:of the directory": lambda: path.parent.chmod(0o770),
    }
    return Scenario("key of anna", properties, breaks)


def exclusive(world: World) -> Scenario:
    """The only key, twice with other options and comments, beside a comment."""
    path = _home(world, f"# {SECRET}\n\n{OTHER} x\ndamaged line\n")
    lines = f'from="192.0.2.1" {ONE} a\nno-pty {ONE} b\n'
    breaks = {
        "keys": _put(path, ""),
        "other keys": _put(path, f"# {SECRET}\n{lines}{OTHER}\n"),
        "options": _put(path, f"no-pty {ONE} a\n"),
        "comment": _put(path, lines.replace(" a\n", " c\n")),
        "comment:of the second line": _put(path, lines.replace(" b\n", " c\n")),
        "permissions": lambda: path.chmod(0o666),
    }
    return Scenario(USER, {"key": lines, "exclusive": True}, breaks)


def elsewhere(world: World) -> Scenario:
    """A key in a file that is not in the home directory."""
    path = _home(world, f"{OTHER} # {SECRET}", "keys/anna")
    properties = {"key": [ONE, OTHER], "path": world.path("keys", "%u")}
    return Scenario(
        USER, properties, {"keys": _put(path, ""), "permissions": lambda: path.chmod(0o620)}
    )


def absent(world: World) -> Scenario:
    """A key that has to go, wherever it is in the file."""
    old = f"no-pty {ONE} {SECRET}\n{OTHER} x\n  {ONE}\n"
    path = _home(world, old)
    properties = {"ensure": "absent", "user": USER, "key": ONE}
    return Scenario("old", properties, {"keys": _put(path, old)})


SCENARIOS = (present, exclusive, elsewhere, absent)
