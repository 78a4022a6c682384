"""Hosts that a resource comes to the same on share what it was compiled to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.manifest.resource_types import BUILT_IN, type_names
from orchestrator.planning.content.blob_references import PATH
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.shared_resources import RenderProfile, SharedResources
from tests.calls import calls_of

from .planned import FakeHost, gathered, planner

HEAD = """\
data: {port: 80, letters: [p, q]}
ccm:
  defaults: {file: {owner: root, group: root, mode: "0644"}}
  resources: [{"""


def plans(directory: Path, resources: str, *facts: dict[str, Any]) -> list[HostPlan]:
    """The plans of hosts with these facts, which are called a, b, ..."""
    made = planner(directory, HEAD + resources + "}]")
    return [
        made.plan(FakeHost(name=chr(ord("a") + number)), gathered(each))
        for number, each in enumerate(facts)
    ]


def first(plan: HostPlan) -> Any:
    return plan.resources[0]


def test_what_has_the_hosts_name_in_it_is_not_looked_for(tmp_path: Path) -> None:
    """What each host has of its own takes no room; it is that host's all the same."""
    text = "file: [{/a: {content: 'on {{ Host.name }}'}}]"
    made = planner(tmp_path, HEAD + text + "}]")
    one, again, two = (made.plan(FakeHost(name=name), gathered()) for name in ("a", "a", "b"))
    assert first(one) is not first(again)
    assert [first(plan).blobs[0].text for plan in (again, two)] == ["on a", "on b"]


def test_facts_that_nobody_reads_make_no_difference(tmp_path: Path) -> None:
    """A template that reads no value of a host is compiled once, its content hashed once."""
    one, two = plans(
        tmp_path, "file: [{/a: {content: 'port {{ Data.port }}'}}]", {"x": 1}, {"x": 2}
    )
    assert first(one) is first(two)
    assert first(one).blobs[0] is first(two).blobs[0]


def test_what_comes_to_the_same_is_shared_whatever_it_read(tmp_path: Path) -> None:
    """Hosts that differ in a fact that is read share as long as the text is the same."""
    content = "{{ 'red' if Facts.os == 'redhat' else 'other' }}"
    one, two, red = plans(
        tmp_path,
        f'file: [{{/a: {{content: "{content}"}}}}]',
        {"os": "debian"},
        {"os": "suse"},
        {"os": "redhat"},
    )
    assert first(one) is first(two)
    assert first(one).blobs[0].text == "other"
    assert first(red).blobs[0].text == "red"


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ("file: [{/a: {content: '{{ Facts.n }}'}}]", lambda item: item.properties["content"]),
        ("file: [{'/{{ Facts.n }}': {content: x}}]", lambda item: item.name),
        (
            "file: [{/a: {content: x, control: {if: 'Facts.n == 1'}}}]",
            lambda item: item.managed,
        ),
        ("exec: [{x: {command: c, environment: ['A={{ Facts.n }}']}}]", lambda item: item),
        ("file: [{/a: {content: '{{ 1 // (Facts.n - 1) }}'}}]", lambda item: item.deferred_error),
    ],
)
def test_what_differs_is_not_shared(tmp_path: Path, resources: str, told: Any) -> None:
    """Content, name, control, lists and failures are those of each host."""
    one, two, again = plans(tmp_path, resources, {"n": 1}, {"n": 2}, {"n": 1})
    assert told(first(one).item) != told(first(two).item)
    assert first(one) is first(again)


def test_each_turn_of_a_loop_is_one_of_its_own(tmp_path: Path) -> None:
    """Entries of a list stay apart, and are shared by hosts one by one."""
    loop = "file: [{'/{{ item }}': {content: 'x {{ item }}', foreach: Data.letters}}]"
    one, two = plans(tmp_path, loop, {}, {})
    assert [entry.item.name for entry in one.resources] == ["/p", "/q"]
    assert [entry.blobs[0].text for entry in one.resources] == ["x p", "x q"]
    assert all(a is b for a, b in zip(one.resources, two.resources, strict=True))


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """A file of the controller is never taken from a host before."""
    (tmp_path / "f").write_text("one")
    made = planner(tmp_path, HEAD + "file: [{/a: {source: '{{ Facts.f }}'}}]}]")
    shown = []
    for text in ("one", "other"):
        (tmp_path / "f").write_text(text)
        shown.append(first(made.plan(FakeHost(), gathered({"f": "f"}))).blobs[0].size)
    assert shown == [3, 5]


