"""The regular expressions of ``matches``."""

import random
import re

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.language.exprlang.regex import RegexError, compile_regex
from tests.orchestrator.expressions.fakes import evaluate

TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "aab",
    "abab",
    "ba\n",
    "a\nb",
    "A",
    "a1_",
    " a ",
    "-",
    "é",
    "a]b",
    "{2}",
]
PATTERNS = [
    "", "a", "a|b", "^a", "b$", "^$", "a*b", "a+b", "a?b", "(ab)+$", "^(?:ab){2}$", "a{2,}",
    "a{1,2}b",
    "[ab]+$", "[^a]", "[a-c1]_?$", r"\d", r"\D", r"\w+$", r"\W", r"\s", r"\S", r"\bab\b", r"\Bb",
    ".", "a.b", "(?s)a.b", "(?i)^a$", "(?i:A)b", "(?m)^b", "(?m)a$", r"\Aa", r"\.", "[]a]", "[a-]",
    r"[\d_]", "(a|ab)(b|$)", "(a*)*b", "(a|a)*$", "x{2", "a*?b", "a+?b",
    r"\{2\}", "(?P<n>a)b", "((a)|b)+", "a||b", "(|a)b", r"\x61", "^[^b]*$", r"[\w-]+$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_it_matches_elsewhere(pattern: str) -> None:
    """What Go and Python write alike gives what Python's own engine gives, text by text."""
    ours = compile_regex(pattern)
    theirs = re.compile(pattern.replace("$", r"\Z") if "(?m)" not in pattern else pattern, re.ASCII)
    for text in TEXTS:
        assert ours.search(text) is bool(theirs.search(text)), text


def test_random_patterns_match_what_they_match_elsewhere() -> None:
    """Some hundreds of made-up patterns on made-up texts."""
    chance = random.Random(7)
    pieces = ["a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "(?:a|bb)", "a*", "b+", "a?",
              "(ab?)*", "a{2}", "b{0,2}", "^", "$", "|"]  # fmt: skip
    for _ in range(600):
        pattern = "".join(chance.choices(pieces, k=chance.randint(1, 6)))
        text = "".join(chance.choices("abc", k=chance.randint(0, 7)))
        theirs = re.search(pattern.replace("$", r"\Z"), text)
        assert compile_regex(pattern).search(text) is bool(theirs), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"a\z", "ba", True),
        (r"^\pL+$", "é", True),
        (r"^\p{Lu}", "Éa", True),
        (r"^\PL$", "1", True),
        ("^[[:alpha:]]+$", "abc", True),
        ("[[:^digit:]]", "123", False),
        (r"\Qa.b\E", "axb", False),
        (r"\Qa.b\E", "a.b", True),
        (r"^\x{e9}$", "é", True),
        ("(?i)[^a]", "A", False),
        ("(?-i)a", "A", False),
        ("((?i)a)b", "AB", False),
        ("(?<n>a)b", "ab", True),
        (r"\w", "é", False),
        (r"^\p{Greek}$", "\u03b1", True),
        ("(?i)^\u017f$", "S", True),
    ],
)
def test_what_only_go_has(pattern: str, text: str, found: bool) -> None:
    """Classes, quoted parts and flags are Go's."""
    assert compile_regex(pattern).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(a", r"write \( for"), ("a)", r"write \) for"), ("[a", r"write \[ for"),
        ("*a", "no argument for repetition"), ("a**", "put the first repetition in parentheses"),
        ("a{2,1}", "invalid repetition size"), ("a{1001}", "invalid repetition size"),
        ("(a{1000}){1000}", "invalid repetition size"), (r"\pL{1000}", "use smaller repetitions"),
        ("a\\", "trailing"), ("(?=a)", "look-around is not"), ("(?<=a)", "look-around is not"),
        (r"(a)\1", "back-references are not"), (r"\y", "invalid escape"), (r"\p{", "invalid"),
        (r"\x{", "invalid"), (r"\x{110000}", "invalid escape"), ("[z-a]", "range: z-a"),
        ("[[:nope:]]", "range: [:nope:]"), ("(?P<a", "invalid named capture"),
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused(pattern: str, words: str) -> None:
    """Each mistake is told in words; nothing but a RegexError comes out."""
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern)
    assert words in f"{caught.value} {caught.value.hint}"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "(a|aa)+$", "(.*)*b$", "a*a*a*a*a*a*c"])
def test_no_text_makes_a_pattern_take_ages(pattern: str) -> None:
    """Patterns that another engine never ends on are answered."""
    text = "a" * 100_000 + "!"
    assert compile_regex(pattern).search(text) is False


def test_a_search_that_costs_too_much_is_not_begun() -> None:
    """A text and a pattern that are both long are more than one expression may take."""
    with pytest.raises(EvaluationError, match="too many steps"):
        evaluate("Data.text matches 'a.{900}c'", data={"text": "ab" * 100_000})


def test_half_a_character_is_a_character() -> None:
    """What a host's JSON can hold and UTF-8 cannot is searched like any other text."""
    assert compile_regex("^.a$").search("\ud800a")
    assert compile_regex("\ud800").search("a\ud800")


def test_random_text_is_never_more_than_refused() -> None:
    """Whatever stands in a pattern, it is a pattern or a RegexError."""
    chance = random.Random(11)
    refused = 0
    for _ in range(3000):
        pattern = "".join(
            chance.choices("ab()[]{}|*+?^$\\.,:-0123<>P=!ipQEdx", k=chance.randint(1, 9))
        )
        try:
            compile_regex(pattern).search("ab0-x")
        except RegexError:
            refused += 1
    assert 0 < refused < 3000
