"""What is loaded while the first host starts."""

from pathlib import Path

from orchestrator.cli.meanwhile import LATER
from tests.orchestrator.cli.starts import hosts, imported, site

# What those import, and nobody before them.
ONLY_THERE = {
    "orchestrator.fleet.event_check", "orchestrator.fleet.framed_link",
    "orchestrator.fleet.gathered", "orchestrator.fleet.ports",
    "orchestrator.fleet.serving", "orchestrator.fleet.stable_check",
    "orchestrator.fleet.stable_turns", "orchestrator.planning.implications",
    "orchestrator.report.failures", "orchestrator.report.grouping", "orchestrator.report.pivot",
    "orchestrator.report.rows", "orchestrator.report.totals", "remote_runtime.expansion",
    "remote_runtime.stable",
}  # fmt: skip


def test_what_an_answer_needs_is_loaded_once_the_runtime_was_started(tmp_path: Path) -> None:
    """The module that starts it comes before all of them, and none is missing at the end."""
    words = ("push", "-i", str(hosts(tmp_path)), str(site(tmp_path)))
    order = imported(tmp_path, *words)
    started = order.index("orchestrator.transport.local")
    assert {*LATER, *ONLY_THERE} <= set(order)
    assert {*LATER, *ONLY_THERE} & set(order[:started]) == set()


def test_this_machine_begins_before_the_run_is_loaded(tmp_path: Path) -> None:
    """One host that is this machine has its runtime started as soon as all input is checked."""
    words = ("push", "-i", str(hosts(tmp_path)), str(site(tmp_path)))
    order = imported(tmp_path, *words)
    begun = order.index("orchestrator.transport.local")
    assert "orchestrator.planning.planner" in order[:begun]
    assert {"orchestrator.cli.running", "orchestrator.report.collected"} <= set(order[begun:])


def test_a_command_that_asks_no_host_loads_none_of_it(tmp_path: Path) -> None:
    """Neither does one that only looks at its input."""
    order = imported(tmp_path, "validate", str(site(tmp_path)), says="is valid")
    assert "orchestrator.manifest.loading" in order
    assert {*LATER, *ONLY_THERE} & set(order) == set()
