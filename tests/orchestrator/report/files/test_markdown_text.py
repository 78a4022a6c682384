"""Text in Markdown that a forge shows and does not act on."""

import re

import pytest

from orchestrator.report.files.markdown_text import cell, code, fence, inline

LIVE = (
    "@everyone",
    "@group/team,",
    "user@example.net",
    "#1",
    "owner/repo#12",
    "!7",
    "&4",
    "$3",
    "%2",
    "~bug",
    "GH-12",
    "gh-12",
    "JIRA-99",
    "deadbeef",
    "0123456789abcdef0123456789abcdef01234567",
    "https://example.net/x?y=1",
    "(http://example.net)",
    "www.example.net",
    "example.net",
    "mailto:a@b.example",
    ":tada:",
    "[x](y)",
    "![x](y)",
    "<b>",
    "&lt;",
    "*x*",
    "_x_",
    "~~x~~",
    "\\@root",
    "+",
    "-",
    "---",
    "=",
    ">",
)


def outside(text: str) -> str:
    """What is left of Markdown on one line without its code spans."""
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize("around", ["{}", "see {} there", "``` {}", "a`b {} c``d", "'{}'"])
def test_what_a_forge_acts_on_is_in_a_code_span(live: str, around: str) -> None:
    """Mentions, references, links and markup, with backticks around them too; the text is all
    there."""
    text = around.format(live)
    for shown in (inline(text), cell(text)):
        left = outside(shown)
        assert not re.search(r"[@#!&$~<>\[\]*_\\`+=/]|\w\.\w|\w-\d|beef|cdef|:t", left), shown
        assert not re.fullmatch(r"\s*-+\s*", left), shown
        assert live.strip(".,;:") in shown


@pytest.mark.parametrize("text", ["1. no list", "2) neither", "1."])
def test_text_begins_no_list(text: str) -> None:
    """A number with a dot or a bracket at the beginning begins code, and ends a sentence."""
    assert inline(text).startswith("`")
    assert inline("expected 0, got 1.") == "expected 0, got 1."


def test_sentences_stay_sentences() -> None:
    """Simple words are not code; names and paths are, without the punctuation behind them."""
    assert inline("could  not\nconnect: it's 50% of 1,024") == (
        "could not connect: it's 50% of 1,024"
    )
    assert inline("cannot read /etc/x: no such file") == "cannot read `/etc/x`: no such file"
    assert inline("web[1-3] (3 hosts)") == "`web[1-3]` (3 hosts)"
    assert inline("") == code(" ") == ""


@pytest.mark.parametrize("text", ["a|b", r"x\|@everyone", r"\\\|#1", "|", "`|`", r"`\|`|", "\\"])
def test_a_cell_ends_where_it_should(text: str) -> None:
    """No bar ends a cell: each has one backslash before it, and so has no backslash before that."""
    shown = cell(text)
    assert not re.search(r"(?<!\\)\|", shown)
    assert not re.search(r"\\\\\|", shown)


def test_no_text_ends_its_fence() -> None:
    """The fence is longer than any run of backticks in the text."""
    assert fence("````\n@everyone", "diff") == "`````diff\n````\n@everyone\n`````\n"


def test_long_words_are_read_once() -> None:
    """A word of a million letters takes no time that grows with its square."""
    word = "a-" * 500_000 + "_"
    assert inline(word) == f"`{word}`"
