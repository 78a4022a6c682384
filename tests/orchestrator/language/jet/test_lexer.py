"""Delimiters, comments and blanks."""

import pytest

from orchestrator.language.jet import Delimiters
from tests.orchestrator.language.jet.fakes import refused, render

OWN = Delimiters()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[ data.name ]] {{ this }} and ${that}", "web {{ this }} and ${that}"),
        ("{* motd.jet *}[* note [[ x ]] *]x", "x"),
        ("a {*\n [[ x ]] \n*} b", "a  b"),
        ("$.a[*].b {*} [*] x", "$.a[*].b {*} [*] x"),
        ("[[ data.list[0] ]][[data.list[1]]][[ data.list[data.list[0] | len] ]]", None),
        ("[[ m := map(`a`, `name`) ]][[ data[m[`a`]]]]", "web"),
        ("a [[- 1 -]] \n b", "a1b"),
        ("a\n[[- if true -]]\n x \n[[- end ]]\nb", "ax\nb"),
        ("[[-1]] [[ -1 ]] [[ 3-1 ]]", "-1 -1 2"),
        ('[[ "]]" ]][[ `[[` ]]', "]][["),
        ("[section]\nkey = [a, b]\n", "[section]\nkey = [a, b]\n"),
        ("", ""),
        (" \n", " \n"),
        (" \n{* c *}\n[[ 1 ]] \n", "1 \n"),
        ("x\n", "x\n"),
        ("a\r\n[[ 1 ]]\r\n", "a\r\n1\r\n"),
    ],
)
def test_square_brackets_are_the_delimiters(text: str, expected: str | None) -> None:
    """Only actions and comments are active; everything else comes out byte for byte."""
    if expected is None:
        assert "expected ']'" in refused(text, OWN)
    else:
        assert render(text, OWN) == expected


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ("<<", ">>", "<< data.name >><* note *>{* note *}"),
        ("<%", "%>", "<% 4 % 3 == 1 ? data.name : 0 %>"),
        ("((", "))", "(( upper(lower(data.name)) | lower ))"),
        ("@@", "%%", "@@data.name%%"),
    ],
)
def test_delimiters_can_be_chosen(left: str, right: str, text: str) -> None:
    """Other delimiters bring comments of their own; Jet's remain."""
    assert render(text, Delimiters(left, right)) == "web"


@pytest.mark.parametrize("pair", [("", "]]"), ("[ [", "]]"), ("x", "y"), ("||", "||"), ('"', "]]")])
def test_delimiters_that_cannot_be_told_apart_are_refused(pair: tuple[str, str]) -> None:
    """A delimiter is made of signs, and the two differ."""
    assert Delimiters(*pair).problem()
    assert not OWN.problem()
