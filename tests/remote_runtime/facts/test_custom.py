"""Which files of the target are custom facts, in which order, and which are not."""

import os
from pathlib import Path

import pytest

from remote_runtime.facts import custom, gather
from remote_runtime.facts.source import Source

from .recorded import unprivileged


class Folders(Source):
    """A machine whose folders of custom facts are these."""

    def __init__(self, *folders: Path) -> None:
        super().__init__()
        self.folders = [os.fsencode(folder) for folder in folders]

    def fact_folders(self) -> list[bytes]:
        return self.folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of custom facts with its facts.d."""
    (tmp_path / "ccm" / "facts.d").mkdir(parents=True)
    return tmp_path / "ccm"


def names(folder: Path) -> list[str]:
    """Return the shipped files of one folder, relative to it."""
    files, warnings = custom.read(Folders(folder))
    assert warnings == []
    return [os.path.relpath(entry["path"], folder) for entry in files]


def test_no_folder_at_all(tmp_path: Path) -> None:
    """Folders that are not there hold no facts and are nothing to warn about."""
    assert custom.read(Folders(tmp_path / "a", tmp_path / "b")) == ([], [])


def test_order_is_the_order_of_merging(tmp_path: Path) -> None:
    """In each folder facts.json, facts.yaml and facts.d by name; the second folder comes later."""
    for base in ("one", "two"):
        (tmp_path / base / "facts.d").mkdir(parents=True)
        for name in ("facts.d/b.json", "facts.d/a.yaml", "facts.yaml", "facts.json"):
            (tmp_path / base / name).write_text("{}")
    files, _ = custom.read(Folders(tmp_path / "one", tmp_path / "two"))
    expected = ["facts.json", "facts.yaml", "facts.d/a.yaml", "facts.d/b.json"]
    assert [entry["path"] for entry in files] == [
        str(tmp_path / base / name) for base in ("one", "two") for name in expected
    ]


def test_json_and_yaml_travel_as_text(folder: Path) -> None:
    """The text of both formats is shipped as it stands, well-formed or not."""
    (folder / "facts.json").write_bytes(b'{"role": "db", ')
    (folder / "facts.yaml").write_bytes(b"\xef\xbb\xbfstadt: K\xc3\xb6ln\n")
    files, _ = custom.read(Folders(folder))
    assert [entry["text"] for entry in files] == ['{"role": "db", ', "stadt: Köln\n"]


def test_other_files_are_ignored(folder: Path) -> None:
    """Other endings, hidden files and files elsewhere are not custom facts."""
    for name in ("facts.yml", "other.json", "facts.d/a.yml", "facts.d/.b.yaml", "facts.d/c.yaml~"):
        (folder / name).write_text("a: 1")
    (folder / "facts.d" / "ok.yaml").write_text("a: 1")
    assert names(folder) == ["facts.d/ok.yaml"]


def test_symlinks_are_ignored(folder: Path, tmp_path: Path) -> None:
    """A symlink is never followed, neither a file nor facts.d itself."""
    (tmp_path / "secret.json").write_text('{"a": 1}')
    (folder / "facts.json").symlink_to(tmp_path / "secret.json")
    (folder / "facts.d" / "x.json").symlink_to(tmp_path / "secret.json")
    assert names(folder) == []
    elsewhere = tmp_path / "elsewhere"
    (folder / "facts.d").rename(elsewhere)
    (elsewhere / "real.json").write_text("{}")
    (folder / "facts.d").symlink_to(elsewhere)
    assert names(folder) == []


def test_bad_files_are_reported(folder: Path) -> None:
    """What is not a regular file of UTF-8 text is named with its reason, the good ones are sent."""
    (folder / "facts.json").mkdir()
    (folder / "facts.yaml").write_bytes(b"a: \xff\n")
    os.mkfifo(folder / "facts.d" / "a.json")
    (folder / "facts.d" / "b.json").write_text("{}")
    gathered = gather(30, Folders(folder), [("custom", "custom", custom.read)])
    assert [entry["path"] for entry in gathered.custom] == [str(folder / "facts.d" / "b.json")]
    assert gathered.warnings == [
        "custom facts: %s: not a regular file" % (folder / "facts.json"),
        "custom facts: %s: not UTF-8 text (at byte 3)" % (folder / "facts.yaml"),
        "custom facts: %s: not a regular file" % (folder / "facts.d" / "a.json"),
    ]


def test_a_file_instead_of_a_folder_is_reported(folder: Path) -> None:
    """A facts.d that is a file is named."""
    (folder / "facts.d").rmdir()
    (folder / "facts.d").write_text("a: 1")
    assert custom.read(Folders(folder)) == ([], ["%s: Not a directory" % (folder / "facts.d")])


def test_the_limit_holds_for_all_files_together(folder: Path) -> None:
    """At most 1 MiB is shipped: exactly that much is, one byte more is reported."""
    half = custom.LIMIT // 2
    (folder / "facts.json").write_text("a" * half)
    (folder / "facts.yaml").write_text("b" * (half + 1))
    (folder / "facts.d" / "c.yaml").write_text("c" * half)
    (folder / "facts.d" / "d.yaml").write_text("d")
    files, warnings = custom.read(Folders(folder))
    assert [entry["text"][0] for entry in files] == ["a", "c"]
    assert sum(len(entry["text"]) for entry in files) == custom.LIMIT
    assert warnings == [
        "%s: left out, custom facts are at most 1048576 bytes in all" % (folder / name)
        for name in ("facts.yaml", "facts.d/d.yaml")
    ]


def test_an_endless_file_is_not_read_to_its_end(folder: Path) -> None:
    """No more than the limit is held of a file that is far larger."""
    with open(folder / "facts.json", "wb") as sparse:
        sparse.truncate(1 << 33)
    files, warnings = custom.read(Folders(folder))
    assert files == []
    assert len(warnings) == 1


def test_a_folder_that_may_not_be_read(folder: Path) -> None:
    """One line names a folder that this user may not read."""
    folder.chmod(0)
    with unprivileged():
        found = custom.read(Folders(folder))
    assert found == ([], [f"{folder}: Permission denied"])


def test_folders_with_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of XDG_CONFIG_HOME comes after that of the system."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/cfg")
    assert Source().fact_folders() == [b"/etc/choria/ccm", b"/cfg/choria/ccm"]


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_folders_without_xdg(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a usable XDG_CONFIG_HOME it is .config of the home directory."""
    monkeypatch.setenv("XDG_CONFIG_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Source().fact_folders()[1] == os.fsencode(tmp_path / ".config/choria/ccm")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a home that belongs to somebody else")
def test_the_home_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A HOME that sudo left pointing at another user's home is not asked for root's facts."""
    os.chown(tmp_path, 65534, 65534)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = os.path.expanduser("~root").encode()
    assert Source().fact_folders()[1] == home + b"/.config/choria/ccm"
