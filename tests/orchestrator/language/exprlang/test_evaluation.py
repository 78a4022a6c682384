"""Expressions of expr-lang, each with the value that expr-lang gives."""

from typing import Any

import pytest

from orchestrator.expressions import EvaluationError, FactsUnavailableError
from tests.orchestrator.expressions.fakes import evaluate

DATA = {
    "name": "web", "port": 8080, "on": True, "off": False, "nothing": None, "empty": [],
    "list": [3, 1, 2], "words": ["b", "a", "c"], "map": {"a": 1, "b": None, "in": 2},
    "users": [
        {"name": "ann", "age": 30, "admin": True, "groups": ["x"]},
        {"name": "bob", "age": 20, "admin": False, "groups": ["y", "z"]},
        {"name": "cid", "age": 30, "admin": False, "groups": []},
    ],
}  # fmt: skip

OPERATORS = [
    ("Data.on && !Data.off", True),
    ("Data.off || Data.port == 8080", True),
    ("Data.off && lookup('data.nope')", False),
    ("!Data.on", False),
    ("not Data.on || Data.off", False),
    ("Data.on ? 'yes' : 'no'", "yes"),
    ("Data.off ? 1 : Data.on ? 2 : 3", 2),
    ("Data.port > 80 ? Data.port : 80", 8080),
    ("Data.off ?: Data.on", True),
    ("Data.nope ?? 'x'", "x"),
    ("Data.nothing ?? Data.nope ?? 'x'", "x"),
    ("Data.name ?? 'x'", "web"),
    ("lookup('data.nope') ?? 'x'", "x"),
    ("Data.off ?? true", False),
    ("(Data.nope ?? 1) + 1", 2),
    ("Data.nope ?? 'X' | lower()", "x"),
    ("Data.nope?.deeper.still", None),
    ("Data.map?.a", 1),
    ("Data.map?.nope?.deeper ?? 'x'", "x"),
    ("Data.list?.[0]", 3),
    ("Data.nothing?.[0]", None),
    ("Data.nope == nil && Data.name != nil", True),
    ("nil == lookup('data.nope')", True),
    ("'a' in Data.words && 'z' not in Data.words", True),
    ("'a' in Data.map && not ('z' in Data.map)", True),
    ("Data.name contains 'e'", True),
    ("Data.name not contains 'e'", False),
    ("Data.name startsWith 'w' && Data.name endsWith 'b'", True),
    ("Data.name matches '^w.b$'", True),
    ("Data.name not matches `^\\d+$`", True),
    ("1..3", [1, 2, 3]),
    ("3..1", []),
    ("1..2 + 1", [1, 2, 3]),
    ("Data.list[0:2] == [3, 1] && Data.list[-1] == 2", True),
    ("Data.list[:-1] | len()", 2),
    ("2 ^ 3", 8.0),
    ("2 ^ 3 ^ 2", 512.0),
    ("-2 ^ 2", -4.0),
    ("1 < 2 && 2 >= 2 && 1 != 2", True),
    ("{a: 1, 'b': 2, (Data.name): 3}", {"a": 1, "b": 2, "web": 3}),
    ("{a: {b: [1, 2]}}.a.b[1]", 2),
    ("Data.map.in == 2 && true ? 1 : 2", 1),
    ("`a\\n` + \"b\\n\" + 'c\\t'", "a\\nb\nc\t"),
    ('"\\u00e9\\x41" + ``', "éA"),
    ("0x1F + 0b11 + 0o17 + 1_000 + .5", 1049.5),
    ("1e3 + .5", 1000.5),
    ("Data.name /* why */ + ``", "web"),
    ("let x = 2; x * Data.port", 16160),
    ("let x = 2; let y = x + 1; filter(Data.list, # < y) | len()", 2),
    ("Data.users[0].name | upper() | split('N')", ["A", "", ""]),
    ("Data.on and 'a' in Data.words ? 1 : 2", 1),
    # Jinja2's own, in a text that Jinja2 alone cannot read
    ("Data.words|length > 2 && Data.nope is not defined", True),
    ("Data.words|join('-') == 'b-a-c' && true", True),
    ("(Data.name ~ Data.port)|upper == 'WEB8080' && true", True),
    ("Data.name|replace('w', 'W') ?? ''", "Web"),
    ("('x' if Data.on else 'y') + ``", "x"),
    ("Data.nope|default('d') + ``", "d"),
    ("Data.name.upper() + ``", "WEB"),
    ("Data.list.0 + Data.list.1 + len(``)", 4),
    ("Data.list is iterable && 4 is divisibleby 2", True),
]


