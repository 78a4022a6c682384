"""Values of data that read other values of it."""

import json
from pathlib import Path

import pytest

from orchestrator.manifest.deferred_values import Deferred, DeferredMap
from tests.orchestrator.planning.planned import refused, refused_host, show

RESOURCES = "\nccm: {resources: [{exec: [{x: {}}]}]}"
ALL = "{{ Data }}"


@pytest.mark.parametrize(
    ("data", "expression", "text"),
    [
        ("{b: '{{ Data.a }}-b', a: '{{ Facts.host.info.os }}'}", "{{ Data.b }}", "linux-b"),
        (
            "{app: {url: 'http://h:{{ Data.app.port }}', port: '{{ 80 + 1 }}'}}",
            "{{ Data.app.url }}",
            "http://h:81",
        ),
        ("{a: \"{{ lookup('data.l.1') }}\", l: [1, '{{ Data.c }}'], c: 3}", "{{ Data.a }}", "3"),
        ("{a: '{{ Data.m | length }}', m: {x: '{{ Data.c }}', y: 2}, c: 3}", "{{ Data.a }}", "2"),
        (
            "{a: '{{ Data.m | dictsort }}', m: {x: '{{ Data.c }}'}, c: 3}",
            "{{ Data.a }}",
            '[["x", 3]]',
        ),
        ("{a: 'x{{ Data.nope }}'}", "{{ Data.a }}", "x"),
        ("{a: '{{ Data.m }}', m: {x: '{{ Data.c }}'}, c: 3}", "{{ Data.a }}", '{"x": 3}'),
    ],
)
def test_a_value_may_read_others(tmp_path: Path, data: str, expression: str, text: str) -> None:
    """In whatever order they stand; values beside it in the same map, too."""
    assert str(show(tmp_path, f"{expression} ", f"data: {data}")) == f"{text} "


def test_it_reads_what_the_data_comes_to(tmp_path: Path) -> None:
    """Overrides, --hiera and --data count, whatever they are laid over; overrides read, too."""
    (tmp_path / "more.yaml").write_text("data: {b: hiera, d: 'd {{ Data.c }}'}")
    head = (
        "data: {a: '{{ Data.b }} {{ Data.c }} {{ Data.o }}', b: base, c: base, x: 1}\n"
        "overrides: {default: {o: 'over {{ Data.x }}'}}"
    )
    options = {"hiera": [str(tmp_path / "more.yaml")], "data": ["c=given"]}
    shown = show(tmp_path, "{{ Data.a }}; {{ Data.d }}", head, **options)
    assert shown == "hiera given over 1; d given"


def test_merging_waits_for_values_that_are_not_known(tmp_path: Path) -> None:
    """A template that gives a list or a map is merged as such."""
    head = (
        "data: {l: '{{ [1, Data.n] }}', m: '{{ {\"x\": Data.n} }}', u: ['{{ Data.n }}', 7], n: 2}\n"
        "hierarchy: {order: [o, p], merge: deep, keys: {u: unique}, knockout: '--'}\n"
        "overrides: {o: {l: [3], m: {y: '{{ Data.n }}'}, u: [2, 8]}, p: {l: [--1], u: [--7]}}"
    )
    found = json.loads(str(show(tmp_path, "{{ Data | tojson }} ", head)))
    assert found == {"l": [2, 3], "m": {"x": 2, "y": 2}, "u": [2, 8], "n": 2}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ("{a: '{{ Data.a }}'}", "data.a → data.a"),
        (
            "{a: '{{ Data.b }}', b: 'x {{ Data.c.d }}', c: {d: \"{{ lookup('data.a') }}\"}}",
            "data.a → data.b → data.c.d → data.a",
        ),
        ("{l: ['{{ Data.l }}']}", "data.l → data.l"),
    ],
)
def test_a_circle_is_refused_with_its_path(tmp_path: Path, data: str, path: str) -> None:
    """And with a place on it: before any host where all hosts have it, else by host."""
    told = refused(tmp_path, f"data: {data}{RESOURCES}")
    override = "\noverrides: {no: {a: 1, l: 1}}"
    told_of_host = str(refused_host(tmp_path, f"data: {data}{override}{RESOURCES}"))
    for text in (told, told_of_host):
        assert f"the value refers to itself: {path}" in text
        assert "site.yaml:1:" in text


def test_a_circle_that_nothing_closes_is_none(tmp_path: Path) -> None:
    """What an override replaces is not asked for."""
    head = "data: {a: '{{ Data.b }}', b: '{{ Data.a }}'}\noverrides: {default: {b: end}}"
    assert show(tmp_path, "{{ Data.a }}", head) == "end"


def test_a_map_computes_what_is_read() -> None:
    """Once, by every way to read it; a copy of it holds values."""
    asked: list[int] = []

    def compute() -> int:
        asked.append(1)
        return 5

    found = DeferredMap({"a": Deferred([], "data.a", compute), "b": 1})
    assert "a" in found
    assert not asked
    assert found.get("a") == found["a"] == 5
    assert dict(found) == {**found} == found.copy() == {"a": 5, "b": 1} == found
    assert list(found.values()) == [5, 1]
    assert (found.get("c", 7), len(asked)) == (7, 1)
    assert json.dumps(found) == '{"a": 5, "b": 1}'
    assert repr(found) == "{'a': 5, 'b': 1}"


@pytest.mark.parametrize(
    ("twice", "words"),
    [
        ("{{ NEXT }}{{ NEXT }}", "the text is longer than 67,108,864 characters"),
        ("{{ NEXT ~ NEXT }}", "the joined text has 33554432 items or characters; at most 16777216"),
    ],
)
def test_texts_that_double_are_refused(tmp_path: Path, twice: str, words: str) -> None:
    """Each value holds the next one twice: the error comes before the memory is gone."""
    values = [f"a{n}: '{twice.replace('NEXT', f'Data.a{n + 1}')}'" for n in range(60)]
    head = f"data: {{{', '.join(values)}, a60: {'x' * 1024}}}"
    told = str(refused_host(tmp_path, head + RESOURCES))
    assert words in told
    assert "site.yaml:1:" in told


def test_a_chain_that_is_too_long_is_refused_in_plain_words(tmp_path: Path) -> None:
    """Not with those of the interpreter."""
    values = [f"a{n}: '{{{{ Data.a{n + 1} }}}}'" for n in range(2000)]
    told = str(refused_host(tmp_path, f"data: {{{', '.join(values)}, a2000: x}}" + RESOURCES))
    assert "its argument is nested too deeply" in told
