"""Plans that are damaged, of somebody else or cannot be noted: refused, and nothing is changed."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.plan_files.plan_file import Record, id_of
from orchestrator.plan_files.storage import read_plan, text_of
from tests.lab import Host, Lab
from tests.push.command import Ccm
from tests.push.plans import SITE, plan, push
from tests.push.target import NAME, Target, over_ssh

COMMANDS = (
    ["push"],
    ["plan", "show"],
    ["plan", "diff", "change.plan"],
    ["plan", "sign", "--key", "none"],
)


def test_a_file_that_is_no_whole_plan(local: Target) -> None:
    """Cut short, altered, of another version, no plan: neither pushed nor shown nor signed."""
    assert plan(local).code == 0
    path = local.ccm.scratch / "change.plan"
    whole = path.read_bytes()
    newer = text_of({**read_plan(str(path)).record, "format": 3})
    for text, told in (
        (whole[: len(whole) // 2], "change.plan is truncated"),
        (whole.replace(b'"one\\n', b'"own\\n').replace(b"+one", b"+own"), "altered since"),
        (newer, "a plan of format 3, but this ccm reads format 2"),
        (b"", "is not a plan"),
        (b"ccm: {resources: []}\n", "is not a plan"),
    ):
        assert text != whole
        path.write_bytes(text)
        for words in COMMANDS:
            refused = local.ccm.run(*words, "change.plan")
            assert refused.code == 2, (words, refused.output)
            assert told in refused.stderr, words
    assert local.names() == []


def test_a_plan_of_other_hosts(local: Target) -> None:
    """A host that is reached otherwise by now is refused, whatever its name is."""
    assert plan(local).code == 0
    text = local.inventory.read_text()
    other = local.ccm.scratch / "other.yaml"
    other.write_text(text.replace('"connection"', '"address": "192.0.2.9", "connection"'))
    refused = push(local.ccm, "-i", str(other))
    assert (refused.code, refused.events, local.names()) == (1, [], []), refused.output
    assert "its address in the inventory has changed" in " ".join(refused.stdout.split())


def _program(local: Target, marker: Path) -> Path:
    """An inventory program that leaves a marker."""
    program = local.ccm.scratch / "hosts"
    listing = local.inventory.read_text()
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat <<'END'\n{listing}\nEND\n")
    program.chmod(0o755)
    return program


def test_an_inventory_program_that_was_edited(local: Target, tmp_path: Path) -> None:
    """A plan has the digest of an inventory program, which a push does not run once it differs."""
    marker = tmp_path / "ran"
    program = _program(local, marker)
    site = local.ccm.site(local.filled(SITE))
    words = ["plan", "-i", str(program), "-l", NAME, "-o", "change.plan", str(site)]
    made = local.ccm.run(*words)
    assert made.code == 0, made.output
    marker.unlink()
    program.write_text(program.read_text() + "# edited\n")
    refused = push(local.ccm)
    assert (refused.code, local.names()) == (2, []), refused.output
    assert "hosts has changed since the plan was created" in refused.stderr
    assert not marker.exists()


def test_a_crafted_plan_runs_no_program(local: Target, tmp_path: Path) -> None:
    """An inventory program that a plan names and has no digest of is not run."""
    marker = tmp_path / "ran"
    program = _program(local, marker)
    assert plan(local).code == 0
    path = local.ccm.scratch / "change.plan"
    path.write_bytes(text_of({**read_plan(str(path)).record, "inventory": [str(program)]}))
    refused = push(local.ccm)
    assert (refused.code, local.names()) == (2, []), refused.output
    assert "without a digest" in refused.stderr
    assert not marker.exists()


def _unchanged(outcome: Record) -> None:
    outcome.update(status="stable", changed=False, changes=[], operations=[])


def _skipped(outcome: Record) -> None:
    outcome.update(status="skipped", skipped=True, changed=False, changes=[], operations=[])


def _unknown(outcome: Record) -> None:
    _unchanged(outcome)
    outcome["prediction"] = "unknown"


def _of_another(outcome: Record) -> None:
    outcome["name"] += "-harmless"


def _other_hash(outcome: Record) -> None:
    outcome["changes"][-1]["to"] = "sha256:" + "0" * 64


def _other_diff(outcome: Record) -> None:
    outcome["changes"][-1]["diff"] = outcome["changes"][-1]["diff"].replace("one", "two")


@pytest.mark.parametrize(
    "craft", [_unchanged, _skipped, _unknown, _of_another, _other_hash, _other_diff]
)
def test_a_crafted_plan_does_nothing_that_it_hides(
    local: Target, craft: Callable[[Record], None]
) -> None:
    """A host compares what the plan shows with its own preview, and refuses before any change."""
    assert plan(local).code == 0
    path = local.ccm.scratch / "change.plan"
    record = dict(read_plan(str(path)).record)
    craft(record["outcomes"][0])
    path.write_bytes(text_of({**record, "id": id_of(record)}))
    assert local.ccm.run("plan", "show", "change.plan").code == 0
    refused = push(local.ccm)
    assert (refused.code, refused.events, local.names()) == (1, [], []), refused.output
    told = " ".join(refused.stdout.split())
    assert f"the plan file does not show what the push would do: file#{local.path('a')}" in told


def test_a_plan_in_a_directory_of_all(local: Target) -> None:
    """Who makes a plan where others can replace it is told at once, and the push refuses it."""
    directory = local.ccm.scratch / "shared"
    directory.mkdir()
    directory.chmod(0o777)
    made = plan(local, name="shared/change.plan")
    assert made.code == 0
    assert "warning: ccm push will refuse this plan: shared is writable" in made.output
    refused = push(local.ccm, name="shared/change.plan")
    assert (refused.code, local.names()) == (2, []), refused.output
    assert "shared is writable by other users" in refused.stderr
    directory.chmod(0o755)
    assert push(local.ccm, name="shared/change.plan").code == 0


def test_a_pipe_in_place_of_a_file(local: Target) -> None:
    """A plan that is kept needs files that the push finds again."""
    pipe = local.ccm.scratch / "pipe"
    os.mkfifo(pipe)
    made = plan(local, SITE, "--hiera", str(pipe))
    assert made.code == 2
    assert "is not a regular file" in made.stderr


def test_signatures_of_who_may_not_approve(local: Target, tmp_path: Path) -> None:
    """Another user's signature, and one of another plan, approve nothing."""
    ccm, signers = local.ccm, tmp_path.parent / f"{tmp_path.name}-signers"
    for name in ("alice", "mallory"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    public = (tmp_path / "alice.pub").read_text().split()
    signers.write_text(f"alice@example.com {public[0]} {public[1]}\n")
    signers.chmod(0o644)
    assert plan(local, SITE, name="other.plan").code == 0
    assert ccm.run("plan", "sign", "--key", str(tmp_path / "alice"), "other.plan").code == 0
    assert plan(local).code == 0
    assert ccm.run("plan", "sign", "--key", str(tmp_path / "mallory"), "change.plan").code == 0
    ours, others = ccm.scratch / "change.plan.sig", ccm.scratch / "other.plan.sig"
    ours.write_text(ours.read_text() + others.read_text())
    refused = push(ccm, "--signers", str(signers))
    assert (refused.code, local.names()) == (2, []), refused.output
    assert "change.plan has 0 of 1 approvals" in refused.stderr


@pytest.mark.parametrize("how", ["damaged", "newer", "another user's", "in its place"])
def test_a_use_that_cannot_be_noted(target: Target, how: str) -> None:
    """Where the host cannot tell whether it used the plan, it refuses; mended, the plan goes on."""
    if os.geteuid() != 0:
        pytest.skip("the state of root is looked at")
    assert plan(target).code == 0
    serial = json.loads((target.ccm.scratch / "change.plan").read_text())["serial"]
    note = target.state / "plans" / serial
    note.parent.mkdir(0o700, parents=True, exist_ok=True)
    if how == "in its place":
        note.mkdir()
    else:
        note.write_text('{"format": 99}' if how == "newer" else "[")
        os.chown(note, *((12345, 12345) if how == "another user's" else (0, 0)))
    refused = push(target.ccm)
    assert (refused.code, refused.events, target.names()) == (1, [], []), refused.output
    told = " ".join(refused.stdout.split())
    assert "could not record that the plan was used" in told
    assert "nothing was changed on this host" in told
    if how == "in its place":
        note.rmdir()
    else:
        note.unlink()
    assert push(target.ccm).code == 0
    assert note.exists()


def test_a_state_directory_that_cannot_be_written(ccm: Ccm, lab: Lab, host: Host) -> None:
    """A plan is refused there; a plain push goes on and says what it could not keep."""
    target = over_ssh(ccm, lab, host)
    host.run("mkdir -p /var/lib/ccm; mount -t tmpfs -o ro,mode=0700 none /var/lib/ccm")
    assert plan(target).code == 0
    refused = push(ccm)
    assert (refused.code, refused.events, target.names()) == (1, [], []), refused.output
    told = " ".join(refused.stdout.split())
    assert "could not write /var/lib/ccm/key" in told
    assert "make the state directory writable, and owned by this user" in told
    done = target.push(SITE)
    assert done.code == 0, done.output
    assert target.names() == ["a", "b", "fired"]
    assert "the next run will not know the pending refreshes of this run" in done.output


def test_a_clone_of_a_host(ccm: Ccm, lab: Lab, host: Host) -> None:
    """Another machine with the same state and address is not what the plan was created for."""
    target = over_ssh(ccm, lab, host)
    assert plan(target).code == 0
    host.write("/etc/machine-id", "c10de000c10de000c10de000c10de000\n", 0o444)
    refused = push(ccm)
    assert (refused.code, refused.events, target.names()) == (1, [], []), refused.output
    told = " ".join(refused.stdout.split())
    assert "it is not the machine that the plan was created for" in told


def test_notes_on_expired_plans_go(target: Target) -> None:
    """Not while a plan is valid, and whatever one of the clocks says of that."""
    if os.geteuid() != 0:
        pytest.skip("the state of root is looked at")
    notes = []
    for _ in range(3):
        assert plan(target).code == 0
        serial = json.loads((target.ccm.scratch / "change.plan").read_text())["serial"]
        notes.append(target.state / "plans" / serial)
        if len(notes) == 2:
            old = json.loads(notes[0].read_text())
            notes[0].write_text(json.dumps({**old, "expires": old["expires"] - 30 * 86_400}))
        assert push(target.ccm, "-l", NAME).code == 0
    assert [note.exists() for note in notes] == [False, True, True]
