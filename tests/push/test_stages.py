"""Pushes in stages with the real command: who is touched when, by what hosts have noted."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.push.command import Ccm, Run

HOSTS = 6


class Release:
    """Six hosts of this machine and a stages file; each turn is noted in one file."""

    def __init__(self, ccm: Ccm, directory: Path) -> None:
        self.ccm = ccm
        self.directory = directory
        directory.mkdir()
        self.inventory = directory / "hosts.yaml"
        names = {name: {"vars": {"me": name}} for name in (f"h{n}" for n in range(HOSTS))}
        document = {
            "defaults": {"connection": "local"},
            "groups": {"db": {"hosts": ["h0", "h1"]}, "web": {"hosts": ["h2", "h3", "h4", "h5"]}},
            "hosts": names,
        }
        self.inventory.write_text(json.dumps(document), encoding="utf-8")

    def manifest(self, name: str, shell: str = "true") -> str:
        """A manifest that notes ``name`` and the host; then ``shell`` decides, the host in $ME."""
        text = f"""\
data: {{word: {name}}}
ccm:
  resources:
    - exec:
        - turn:
            provider: shell
            environment: ["ME={{{{ lookup('facts.me') }}}}", "WORD={{{{ lookup('data.word') }}}}"]
            command: |
              echo $WORD $ME >> {self.directory}/turns
              {shell}
"""
        (self.directory / f"{name}.yaml").write_text(text, encoding="utf-8")
        return f"{name}.yaml"

    def write(self, *stages: dict[str, Any]) -> Path:
        path = self.directory / "release.yaml"
        path.write_text(json.dumps({"stages": stages}), encoding="utf-8")
        return path

    def push(self, *options: str) -> Run:
        path = str(self.directory / "release.yaml")
        return self.ccm.run("push", "-i", str(self.inventory), *options, path)

    def turns(self) -> list[str]:
        """``STAGE HOST`` of each turn, in their order."""
        path = self.directory / "turns"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def release(ccm: Ccm, tmp_path: Path) -> Release:
    """A release that nobody has pushed, of three stages."""
    made = Release(ccm, tmp_path / "release")
    made.write(
        {"name": "databases", "hosts": "db", "manifest": made.manifest("databases")},
        {
            "name": "migration",
            "hosts": "web",
            "manifest": made.manifest("migration"),
            "take": 1,
            "data": {"word": "migrated"},
        },
        {"name": "web", "hosts": "web", "manifest": made.manifest("web"), "waves": "1,100%"},
    )
    return made


def test_stages_come_one_after_the_other(release: Release) -> None:
    """Databases, then one web host runs the migration, then web in waves: one run, one report."""
    done = release.push("--json")
    assert done.code == 0, done.output
    turns = release.turns()
    assert sorted(turns[:2]) == ["databases h0", "databases h1"]
    assert turns[2:4] == ["migrated h2", "web h2"]
    assert sorted(turns[4:]) == ["web h3", "web h4", "web h5"]
    told = json.loads(done.stdout)
    assert told["rollout"][0]["stages"] == ["databases", "migration", "web", "web"]
    assert {"migration/h2", "web/h2"} < told["hosts"].keys()
    assert {event["host"] for event in told["events"]} == told["hosts"].keys()
    shown = release.ccm.run("report", "--host", "h2").stdout
    assert "migration/h2" in shown
    assert "databases/h0" not in shown


def test_a_stage_that_fails_keeps_the_later_ones_out(release: Release) -> None:
    """No host behind it is touched; the command that goes on begins with the stage that failed."""
    release.manifest("web", "test $ME != h2")
    done = release.push()
    assert done.code == 1, done.output
    assert release.turns()[3:] == ["web h2"]
    assert "wave 3 of 4 (web): 1 host failed (limit 0)" in done.stdout
    release.manifest("web")
    again = next(line for line in done.stdout.splitlines() if "resume with: " in line)
    words = shlex.split(again.partition("resume with: ccm ")[2])
    assert words[-2:] == ["--from", "web"]
    followed = release.ccm.run(*words)
    assert followed.code == 0, followed.output
    assert release.turns()[4] == "web h2"
    assert sorted(release.turns()[5:]) == ["web h3", "web h4", "web h5"]


def test_a_stage_that_failed_is_not_passed_over(release: Release) -> None:
    """Where all of its hosts failed, too: what goes on begins with it."""
    release.manifest("databases", "false")
    done = release.push()
    assert sorted(release.turns()) == ["databases h0", "databases h1"]
    again = next(line for line in done.stdout.splitlines() if "resume with: " in line)
    words = shlex.split(again.partition("resume with: ccm ")[2])
    assert words[-2:] == ["--from", "databases"]
    still = release.ccm.run(*words)
    assert still.code == 1, still.output
    assert len(release.turns()) == 4


def test_a_part_of_the_stages_may_be_pushed(release: Release) -> None:
    """From one on, or one alone; the hosts of a stage are counted before ``-l`` picks of them."""
    assert release.push("--stage", "migration").code == 0
    assert release.turns() == ["migrated h2"]
    assert release.push("--from", "migration", "-l", "h3").code == 0
    assert release.turns() == ["migrated h2", "web h3"]


def test_a_preview_goes_on_behind_a_stage_that_fails(release: Release, tmp_path: Path) -> None:
    """As if it had passed; the summary says where a push would be held."""
    no_directory(release, tmp_path)
    done = release.push("--noop")
    assert done.code == 1
    assert "5 would change" in done.stdout
    held = "a push would stop in wave 1 (databases): 2 hosts failed (limit 0); 5 hosts"
    assert f"Rollout    {held}" in done.stdout
    assert held in release.ccm.run("report", "--markdown", "-").stdout.replace("`", "")


def test_a_preview_shows_the_stages_and_touches_nobody(release: Release) -> None:
    """Who would be in which wave of which stage."""
    done = release.push("--noop")
    assert done.code == 0, done.output
    assert release.turns() == []
    assert "Waves      1: databases/h[0-1] (2 hosts)" in done.stdout
    assert "3: web/h2\n" in done.stdout
    assert "7 would change" in done.stdout


def no_directory(release: Release, directory: Path) -> None:
    """The first stage fails on both of its hosts, in a preview too."""
    (release.directory / "databases.yaml").write_text(
        f"""\
