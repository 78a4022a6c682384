"""Which files of the target are custom facts, in which order, and which are not."""

import os
from pathlib import Path

import pytest

from remote_runtime.facts import custom, gather
from remote_runtime.facts.fact_source import Source

from .recorded import unprivileged


class Directories(Source):
    """A machine whose directories of custom facts are these."""

    def __init__(self, *directories: Path) -> None:
        super().__init__()
        self.directories = [os.fsencode(directory) for directory in directories]

    def fact_directories(self) -> list[bytes]:
        return self.directories


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """An empty directory of custom facts with its facts.d."""
    (tmp_path / "ccm" / "facts.d").mkdir(parents=True)
    return tmp_path / "ccm"


def names(directory: Path) -> list[str]:
    """Return the shipped files of one directory, relative to it."""
    files, warnings = custom.read(Directories(directory))
    assert warnings == []
    return [os.path.relpath(entry["path"], directory) for entry in files]


def test_no_directory_at_all(tmp_path: Path) -> None:
    """Directories that are not there hold no facts and are nothing to warn about."""
    assert custom.read(Directories(tmp_path / "a", tmp_path / "b")) == ([], [])


def test_order_is_the_order_of_merging(tmp_path: Path) -> None:
    """In each directory facts.json, facts.yaml and facts.d by name; the second directory comes
    later.
    """
    for base in ("one", "two"):
        (tmp_path / base / "facts.d").mkdir(parents=True)
        for name in ("facts.d/b.json", "facts.d/a.yaml", "facts.yaml", "facts.json"):
            (tmp_path / base / name).write_text("{}")
    files, _ = custom.read(Directories(tmp_path / "one", tmp_path / "two"))
    expected = ["facts.json", "facts.yaml", "facts.d/a.yaml", "facts.d/b.json"]
    assert [entry["path"] for entry in files] == [
        str(tmp_path / base / name) for base in ("one", "two") for name in expected
    ]


def test_json_and_yaml_travel_as_text(directory: Path) -> None:
    """The text of both formats is shipped as it stands, well-formed or not."""
    (directory / "facts.json").write_bytes(b'{"role": "db", ')
    (directory / "facts.yaml").write_bytes(b"\xef\xbb\xbfstadt: K\xc3\xb6ln\n")
    files, _ = custom.read(Directories(directory))
    assert [entry["text"] for entry in files] == ['{"role": "db", ', "stadt: Köln\n"]


def test_other_files_are_ignored(directory: Path) -> None:
    """Other endings, hidden files and files elsewhere are not custom facts."""
    for name in ("facts.yml", "other.json", "facts.d/a.yml", "facts.d/.b.yaml", "facts.d/c.yaml~"):
        (directory / name).write_text("a: 1")
    (directory / "facts.d" / "ok.yaml").write_text("a: 1")
    assert names(directory) == ["facts.d/ok.yaml"]


def test_symlinks_are_ignored(directory: Path, tmp_path: Path) -> None:
    """A symlink is never followed, neither a file nor facts.d itself."""
    (tmp_path / "secret.json").write_text('{"a": 1}')
    (directory / "facts.json").symlink_to(tmp_path / "secret.json")
    (directory / "facts.d" / "x.json").symlink_to(tmp_path / "secret.json")
    assert names(directory) == []
    elsewhere = tmp_path / "elsewhere"
    (directory / "facts.d").rename(elsewhere)
    (elsewhere / "real.json").write_text("{}")
    (directory / "facts.d").symlink_to(elsewhere)
    assert names(directory) == []


def test_bad_files_are_reported(directory: Path) -> None:
    """What is not a regular file of UTF-8 text is named with its reason, the good ones are sent."""
    (directory / "facts.json").mkdir()
    (directory / "facts.yaml").write_bytes(b"a: \xff\n")
    os.mkfifo(directory / "facts.d" / "a.json")
    (directory / "facts.d" / "b.json").write_text("{}")
    gathered = gather(30, Directories(directory), [("custom", "custom", custom.read)])
    assert [entry["path"] for entry in gathered.custom] == [str(directory / "facts.d" / "b.json")]
    assert gathered.warnings == [
        "custom facts: %s: not a regular file" % (directory / "facts.json"),
        "custom facts: %s: not UTF-8 text (at byte 3)" % (directory / "facts.yaml"),
        "custom facts: %s: not a regular file" % (directory / "facts.d" / "a.json"),
    ]


def test_a_file_instead_of_a_directory_is_reported(directory: Path) -> None:
    """A facts.d that is a file is named."""
    (directory / "facts.d").rmdir()
    (directory / "facts.d").write_text("a: 1")
    assert custom.read(Directories(directory)) == (
        [],
        ["%s: Not a directory" % (directory / "facts.d")],
    )


def test_the_limit_holds_for_all_files_together(directory: Path) -> None:
    """At most 1 MiB is shipped: exactly that much is, one byte more is reported."""
    half = custom.LIMIT // 2
    (directory / "facts.json").write_text("a" * half)
    (directory / "facts.yaml").write_text("b" * (half + 1))
    (directory / "facts.d" / "c.yaml").write_text("c" * half)
    (directory / "facts.d" / "d.yaml").write_text("d")
    files, warnings = custom.read(Directories(directory))
    assert [entry["text"][0] for entry in files] == ["a", "c"]
    assert sum(len(entry["text"]) for entry in files) == custom.LIMIT
    assert warnings == [
        "%s: omitted: custom facts may have at most 1048576 bytes in total" % (directory / name)
        for name in ("facts.yaml", "facts.d/d.yaml")
    ]


def test_an_endless_file_is_not_read_to_its_end(directory: Path) -> None:
    """No more than the limit is held of a file that is far larger."""
    with open(directory / "facts.json", "wb") as sparse:
        sparse.truncate(1 << 33)
    files, warnings = custom.read(Directories(directory))
    assert files == []
    assert len(warnings) == 1


def test_a_directory_that_may_not_be_read(directory: Path) -> None:
    """One line names a directory that this user may not read."""
    directory.chmod(0)
    with unprivileged():
        found = custom.read(Directories(directory))
    assert found == ([], [f"{directory}: Permission denied"])


def test_directories_with_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory of XDG_CONFIG_HOME comes after that of the system."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/cfg")
    assert Source().fact_directories() == [b"/etc/choria/ccm", b"/cfg/choria/ccm"]


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_directories_without_xdg(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a usable XDG_CONFIG_HOME it is .config of the home directory."""
    monkeypatch.setenv("XDG_CONFIG_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Source().fact_directories()[1] == os.fsencode(tmp_path / ".config/choria/ccm")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a home that belongs to somebody else")
def test_the_home_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A HOME that sudo left pointing at another user's home is not asked for root's facts."""
    os.chown(tmp_path, 65534, 65534)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = os.path.expanduser("~root").encode()
    assert Source().fact_directories()[1] == home + b"/.config/choria/ccm"
