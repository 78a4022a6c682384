"""Parsing once, evaluating per host."""

from typing import Any

import pytest

from orchestrator.expressions import EvaluationError, Expression, FactsUnavailableError
from remote_runtime.errors import InputError, Position
from tests.texts import expect_text

from .fakes import evaluate


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("lookup('data.port')", 80),
        ("lookup('data.port') + 1", 81),
        ("Data.items", "key"),
        ("Data.nope.deeper[0].still | default('x')", "x"),
        ("Data.port is defined and Data.nope.deeper is not defined", True),
        ("Data['items']", "key"),
        ("lookup('data.a\\\\.b')", "dotted"),
        ("lookup('facts.list.#')", 2),
        ("lookup('facts.list.1.null')", None),
        ("lookup('facts.list.1.null', 'x')", None),
        ("lookup('data.empty', 'x')", ""),
        ("lookup('data.nope', 'x')", "x"),
        ("lookup('facts.list.9', [])", []),
        ("lookup('environ.HOME')", "/home/me"),
        ("Host.name ~ '-' ~ Host.groups[0]", "web1-web"),
        ("not Data.on or Data.port == 80 and 'a' != 'b'", True),
        ("[3, 1]|sort", [1, 3]),
        ("range(3)|list", [0, 1, 2]),
        ("{'a': (1, 2)}", {"a": [1, 2]}),
    ],
)
def test_an_expression_has_the_value_of_its_parts(source: str, value: Any) -> None:
    """Lookups, keys before attributes, operators and filters give plain JSON values."""
    assert evaluate(source) == value


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("lookup('data.nope')", "lookup('data.nope'): no such path"),
        (
            "lookup('facts.hots.info')",
            "lookup('facts.hots.info'): no such path, did you mean facts.host?",
        ),
        ("Data.nope", "Data.nope: there is no key 'nope'"),
        ("Facts.hots.info", "Facts.hots.info: there is no key 'hots' (did you mean host?)"),
        ("Data.nope", "nope"),
        ("Data.nope.deeper", "nope"),
        ("lookup('facts.list.#(')", "not a GJSON path"),
        ("[1]|map('string')", "add |list to it"),
        ("1 // 0", "division"),
        ("1e308 * 10", "inf"),
        ("'abcdef'|truncate(1)", "expected length"),
    ],
)
def test_what_cannot_be_evaluated_says_why(source: str, words: str) -> None:
    """A failing expression is an error that names what is missing, never an empty value."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("lokup('data.x')", "did you mean lookup?"),
        ("Data.x|uper", "did you mean upper?"),
        ("Data.x is strng", "did you mean string?"),
        ("lookup('dat.x')", "a path starts with facts., data. or environ."),
        ("lookup('asked.java.stdout')", "'asked.java.stdout': write Asked.java.stdout instead"),
        ("lookup(Facts.path)", "the path up to its first dot must be literal text"),
        ("lookup(path=Facts.path)", "the path up to its first dot must be literal text"),
        ("lookup('data' ~ Facts.path)", "the path up to its first dot must be literal text"),
        ("lookup(Facts.path | string, 1)", "the path up to its first dot must be literal text"),
        ("lookup('data.a' if Data.x else Facts.path)", "must be literal text"),
        ("lookup(Facts.path) ?? 1", "the path up to its first dot must be literal text"),
        ("lookup('dat.' ~ Facts.path) ?? 1", "a path starts with facts., data. or environ."),
        ("lookup()", "the path up to its first dot must be literal text"),
        ("1 +", "cannot be parsed"),
        ("a & b", "write && or and"),
        ("jet('[[ uper(1) ]]')", "jet():1:4: there is no function 'uper'"),
        ("jet('x', '[[')", "jet() takes a template and optionally two delimiters"),
        ("jet('x', 'a', 'b')", "a delimiter consists of symbols"),
        ("(" * 5000, "cannot be parsed"),
    ],
)
def test_mistakes_that_need_no_host_are_found_when_parsed(source: str, words: str) -> None:
    """Unknown names, filters, paths and broken syntax are refused with their position."""
    with pytest.raises(InputError) as caught:
        Expression.parse(source, Position("site.yaml", 3, 7))
    text = str(caught.value)
    assert words in text or "nested too deeply" in text
    assert "site.yaml:3:7" in text


@pytest.mark.parametrize(
    "source",
    [
        "''.__class__",
        "lookup.__globals__",
        "''['__class__']",
        "Data|map(attribute='__class__')|list",
        "Data.update({'a': 1})",
        "'{0.__class__}'.format(lookup)",
        "cycler",
        "Data|attr('items')",
    ],
)
def test_the_sandbox_has_no_way_out(source: str) -> None:
    """Underscored names, changing methods and Jinja2's own globals cannot be reached."""
    with pytest.raises((EvaluationError, InputError)):
        evaluate(source)


