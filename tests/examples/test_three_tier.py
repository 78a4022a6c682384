"""The shop in three tiers on booted hosts, from its first preview to its verification."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from orchestrator.manifest.loader import load_site
from tests.lab import Host, Lab
from tests.push.command import REPOSITORY, Ccm, Run

pytestmark = pytest.mark.begun_first

ROLES = {"web1": "web", "web2": "app", "web3": "db"}
MIN_RESOURCES = 60  # resources of a host, without those that apply a manifest
# Measured on bare hosts: of 209 predictions 194 are certain (93 %), 15 assumed, none unknown.


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    """The command line, with a state of its own."""
    return Ccm(tmp_path)


def tallies(done: Run) -> dict[str, dict[str, int]]:
    """What each host came to, by its role, without ``apply`` resources."""
    hosts: dict[str, Any] = json.loads(done.stdout)["hosts"]
    found = {}
    for host, role in ROLES.items():
        tally = hosts[host]["tally"]
        applies = tally["applies"]
        found[role] = {word: tally[word] - applies[word] for word in ("total", "changed", "failed")}
    return found


def test_one_command() -> None:
    """Types describe the site; only the migration of the database is a command."""
    directory = REPOSITORY / "examples" / "three-tier"
    sites = [load_site(path) for path in (directory / "site.yaml", *directory.glob("roles/*.yaml"))]
    commands = [one.id for site in sites for one in site.resources if one.type.name == "exec"]
    assert commands == ["exec#migrate"]


def test_the_day_of_a_site(ccm: Ccm, lab: Lab, hosts: list[Host], tmp_path: Path) -> None:
    """The preview foresees the push, the second push changes nothing, drift names what somebody
    changed by hand, a plan puts it right as predicted, and verify agrees."""
    site = tmp_path / "three-tier" / "site.yaml"
    shutil.copytree(REPOSITORY / "examples" / "three-tier", site.parent)
    inventory = lab.inventory(
        tmp_path / "lab.yaml",
        hosts={name: {"vars": {"role": role}} for name, role in ROLES.items()},
    )
    on = ("-i", str(inventory))

    def run(command: str, *options: str) -> Run:
        return ccm.run(command, *on, *options, str(site))

    preview = run("push", "--noop", "--json")
    assert preview.code == 0, preview.output
    assert all(one["total"] >= MIN_RESOURCES for one in tallies(preview).values())
    summary = json.loads(preview.stdout)["summary"]
    assert 10 * (summary["assumed"] + summary["unpredicted"]) <= summary["total"]

    pushed = run("push", "--json")
    assert pushed.code == 0, pushed.output
    for role, foreseen in tallies(preview).items():
        assert tallies(pushed)[role] == foreseen, role

    again = run("push", "--json")
    assert again.code == 0, again.output
    assert [one["changed"] for one in tallies(again).values()] == [0, 0, 0]

    hosts[0].run("systemctl stop nginx")
    hosts[1].run("rm /etc/shop/cart.conf")
    hosts[2].run("echo by hand >> /etc/motd")
    drift = ccm.run("drift", *on, str(site))
    assert drift.code == 4, drift.output
    for name in ("service#nginx", "file#/etc/shop/cart.conf", "file#/etc/motd"):
        assert name in drift.stdout

    plan = tmp_path / "shop.plan"
    made = run("plan", "-o", str(plan))
    assert made.code == 0, made.output
    done = ccm.run("push", *on, "--json", str(plan))
    assert done.code == 0, done.output
    summary = json.loads(done.stdout)["summary"]
    assert summary["compared"] == summary["as_predicted"] > 3 * MIN_RESOURCES

    verified = run("verify")
    assert verified.code == 0, verified.output
