"""What workers on other machines are sent of a push."""

from pathlib import Path
from typing import Any

import pytest

from inventory import load
from orchestrator.cli.assembly import Chosen
from orchestrator.cli.far_work import FarWork
from orchestrator.transport.route import Router
from orchestrator.transport.settings import Settings

JUMPS = """\
hosts:
  outer: {jump: none}
  inner: {jump: outer}
  unused: {}
  one: {jump: "inner,other.example.net"}
  two: {jump: "somebody@unused"}
  three: {jump: "unused:2222"}
"""


@pytest.mark.parametrize(
    ("name", "sent"), [("one", {"inner", "outer"}), ("two", set()), ("three", set())]
)
def test_the_jumps_of_the_inventory_are_sent_that_the_way_leads_through(
    tmp_path: Path, name: str, sent: set[str]
) -> None:
    """A login at a name, or a port of it, is no host of the inventory, whatever that is called."""
    path = tmp_path / "hosts.yaml"
    path.write_text(JUMPS)
    config = tmp_path / "config"
    config.touch()
    inventory = load([str(path)])
    host = inventory.hosts[name]
    nothing: Any = None
    found = FarWork(nothing, nothing, Chosen(inventory, [host]))._jumps()
    router = Router(Settings(inventory.hosts, ssh_config=(config,)))
    assert {hop.label for hop in router.route(host).jumps if hop.listed} == sent
    assert set(found) == sent