@pytest.mark.parametrize(
    "source",
    [
        "'a' * 10 ** 9",
        "[0] * 10 ** 9",
        "2 ** (10 ** 9)",
        "10 ** 2000 * 10 ** 2000",
        "range(10 ** 9)|list",
        "'x'.ljust(10 ** 9)",
        "'x'.center(10 ** 9)",
        "'%999999999d' % 1",
        "'%*d' % (999999999, 1)",
        "'{:999999999}'.format(1)",
        "'{:{}}'.format(1, 999999999)",
        "('a' * 9000).replace('a', 'b' * 9000)",
        "('a' * 9000)|replace('a', 'b' * 9000)",
        "[1]|tojson(indent=10 ** 9)",
        "'x\\t'.expandtabs(10 ** 9)",
        "('x\\t' * 10 ** 6).expandtabs(9999)",
        "'x'.encode().ljust(10 ** 10)",
        "(1).to_bytes(10 ** 10, 'big')",
        "('a' * 10 ** 6).translate({97: 'x' * 10 ** 6})",
        "'x'.join(['y' * 10 ** 7] * 10)",
        "'x'.join(['y' * 10 ** 6, 'z']|map('replace', 'y', 'y' * 20))",
        "'x'.encode().join(['y'.encode() * 10 ** 7] * 10)",
        "'x'.encode().replace('x'.encode(), 'y'.encode() * 10 ** 7) * 10",
        "('{0}' * 10 ** 5).format('x' * 10 ** 6)",
        "('{0:9999}' * 10 ** 5).format(1)",
        "('%s' * 1000) % ((('x' * 10 ** 6),) * 10)",
        "(range(10000)|list)|join('x' * 10 ** 6)",
        "[['x' * 10 ** 4] * 1000] * 1000",
        "(range(10000)|map('replace', '', 'x' * 10 ** 4))|list",
        "('<' * 10 ** 7)|tojson",
        "(['x'] * 10000 + [['y'] * 10000])|sum(start=[])",
        "dict.fromkeys(range(10000), 'x' * 10 ** 6)",
        "[[0] * 10000] * 10000",
        "[{'a': 'b' * 10000000}] * 10000",
        "('a ' * 8000000)|title|length",
        "('a ' * 8000000)|wordcount",
        *(f"[1, 2]|{name}({'0.' * 3000!r})" for name in ("groupby", "sum", "selectattr")),
        *(f"[1, 2]|{name}(attribute={'0,' * 3000!r})" for name in ("sort", "map", "unique", "max")),
        f"range(10000)|list|join('', {'real.' * 3000!r})",
    ],
)
@pytest.mark.timeout(10)
def test_no_expression_eats_the_controller(source: str) -> None:
    """What would be huge is refused before it is made."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source)
    assert "MemoryError" not in str(caught.value)
    assert "has no element" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("', '.join(['a', 'b']|map('upper'))", "A, B"),
        ("Data.items|list|join('-')", "k-e-y"),
        ("[[1], [2, 3]]|sum(start=[])", [1, 2, 3]),
        ("[{'n': [1]}, {'n': [2, 3]}]|map(attribute='n')|sum(start=[])", [1, 2, 3]),
        ("[{'n': 1}, {'n': 2}]|sum('n', 3)", 6),
        ("['b', 'a', 'b']|map('upper')|unique|sort(reverse=true)|list", ["B", "A"]),
        ("['a.b']|map('replace', '.' * 99, 'x' * 99)|list", ["a.b"]),
        ("[{'n': 'a'}]|selectattr('n', 'ne', ',' * 99)|list", [{"n": "a"}]),
        (f"['a', 'b']|join({'.' * 99!r})", f"a{'.' * 99}b"),
        ("'a word'|title", "A Word"),
        ("'{:>4}|{a}'.format(7, a='x')", "   7|x"),
        ("'%s-%04d' % ('a', 7)", "a-0007"),
        ("'a\\tb'.expandtabs(4)", "a   b"),
        ("dict(a=1, **{'b': 2})", {"a": 1, "b": 2}),
        ("{'b': 1, 'a': 2}|dictsort|first|join('=')", "a=2"),
        ("[{'n': 1, 'v': 2}]|groupby('n')|map('last')|first|first", {"n": 1, "v": 2}),
    ],
)
def test_what_is_bounded_works_within_its_bounds(source: str, value: Any) -> None:
    """Texts and lists of the usual sizes come out as Jinja2 makes them."""
    assert evaluate(source) == value


@pytest.mark.parametrize(
    "source",
    [
        "Facts.cpu",
        "lookup('facts.cpu.info.0.cores')",
        "lookup('facts.cpu.info', 'default')",
        "lookup('facts.*')",
        "Facts|tojson",
        "Facts|string",
        "Facts ~ ''",
        "Facts.get('cpu')",
        "'cpu' in Facts",
        "lookup('facts')",
    ],
)
def test_touching_facts_that_are_missing_refuses(source: str) -> None:
    """An unavailable family is an error of its own kind however it is touched."""
    with pytest.raises(FactsUnavailableError) as caught:
        evaluate(source)
    assert caught.value.kind == "facts.timeout"
    expect_text(caught.value)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("lookup('data.' ~ 'name')", "web1"),
        ("lookup('data.%s' % 'name')", "web1"),
        ("lookup('da' ~ 'ta.' ~ Data.none, 'web')", "web1"),
        ("lookup('data.none' if Data.name else 'data.name', 'web')", "name"),
        ("lookup('data.' ~ 'name') ?? 1", "web1"),
        ("lookup('data.' + 'name') ?? 1", "web1"),
    ],
)
def test_a_path_may_be_made_behind_its_first_dot(source: str, value: str) -> None:
    """What is looked into is spelt out; where it leads there may be a value."""
    assert evaluate(source, data={"name": "web1", "none": "name"}) == value


def test_what_the_methods_of_a_map_give_is_a_list() -> None:
    """Keys, values and items of a map are lists in a result, also within others."""
    data = {"m": {"a": 1, "b": 2}}
    assert evaluate("Data.m.keys()", data=data) == ["a", "b"]
    assert evaluate("Data.m.items()", data=data) == [["a", 1], ["b", 2]]
    assert evaluate("[Data.m.values()]", data=data) == [[1, 2]]


def test_missing_is_empty_only_where_that_is_asked_for() -> None:
    """A lenient expression gives the empty text for what is not there."""
    assert evaluate("lookup('facts.nope')", lenient=True) == ""
    assert evaluate("Facts.nope.deeper", lenient=True) == ""


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("Facts.nope + 'x'", "x"),
        ("'x' + Facts.nope", "x"),
        ("Facts.nope + Facts.nope", ""),
        ("Facts.nope == ''", True),
        ("Facts.nope != ''", False),
        ("Facts.nope in ['', 'x']", True),
        ("Facts.nope | int", 0),
        ("Facts.nope | float", 0.0),
        ("[Facts.nope, {'a': Facts.nope.b}]", ["", {"a": ""}]),
        ("['', Facts.nope] | unique | list", [""]),
        ("Facts.nope | default('x')", "x"),
        ("Facts.nope is defined", False),
    ],
)
def test_what_is_empty_is_an_empty_text_wherever_a_text_may_be(source: str, value: Any) -> None:
    """A missing path of a lenient expression acts as the empty text."""
    assert evaluate(source, lenient=True) == value


@pytest.mark.parametrize("source", ["[Facts.nope]", "{'a': Facts.nope.b}"])
def test_a_missing_path_in_a_list_or_a_map_is_told_by_its_name(source: str) -> None:
    """The error names what is missing, not a class of ccm."""
    with pytest.raises(EvaluationError) as refused:
        evaluate(source)
    expect_text(refused.value)


@pytest.mark.parametrize("source", ["Facts.nope + 1", "Facts.nope < 1", "Facts.nope.split(',')"])
def test_what_an_empty_text_cannot_do_is_told_by_the_missing_name(source: str) -> None:
    """The error is that the path is missing."""
    with pytest.raises(EvaluationError) as refused:
        evaluate(source, lenient=True)
    expect_text(refused.value)


def test_a_fact_nested_without_end_is_an_error() -> None:
    """A host cannot end the controller's run with the depth of its facts."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for source in ("lookup('data.deep')", "Data.deep", "Data.deep|tojson"):
        with pytest.raises(EvaluationError):
            evaluate(source, data={"deep": deep})