ccm:
  resources:
    - file: [{{{directory}/none/x: {{content: x, owner: root, group: root, mode: "0644"}}}}]
"""
    )


def layered(release: Release, directory: Path) -> None:
    """The second stage reads on its host what the first one makes, and acts on that."""
    who = f'owner: "{os.getuid()}", group: "{os.getgid()}", mode: "0644"'
    (release.directory / "first.yaml").write_text(
        f"ccm: {{resources: [{{file: [{{{directory}/flag: {{content: x, {who}}}}}]}}]}}\n"
    )
    (release.directory / "second.yaml").write_text(
        f"""\
ccm:
  resources:
    - exec:
        - once: {{command: "touch {directory}/never", creates: {directory}/flag}}
    - file:
        - {directory}/copy: {{source: {directory}/flag, {who}}}
"""
    )
    release.write(
        {"name": "one", "hosts": "h0", "manifest": "first.yaml"},
        {"name": "two", "hosts": "h[0-1]", "manifest": "second.yaml"},
    )


def test_a_later_stage_is_previewed_behind_the_earlier_ones(
    release: Release, tmp_path: Path
) -> None:
    """On the host that has both: what the first would make is there for the second."""
    layered(release, tmp_path)
    done = release.push("--noop", "--json", "-l", "h0")
    assert done.code == 0, done.output
    told = {(e["host"], e["type"]): e["status"] for e in json.loads(done.stdout)["events"]}
    assert told == {
        ("one/h0", "file"): "changed",
        ("two/h0", "exec"): "stable",
        ("two/h0", "file"): "changed",
    }
    assert not (tmp_path / "flag").exists()
    alone = json.loads(release.push("--noop", "--json", "--stage", "two", "-l", "h0").stdout)
    statuses = {event["type"]: event["status"] for event in alone["events"]}
    assert statuses["exec"] == "changed"
    pushed = json.loads(release.push("--json", "-l", "h0").stdout)
    assert {(e["host"], e["type"]): e["status"] for e in pushed["events"]} == told


def test_a_later_stage_masks_the_secrets_of_the_earlier_ones(
    release: Release, tmp_path: Path
) -> None:
    """What it finds on the host is shown as the stage that wrote it would show it: in a push, in a
    preview and in the run's directory."""
    who = f'owner: "{os.getuid()}", group: "{os.getgid()}", mode: "0644"'
    (release.directory / "first.yaml").write_text(
        "data:\n  word: hunter2secret  # @secret\n"
        f"ccm: {{resources: [{{file: [{{{tmp_path}/conf: "
        f'{{content: "{{{{ Data.word }}}}\\n", {who}}}}}]}}]}}\n'
    )
    (release.directory / "second.yaml").write_text(
        f"""\
ccm:
  resources:
    - exec: [{{"cat {tmp_path}/conf": {{}}}}]
    - file: [{{{tmp_path}/conf: {{content: "new\\n", {who}}}}}]
"""
    )
    release.write(
        {"name": "one", "hosts": "h0", "manifest": "first.yaml"},
        {"name": "two", "hosts": "h0", "manifest": "second.yaml"},
    )
    for options in (["--noop"], []):
        done = release.push("--json", "-v", *options)
        assert done.code == 0, done.output
        assert "-[masked]" in json.dumps(json.loads(done.stdout)["events"])
        assert "hunter2secret" not in done.output
    runs = release.ccm.scratch / "state/ccm/runs"
    kept = [path for path in runs.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"hunter2secret" in path.read_bytes()]


