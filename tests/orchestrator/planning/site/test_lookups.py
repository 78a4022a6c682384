"""Lookups on a host: what is asked, in how many rounds, and what templates see of the answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inventory import load
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.fleet.host.host_facts import NeedAnswersError
from orchestrator.planning import Planner
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.errors import PlanError
from tests.orchestrator.planning.planned import FakeHost, gathered, planner
from tests.texts import expect_text

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def echo(question: dict[str, Any]) -> dict[str, Any]:
    """Answers what it was asked."""
    return {"exists": True, "content": question["of"], "stdout": question["of"], "exit_code": 0}


def made(
    plans: Planner, answer: Answer = echo, host: Any = None
) -> tuple[HostPlan, list[list[str]]]:
    """A host's plan, and what it was asked for it, round by round."""
    answers: dict[str, Any] = {}
    rounds: list[list[str]] = []
    while True:
        try:
            return plans.plan(host or FakeHost(), gathered(answers=answers)), rounds
        except NeedAnswersError as need:
            rounds.append([f"{one['kind']} {one['of']}" for one in need.questions.values()])
            answers |= {key: answer(one) for key, one in need.questions.items()}


def site(asks: str, command: str, head: str = "") -> str:
    """A manifest with one resource that reads answers."""
    return f'{head}\nccm: {{ask: {asks}, resources: [{{exec: [{{x: {{command: "{command}"}}}}]}}]}}'


def shown(directory: Path, text: str, answer: Answer = echo) -> Any:
    plan, _ = made(planner(directory, text), answer)
    (item,) = plan.items
    assert not item.deferred_error, item.deferred_error
    return item.properties["command"]


def test_an_answer_is_seen_by_every_language(tmp_path: Path) -> None:
    """Expressions, expr-lang, whole Jinja2, Jet."""
    (tmp_path / "t.j2").write_text("{% for x in Asked.c.stdout.split() %}<{{ x }}>{% endfor %}")
    (tmp_path / "t.jet").write_text("[[ Asked.c.stdout ]]")
    command = "{{ Asked.c.stdout }} {{ template('t.j2') }} {{ jet('t.jet') }}"
    command += " {{ Asked.c.stdout contains 'b' ? 1 : 2 }}"
    assert shown(tmp_path, site("{c: {command: a b}}", command)) == "a b <a><b> a b 1"


def test_an_answer_decides_what_there_is(tmp_path: Path) -> None:
    """By control, foreach and assert, before the first change."""
    text = """
ccm:
  ask: {c: {command: a b}, f: {file: /etc/x}}
  assert: [{that: Asked.f.exists, message: "no {{ Asked.f.content }}"}]
  resources:
    - exec:
        - "{{ item }}": {foreach: Asked.c.stdout.split()}
        - never: {control: {unless: Asked.f.exists}}
"""
    plan, rounds = made(planner(tmp_path, text))
    assert [(item.name, item.managed) for item in plan.items] == [
        ("a", True),
        ("b", True),
        ("never", False),
    ]
    assert rounds == [["command a b", "file /etc/x"]]
    with pytest.raises(PlanError, match="no /etc/x"):
        made(planner(tmp_path, text), lambda question: {**echo(question), "exists": False})


def test_a_question_may_read_data_facts_and_the_host(tmp_path: Path) -> None:
    """So a role asks for what it was given."""
    asks = "{f: {file: '/{{ Data.f }}/{{ Facts.host.info.os }}/{{ Host.name }}'}}"
    assert (
        shown(tmp_path, site(asks, "{{ Asked.f.content }}", "data: {f: srv}")) == "/srv/linux/web1"
    )


def test_data_may_read_answers(tmp_path: Path) -> None:
    """And answers data, as long as there is no circle; all are asked at once."""
    head = (
        "data: {path: /etc/x, text: '{{ Asked.f.content }}!',"
        " both: '{{ Data.text }} {{ Asked.c.stdout }}'}"
    )
    asks = "{f: {file: '{{ Data.path }}'}, c: {command: run}}"
    assert shown(tmp_path, site(asks, "{{ Data.both }}", head)) == "/etc/x! run"
    assert made(planner(tmp_path, site(asks, "{{ Data.both }}", head)))[1] == [
        ["file /etc/x", "command run"]
    ]
    head = "data: {path: '/{{ Asked.f.content }}'}"
    with pytest.raises(PlanError) as refused:
        made(planner(tmp_path, site(asks, "{{ Data.path }}", head)))
    expect_text(refused.value)


