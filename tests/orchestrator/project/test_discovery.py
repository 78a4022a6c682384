"""Which ccm.yaml counts, and whether it is believed."""

import os
from pathlib import Path

import pytest

from orchestrator.project.discovery import project_files
from remote_runtime.errors import InputError
from tests.texts import expect_text

FOREIGN = 12345
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the directory sites/ in it."""
    home = tmp_path / "project"
    (home / "sites").mkdir(parents=True, mode=0o755)
    monkeypatch.chdir(home)
    return home


def paths(manifest: str = "") -> list[str]:
    return [place.path for place in project_files(manifest)]


def refused(manifest: str = "") -> str:
    with pytest.raises(InputError) as caught:
        project_files(manifest)
    return str(caught.value)


def test_beside_the_manifest_or_here(directory: Path) -> None:
    """The manifest's directory and the current one are looked into first."""
    (directory / "ccm.yaml").touch()
    assert (paths(), paths("sites/site.yaml"), paths("./site.yaml")) == (["ccm.yaml"],) * 3
    (directory / "sites/ccm.yaml").touch()
    assert paths("sites/site.yaml") == ["sites/ccm.yaml", "ccm.yaml"]
    assert paths() == ["ccm.yaml"]


def test_a_directory_below(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest file above counts, and paths in it start from its directory."""
    (directory / "ccm.yaml").touch()
    assert paths("sites/site.yaml") == ["ccm.yaml"]
    (directory / "sites/deep").mkdir(mode=0o755)
    monkeypatch.chdir(directory / "sites/deep")
    (found,) = project_files()
    assert (found.path, found.directory) == ("../../ccm.yaml", "../..")
    assert paths("../site.yaml") == ["../../ccm.yaml"]
    (directory / "sites/ccm.yaml").touch()
    assert paths() == ["../ccm.yaml"]


@pytest.mark.parametrize("name", [".git", ".hg", ".jj", ".svn"])
def test_the_root_of_the_repository_ends_the_search(
    directory: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A file above the repository does not count; one at its root does."""
    (directory.parent / "ccm.yaml").touch()
    monkeypatch.chdir(directory / "sites")
    assert paths() == ["../../ccm.yaml"]
    (directory / name).touch()
    assert paths() == []
    (directory / "ccm.yaml").touch()
    assert paths() == ["../ccm.yaml"]


def test_a_directory_above_that_others_may_write_ends_the_search(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others can put into a directory above is not looked at."""
    (directory / "ccm.yaml").touch()
    directory.chmod(0o1777)
    monkeypatch.chdir(directory / "sites")
    assert paths() == []


@ROOT_ONLY
def test_a_directory_above_of_another_owner_ends_the_search(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in a directory of somebody else does not count."""
    (directory / "ccm.yaml").touch()
    os.chown(directory, FOREIGN, FOREIGN)
    monkeypatch.chdir(directory / "sites")
    assert paths() == []


def test_a_link_to_the_same_file(directory: Path) -> None:
    """A file that is reached twice counts once; its paths start from where it really is."""
    (directory / "ccm.yaml").touch()
    (directory / "sites/ccm.yaml").symlink_to("../ccm.yaml")
    (found,) = project_files("sites/site.yaml")
    assert (found.path, found.directory) == ("sites/ccm.yaml", str(directory))


def test_a_manifest_has_another_name(directory: Path) -> None:
    """A manifest that is called like the project's file is refused by its name."""
    (directory / "ccm.yaml").touch()
    expect_text(refused("ccm.yaml"))


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_may_write(directory: Path, mode: int) -> None:
    """Neither the group nor everybody else may write it; the error says what to do."""
    (directory / "ccm.yaml").touch()
    (directory / "ccm.yaml").chmod(mode)
    expect_text(refused())
    assert "chmod go-w ccm.yaml" in refused()


def test_a_directory_that_others_may_write(directory: Path) -> None:
    """Who may write the directory could put another file there."""
    (directory / "sites/ccm.yaml").touch()
    (directory / "sites").chmod(0o1777)
    assert "chmod go-w sites" in refused("sites/site.yaml")


@ROOT_ONLY
def test_what_belongs_to_somebody_else(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, directory or link of another user is refused; sudo's user is accepted."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    own, link = directory / "ccm.yaml", directory / "sites/ccm.yaml"
    own.touch()
    os.chown(own, FOREIGN, FOREIGN)
    assert f"ccm.yaml belongs to another user (id {FOREIGN})" in refused()
    monkeypatch.setenv("SUDO_UID", str(FOREIGN))
    assert paths() == ["ccm.yaml"]
    monkeypatch.delenv("SUDO_UID")
    os.chown(own, 0, 0)
    link.symlink_to("../ccm.yaml")
    os.lchown(link, FOREIGN, FOREIGN)
    expect_text(refused("sites/site.yaml"))
    os.lchown(link, 0, 0)
    os.chown(directory / "sites", FOREIGN, FOREIGN)
    expect_text(refused("sites/site.yaml"))


def test_a_link_to_elsewhere(directory: Path, tmp_path: Path) -> None:
    """What a link leads to is judged as the file itself, with its directory."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "shared.yaml").touch()
    (directory / "ccm.yaml").symlink_to(elsewhere / "shared.yaml")
    assert project_files()[0].directory == str(elsewhere)
    elsewhere.chmod(0o777)
    assert f"{elsewhere} is writable by other users" in refused()
    elsewhere.chmod(0o755)
    (elsewhere / "shared.yaml").chmod(0o666)
    expect_text(refused())


def test_what_is_no_file(directory: Path) -> None:
    """A link to nothing is told, and so is what would block whoever opens it."""
    (directory / "ccm.yaml").symlink_to("gone")
    expect_text(refused())
    (directory / "ccm.yaml").unlink()
    os.mkfifo(directory / "ccm.yaml", 0o600)
    expect_text(refused())
