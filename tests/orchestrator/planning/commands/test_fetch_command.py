"""What is asked of every host for ``ccm fetch``, and what is refused before."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from orchestrator.fleet.host.fetch_destination import FetchTarget
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.commands.fetch_command import FetchCommand
from remote_runtime.errors import UsageError


class Named(NamedTuple):
    name: str


def test_every_host_gets_the_same_paths(tmp_path: Path) -> None:
    """They are sent as they are, with the bounds; what arrives lies below each host's name."""
    command = FetchCommand(["/var/log/a b", "/etc/{{ x }}/"], FetchTarget(tmp_path, 5, 9), True)
    for name in ("web1", "web2"):
        plan = command.plan(Named(name), HostFacts())
        (entry,) = json.loads(plan.payload({}))["resources"]
        assert (entry["type"], entry["name"]) == ("fetch", "'/var/log/a b' '/etc/{{ x }}/'")
        assert entry["properties"] == {
            "paths": ["/var/log/a b", "/etc/{{ x }}/"],
            "recursive": True,
            "max_size": 5,
            "max_total": 9,
        }
        assert plan.incoming is not None
        plan.incoming.take({"path": 1, "name": ["y"]}, iter([b"z"]))
        assert (tmp_path / name / "etc/{{ x }}/y").read_text() == "z"


@pytest.mark.parametrize(
    "path", ["", "/", "etc/x", "/etc//x", "/etc/../x", "/./x", "/a\nb", "/a\x1b"]
)
def test_what_is_no_plain_path_is_refused(tmp_path: Path, path: str) -> None:
    """A mistake costs no login."""
    with pytest.raises(UsageError, match="fetch: "):
        FetchCommand([path], FetchTarget(tmp_path, 5, 9), False)