def test_a_preview_is_asked_for_again_with_all_that_was_given(
    release: Release, tmp_path: Path
) -> None:
    """Its sources of data, too."""
    (tmp_path / "hiera.yaml").write_text("{}\n", encoding="utf-8")
    no_directory(release, tmp_path)
    done = release.push("--noop", "--hiera", str(tmp_path / "hiera.yaml"))
    assert "→ retry with" in done.stdout, done.output
    (kept,) = (release.ccm.scratch / "state/ccm/runs").glob("*/run.json")
    words = json.loads(kept.read_text(encoding="utf-8"))["again"]
    assert words[words.index("--hiera") + 1] == str(tmp_path / "hiera.yaml")


def test_hosts_that_share_a_variable_may_be_in_one_stage_only(release: Release) -> None:
    """An option of the run says nothing of the others; one that no host knows is refused."""
    done = release.push("--per", "me=1")
    assert done.code == 0, done.output
    document = json.loads(release.inventory.read_text())
    for name in ("h0", "h1"):
        document["hosts"][name] = {}
    release.inventory.write_text(json.dumps(document), encoding="utf-8")
    done = release.push("--noop", "--per", "me=1")
    assert (
        "--per me=1 does not apply to hosts without me: databases/h0, databases/h1" in done.output
    )
    refused = release.push("--per", "mee=1")
    assert refused.code == 2
    assert "no host has the variable mee" in refused.stderr


def test_a_gate_knows_the_stage(release: Release) -> None:
    """It is asked behind each stage, and told hosts by their own names."""
    gate = f"cat >> {release.directory}/told; echo >> {release.directory}/told"
    assert release.push("--gate", gate, "--from", "migration").code == 0
    told = [json.loads(line) for line in (release.directory / "told").read_text().splitlines()]
    assert [one["stage"] for one in told] == ["migration", "web", "web"]
    assert told[0]["manifest"].endswith("migration.yaml")
    assert told[0]["hosts"][0]["host"] == "h2"


def test_a_budget_of_the_run_holds_over_its_stages(release: Release) -> None:
    """With ``--max-fail`` a stage that fails on no more hosts than that lets the next one begin."""
    release.manifest("databases", "test $ME != h1")
    done = release.push("--max-fail", "1")
    assert done.code == 1, done.output
    assert len(release.turns()) == 7


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--stage", "wib"], "has no stage 'wib'\n     did you mean web?"),
        (["--from", "later"], "known stages: databases, migration, web"),
        (["--from", ""], "has no stage ''"),
        (["--stage", ""], "has no stage ''"),
        (["--stage", "web", "--from", "web"], "not allowed with argument"),
        (["--canary", "auto"], "--canary is not supported with stages"),
        (["--verify"], "'gate: verify'"),
        (["--tags", "x"], "--tags applies to one manifest only"),
        (["-l", "db", "--from", "migration"], "none of the selected hosts is in a stage"),
    ],
)
def test_what_stages_cannot_be_is_refused(release: Release, options: list[str], says: str) -> None:
    """Before any host is touched, with what to do."""
    done = release.push(*options)
    assert done.code == 2, done.output
    assert says in done.stderr
    assert release.turns() == []


