"""The how-to on other hosts: its templates come out as they say."""

import re
from pathlib import Path

import pytest

from inventory import load
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.language.other_hosts import PackedFacts
from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions
from orchestrator.planning.site.fact_references import hosts_read
from tests.docs.pages import DOCS

PAGE = DOCS / "howto" / "other-hosts.md"
BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMES_OUT = {
    "/etc/hosts": "127.0.0.1 localhost\n192.0.2.10 db1\n192.0.2.21 web1\n192.0.2.22 web2\nmq1 mq1\n"
    "mq2 mq2\n",
    "/etc/ssh/ssh_known_hosts": "db1,192.0.2.10 ssh-ed25519 AAAAC3db1\n"
    "web1,192.0.2.21 ssh-ed25519 AAAAC3web1\nweb2,192.0.2.22 ssh-ed25519 AAAAC3web2\n",
    "/etc/nginx/conf.d/upstreams.conf": "upstream app {\n    server 192.0.2.21:8081;\n"
    "    server 192.0.2.22:8082;\n}\n",
    "/etc/postgresql/pg_hba.conf": "local all postgres peer\n"
    "host app app 192.0.2.21/32 scram-sha-256\nhost app app 192.0.2.22/32 scram-sha-256\n",
    "/etc/queue/peers": "mq2 10.1.0.2\n",
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in BLOCK.findall(PAGE.read_text()):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_templates_come_out(directory: Path) -> None:
    """Each file of the page has what its template says of the inventory and of others' facts."""
    inventory = load([str(directory / "hosts.yaml")])
    planner = Planner(load_site(directory / "site.yaml"), PlanOptions(environ={}))
    view = InventoryView.of(inventory)
    planner.see(view)
    read = hosts_read(planner.texts(), view.groups, view.hosts)
    assert read == ["mq1", "mq2"]
    for number in (1, 2):
        addresses = [
            {"interface": "eth0", "address": f"192.0.2.3{number}", "ipv4": True},
            {"interface": "eth1", "address": f"10.1.0.{number}", "ipv4": True},
            {"interface": "eth1", "address": f"2001:db8::{number}", "ipv4": False},
        ]
        facts = {"network": {"addresses": addresses}}
        view.facts.known[f"mq{number}"] = PackedFacts.of("now", facts)
    plan = planner.plan(inventory.hosts["mq1"], HostFacts({"host": {}}))
    found = {item.name: item for item in plan.items}
    assert not [item.deferred_error for item in plan.items if item.deferred_error]
    texts = {
        name: plan.blob(item.properties["content"]["$blob"]).text
        if isinstance(item.properties["content"], dict)
        else item.properties["content"]
        for name, item in found.items()
    }
    assert texts == COMES_OUT
