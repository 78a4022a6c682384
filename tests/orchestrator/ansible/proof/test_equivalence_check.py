"""A proof applies both tools in turn, and lists by task what the second one would do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.ansible.proof.equivalence_check import Proof, TaskMap, prove
from orchestrator.ansible.proof.playbook_run import ProofError, TaskResult
from tests.texts import expect_text

TASKS = (
    {"file": "t.yml", "line": 3, "task": "Conf", "resources": ["file#/etc/a"]},
    {"file": "t.yml", "line": 7, "task": "Run", "resources": ["exec#date"]},
)


def event(identity: str, **more: Any) -> dict[str, Any]:
    """A transaction event of web1."""
    kind, _, name = identity.partition("#")
    return {"host": "web1", "type": kind, "name": name, "changed": False, "failed": False, **more}


class World:
    """Both tools: what each run of them says, and the order in which they were called."""

    def __init__(
        self,
        tmp_path: Path,
        *,
        plays: Iterable[Iterable[int]] = ((), ()),
        preview: Iterable[dict[str, Any]] = (),
        pushes: Iterable[list[dict[str, Any]]] = (),
    ) -> None:
        self.calls: list[str] = []
        self.failing = 0
        """The line of a task that fails."""
        self.reached: tuple[int, ...] = (3, 7)
        """The lines of the tasks that a play gets to."""
        self.skipped: dict[int, bool] = {}
        """The lines of tasks that are skipped, and whether by their condition."""
        self._path = str(tmp_path / "t.yml")
        self._plays = iter(plays)
        self._preview = list(preview)
        self._pushes = iter(pushes)
        self.tasks = TaskMap(TASKS, tmp_path)

    def play(self, check: bool) -> list[TaskResult]:
        """The tasks at the lines of this run have changed."""
        self.calls.append("check" if check else "play")
        lines = next(self._plays)
        status = {self.failing: "failed"}
        status.update(dict.fromkeys(self.skipped, "skipped"))
        return [
            TaskResult(
                host="web1",
                path=self._path,
                line=n,
                name=f"t{n}",
                changed=n in lines,
                status=status.get(n, "ok"),
                by_condition=self.skipped.get(n, False),
            )
            for n in self.reached
        ]

    def preview(self) -> list[dict[str, Any]]:
        """The events of the preview."""
        self.calls.append("preview")
        return self._preview

    def push(self) -> list[dict[str, Any]]:
        """The events of this push."""
        self.calls.append("push")
        return next(self._pushes)

    def prove(self, first: str) -> Proof:
        """Prove with both."""
        said: list[str] = []
        proof = prove(first, ["web1"], play=self.play, site=self, tasks=self.tasks, say=said.append)
        assert len(said) == 3
        return proof


def test_ansible_first_finds_nothing(tmp_path: Path) -> None:
    """The playbook runs twice, the site is only previewed."""
    world = World(tmp_path, preview=[event("file#/etc/a"), event("apply#web", changed=True)])
    proof = world.prove("ansible")
    assert world.calls == ["play", "play", "preview"]
    assert proof.holds
    assert proof.checked == 2


def test_differences_name_the_task(tmp_path: Path) -> None:
    """A pending change is a difference, with the task, the resource and the change."""
    changes = [{"what": "mode", "from": "0600", "to": "0644"}]
    pending = event("file#/etc/a", changed=True, changes=changes, noop_message="Would have updated")
    world = World(tmp_path, preview=[pending, event("user#x", failed=True, error=["no shell"])])
    proof = world.prove("ansible")
    assert not proof.holds
    first, second = proof.differences
    assert first.task == "t.yml:3 (Conf)"
    assert first.resource == "file#/etc/a"
    expect_text(first.what)
    assert (second.task, second.what) == ("", "no shell")


def test_what_ansible_changes_every_time_is_no_difference(tmp_path: Path) -> None:
    """A task that changed in the second run, too, is listed apart."""
    world = World(tmp_path, plays=((3, 7), (7,)), preview=[event("exec#date", changed=True)])
    proof = world.prove("ansible")
    assert proof.holds
    assert [one.task for one in proof.repeated] == ["t.yml:7 (Run)"]


@pytest.mark.parametrize(
    ("properties", "status", "holds"),
    [
        ({"command": "a"}, "ok", True),
        ({"command": "a"}, "skipped", False),
        ({"command": "a", "unless": "b"}, "ok", False),
    ],
)
def test_a_command_that_always_runs_is_no_difference(
    properties: dict[str, str], status: str, holds: bool, tmp_path: Path
) -> None:
    """If the task runs each time, too; one that Ansible skips is a difference."""
    world = World(tmp_path, preview=[event("exec#date", changed=True, properties=properties)])
    if status == "skipped":
        world.skipped = {7: True}
    proof = world.prove("ansible")
    assert proof.holds == holds
    assert len(proof.repeated) == holds


def test_what_a_preview_cannot_know_is_listed_apart(tmp_path: Path) -> None:
    """An unknown prediction neither proves nor contradicts."""
    unknown = event(
        "file#/etc/a", prediction="unknown", prediction_reason="exec#date may change it"
    )
    proof = World(tmp_path, preview=[unknown]).prove("ansible")
    assert proof.holds
    expect_text([one.what for one in proof.unknown])


def test_ccm_first_is_checked_by_ansible(tmp_path: Path) -> None:
    """The site is pushed twice; a change in check mode is a difference unless ccm repeats it."""
    pushes = ([event("file#/etc/a", changed=True)], [event("exec#date", changed=True)])
    world = World(tmp_path, plays=((3, 7),), pushes=pushes)
    proof = world.prove("ccm")
    assert world.calls == ["push", "push", "check"]
    (one,) = proof.differences
    assert one.resource == "file#/etc/a"
    assert one.task.endswith("t.yml:3 (t3)")
    assert [one.resource for one in proof.repeated] == ["exec#date"]


def test_what_fails_in_check_mode_is_unknown(tmp_path: Path) -> None:
    """Check mode skips commands, so it cannot tell."""
    pushes: list[list[dict[str, Any]]] = [[event("file#/etc/a")], []]
    world = World(tmp_path, plays=((),), pushes=pushes)
    world.failing = 7
    proof = world.prove("ccm")
    assert proof.holds
    assert [one.resource for one in proof.unknown] == ["exec#date"]


@pytest.mark.parametrize("by_condition", [True, False])
def test_commands_that_check_mode_skips_are_listed(by_condition: bool, tmp_path: Path) -> None:
    """But not one whose condition does not hold: it would not run either."""
    pushes: list[list[dict[str, Any]]] = [[event("file#/etc/a")], []]
    world = World(tmp_path, plays=((),), pushes=pushes)
    world.skipped = {3: False, 7: by_condition}
    proof = world.prove("ccm")
    assert proof.holds
    found = [(one.resource, one.what) for one in proof.unknown]
    expected = ("exec#date", "skipped because check mode runs no commands")
    assert found == ([] if by_condition else [expected])


def test_tasks_after_a_failure_in_check_mode_are_listed(tmp_path: Path) -> None:
    """Nobody looked at them, which the proof does not hide."""
    pushes: list[list[dict[str, Any]]] = [[event("file#/etc/a")], []]
    world = World(tmp_path, plays=((),), pushes=pushes)
    world.failing, world.reached = 3, (3,)
    proof = world.prove("ccm")
    assert [(one.task, one.resource) for one in proof.unknown][1:] == [
        ("t.yml:7 (Run)", "exec#date")
    ]
    expect_text(proof.unknown[1].what)


@pytest.mark.parametrize("first", ["ansible", "ccm"])
def test_a_host_without_resources_proves_nothing(tmp_path: Path, first: str) -> None:
    """An empty site would find nothing to do everywhere."""
    with pytest.raises(ProofError) as refused:
        World(tmp_path, pushes=([],)).prove(first)
    expect_text(refused.value)