def test_a_question_that_cannot_be_made_refuses_the_host(tmp_path: Path) -> None:
    """Also in data, where what is missing is empty elsewhere."""
    with pytest.raises(PlanError) as refused:
        made(planner(tmp_path, site("{f: {file: '/{{ Data.nope }}'}}", "x")))
    expect_text(refused.value)
    with pytest.raises(PlanError) as raised:
        made(planner(tmp_path, site("{f: {file: '{{ Data.f }}'}}", "x", "data: {f: srv}")))
    expect_text(raised.value)


def test_one_without_an_answer_refuses_who_reads_it(tmp_path: Path) -> None:
    """As a fact does that could not be gathered; for the others it is a warning."""

    def broken(question: dict[str, Any]) -> dict[str, Any]:
        return {"error": "permission denied"} if question["kind"] == "file" else echo(question)

    asks = "{f: {file: /etc/x}, c: {command: run}}"
    with pytest.raises(PlanError) as refused:
        made(planner(tmp_path, site(asks, "{{ Asked.f.content | default('none') }}")), broken)
    expect_text(refused.value)
    plan, _ = made(planner(tmp_path, site(asks, "{{ Asked.c.stdout }}")), broken)
    expect_text(plan.warnings)


CHILD = """
ccm:
  ask: {mine: {file: "/srv/{{ Data.name }}"}}
  resources: [{exec: [{"child-{{ Data.name }}": {command: "{{ Asked.mine.content }}"}}]}]
"""


def test_children_ask_for_themselves_in_the_same_round(tmp_path: Path) -> None:
    """Their names are their own; one that a question is common to asks it once."""
    (tmp_path / "role.yaml").write_text(CHILD)
    text = """
ccm:
  ask: {mine: {file: /srv/a}}
  resources:
    - apply:
        - "{{ item }}": {foreach: "['a', 'b']", manifest: role.yaml, data: {name: "{{ item }}"}}
        - none: {manifest: role.yaml, data: {name: c}, control: {if: "false"}}
    - exec: [{x: {command: "{{ Asked.mine.content }}"}}]
"""
    plan, rounds = made(planner(tmp_path, text))
    assert rounds == [["file /srv/a", "file /srv/b"]]
    commands = {item.name: item.properties.get("command") for item in plan.items if item.managed}
    assert (commands["child-a"], commands["child-b"], commands["x"]) == (
        "/srv/a",
        "/srv/b",
        "/srv/a",
    )


def test_a_child_that_an_answer_leads_to_is_asked_for_next(tmp_path: Path) -> None:
    """That costs a further round, and no more."""
    (tmp_path / "role.yaml").write_text(CHILD)
    text = """
ccm:
  ask: {which: {command: role}}
  resources: [{apply: [{"{{ Asked.which.stdout }}.yaml": {data: {name: a}}}]}]
"""
    plan, rounds = made(planner(tmp_path, text))
    assert rounds == [["command role"], ["file /srv/a"]]
    assert plan.items[1].name == "child-a"


def test_a_child_sees_no_answers_of_its_parent(tmp_path: Path) -> None:
    """It is refused where it is read."""
    (tmp_path / "role.yaml").write_text(
        "ccm: {resources: [{exec: [{'{{ Asked.mine.content }}': {}}]}]}"
    )
    text = "ccm: {ask: {mine: {file: /a}}, resources: [{apply: [{role.yaml: {}}]}]}"
    with pytest.raises(Exception, match="the manifest declares no lookup 'mine'"):
        made(planner(tmp_path, text))


def asked(plan: HostPlan) -> dict[str, list[str]]:
    """Which lookups the plan says that each resource stands on."""
    return {item.name: [f"{one['name']} {one['of']}" for one in item.asked] for item in plan.items}


def test_a_plan_says_what_each_resource_stands_on(tmp_path: Path) -> None:
    """By what it spells out, by a template, by data, also by those that its manifest was handed."""
    (tmp_path / "t.j2").write_text("{{ Asked.f.content }}")
    (tmp_path / "role.yaml").write_text(
        "ccm: {resources: [{exec: [{y: {command: '{{ Data.given }}'}}, {z: {}}]}]}"
    )
    text = """
data: {derived: "{{ Asked.c.stdout }}"}
ccm:
  ask: {c: {command: run}, f: {file: /etc/x}}
  resources:
    - exec:
        - direct: {command: "{{ Asked.c.stdout }}"}
        - file: {command: "{{ template('t.j2') }}"}
        - data: {command: "{{ Data.derived }}"}
        - plain: {command: "true"}
        - off: {command: "{{ Asked.c.stdout }}", control: {unless: Asked.f.exists}}
    - apply: [{role.yaml: {data: {given: "{{ Asked.f.content }}"}}}]
"""
    assert asked(made(planner(tmp_path, text))[0]) == {
        "direct": ["c run"], "file": ["f /etc/x"], "data": ["c run"], "plain": [],
        "off": ["f /etc/x"], "role.yaml": ["f /etc/x"], "y": ["f /etc/x"], "z": [],
    }  # fmt: skip


