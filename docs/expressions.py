"""The tables of the pages on expressions and on expr-lang; the tests evaluate every row of them."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.language.exprlang.builtins import FUNCTIONS, REFUSED
from schemas import tables


class Operator(NamedTuple):
    """``signs`` are as in the source; the example gives ``result``, written as an expression."""

    signs: tuple[str, ...]
    meaning: str
    example: str
    result: str


JINJA = (
    Operator((".", "["), "A member or an entry; `-1` is the last", "[1, 2, 3][-1]", "3"),
    Operator((":",), "A part of a list or a string", "[1, 2, 3][:2]", "[1, 2]"),
    Operator(("==", "!="), "Equal, not equal", "'a' != 'b'", "true"),
    Operator(("<", "<=", ">", ">="), "Comparison, can be chained", "1 < 2 <= 2", "true"),
    Operator(("in", "not in"), "Contained in a list, string or map", "'x' not in ['a']", "true"),
    Operator(("is", "is not"), "A [test](filters.md)", "Data.nope is defined", "false"),
    Operator(("and", "or", "not"), "Logic; the result of `or` is the first value that is not empty",
             "'' or 'x'", "'x'"),
    Operator(("if", "else"), "Conditional", "'a' if 2 > 1 else 'b'", "'a'"),
    Operator(("+", "-", "*", "/"), "Arithmetic; `/` returns a fraction", "7 / 2", "3.5"),
    Operator(("//", "%"), "Division rounded down, and its remainder", "7 // 2", "3"),
    Operator(("**",), "Power", "2 ** 3", "8"),
    Operator(("~",), "Joins two values as text", "'a' ~ 1", "'a1'"),
    Operator(("|",), "A [filter](filters.md)", "[3, 1] | sort", "[1, 3]"),
)  # fmt: skip
OPERATORS = (
    Operator(("&&", "||"), "And, or; `true` and `false` only", "true && !false", "true"),
    Operator(("!",), "Not; `true` and `false` only", "!true", "false"),
    Operator(("and", "or", "not"), "As in Jinja2", "not 1 == 2 and true", "true"),
    Operator(("?", ":"), "Conditional; takes `true` or `false`", "2 > 1 ? 'a' : 'b'", "'a'"),
    Operator(("??",), "The right side if the left is missing or `nil`", "nil ?? 'x'", "'x'"),
    Operator(("?.",), "A member, or `nil` if the left is `nil`", "Data?.web?.port", "80"),
    Operator((".", "["), "A member or an entry; `-1` is the last", "[1, 2, 3][-1]", "3"),
    Operator((":",), "A part of a list or a string", "[1, 2, 3][:2]", "[1, 2]"),
    Operator(("==", "!="), "Equal; a missing value equals `nil`", "Data.nope == nil", "true"),
    Operator(("<", "<=", ">", ">="), "Comparison, can be chained", "1 < 2 && 2 >= 2", "true"),
    Operator(("in", "not"), "Contained in a list, or a key of a map", "'x' not in ['a']", "true"),
    Operator(("contains",), "A string contains another", "'hello' contains 'ell'", "true"),
    Operator(("startsWith", "endsWith"), "Start or end of a string", "'abc' endsWith 'c'", "true"),
    Operator(("matches",), "A Go regular expression", "'web12' matches '^web[0-9]+$'", "true"),
    Operator(("..",), "A range of integers", "1..3", "[1, 2, 3]"),
    Operator(("+", "-", "*", "/", "%"), "As in Jinja2", "'a' + 'b'", "'ab'"),
    Operator(("**",), "Power, as in Jinja2", "2 ** 3", "8"),
    Operator(("^",), "Power, as in expr-lang", "2 ^ 3", "8.0"),
    Operator(("~",), "Joins two values as text, as in Jinja2", "'a' ~ 1", "'a1'"),
    Operator(("|",), "Passes the left side as first argument", "'a,b' | split(',')", "['a','b']"),
    Operator(("let", ";"), "Names a value", "let x = 2; x * x", "4"),
    Operator(("#", "#index", "#acc"), "Entry, index, accumulator", "map([5], # + #index)", "[5]"),
    Operator(("/*",), "Comment, ends with `*/`", "1 /* one */ + 1", "2"),
)


class Difference(NamedTuple):
    """``here`` is written as an expression; empty: an error."""

    expression: str
    exprlang: str
    here: str


DIFFERENCES = (
    Difference("Data.nope", "`nil`", ""),
    Difference("'A' + 'B' | lower()", "`'ab'`: the pipe takes everything", "'Ab'"),
    Difference("['B', 'a'] | sort()", "`['B', 'a']`", "['a', 'B']"),
    Difference("[true, false] | count()", "`1`", "2"),
    Difference("'x' | int()", "an error", "0"),
    Difference("2.5 | round()", "`3.0`", "2.0"),
    Difference("-7 % 3", "`-1`", "2"),
    Difference("2 ** 3", "`8.0`", "8"),
    Difference("2 ** 3 ** 2", "`512.0`", "64"),
    Difference("-2 ** 2", "`-4.0`", "4"),
    Difference("10 // 3", "`10`, and a comment", "3"),
    Difference("'e' in 'hello'", "an error", "true"),
    Difference("'a' and 'b'", "an error", "'b'"),
    Difference("1 == true", "an error", "true"),
    Difference("1 / 0", "`+Inf`", ""),
    Difference("string({a: 1})", "`'map[a:1]'`", "'{\"a\": 1}'"),
    Difference("string(nil)", "`'<nil>'`", "''"),
    Difference("'A' == 'a' && 'B' | lower() == 'b'", "an error", ""),
)


def parts() -> dict[str, str]:
    """The generated part of the page on expressions."""
    return {"operators": _operators(JINJA)}


def exprlang_parts() -> dict[str, str]:
    """The generated parts of the page on expr-lang."""
    return {
        "operators": _operators(OPERATORS),
        "functions": _functions(False),
        "predicates": _functions(True),
        "differences": tables.table(
            ["Expression", "expr-lang", "ccm"],
            [
                [f"`{d.expression}`", d.exprlang, f"`{d.here}`" if d.here else "an error"]
                for d in DIFFERENCES
            ],
        ),
        "refused": tables.table(
            ["Function", "Instead"], [[f"`{word}`", hint] for word, hint in REFUSED.items()]
        ),
    }


def _operators(operators: tuple[Operator, ...]) -> str:
    return tables.table(
        ["Operator", "Meaning", "Example", "Result"],
        [[_all(o.signs), o.meaning, f"`{o.example}`", f"`{o.result}`"] for o in operators],
    )


def _all(signs: tuple[str, ...]) -> str:
    return " ".join(f"`{sign}`" for sign in signs)


def _functions(predicates: bool) -> str:
    rows = [
        [f"`{function.usage}`", function.meaning]
        for function in FUNCTIONS.values()
        if (function.predicate >= 0) == predicates
    ]
    return tables.table(["Function", "Result"], rows)
