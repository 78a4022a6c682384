"""ccm.assert: a host is refused before its first change."""

from pathlib import Path

import pytest

from remote_runtime.errors import PlanError
from tests.orchestrator.planning.planned import FakeHost, gathered, plan, planner, refused
from tests.texts import expect_text

RESOURCES = "resources: [{exec: [{x: {}}]}]"


def text(entries: str, head: str = "") -> str:
    """A manifest with these assertions."""
    return f"{head}\nccm:\n  assert: {entries}\n  {RESOURCES}\n"


def told(directory: Path, entries: str, head: str = "") -> str:
    """Why one host gets no plan."""
    with pytest.raises(PlanError) as caught:
        plan(directory, text(entries, head))
    return str(caught.value)


def test_a_host_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    """With the message, where the condition stands and what it is; all of them at once."""
    entries = (
        '[{that: Facts.host.info.os == "plan9", message: "{{ Host.name }} needs Plan 9"},'
        " {that: Data.port > 1024, message: port too low}, {that: true, message: never}]"
    )
    found = told(tmp_path, entries, "data: {port: 80}")
    expect_text(found)
    assert "never" not in found


def test_a_message_of_several_lines(tmp_path: Path) -> None:
    """Its author's lines stay, with the hint below; those of a value are escapes."""
    entries = (
        "\n    - that: Data.port > 1024\n      message: |\n"
        "        port {{ Data.port }} is low:\n        use {{ Data.more }}"
    )
    head = 'data: {port: 80, more: "81\\nsite.yaml:1:1: \\e[2J"}'
    assert told(tmp_path, entries, head).endswith(
        "site.yaml:4:13: port 80 is low:\n"
        "  use 81\\nsite.yaml:1:1: \\x1b[2J\n"
        "  (Data.port > 1024 is not true)"
    )


def test_a_host_that_holds_has_its_plan(tmp_path: Path) -> None:
    """Nothing of it is seen then."""
    made = plan(tmp_path, text("[{that: Data.port == 80, message: no}]", "data: {port: 80}"))
    assert [item.name for item in made.items] == ["x"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("Data.port", "that must return true or false, but Data.port returns 80"),
        ("Data.nope.x == 1", "assert: "),
    ],
)
def test_a_condition_that_cannot_be_told_refuses_too(
    tmp_path: Path, entry: str, message: str
) -> None:
    """What is not a boolean, and what is not there."""
    found = told(tmp_path, f"[{{that: '{entry}', message: m}}]", "data: {port: 80}")
    assert message in found
    assert "site.yaml:3" in found


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("{that: true}", "3:11: assert must be a list of conditions, not a map"),
        ("[]", "assert must be a list of conditions, not an empty list"),
        ("[x]", "an entry of assert must be a map with 'that' and 'message', not "),
        ("[{that: true}]", "3:12: assert: 'message' is missing"),
        ("[{message: m}]", "assert: 'that' is missing"),
        ("[{that: true, message: ''}]", "assert: 'message' is empty"),
        ("[{that: true, msg: m, message: m}]", "assert: unknown key 'msg'"),
        ("[{that: '{{ x }}', message: m}]", "braces are not allowed here"),
        ("[{that: nope, message: m}]", "nope"),
        ("[{that: 5, message: m}]", "assert: 'that' must be text, not "),
        ("[{that: '5', message: m}]", "assert: that must return true or false, but 5 returns 5"),
        ('[{that: \'file("/etc/x") == ""\', message: m}]', "assert cannot read"),
        ("[{that: true, message: '{{ nope }}'}]", "nope"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, entries: str, message: str) -> None:
    """Before any host is contacted, with its place."""
    assert message in refused(tmp_path, text(entries))


def test_a_childs_assertions_hold_where_it_runs(tmp_path: Path) -> None:
    """One that control leaves out demands nothing."""
    (tmp_path / "child.yaml").write_text(text("[{that: Data.port == 1, message: child no}]"))
    parent = "ccm: {resources: [{apply: [{child.yaml: {data: {port: 2}%s}}]}]}"
    with pytest.raises(PlanError) as refused:
        plan(tmp_path, parent % "")
    expect_text(refused.value)
    assert plan(tmp_path, parent % ", control: {if: 'false'}")


def test_what_needs_no_facts_is_told_without_contacting_the_host(tmp_path: Path) -> None:
    """validate -i tells it; a condition on facts stays open."""
    entries = "[{that: Host.vars.n == 1, message: no n}, {that: Facts.cpu.n == 1, message: cpu}]"
    made = planner(tmp_path, text(entries))
    check = made.examine(FakeHost(vars={"n": 2}))
    assert [one.message for one in check.problems] == ["no n"]
    assert made.examine(FakeHost(vars={"n": 1})).problems == ()


def test_a_secret_in_the_message_is_masked(tmp_path: Path) -> None:
    """As in every other text of a host."""
    head = "data:\n  # @secret\n  key: hunter22\n"
    with pytest.raises(PlanError) as caught:
        planner(tmp_path, text("[{that: false, message: 'not {{ Data.key }}'}]", head)).plan(
            FakeHost(), gathered()
        )
    assert "hunter22" not in str(caught.value)