def test_nothing_of_an_answer_is_a_template(tmp_path: Path) -> None:
    """Nor rendered again by template() or jet()."""

    def evil(question: dict[str, Any]) -> dict[str, Any]:
        return {"stdout": "{{ 7 * 7 }}"}

    assert shown(tmp_path, site("{c: {command: x}}", "{{ Asked.c.stdout }}"), evil) == "{{ 7 * 7 }}"
    for read in ("template(Asked.c.stdout)", "jet(Asked.c.stdout)"):
        plan, _ = made(planner(tmp_path, site("{c: {command: x}}", f"{{{{ {read} }}}}")), evil)
        (item,) = plan.items
        assert item.deferred_error, read


def test_a_sensitive_look_up_is_masked(tmp_path: Path) -> None:
    """All of it, and its lines, whatever a template takes of it; others are not."""
    text = site("{t: {file: /t, sensitive: true}, o: {file: /o}}", "{{ Asked.t.content.strip() }}")

    def secret(question: dict[str, Any]) -> dict[str, Any]:
        return {"content": "hunter2\nline two\n" if question["of"] == "/t" else "plain text"}

    plan, _ = made(planner(tmp_path, text), secret)
    assert {"hunter2", "line two"} <= set(plan.secrets)
    assert "plain text" not in plan.secrets


def test_who_contacts_nobody_says_so(tmp_path: Path) -> None:
    """An expression that reads an answer cannot be told, others can; validate -i counts it."""
    plans = planner(tmp_path, site("{c: {command: run}}", "{{ Asked.c.stdout }}"))
    with pytest.raises(PlanError) as refused:
        plans.plan(FakeHost(), gathered())
    expect_text(refused.value)
    check = plans.examine(FakeHost())
    assert (check.problems, check.known, check.unknown) == ((), 0, {"ask.unasked": 1})
    assert planner(tmp_path, site("{c: {command: run}}", "x")).examine(FakeHost()).known == 1


def test_what_needs_no_answer_asks_nothing(tmp_path: Path) -> None:
    """require_answers raises for a manifest that asks, and once."""
    plans = planner(tmp_path, site("{c: {command: run}}", "{{ Asked.c.stdout }}"))
    with pytest.raises(NeedAnswersError) as need:
        plans.require_answers(FakeHost(), gathered(answers={}))
    answers = {key: echo(question) for key, question in need.value.questions.items()}
    plans.require_answers(FakeHost(), gathered(answers=answers))
    scope, _ = plans.scope(FakeHost(), gathered(answers=answers))
    assert scope.asked["c"]["stdout"] == "run"
    planner(tmp_path, "ccm: {resources: [{exec: [{x: {}}]}]}").require_answers(
        FakeHost(), gathered()
    )


def test_hosts_that_answer_otherwise_get_other_plans(tmp_path: Path) -> None:
    """What is rendered once for all hosts holds no answer of one of them."""
    (tmp_path / "t.j2").write_text("{{ Groups.web | length }} {{ Asked.f.content }}\n" * 200)
    text = (
        "ccm: {ask: {f: {file: /x}}, resources: [{file: [{/a: {content: \"{{ template('t.j2') }}\","
        " owner: root, group: root, mode: '0644'}}]}]}"
    )
    plans = planner(tmp_path, text)
    view = InventoryView.of(load([str(_inventory(tmp_path))]))
    plans.see(view)
    texts = []
    for name in ("web1", "web2"):
        plan, _ = made(plans, partial(_told, name), FakeHost(name))
        blob = plan.items[0].properties["content"]["$blob"]
        texts.append(b"".join(plan.blob(blob).chunks()).decode().splitlines()[0])
    assert texts == ["2 web1", "2 web2"]


def _told(content: str, question: dict[str, Any]) -> dict[str, Any]:
    return {"content": content}


def _inventory(directory: Path) -> Path:
    path = directory / "hosts.yaml"
    path.write_text("groups: {web: {hosts: [web1, web2]}}")
    return path
