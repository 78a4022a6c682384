"""Errors read the same on every screen."""

from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.reporting.masking import Mask


def test_a_name_stays_in_its_line() -> None:
    """A newline or an escape sequence in the name of a resource is written as an escape."""
    problem = Problem("file#/a\nb\x1b[31m\x9fé: it needs owner", Position("s\t.yaml", 1, 2), "x\r")
    told = r"s\t.yaml:1:2: file#/a\nb\x1b[31m\x9fé: it needs owner (x\r)"
    assert str(problem) == told
    assert InputError([problem, problem]).message == f"{told}\n{told}"


def test_lines_that_are_meant() -> None:
    """They stay in a message that says so, each without control characters."""
    problem = Problem("one\ntwo\x1b", Position("s.yaml", 1, 2), "x", has_lines=True)
    assert str(problem) == "s.yaml:1:2: one\n  two\\x1b\n  (x)"
    assert str(problem._replace(message="one")) == "s.yaml:1:2: one (x)"


def test_a_secret_in_there_is_masked() -> None:
    """Also one of several lines, with characters that other escapes would double."""
    secret = "one\\two\n'three\" é"
    assert Mask([secret]).text(str(Problem(f"not {secret}"))) == "not [masked]"
