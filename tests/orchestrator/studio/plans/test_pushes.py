"""A push is a process of its own: what happens in it stays there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.studio.plans import pushes as of_pushes
from orchestrator.studio.plans.plan_cache import OpenPlan, PlanPolicy, StoredPlans
from orchestrator.studio.plans.pushes import PlanPush, Pushes, environment_of
from remote_runtime.errors import UsageError
from tests.orchestrator.studio.plans.planned import NAME, command_of, project_of, put_plan
from tests.texts import expect_text

RUN = 'print(json.dumps({"run": "R1"}), flush=True)\n'
WAIT = "while not os.path.exists(sys.argv[1]): time.sleep(0.02)\n"


def shelf_of(root: Path) -> tuple[StoredPlans, OpenPlan]:
    """A shelf with one plan."""
    put_plan(root)
    stored_plans = StoredPlans(root, PlanPolicy("/etc/signers", 2))
    plan = stored_plans.open(NAME)
    assert plan is not None
    return stored_plans, plan


def ended(push: PlanPush) -> PlanPush:
    """The push after its end."""
    assert push.done.wait(60)
    return push


@pytest.fixture
def push_with(tmp_path: Path) -> Callable[[str], tuple[PlanPush, list[str]]]:
    """Pushes a plan with a program; the push, and the actions for the audit log."""

    def start(script: str) -> tuple[PlanPush, list[str]]:
        """Start it."""
        stored_plans, plan = shelf_of(project_of(tmp_path))
        told: list[str] = []
        pushes = Pushes(stored_plans, command_of(script), tmp_path / "runs")
        push = pushes.start(plan, "alice", lambda action, _: told.append(action))
        return ended(push), told

    return start


def test_the_process_gets_the_plan_and_its_digest(tmp_path: Path) -> None:
    """In the directory of the project, with the policy, for the user, and without a password."""
    root = project_of(tmp_path)
    stored_plans, plan = shelf_of(root)
    script = "print(json.dumps({'problem': json.dumps([order, os.getcwd()])}))"
    pushes = Pushes(stored_plans, command_of(script), tmp_path / "runs")
    push = ended(pushes.start(plan, "alice", lambda *_: None))
    digest = plan.stored.digest
    for text in (NAME, digest, "/etc/signers", '"approvals": 2', str(tmp_path / "runs"), str(root)):
        assert text in push.problem
    environ = {"CCM_SSH_PASSWORD": "x", "CCM_BECOME_PASSWORD_COMMAND": "y", "SSH_AUTH_SOCK": "/s"}
    assert environment_of("alice", environ) == {"SSH_AUTH_SOCK": "/s", "CCM_ACTOR": "alice"}


def test_a_push_that_ends_well(push_with: Callable[[str], tuple[PlanPush, list[str]]]) -> None:
    """Its run is known, and there is no problem."""
    push, told = push_with(RUN)
    assert (push.run, push.problem, push.is_running) == ("R1", "", False)
    assert told == ["push started", "push ended"]


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (RUN + "print(json.dumps({'problem': '1 of 2 hosts'}))", "1 of 2 hosts"),
        ("sys.exit(3)", "the push process exited with 3"),
        (RUN + "os.abort()", "the push process exited with -6"),
        ("os.write(1, b'\\xff[1]\\n{\\n' * 9); sys.exit(1)", "exited with 1"),
        ("os.write(1, b'x' * 300_000); sys.exit(1)", "exited with 1"),
    ],
)
def test_a_push_that_fails(
    push_with: Callable[[str], tuple[PlanPush, list[str]]], script: str, problem: str
) -> None:
    """What the process says or how it ends is the problem of the push alone."""
    push, told = push_with(script)
    assert problem in push.problem
    assert told[-1] == "push failed"


def test_a_process_that_cannot_start(tmp_path: Path) -> None:
    """The push fails, and the plan may be pushed again."""
    stored_plans, plan = shelf_of(project_of(tmp_path))
    pushes = Pushes(stored_plans, [str(tmp_path / "none")], tmp_path / "runs")
    for _ in range(2):
        push = ended(pushes.start(plan, "alice", lambda *_: None))
        expect_text(push.problem)


def test_one_push_of_a_plan_at_a_time(tmp_path: Path) -> None:
    """A second one is refused, also of a copy of the file, until the first has ended."""
    root = project_of(tmp_path)
    stored_plans, plan = shelf_of(root)
    (root / "copy.plan").write_bytes(plan.stored.text)
    copy = stored_plans.open("copy.plan")
    assert copy is not None
    over = tmp_path / "over"
    pushes = Pushes(stored_plans, command_of(RUN + WAIT, str(over)), tmp_path / "runs")
    first = pushes.start(plan, "alice", lambda *_: None)
    for other in (plan, copy):
        expect_text(pushes.obstacles(other))
        with pytest.raises(UsageError) as refused:
            pushes.start(other, "bob", lambda *_: None)
        expect_text(refused.value)
    assert pushes.of(plan.summary.id) is first
    over.touch()
    ended(first)
    assert not [one for one in pushes.obstacles(copy) if "is pushing" in one]
    assert ended(pushes.start(copy, "bob", lambda *_: None)).run == "R1"


def test_pushes_at_the_same_time_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is refused, and nothing of it is remembered."""
    monkeypatch.setattr(of_pushes, "MAX_AT_ONCE", 1)
    root = project_of(tmp_path)
    stored_plans, plan = shelf_of(root)
    put_plan(root, "other.plan", hosts=("web9",))
    other = stored_plans.open("other.plan")
    assert other is not None
    over = tmp_path / "over"
    pushes = Pushes(stored_plans, command_of(RUN + WAIT, str(over)), tmp_path / "runs")
    first = pushes.start(plan, "alice", lambda *_: None)
    with pytest.raises(UsageError) as refused:
        pushes.start(other, "bob", lambda *_: None)
    expect_text(refused.value)
    assert pushes.of(other.summary.id) is None
    over.touch()
    ended(first)


def test_the_browser_does_not_wait_for_the_end(tmp_path: Path) -> None:
    """A push that has begun is shown while it runs."""
    stored_plans, plan = shelf_of(project_of(tmp_path))
    over = tmp_path / "over"
    pushes = Pushes(stored_plans, command_of(RUN + WAIT, str(over)), tmp_path / "runs")
    begin = time.monotonic()
    push = pushes.start(plan, "alice", lambda *_: None)
    assert (push.run, push.is_running) == ("R1", True)
    assert time.monotonic() - begin < 20
    over.touch()
    ended(push)
