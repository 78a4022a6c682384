"""By what hosts remember a manifest."""

from pathlib import Path

import pytest

from orchestrator.manifest.identity import identity


@pytest.mark.parametrize("repository", [".git", ".hg", ".jj", ".svn"])
def test_in_a_repository(tmp_path: Path, repository: str) -> None:
    """It is the top directory's name and the path below, wherever the clone is."""
    for place in ("alice", "bob"):
        top = tmp_path / place / "infra"
        (top / "sites").mkdir(parents=True)
        (top / repository).mkdir()
        assert identity(str(top / "sites" / "web.yaml")) == "infra/sites/web.yaml"
        assert identity(str(top / "web.yaml")) == "infra/web.yaml"


def test_a_work_tree_of_git(tmp_path: Path) -> None:
    """There .git is a file."""
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / ".git").write_text("gitdir: elsewhere\n")
    assert identity(str(tmp_path / "infra" / "site.yaml")) == "infra/site.yaml"


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the absolute path, in whatever words the manifest was named."""
    monkeypatch.chdir(tmp_path)
    assert identity("site.yaml") == identity("x/../site.yaml") == str(tmp_path / "site.yaml")
