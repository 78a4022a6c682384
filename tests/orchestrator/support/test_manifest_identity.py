"""What a manifest is called wherever its checkout lies."""

from pathlib import Path

import pytest

from orchestrator.support.manifest_identity import manifest_identity


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_checkout_elsewhere_has_the_same_manifest(tmp_path: Path, kind: str) -> None:
    """In a repository, or a worktree of one, only the top folder's name and what is below count."""
    names = set()
    for place in ("ci/1", "home/me"):
        top = tmp_path / place / "site"
        (top / "web").mkdir(parents=True)
        if kind == "folder":
            (top / ".git").mkdir()
        else:
            (top / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
        names.add(manifest_identity(str(top / "web" / "site.yaml")))
    assert names == {"site/web/site.yaml"}


def test_without_a_repository_it_is_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest of no repository is called by its absolute path, however it was named."""
    monkeypatch.chdir(tmp_path)
    assert manifest_identity("sub/../site.yaml") == str(tmp_path / "site.yaml")
