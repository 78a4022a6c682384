"""A report about a defect of ccm says where it happened and tells no values."""

from pathlib import Path

import pytest

from orchestrator.support.crash_report import MAX_REPORTS, describe_crash


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "ccm" / "crashes"


def _crash(message: str, cause: Exception | None = None) -> Exception:
    try:
        raise ValueError(message) from cause
    except ValueError as error:
        return error


def test_the_report_says_what_happened_where(state: Path) -> None:
    """It holds the work that was done, the error, its cause and the lines of the code."""
    path = describe_crash(_crash("no more tea", _crash("the pot broke")), "serving tea")
    text = Path(path).read_text()
    assert Path(path).parent == state
    assert "during: serving tea" in text
    assert "ValueError: no more tea" in text
    assert "in _crash\n    raise ValueError(message)" in text
    assert text.index("caused by") < text.index("the pot broke")


def test_values_and_secrets_are_left_out(state: Path) -> None:
    """What stands in quotes is a value that somebody gave; a secret is masked wherever it is."""
    path = describe_crash(_crash("hunter2 is not in 'my own value'"), "x", ["hunter2"])
    text = Path(path).read_text()
    assert "hunter2" not in text
    assert "my own value" not in text


def test_only_the_user_reads_it_and_old_ones_go(state: Path) -> None:
    """The file is private, and the directory does not grow without end."""
    state.mkdir(parents=True)
    for number in range(MAX_REPORTS):
        (state / f"2001-{number:03}.txt").touch()
    path = Path(describe_crash(_crash("x"), "x"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(list(state.iterdir())) == MAX_REPORTS
    assert not (state / "2001-000.txt").exists()


def test_a_place_that_cannot_be_written_costs_no_second_error(state: Path) -> None:
    """Where no report can be written there is no path, and nothing is raised."""
    state.parent.mkdir()
    state.touch()
    assert describe_crash(_crash("x"), "x") == ""
