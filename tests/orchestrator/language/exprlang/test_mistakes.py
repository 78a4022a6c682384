"""What is refused when an expression is read: where, and what to write instead."""

import pytest

from orchestrator.expressions import Expression, Template
from remote_runtime.errors import InputError, Position, Problem
from tests.orchestrator.expressions.fakes import render


def problems(source: str) -> list[Problem]:
    """The problems of an expression; the column is an offset in the source."""
    with pytest.raises(InputError) as caught:
        Expression.parse(source, locate=lambda offset: Position("f", 1, offset))
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("source", "column", "words"),
    [
        ("Data.x && lokup('y')", 10, "did you mean lookup?"),
        ("Data.x | lenn()", 9, "did you mean len?"),
        ("Data.x|upperr && true", 7, "there is no filter 'upperr' (did you mean upper?)"),
        ("Data.x is defned && true", 10, "there is no test 'defned' (did you mean defined?)"),
        ("Data.x contain 'y'", 7, "did you mean contains?"),
        ("Data.x startwith 'y'", 7, "did you mean startsWith?"),
        ("len Data.x", 0, "len is a function (write len(x))"),
        ("true && len", 8, "len is a function (write len(x))"),
        ("upper()", 0, "upper() takes 1 argument, not 0 (write upper(text))"),
        ("split('a')", 0, "split() takes 2 to 3 arguments, not 1"),
        ("count(Data.x, .y, 3)", 0, "count() takes 1 to 2 arguments, not 3"),
        ("max()", 0, "max() takes 1 arguments or more, not 0"),
        ("filter(Data.x, # > 1", 20, "expected ')' or a comma, found the end of the expression"),
        ("filter(Data.x, {# > 1)", 21, "expected '}', found ')'"),
        ("# > 1", 0, "# outside of a predicate"),
        (".name == 1", 0, ". without a value before it"),
        ("filter(Data.x, #idx > 1)", 15, "did you mean #index?"),
        ("Data.x === 1", 9, "write == to compare"),
        ("Data.x = 1", 7, "write == to compare"),
        ("Data.x <> 1", 8, "write !="),
        ("Data.x & 1", 7, "write && or and"),
        ("Data.x ? 1", 10, "expected ':' and the value for false"),
        ("1..", 3, "expected a value, found the end of the expression"),
        ("Data.x matches '(a'", 15, "missing )"),
        ("Data.x matches '(?=a)'", 15, "look-around is not supported"),
        ("Data.a ?? Data.b == 1", 17, "put one of them in parentheses"),
        ("Data.a == 'x' | trimPrefix('x')", 14, "put its input in parentheses"),
        ("Data.a ~ len('') | lower()", 17, "put its input in parentheses"),
        ("10 // len('')", 3, "write /* */ for a comment"),
        ("if true { 1 } else { 2 }", 0, "write condition ? yes : no"),
        ("$env.Data && true", 0, "write the name alone"),
        ("`abc", 0, "the string is not closed"),
        ("let Data = 1; 2", 4, "let Data: the name is taken"),
        ("let len = 1; 2", 4, "let len: the name is taken"),
        ("let x 1", 6, "expected '=' after the name"),
        ("let x = 1", 9, "expected ';' after the value of let"),
        ("(let x = 1; x) + x", 17, "'x' is not a name"),
        ("{a 1}", 3, "expected ':' after the key"),
        ("{1 + 1: 2} && true", 3, "expected ':' after the key"),
        ("[1, 2 && true", 13, "expected ']' or a comma"),
        ("Data.(x)", 5, "expected a name after the dot"),
        ("Data?.x()", 7, "a call after ?."),
        ("Data?.x[1:2]", 7, "a slice after ?."),
        ("0x && true", 0, "'0x' is not a number"),
        ("1abc", 0, "is not a number"),
        ("9" * 5000 + " && true", 0, "is not a number"),
        ("lookup('dat.x') && true", 7, "a path starts with facts., data. or environ."),
        ("jet('[[ uper(1) ]]') + ``", 3, "there is no function 'uper'"),
        ("map(Data.x, xl_it)", 12, "'xl_it' is not a name"),
        ("xl_truth(true, 'a')", 0, "'xl_truth' is not a name"),
        ("filter(Data.x, xl_body_0)", 15, "'xl_body_0' is not a name"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_right_word(
    source: str, column: int, words: str
) -> None:
    """Each mistake has the offset of the word that is wrong, and what to write."""
    (problem,) = problems(source)
    assert problem.where is not None
    assert words in str(problem)
    assert problem.where.column == column


def test_every_unknown_word_is_told_in_the_order_written() -> None:
    """Several mistakes of one expression come together, also inside of predicates."""
    found = problems("aa && any(filter(bb, cc(#)), .x|dd)")
    assert [problem.where.column for problem in found if problem.where] == [0, 17, 21, 32]


@pytest.mark.parametrize(
    "source",
    [
        "(" * 90 + "1 && 2" + ")" * 90,
        "!" * 500 + "true",
        "- " * 500 + "len('')",
        "[" * 200 + "len('')" + "]" * 200,
        "true && " * 400 + "true",
        "1 + " * 400 + "len('')",
        "Data" + "?.a" * 400,
        "map([1], " * 120 + "#" + ")" * 120,
        "let a = 1; " + " ".join(f"let b{i} = {i};" for i in range(200)) + "a",
        "len('')" + "|upper" * 400,
    ],
)
def test_what_is_too_deep_is_refused_when_it_is_read(source: str) -> None:
    """No depth ends the program: it is a mistake like any other."""
    assert "nested too deeply" in str(problems(source)[0])


def test_a_place_is_found_in_a_text_of_several_lines() -> None:
    """The offset counts from the beginning of the text around, blanks and lines included."""
    text = "one {{ 1 }}\n{{\n  Data.x &&\n  lokup('y') }}"
    with pytest.raises(InputError) as caught:
        Template.parse(text, lambda piece, at: Position(piece.split("(")[0], 1, at))
    assert [p.where for p in caught.value.problems] == [Position("lokup", 1, text.index("lokup"))]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ filter([1, 2], {# > 1}) }}", [2]),
        ("{{ `}}{{'` }}", "}}{{'"),
        ("{{ 1 /* it's }} */ + 1 }}", 2),
        ("{{ map([1], {{a: #}.a}) }}", [1]),
        ("{{ {a: {b: 1}}.a.b }}-{{ 1..2 }}", "1-[1, 2]"),
    ],
)
def test_the_end_of_an_expression_is_found(text: str, value: object) -> None:
    """Braces of predicates and maps, raw texts and comments do not end an expression."""
    assert render(text) == value