def test_mistakes_of_all_stages_are_told_at_once(release: Release) -> None:
    """A pattern without hosts and a manifest that is missing have the place in the file."""
    release.write(
        {"name": "a", "hosts": "nobody", "manifest": "databases.yaml"},
        {"name": "b", "hosts": "wib", "manifest": "databases.yaml"},
    )
    done = release.push()
    assert done.code == 2
    assert "release.yaml:1:36: the pattern 'nobody' matches no host" in done.stderr
    assert "did you mean web?" in done.stderr
    release.write({"name": "a", "hosts": "web", "manifest": "missing.yaml"})
    for command in (["push", "-i", str(release.inventory)], ["validate"]):
        done = release.ccm.run(*command, str(release.directory / "release.yaml"))
        assert done.code == 2
        assert "release.yaml:1:" in done.stderr
        assert "missing.yaml" in done.stderr
    assert release.turns() == []


def test_a_file_of_stages_is_no_manifest(release: Release) -> None:
    """What takes only a manifest says so."""
    path = release.directory / "release.yaml"
    done = release.ccm.run("render", str(path))
    assert done.code == 2
    assert "this is a stages file, not a manifest" in done.stderr
    refused = release.ccm.push(release.inventory, release.directory / "web.yaml", "--stage", "web")
    assert "selects a stage, but" in refused.stderr


def test_stages_are_validated(release: Release) -> None:
    """All manifests, each with the data of its stage."""
    done = release.ccm.run("validate", str(release.directory / "release.yaml"))
    assert done.code == 0, done.output
    assert "3 stages; databases: 1 resource; migration: 1 resource; web: 1 resource" in done.stdout


def test_a_plan_of_stages_is_pushed_as_predicted(release: Release, tmp_path: Path) -> None:
    """Each host is held to it in each of its stages, once; what the later one was previewed to find
    there, the earlier one has made by then."""
    layered(release, tmp_path)
    kept = str(tmp_path / "change.plan")
    path = str(release.directory / "release.yaml")
    words = ("plan", "-i", str(release.inventory), "-l", "h0", path, "-o", kept)
    planned = release.ccm.run(*words)
    assert planned.code == 0, planned.output
    shown = release.ccm.run("plan", "show", kept).stdout
    assert "one/h0" in shown
    assert "two/h0" in shown
    assert "Waves      1: one/h0\n           2: two/h0\n" in shown
    page = release.ccm.run("plan", "show", kept, "--markdown", "-").stdout
    assert "| 2 | `two/h0` |" in page
    done = release.ccm.run("push", kept)
    assert done.code == 0, done.output
    assert "as predicted: 3 of 3" in done.stdout
    assert (tmp_path / "copy").read_text() == "x"
    used = release.ccm.run("push", kept)
    assert used.code == 1
    assert "used" in used.stdout
    other = release.ccm.run("push", kept, "--stage", "three")
    assert "has no stage 'three'" in other.stderr


def test_a_plan_that_has_left_out_a_stage_goes_no_further(release: Release, tmp_path: Path) -> None:
    """Of the first stage one host cannot be reached while it is made: as in a push the stages
    behind it do not begin, unless so many may fail or it is taken for done."""
    document = json.loads(release.inventory.read_text())
    document["hosts"]["h1"] = {"connection": "ssh", "address": "127.0.0.1", "port": 1}
    release.inventory.write_text(json.dumps(document), encoding="utf-8")
    kept = str(tmp_path / "change.plan")
    path = str(release.directory / "release.yaml")
    planned = release.ccm.run("plan", "-i", str(release.inventory), path, "-o", kept)
    assert planned.code == 3, planned.output
    shown = release.ccm.run("plan", "show", kept).stdout
    assert "a push would stop in wave 1 (databases): 1 host failed (limit 0); 5 hosts" in shown
    refused = release.ccm.run("push", kept)
    assert refused.code == 2
    assert "omits databases/h1: 1 failed (limit 0)" in refused.stderr
    assert "--from migration skips earlier stages" in refused.stderr
    alone = release.ccm.run("push", kept, "-l", "h1")
    assert "the plan does not contain h1" in alone.stderr
    assert release.turns() == []
    first = release.ccm.run("push", kept, "--stage", "databases")
    assert first.code == 0, first.output
    assert release.turns() == ["databases h0"]
    allowed = release.ccm.run("push", kept, "--max-fail", "1", "-l", "h2")
    assert allowed.code == 0, allowed.output
    assert release.turns()[1:] == ["migrated h2", "web h2"]
