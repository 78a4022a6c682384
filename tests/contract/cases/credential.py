"""Credentials, on a host whose systemd-creds writes down the name and the value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.scenario import PASSWORD, Scenario
from tests.contract.world import World

ON_A_HOST = True

NAME = "db.password"
CREDS = """\
verb=$1
for word; do case "$word" in --name=*) name=${word#--name=} ;; esac; done
case "$verb" in
    encrypt) echo "host $name $(base64 -w0)" ;;
    decrypt)
        for word; do file=$last; last=$word; done
        read -r key owner value < "$file"
        [ "$key $owner" = "host $name" ] && printf %s "$value"
        ;;
esac
"""
RUN = """\
for word; do case "$word" in --property=*) place=${word##*=} ;; esac; done
read -r key owner value < "${place#*:}" || exit 1
[ "$key $owner" = "host ${place%%:*}" ] && printf %s "$value" | base64 -d | sha256sum
"""


def host(world: World) -> str:
    """The file."""
    world.program("systemd-creds", CREDS)
    world.program("systemd-run", RUN)
    return world.path("store", "db")


def _properties(world: World, **more: Any) -> dict[str, Any]:
    path = host(world)
    Path(path).parent.mkdir()
    return {"value": PASSWORD, "path": path, **more}


def present(world: World) -> Scenario:
    """A credential that is not there."""
    properties = _properties(world)
    path = Path(properties["path"])

    def other() -> None:
        """Another value, encrypted on this host."""
        path.write_text(f"host {NAME} YW5vdGhlcg==\n")

    breaks: dict[str, Callable[[], object]] = {
        "type": path.unlink,
        "value": other,
        "value:foreign": lambda: path.write_text("elsewhere db.password YQ==\n"),
    }
    return Scenario(NAME, properties, breaks, found_by=("path",))


def changed(world: World) -> Scenario:
    """One of another name, which this host does not decrypt for this one."""
    properties = _properties(world, key="host")
    path = Path(properties["path"])
    path.write_text("host other b3Blbi1zZXNhbWU=\n")
    breaks: dict[str, Callable[[], object]] = {
        "type": path.unlink,
        "value": lambda: path.write_text(""),
    }
    return Scenario(NAME, properties, breaks, found_by=("path",))


def absent(world: World) -> Scenario:
    """A file that has to go."""
    properties = _properties(world, ensure="absent")
    del properties["value"]
    path = Path(properties["path"])
    path.write_text("anything\n")
    again = {"path": lambda: path.write_text("again\n")}
    return Scenario(NAME, properties, again, found_by=("path",))


SCENARIOS = (present, changed, absent)
