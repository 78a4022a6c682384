"""A push on every engine: what hosts come to, and every form in which people see it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import Alike
from tests.engines.fleet import LOCAL, SSH, Fleet, by_host, shown, told, without_own

SITE = """\
data:
  word: hello
  password: hunter2-hunter2 # @secret
overrides:
  rack1: {word: other}
hierarchy:
  order: ["rack{{ Facts.rack }}"]
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/all: {content: "all\\n", alias: all}
        - "DIR/{{ Host.name }}": {content: "{{ Data.word }} {{ Data.password }}\\n", alias: own}
        - DIR/nobody: {content: x, control: {if: "false"}}
    - exec:
        - "echo {{ Data.password }}; echo {{ Facts.n }}":
            provider: shell
            logoutput: true
            subscribe: [file#own]
            refresh_only: true
            register_when_stable:
              - {cluster: test, service: web, protocol: http, address: 192.0.2.1,
                 port: "{{ Facts.n + 1 }}", priority: 1, annotations: {host: "{{ Host.name }}"}}
        - "false": {control: {if: "Host.name == 'h3'"}}
        - last: {command: "true", creates: /, require: ["exec#false"]}
        - sick:
            command: "true"
            control: {if: "Facts.n == 4"}
            health_checks: [{command: "sh -c 'echo {{ Data.password }}; exit 2'"}]
"""
FORMS = ("--json", "--html=-", "--markdown=-", "--junit=-", "--metrics=-", "-v")


def pushing(fleet: Fleet) -> Any:
    """Preview, push, push again; one host lets nobody in. All reports of the push."""
    (fleet.directory / "all").write_text("all\n")
    site, spool = fleet.site(SITE), fleet.scratch / "spool"
    words = ("-i", str(fleet.closed), "--events", str(spool), site)
    preview = fleet.document("push", "--noop", *words)
    before = fleet.files()
    text = fleet.run("push", "-v", *words)
    events = [json.loads(line) for line in spool.read_text("utf-8").splitlines()]
    kept = fleet.ccm.run("report", "--json")
    reports = {form: fleet.ccm.run("report", form).stdout for form in FORMS[1:]}
    registered = json.loads((fleet.scratch / "state/ccm/registrations.json").read_text("utf-8"))
    entries = sorted(map(str, without_own(registered["registrations"])))
    run = sorted((fleet.scratch / "state/ccm/runs").iterdir())[-1]
    again = fleet.document("push", *words)
    secret = [str(path) for path in sinks(fleet) if b"hunter2" in path.read_bytes()]
    return {
        "preview": preview,
        "before": before,
        "code": text.code,
        "text": shown(text.stdout),
        "told": by_host(events),
        "kept": told(kept.stdout),
        "reports": {form: page(report) for form, report in reports.items()},
        "registered": entries,
        "run": sorted(path.name for path in run.iterdir()),
        "files": fleet.files(),
        "again": again,
        "secret": secret + [name for name, form in reports.items() if "hunter2" in form],
        "said": "hunter2" in text.output,
    }


def sinks(fleet: Fleet) -> list[Path]:
    """The files that runs have left here."""
    below = [
        path for name in ("state", "cache", "home") for path in (fleet.scratch / name).rglob("*")
    ]
    return [fleet.scratch / "spool", *(path for path in below if path.is_file())]


def page(text: str) -> list[str]:
    """The lines of a page, but for what durations decide, and with its details in any order."""

    def details(found: re.Match[str]) -> str:
        return "\n".join(map(json.dumps, json.loads(found[1])["entries"]))

    text = re.sub(
        r'<script [^>]*id="details">(.*?)</script>', details, re.sub("<svg.*?</svg>", "", text)
    )
    return [line for line in shown(text) if "# ms<td" not in line]


def test_a_push(alike: Alike) -> None:
    """Preview, push and converged push, the events of each host, reports, registrations, the run's
    directory and the hosts; no sink has a secret."""
    found = alike(pushing)
    ends = {name: host["outcome"] for name, host in found["kept"]["hosts"].items()}
    well = dict.fromkeys(("h0", "h1", "h2", SSH), "ok")
    assert ends == {**well, "h3": "failed", "h4": "failed", "shut": "unreachable"}
    assert (found["code"], found["preview"]["exit_code"], found["before"]) == (
        3,
        3,
        {"all": "all\n"},
    )
    assert found["told"] == found["kept"]["events"]
    assert len(found["files"]) == LOCAL + 2
    assert found["files"]["h1"] == "other hunter2-hunter2\n"
    assert len(found["registered"]) == LOCAL + 1
    assert (found["secret"], found["said"]) == ([], False)
    assert found["again"]["summary"]["stable"] > found["kept"]["summary"]["stable"]
    assert all(found["reports"].values())


TURNS = """\
ccm:
  resources:
    - exec:
        - turn: {command: "sh -c 'test {{ Facts.n }} != BAD'"}
"""


def rolling(fleet: Fleet) -> Any:
    """Waves whose second has a bad host; then racks, of which one host at a time has its turn."""
    site = fleet.site(TURNS.replace("BAD", "2"))
    held = fleet.document("push", "--waves", "1,3,100%", "--max-fail", "0", "--forks", "2", site)
    log = fleet.directory / "log"
    note = 'read told; echo "%s$told" >> ' + str(log)
    hooks = ("--before-host", note % "+", "--after-host", note % "-")
    site = fleet.site(TURNS.replace("BAD", "none"))
    by_rack = fleet.document("push", "--per", "rack=1", *hooks, site)
    running, maximum = dict.fromkeys(("0", "1"), 0), 0
    for line in log.read_text().splitlines():
        rack = str(json.loads(line[1:])["host"]["vars"]["rack"])
        running[rack] += 1 if line[0] == "+" else -1
        maximum = max(maximum, *running.values())
    return held, by_rack, maximum, running


@pytest.mark.long("dask")
def test_a_rollout(alike: Alike) -> None:
    """A wave is not larger than it says, the budget ends the run at the same host, and hosts of one
    rack have their turns one after the other."""
    held, by_rack, maximum, running = alike(rolling)
    ends = [held["hosts"][name]["outcome"] for name in ("h0", "h1", "h2", "h3", "h4", SSH)]
    assert ends == ["ok", "ok", "failed", "held", "held", "held"]
    assert {host["outcome"] for host in by_rack["hosts"].values()} == {"ok"}
    assert (maximum, running) == (1, {"0": 0, "1": 0})


SAME = """\
ccm:
  resources:
    - file:
        - DIR/same: {content: "same\\n", owner: OWNER, group: GROUP, mode: "0644"}
"""


def canary(fleet: Fleet) -> Any:
    """Hosts that would change alike begin with one of them."""
    return fleet.document("push", "--canary", "auto", fleet.site(SAME))


@pytest.mark.long("dask")
def test_a_canary(alike: Alike) -> None:
    """Each cluster has one, and goes on once that is well."""
    document = alike(canary)
    planned = document["rollout"][0]
    assert planned["step"] == "RolloutPlanned"
    assert [len(wave) for wave in planned["waves"]] == [1, LOCAL]
    assert document["summary"]["changed"] == 1


READS = """\
ccm:
  resources:
    - file:
        - "DIR/{{ Host.name }}":
            content: "{{ registrations('test', '*', '*', '*')[0].Address }}"
            owner: OWNER
            group: GROUP
            mode: "0644"
    - exec:
        - "cp REGISTRY.new REGISTRY": {control: {if: "Host.name == 'h0'"}}
"""


def looking_up(fleet: Fleet) -> Any:
    """The first host's turn changes what the registry says."""
    registry = fleet.scratch / "registry.json"
    entry = {"cluster": "test", "service": "s", "protocol": "http", "address": "192.0.2.1"}
    for path, address in ((registry, "192.0.2.1"), (Path(f"{registry}.new"), "192.0.2.2")):
        known = {"format": 1, "registrations": [{**entry, "address": address}]}
        path.write_text(json.dumps(known), encoding="utf-8")
    site = fleet.site(READS.replace("REGISTRY", str(registry)))
    words = ("--registration", str(registry), "--waves", "1,100%")
    document = fleet.document("push", *words, site)
    return document["exit_code"], fleet.files(), registry.read_text(), document["failures"]


@pytest.mark.long("dask")
def test_what_is_registered_is_asked_once(alike: Alike) -> None:
    """All hosts of a run see the same answer, whoever works on them and however late."""
    code, files, registry, failures = alike(looking_up)
    assert (code, "192.0.2.2" in registry) == (0, True), failures
    assert set(files.values()) == {"192.0.2.1"}
    assert len(files) == LOCAL + 1