@pytest.mark.parametrize(("source", "value"), OPERATORS)
def test_operators_give_what_expr_lang_gives(source: str, value: Any) -> None:
    """Every operator of the table, alone, combined, and beside Jinja2's."""
    found = evaluate(source, data=DATA)
    assert (found, type(found)) == (value, type(value))


FUNCTIONS = [
    ("len('héé')", 3), ("len(Data.list)", 3), ("len(Data.map)", 3),
    ("trim('  x ')", "x"), ("trim('__x_', '_')", "x"), ("trimPrefix('abc', 'a')", "bc"),
    ("trimSuffix('abc', 'c')", "ab"), ("upper('a')", "A"), ("lower('A')", "a"),
    ("split('a,b,c', ',')", ["a", "b", "c"]), ("split('a,b,c', ',', 2)", ["a", "b,c"]),
    ("splitAfter('a,b', ',')", ["a,", "b"]), ("replace('aaa', 'a', 'b')", "bbb"),
    ("repeat('ab', 2)", "abab"), ("indexOf('abc', 'c')", 2), ("lastIndexOf('aba', 'a')", 2),
    ("hasPrefix('abc', 'a')", True), ("hasSuffix('abc', 'a')", False),
    ("int('42')", 42), ("int(-2.7)", -2), ("float('1.5')", 1.5), ("float(2)", 2.0),
    ("string(8080)", "8080"), ("string(true)", "true"), ("string([1])", "[1]"),
    ("string(nil)", ""), ("type(1)", "int"), ("type(nil)", "nil"), ("type(Data.map)", "map"),
    ("type(now())", "string"), ("abs(-3)", 3), ("ceil(1.2)", 2.0), ("floor(-1.2)", -2.0),
    ("round(2.5)", 3.0), ("round(-2.5)", -3.0),
    ("toJSON({a: [1]})", '{\n  "a": [\n    1\n  ]\n}'), ("fromJSON('{\"a\": [1]}').a[0]", 1),
    ("toBase64('hé')", "aMOp"), ("fromBase64('aMOp')", "hé"),
    ("now() matches '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$'", True),
    ("now().Year() > 2000 && now().Format('2006') == string(now().Year())", True),
    ("join(['a', 'b'], ',')", "a,b"), ("join(['a', 'b'])", "ab"), ("keys({a: 1})", ["a"]),
    ("values({a: 1})", [1]), ("get({a: 1}, 'b')", None), ("get([1, 2], -1)", 2),
    ("toPairs({a: 1})", [["a", 1]]), ("fromPairs([['a', 1]])", {"a": 1}),
    ("first([])", None), ("first([1, 2])", 1), ("last([1, 2])", 2), ("take([1, 2, 3], 2)", [1, 2]),
    ("reverse([1, 2])", [2, 1]), ("concat([1], [2], [3])", [1, 2, 3]),
    ("flatten([1, [2, [3]]])", [1, 2, 3]), ("uniq([1, 2, 1])", [1, 2]),
    ("sort([3, 1, 2])", [1, 2, 3]), ("sort(['b', 'a', 'B'], 'desc')", ["b", "a", "B"]),
    ("max(1, [5, 2])", 5), ("min([3, 1])", 1), ("mean([1, 2])", 1.5), ("median([3, 1, 2])", 2.0),
    ("map(1..3, # * 2)", [2, 4, 6]), ("map(1..3, {# * 2})", [2, 4, 6]),
    ("map(Data.users, .name)", ["ann", "bob", "cid"]),
    ("map(['a'], #index)", [0]),
    ("filter(Data.users, {.age > 25 && !.admin})[0].name", "cid"),
    ("Data.users | filter(.admin) | map(.name) | join(',')", "ann"),
    ("all(1..3, # > 0)", True), ("any(1..3, # > 3)", False), ("none(1..3, # > 3)", True),
    ("one(1..3, # > 2)", True), ("count(1..9, # % 2 == 0)", 4), ("count([true, false])", 1),
    ("sum([1, 2])", 3), ("sum(Data.users, .age)", 80), ("find(1..4, # > 2)", 3),
    ("find(1..4, # > 9)", None), ("findIndex(1..4, # > 2)", 2), ("findLast(1..4, # < 3)", 2),
    ("findLastIndex(1..4, # > 2)", 3), ("len(groupBy(Data.users, .age)['30'])", 2),
    ("sortBy(Data.users, .age)[0].name", "bob"),
    ("sortBy(Data.users, 'name', 'desc')[0].name", "cid"),
    ("reduce(1..4, #acc + #)", 10), ("reduce(1..4, #acc + #, 100)", 110),
    ("filter(Data.users, any(.groups, # == 'z')) | map(.name)", ["bob"]),
    ("let limit = 25; filter(Data.users, .age > limit) | len()", 2),
    ("map(Data.users, {let n = .name; n + '!'})", ["ann!", "bob!", "cid!"]),
    ("map(Data.users, .nick ?? .name)[0]", "ann"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), FUNCTIONS)
