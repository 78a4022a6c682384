"""What workers on other machines are sent of a push."""

from pathlib import Path
from typing import Any

import pytest

from inventory import load
from orchestrator.runs.remote_work import RemoteWork
from orchestrator.runs.request import ConnectionOptions
from orchestrator.runs.wiring import TargetSelection, connector
from orchestrator.transport.connection_settings import Settings
from orchestrator.transport.route import Router
from remote_runtime.errors import InputError

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
    found = RemoteWork(nothing, nothing, TargetSelection(inventory, [host]), print)._jumps()
    router = Router(Settings(inventory.hosts, ssh_config=(config,)))
    assert {hop.label for hop in router.route(host).jumps if hop.listed} == sent
    assert set(found) == sent


def test_the_way_to_hosts_of_workers_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SSH configuration of this machine is in nobody's way who logs in from another one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text("Host *\n  KnownHostsCommand ~/none\n")
    path = tmp_path / "hosts.json"
    path.write_text('{"hosts": {"web1": {}}}')
    inventory = load([str(path)])
    hosts = TargetSelection(inventory, list(inventory.hosts.values()))
    options = ConnectionOptions(4, None, False, None, False, None)
    with pytest.raises(InputError, match="knownhostscommand"):
        connector(hosts, options, ask=str)
    assert connector(hosts, options, ask=str, reaches=False).become_password() is None
