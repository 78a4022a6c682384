"""What comes from a host is shown without what could act on a terminal."""

import json
from collections.abc import Callable

import pytest

from orchestrator.support.plain_text import (
    MAX_DEPTH,
    MAX_DIGITS,
    escaped,
    is_plain_json,
    one_line,
    plain,
    plain_json_value,
    plain_value,
    visible,
)
from remote_runtime.errors import ProtocolError


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("a\rb\x08c\x7f", "abc"),
        ("pay\u202eexe.txt", "payexe.txt"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_what_acts_on_a_terminal_is_taken_out(sent: str, shown: str) -> None:
    """Sequences, control characters and turned directions go; letters, newline and tab stay."""
    assert plain(sent) == shown


def test_json_keeps_what_it_says() -> None:
    """In JSON text the same characters are written as escapes, and read as what they were."""
    sent = {"a\x9b": ["\u202e", "naïve\n", "\x7f\ufeff\ud800"]}
    text = escaped(json.dumps(sent, ensure_ascii=False, indent=1))
    assert plain(text) == text
    assert json.loads(text) == sent
    assert "naïve" in text


def test_one_line_is_short_and_says_that_it_was_cut() -> None:
    """Blanks and newlines become one blank, and what is too long ends with an ellipsis."""
    assert one_line(" a\n\n b\t c ") == "a b c"
    assert one_line("x" * 11, 10) == "x" * 9 + "…"


def test_values_are_made_plain_at_every_depth() -> None:
    """Keys, values and items of lists are made plain; numbers and truth stay what they are."""
    sent = {"\x1b[1mkey": ["\x07bell", 1, True, None, {"a": "b\x00"}]}
    assert plain_value(sent) == {"key": ["bell", 1, True, None, {"a": "b"}]}


@pytest.mark.parametrize("made_plain", [plain_value, plain_json_value])
def test_a_value_that_nests_too_deep_is_refused(made_plain: Callable[[object], object]) -> None:
    """A host cannot exhaust the stack of the controller with its answer."""
    for levels in (MAX_DEPTH, MAX_DEPTH + 1, 5000):
        value: object = "x"
        for _ in range(levels):
            value = [value] if levels % 2 else {"k": value}
        if levels == MAX_DEPTH:
            assert made_plain(value) == value
        else:
            with pytest.raises(ProtocolError, match="too deep"):
                made_plain(value)


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, "text"], "b": {}},
        {"a": ["\x1b[1mtext"]},
        {"\x07key": 1},
        {"a": "naïve\u202e", "b": "one\r\ntwo"},
        {"a": "\ud800"},
        "\x7f",
    ],
)
def test_a_look_at_the_text_comes_to_the_same(value: object) -> None:
    """Whether or not a value is plain at once."""
    assert plain_json_value(value) == plain_value(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**40, -(10**400)])
def test_numbers_that_are_none_are_refused(value: object) -> None:
    """Neither what is not finite nor a number that fills a page."""
    for made_plain in (plain_value, plain_json_value):
        with pytest.raises(ProtocolError, match="a number"):
            made_plain({"a": [value]})


@pytest.mark.parametrize("text", ["\x1b[31m", "a\rb", "a\x08", "\x0c", "\x7f", "\u202e"])
def test_json_with_anything_to_take_out_is_looked_at(text: str) -> None:
    """The quick look at JSON text never passes what ``plain`` would change."""
    assert not is_plain_json(json.dumps({"message": text}))
    assert is_plain_json(json.dumps({"message": "a\tb\nc 'd' \"e\""}))


def test_a_number_that_fills_a_page_is_found_wherever_it_stands() -> None:
    """The quick look passes no number that has too many digits, and any that has as many as fit."""
    for before in range(12):
        for digits, passes in ((MAX_DIGITS, True), (MAX_DIGITS + 1, False), (500, False)):
            text = f"[{' ' * before}{'7' * digits}]"
            assert is_plain_json(text) is passes
    assert is_plain_json("[" + "7,8 9," * 100 + "1]")


@pytest.mark.parametrize("text", ["\u200b", "\u200d", "\xad", "\u2060", "\u3164", "\U000e0041"])
def test_characters_without_width_are_shown(text: str) -> None:
    """Two texts that look the same and are not show where they differ."""
    assert visible(f"a{text}é") == f"a{ascii(text)[1:-1]}é"
