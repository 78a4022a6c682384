"""The gates and the hooks that the command line asks for."""

from typing import Any

from orchestrator.cli.run_output import Output, OutputOptions
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.rollout.gates import Gate, GateRunner
from orchestrator.rollout.hooks import HookedTask
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.runs.gates import gates_of, host_input, outcome_of_wave, with_hooks
from orchestrator.runs.push_job import PushConfig, PushJob, Targets
from remote_runtime.options import RunOptions
from tests.orchestrator.fleet.fakes import SETTINGS, FakeConnector, FakeHost, FakePlanner


def gates(options: RolloutOptions) -> list[Gate]:
    planner = FakePlanner([])
    push = PushJob("push", "site.yaml", None, planner)
    targets = Targets([FakeHost("web1")], FakeConnector(), 5)
    config = PushConfig(RunSettings("run-1", "alice@desk"), {}, rollout=options)
    output = Output(OutputOptions(), RunOptions())
    keeper = gates_of(push, targets, config=config, reporter=output, publish=print)()
    return list(keeper.gates) if isinstance(keeper, GateRunner) else []


def test_gates_come_in_an_order_of_their_own() -> None:
    """What needs no judgement comes first: soak, verify, commands as given, somebody at last."""
    options = RolloutOptions(soak=5.0, gate=("b.sh", "verify", "a.sh"), confirm=True)
    names = [gate.name for gate in gates(options)]
    assert names == ["the soak of 5 s", "verify", "gate 'b.sh'", "gate 'a.sh'", "confirmation"]
    assert gates(RolloutOptions()) == []


def test_each_has_a_deadline() -> None:
    """Nobody is waited for without end."""
    options = RolloutOptions(soak=5.0, gate=("a.sh", "verify"), gate_timeout=60.0, confirm=True)
    assert [gate.seconds for gate in gates(options)] == [1805.0, 60.0, 60.0, 60.0]


def test_a_wave_is_told_in_a_line() -> None:
    """Who decides is told of those that are not well, too."""
    well, changed = HostResult("a", Tally()), HostResult("b", Tally())
    changed.tally.changed = 2
    lost = HostResult("c", Tally(), "unreachable")
    assert outcome_of_wave([well, changed]) == "2 hosts healthy, 1 changed (b)"
    assert outcome_of_wave([well, lost]) == "1 host healthy, 1 not (c), 0 changed"


def test_a_host_without_hooks_is_itself() -> None:
    """Only the options put something around it."""

    def make(host: Any) -> Any:
        return host

    for options, kind in (
        (RolloutOptions(), FakeHost),
        (RolloutOptions(before_host="drain"), HookedTask),
        (RolloutOptions(after_host="undrain"), HookedTask),
    ):
        config = PushConfig(SETTINGS, {}, rollout=options)
        host: Any = Described("web1")
        assert isinstance(with_hooks(make, config)(host), kind)


class Described(FakeHost):
    """A host of an inventory, as far as commands are told of it."""

    address, port, user, groups = "192.0.2.7", 22, "deploy", ("web",)


def test_a_command_is_told_of_the_host() -> None:
    """What one needs to find it in a load balancer."""
    told = host_input(Described("web1", {"rack": 7}))
    assert told == {
        "name": "web1",
        "address": "192.0.2.7",
        "port": 22,
        "user": "deploy",
        "groups": ("web",),
        "vars": {"rack": 7},
    }