def test_functions_give_what_expr_lang_gives(source: str, value: Any) -> None:
    """Every function of the table, with and without predicates, nested and piped."""
    found = evaluate(source, data=DATA)
    assert (found, type(found)) == (value, type(value))


REFUSED = [
    ("Data.name && true", "&& takes true or false, not text"),
    ("!Data.port", "! takes true or false, not a number"),
    ("Data.list ? 1 : 2", "? takes true or false, not a list"),
    ("Data.nope && true", "there is no key 'nope'"),
    ("Data.list contains 3", "contains takes text; write part in list"),
    ("Data.port startsWith '8'", "startsWith takes text, not a number"),
    ("Data.name matches Data.name + '('", "missing )"),
    ("len(Data.port)", "len takes a map, not a number"),
    ("upper(Data.nope)", "upper(Data.nope): there is no key 'nope'"),
    ("int('8o')", "int('8o'): not a whole number"),
    ("filter(Data.list, #)", "the predicate of filter returns a number"),
    ("map(Data.users, .nick)", "there is no key 'nick'"),
    ("sort([1, 'a'])", "sort sorts numbers or text"),
    ("fromJSON('{')", "this is not JSON"),
    ("reduce([], #acc + #)", "needs an initial value"),
    ("(-8) ^ .5", "requires a whole number"),
    ("0 ^ -1", "0.0 cannot be raised"),
    ("lookup('data.nope') + len('')", "no such path"),
]


@pytest.mark.parametrize(("source", "words"), REFUSED)
def test_a_wrong_value_is_an_error_that_says_what_it_is(source: str, words: str) -> None:
    """What expr-lang refuses to do with a value is an error, never a guess."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source, data=DATA)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "source",
    ["Facts.cpu ?? 'x'", "Facts?.cpu?.info", "Facts.cpu == nil", "keys(Facts)", "Facts | toJSON()"],
)
def test_facts_that_could_not_be_gathered_are_never_nil(source: str) -> None:
    """Asking whether an unavailable fact is there refuses the host: nobody knows."""
    with pytest.raises(FactsUnavailableError):
        evaluate(source)


def test_missing_is_empty_where_that_is_asked_for() -> None:
    """In data and orders a path that is missing gives an empty text to operators, too."""
    assert evaluate("upper(Data.nope) + ``", lenient=True) == ""
    assert evaluate("Data.nope contains 'x'", lenient=True) is False
    assert evaluate("Data.nope ?? 'x'", lenient=True) == "x"


HUGE = [
    "1..1000000000",
    "map(1..10000, repeat('a', 1000000))",
    "reduce(1..1000, #acc + #acc, 'a')",
    "reduce(1..1000, #acc ~ #acc, 'a')",
    "reduce(1..1000, [#acc, #acc], 1)",
    "reduce(1..1000, #acc * #acc, 9)",
    "reduce(1..1000, concat(#acc, #acc), [1])",
    "map(1..10000, map(1..10000, #))",
    "any(1..10000, any(1..10000, false))",
    "let a = [1, 1]; " + " ".join(f"let {b} = [{a}, {a}];" for a, b in zip(
        "abcdefghijklmnopqrstuv", "bcdefghijklmnopqrstuvw", strict=True)) + " w",
    "repeat('a', 1000000000)",
    "split(repeat('a', 10000000), '')",
    "all(1..10000, not (repeat('ab', 50000) matches '(a|b)*c$'))",
    "all(1..10000, len(sort(1..10000)) > 0)",
    "'a' * 1000000000 + ``",
    "toJSON(map(1..10000, 1..10000))",
]  # fmt: skip


@pytest.mark.parametrize("source", HUGE)
@pytest.mark.timeout(30)
def test_no_expression_eats_the_controller(source: str) -> None:
    """What would be huge or take ages ends in an error."""
    with pytest.raises(EvaluationError):
        evaluate(source)
