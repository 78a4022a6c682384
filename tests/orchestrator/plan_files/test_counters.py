"""The counters of a plan are sums over its hosts."""

import re
from pathlib import Path
from typing import Any

from orchestrator.plan_files.counters import COUNTERS, Counters, counters_of
from tests.docs.pages import DOCS
from tests.orchestrator.plan_files.made import event, keep
from tests.orchestrator.plan_files.test_dangerous_changes import GONE, effect, told


def test_counters_of_a_plan(tmp_path: Path) -> None:
    """Each host counts; hosts without a plan are counted by themselves."""
    kept = keep(tmp_path, hosts=("web1", "web2"))
    kept.record["left_out"]["web3"] = {"outcome": "unreachable", "kind": "k", "message": "m"}
    found = counters_of(kept)
    assert list(found) == list(COUNTERS)
    assert {name: number for name, number in found.items() if number} == {
        "changes": 6,
        "hosts": 2,
        "left_out": 1,
    }


def test_removals_include_packages_and_accounts() -> None:
    """``removes`` is all that goes, so that nothing slips through under another name."""
    counters = Counters()
    counters.add("web1", told("file", "/x", GONE))
    counters.add("web1", {**told("package", "a", GONE), "effects": [effect("package", "a")]})
    counters.add("web2", {**told("group", "g", GONE), "effects": [effect("group", "g")]})
    values = counters.values
    assert (values["removes"], values["package_removes"], values["account_removes"]) == (3, 1, 1)


def test_what_is_no_change_counts_too() -> None:
    """Failures, doubts and commands have their counters."""
    counters = Counters()
    counters.add("web1", event("web1", "/x", status="failed", changed=False, changes=[]))
    counters.add("web1", event("web1", "/x", status="stable", prediction="unknown", changes=[]))
    counters.add("web1", event("web1", "/x", prediction="assumed"))
    counters.add("web1", told("exec", "x", ("command", None, "x")))
    counters.add("web1", event("web1", "child.yaml", type="apply", prediction="unknown"))
    assert {name: number for name, number in counters.values.items() if number} == {
        "commands": 1, "changes": 2, "failures": 1, "assumed": 1, "unknown": 1, "hosts": 1,
    }  # fmt: skip


def test_what_a_push_leaves_alone_does_not_count() -> None:
    """A resource in a child with ``noop: true`` changes nothing, but it can fail."""
    counters = Counters()
    gone = told("file", "/x", GONE, always_noop=True, manifest="child.yaml", prediction="unknown")
    assert counters.add("web1", gone) == []
    counters.add("web1", told("exec", "x", ("command", None, "x"), always_noop=True))
    apply = {"type": "apply", "changes": [], "always_noop": True, "prediction": "unknown"}
    counters.add("web1", event("web1", "child.yaml", **apply, status="skipped"))
    assert not any(counters.values.values())
    counters.add("web1", {**gone, "status": "failed"})
    assert {name: number for name, number in counters.values.items() if number} == {"failures": 1}


def applied(*before: dict[str, Any], **members: Any) -> dict[str, int]:
    """What an ``apply`` counts, after the events of its manifest."""
    counters = Counters()
    for one in before:
        counters.add("web1", one)
    members = {"type": "apply", "changes": [], **members}
    assert counters.add("web1", event("web1", "child.yaml", **members)) == []
    return {name: number for name, number in counters.values.items() if number}


def test_an_apply_counts_what_its_resources_do_not() -> None:
    """A push may run the manifest of one that is skipped in doubt; one that fails alone counts."""
    assert applied(status="skipped") == {}
    assert applied(status="skipped", prediction="assumed") == {"assumed": 1}
    assert applied(status="skipped", prediction="unknown") == {"unknown": 1}
    assert applied(status="failed") == {"failures": 1}
    assert applied(status="failed", prediction="unknown") == {"failures": 1, "unknown": 1}
    assert applied(status="changed", prediction="unknown") == {}


def test_an_apply_counts_nothing_twice() -> None:
    """Where a resource of its manifest fails, that is the failure, also of the applies around."""
    child = event("web1", "/x", manifest="child.yaml", status="failed", changes=[])
    assert applied(child, status="failed", prediction="assumed") == {"failures": 1}
    deep = {**child, "manifest": "deep/own.yaml"}
    nested = event(
        "web1", "deep/own.yaml", type="apply", manifest="child.yaml", status="failed", changes=[]
    )
    assert applied(deep, nested, status="failed") == {"failures": 1}
    fine = event("web1", "/x", manifest="child.yaml", status="stable", changes=[])
    assert applied(fine, status="failed", prediction="assumed") == {"failures": 1}
    assert applied(child, nested | {"name": "other.yaml"}, status="failed") == {"failures": 2}


def test_the_reference_lists_each_counter() -> None:
    """The page has the counters with their descriptions, in this order."""
    page = (DOCS / "reference" / "plan-counters.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` +\| (.+?) +\|$", page.partition("\n## ")[0], re.MULTILINE)
    assert dict(rows) == COUNTERS
    assert [name for name, _ in rows] == list(COUNTERS)