def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    """However much hosts differ, only so much of it is kept, and nothing that is too large."""
    (plan,) = plans(tmp_path, "file: [{/a: {content: '{{ Facts.n }}'}}]", {"n": "x" * 600})
    (made,) = plan.resources
    outlook = RenderProfile.on(plan.declared[0])
    texts = (b"x" * 600,)
    known = SharedResources(maximum=11_000)
    for key in ("a", "b"):
        known.keep(key, texts, made, outlook)
    assert known.get("a", texts, outlook) is made
    known.keep("c", texts, made, outlook)
    assert known.get("a", texts, outlook) is None
    assert known.get("c", texts, outlook) is made
    small = SharedResources(maximum=600)
    small.keep("a", texts, made, outlook)
    assert small.get("a", texts, outlook) is None


def _look(*_: object) -> Any:
    raise AssertionError("a check looks into a text")


_refuse: Any = _look


class Unreadable(str):
    """A text that cannot be looked into."""

    __slots__ = ()
    __len__ = __iter__ = __contains__ = __getitem__ = __eq__ = __hash__ = __str__ = _refuse
    __lt__ = __add__ = strip = split = splitlines = startswith = encode = isascii = _refuse


def test_checks_look_into_no_text() -> None:
    """So resources of which the texts alone differ are checked once for all hosts."""
    checked = []
    for name in type_names():
        type_ = BUILT_IN.get(name)
        assert type_ is not None
        for key in (key for key, kind in type_.properties.items() if kind.blob and key != PATH):
            assert key not in type_.decisive
            for ensure in ("present", "absent", "directory"):
                type_.check("/a", {"ensure": ensure, "validate": "x {}", key: Unreadable()})
            checked.append(key)
    assert checked


@pytest.mark.parametrize(
    "properties",
    [
        "content: 'on {{ Host.name }}'",
        "content: 'on {{ Host.name }}', mode: '{{ Facts.mode }}'",
        "content: 'on {{ Host.name }}', mode: '{{ Facts.mode }}', sensitive: true",
        "content: '{{ Facts.mode }}', alias: '{{ Facts.mode }}', tags: [a]",
        "content: literal, mode: '{{ Facts.mode }}'",
        "ensure: '{{ Facts.ensure }}', content: 'on {{ Host.name }}'",
        "content: '{{ Facts.nothing }}{{ Host.name }}'",
        "content: '{{ Facts.half }}{{ Host.name }}'",
        "content: '{{ Facts.number }}'",
    ],
)
def test_what_is_shared_changes_nothing(tmp_path: Path, properties: str) -> None:
    """A plan that is made behind those of others is the one that is made alone."""
    facts = [
        {"mode": mode, "ensure": ensure, "half": half, "number": number}
        for mode, ensure, half, number in [
            ("0600", "present", "x", 1),
            ("0640", "absent", "\ud800", "1"),
            ("0600", "directory", "\ud800", 2),
            ("0600", "present", "", 2.5),
            ("0600", "absent", "", 1),
            ("0644", "directory", "", 1),
            ("0644", "directory", "", 3),
        ]
    ]
    resources = f"file: [{{/a: {{{properties}}}}}]"
    for number, (plan, each) in enumerate(
        zip(plans(tmp_path, resources, *facts), facts, strict=True)
    ):
        name = chr(ord("a") + number)
        alone = planner(tmp_path, HEAD + resources + "}]").plan(FakeHost(name=name), gathered(each))
        assert first(plan).text == first(alone).text
        assert [blob.text for blob in first(plan).blobs] == [b.text for b in first(alone).blobs]


def test_texts_that_differ_alone_cost_little(tmp_path: Path) -> None:
    """The rest of a resource is checked and compiled for the first host only."""
    text = "file: [{/a: {mode: '{{ Facts.mode }}', content: 'on {{ Host.name }}'}}]"
    made = planner(tmp_path, HEAD + text + "}]")
    told = gathered({"mode": "0600"})
    first_one = calls_of(lambda: made.plan(FakeHost(name="a"), told))
    made.plan(FakeHost(name="b"), told)
    other = calls_of(lambda: made.plan(FakeHost(name="c"), told))
    assert made.plan(FakeHost(name="d"), told).resources[0].blobs[0].text == "on d"
    assert other < first_one - 100
