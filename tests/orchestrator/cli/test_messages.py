"""Remarks and warnings on stderr, on a terminal and elsewhere."""

import contextlib
import io

import pytest

from orchestrator.cli.messages import warn
from orchestrator.cli.run_output import Output, OutputOptions
from remote_runtime.options import RunOptions

LONG = (
    "site.yaml:3:15: service#app: two services manage the same unit in different ways, such as "
    "'systemctl restart app' and app.service (keep one of them)"
)


class Terminal(io.StringIO):
    """A stderr that somebody looks at."""

    def isatty(self) -> bool:
        return True


def written(stream: io.StringIO, text: str) -> list[str]:
    """The lines of a warning."""
    with contextlib.redirect_stderr(stream):
        warn(text)
    return stream.getvalue().splitlines()


def test_a_warning_is_wrapped_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines fit the terminal, break between words and are indented below the first one."""
    monkeypatch.setenv("COLUMNS", "80")
    first, *others = written(Terminal(), LONG)
    assert len(others) > 1
    assert max(map(len, [first, *others])) <= 80
    assert all(line.startswith("     ") and line[5] != " " for line in others)
    words = " ".join([first, *(line[5:] for line in others)])
    assert words == f"ccm: warning: {LONG}"


def test_the_lines_of_a_warning_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line break in a warning remains one on a terminal, an empty line too."""
    monkeypatch.setenv("COLUMNS", "80")
    assert written(Terminal(), "one\n\ntwo") == ["ccm: warning: one", "", "     two"]


def test_a_warning_is_one_line_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs and files get each warning as it is."""
    monkeypatch.setenv("COLUMNS", "80")
    assert written(io.StringIO(), LONG) == [f"ccm: warning: {LONG}"]


@pytest.mark.parametrize(("stream", "lines"), [(Terminal(), 3), (io.StringIO(), 1)])
def test_a_warning_of_a_run_is_wrapped_too(
    stream: io.StringIO, lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A push writes its warnings where its report goes, and wraps them there."""
    monkeypatch.setenv("COLUMNS", "80")
    output = Output(OutputOptions(), RunOptions())
    output.human = stream
    output.say_warning(LONG)
    first, *others = stream.getvalue().splitlines()
    assert len(others) == lines - 1
    assert all(len(line) <= 80 and line.startswith(" " * 9) for line in others)
    assert " ".join([first, *(line[9:] for line in others)]) == f"warning: {LONG}"
