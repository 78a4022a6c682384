"""Plans that are kept, whatever engine made them and pushes them."""

import json
from typing import Any

import pytest

from tests.engines.conftest import Alike
from tests.engines.fleet import LOCAL, SSH, Fleet, shown, told, without_own

SITE = """\
data:
  password: hunter2secret # @secret
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - "DIR/{{ Host.name }}": {content: "{{ file('of-' + Host.name) }}{{ Data.password }}\\n"}
        - "DIR/same-{{ Host.name }}": {content: "{{ Data.password }}"}
        - "DIR/late-{{ Host.name }}": {content: "{{ file('DIR/seed') }} {{ file('beside') }}"}
    - exec:
        - "true": {control: {if: "Host.name == 'h2'"}}
        - fails: {command: "false", control: {if: "Facts.n == 3"}}
"""
NAMES = [*(f"h{number}" for number in range(LOCAL)), SSH]


def made(fleet: Fleet, *options: str) -> tuple[Any, int]:
    """A plan as it stands in its file, without what differs in any two; the exit code."""
    done = fleet.run("plan", *options, "-o", "change.plan", fleet.site(SITE))
    plan = json.loads((fleet.scratch / "change.plan").read_text("utf-8"))
    assert "hunter2secret" not in str(plan)
    whole = {name: plan[name] for name in ("hosts", "left_out", "files")}
    items, outcomes = plan["items"], plan["outcomes"]
    for planned in whole["hosts"].values():
        assert len(planned["observed"]) == len(planned.pop("outcomes", outcomes))
        planned["items"] = [items[place] for place in planned["items"]]
        del planned["observed"]
    return {**without_own(whole), "id": plan["id"]}, done.code


def files(fleet: Fleet) -> None:
    """What the site reads, on the controller and on the hosts."""
    for name in NAMES:
        (fleet.sites / f"of-{name}").write_text(f"this is {name}\n")
    (fleet.sites / "beside").write_text("beside")
    (fleet.directory / "seed").write_text("seed")


def planning(fleet: Fleet) -> Any:
    """Plan; push what was planned for a host; then for all of them, which are that machine."""
    files(fleet)
    plan, code = made(fleet)
    text = shown(fleet.ccm.run("plan", "show", "change.plan").stdout)
    engine = ("--engine", fleet.engine)
    pushed = fleet.ccm.run("push", *engine, "-l", "h1", "--json", "change.plan")
    again = fleet.ccm.run("push", *engine, "--json", "change.plan")
    return {
        "plan": plan,
        "codes": (code, pushed.code, again.code),
        "shown": text,
        "pushed": told(pushed.stdout),
        "files": fleet.files(),
        "again": told(again.stdout)["hosts"],
    }


@pytest.mark.long("dask")
def test_a_plan_is_made_and_pushed(alike: Alike) -> None:
    """The same plan with the same id, which is pushed once and comes out as predicted."""
    found = alike(planning)
    assert sorted(found["plan"]["hosts"]) == sorted(NAMES)
    read = set(found["plan"]["files"])
    beside = {f"sites/{name}" for name in ("beside", *(f"of-{name}" for name in NAMES))}
    assert beside | {"sites/site.yaml", "hosts.json"} == read
    assert found["codes"] == (0, 0, 1)
    summary = found["pushed"]["summary"]
    assert 0 < summary["compared"] == summary["as_predicted"] == summary["total"]
    assert found["files"]["late-h1"] == "seed beside"
    assert found["files"]["h1"] == "this is h1\nhunter2secret\n"
    assert {host["kind"] for host in found["again"].values()} == {"plan.refused.used"}


def expecting(fleet: Fleet) -> Any:
    """Push where the plan is the expected one, and where it is another one."""
    files(fleet)
    site = fleet.site(SITE)
    wrong = fleet.run("push", "-l", "h2", "--expect", "0" * 64, site)
    id_ = wrong.stderr.partition("the plan is ")[2][:64]
    before = fleet.files()
    right = fleet.run("push", "-l", "h2", "--expect", id_, "--json", site)
    return id_, wrong.code, before, right.code, told(right.stdout), fleet.files()


@pytest.mark.long
def test_a_plan_is_expected(alike: Alike) -> None:
    """Nothing is changed where another one was; else it is pushed as planned."""
    _, refused, before, code, document, after = alike(expecting)
    assert (refused, code) == (1, 0)
    assert list(before) == ["seed"]
    assert list(after) == ["h2", "late-h2", "same-h2", "seed"]
    assert document["summary"]["as_predicted"] == document["summary"]["total"] == 5


def changing(fleet: Fleet) -> Any:
    """What is on the hosts, and what one of them alone is made of, changes behind the plan."""
    files(fleet)
    made(fleet, "-l", "h[0-3]")
    for number in range(4):
        (fleet.directory / f"h{number}").write_text("another hand")
    engine = ("--engine", fleet.engine)
    drifted = fleet.ccm.run("push", *engine, "--json", "change.plan")
    (fleet.sites / "of-h2").write_text("another text")
    refused = fleet.ccm.run("push", *engine, "change.plan")
    return told(drifted.stdout), refused.code, shown(refused.stderr)


@pytest.mark.long
def test_a_plan_does_not_fit_any_more(alike: Alike) -> None:
    """Hosts that have drifted are refused; a file of one host that has changed is named."""
    document, code, text = alike(changing)
    assert {host["outcome"] for host in document["hosts"].values()} == {"refused"}
    assert document["summary"]["changed"] == 0
    assert code == 2
    assert any(
        "of-h#" in line and "has changed since the plan was created" in line for line in text
    )
