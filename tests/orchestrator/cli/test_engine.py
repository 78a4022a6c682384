"""``ccm engine``: certificates into a directory that is meant for them."""

from pathlib import Path

import pytest

from orchestrator.cli import engine
from orchestrator.cli.parser import Parser
from remote_runtime.errors import UsageError


def init(*words: str) -> int:
    """``ccm engine init``."""
    parser = Parser()
    engine.configure(parser)
    return engine.run(parser.parse_args(["init", *words]))


def test_it_says_what_belongs_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files that it names are there; a second time it makes none."""
    assert init(str(tmp_path / "new")) == 0
    words = capsys.readouterr().out.split()
    assert {word for word in words if word.endswith(".pem")} < {
        path.name for path in (tmp_path / "new").iterdir()
    } | {"ca-key.pem,"}
    with pytest.raises(UsageError, match="already contains certificates"):
        init(str(tmp_path / "new"))


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_what_is_no_directory_is_refused(tmp_path: Path, name: str) -> None:
    """With what to give."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=f"cannot write certificates to .*{name}: ") as caught:
        init(str(tmp_path / name))
    assert "writable directory" in caught.value.hint


def test_a_variable_that_was_empty_is_not_the_usual_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in ``ccm engine init "$DIR"``."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="DIR is an empty string"):
        init("")
    assert list(tmp_path.iterdir()) == []
