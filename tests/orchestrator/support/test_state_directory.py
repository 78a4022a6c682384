"""Where ccm keeps what outlives a command."""

from pathlib import Path

import pytest

from orchestrator.support.state_directory import make_private, state_directory
from remote_runtime.errors import UsageError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return tmp_path


def test_the_state_is_below_the_home(home: Path) -> None:
    """Without a variable it is ~/.local/state/ccm, which is not made by asking for it."""
    assert state_directory() == home / ".local/state/ccm"
    assert not (home / ".local").exists()


@pytest.mark.parametrize(("value", "place"), [("/var/x", "/var/x/ccm"), ("relative", None)])
def test_the_variable_moves_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str, place: str | None
) -> None:
    """XDG_STATE_HOME names another place; a relative one is ignored, as its specification says."""
    monkeypatch.setenv("XDG_STATE_HOME", value)
    assert state_directory() == Path(place or home / ".local/state/ccm")


def test_a_private_directory_is_for_its_user_alone(tmp_path: Path) -> None:
    """New directories have mode 0700, and one that others could read is closed to them."""
    made = make_private(tmp_path / "a" / "b")
    assert [p.stat().st_mode & 0o777 for p in (made, made.parent)] == [0o700, 0o700]
    made.chmod(0o755)
    assert make_private(made).stat().st_mode & 0o777 == 0o700


def test_someone_elses_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another user owns is never written to."""
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UsageError, match="belongs to another user") as caught:
        make_private(tmp_path)
    assert "XDG_STATE_HOME" in caught.value.hint
