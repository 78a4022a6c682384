"""The data that ccm ensure takes where none is named."""

import os
from pathlib import Path

import pytest

from orchestrator.cli.default_data import with_default_data
from orchestrator.planning import PlanOptions
from remote_runtime.errors import UsageError


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a script."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_named_wins(directory: Path) -> None:
    """What is named comes before the file, and there is no data where neither is."""
    assert with_default_data(PlanOptions()).hiera == ()
    (directory / ".hiera").write_text("data: {}")
    assert with_default_data(PlanOptions()).hiera == [".hiera"]
    assert with_default_data(PlanOptions(hiera=["named.yaml"])).hiera == ["named.yaml"]


def test_a_file_of_others(directory: Path) -> None:
    """What others can write to in the directory where one stands by chance is refused."""
    (directory / ".hiera").write_text("data: {}")
    (directory / ".hiera").chmod(0o666)
    with pytest.raises(UsageError, match="other users can write"):
        with_default_data(PlanOptions())
    (directory / ".hiera").chmod(0o664)
    assert with_default_data(PlanOptions()).hiera == [".hiera"]
    if os.getuid() == 0:
        os.chown(directory / ".hiera", 12345, 12345)
        with pytest.raises(UsageError, match="other users can write"):
            with_default_data(PlanOptions())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_link_of_others_is_refused(directory: Path) -> None:
    """Who may only make a link chooses none of our own files for data either."""
    (directory / "mine.yaml").write_text("data: {}")
    (directory / ".hiera").symlink_to("mine.yaml")
    assert with_default_data(PlanOptions()).hiera == [".hiera"]
    os.lchown(directory / ".hiera", 61001, 61001)
    with pytest.raises(UsageError, match="other users"):
        with_default_data(PlanOptions())
