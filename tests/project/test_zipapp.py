"""Where the one file unpacks what it carries, and what it makes of what it finds there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.zipapp.build import write

PROGRAM = """\
import sys
def main():
    print(__file__)
    return int(sys.argv[1])
"""
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def pyz(tmp_path: Path) -> Path:
    """One file that carries a wheel whose ``ccm`` says where it is, and ends as it is told."""
    wheel = tmp_path / "ccm_push-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("orchestrator", "orchestrator/cli"):
            archive.writestr(f"{name}/__init__.py", "")
        archive.writestr("orchestrator/cli/app.py", PROGRAM)
    target = tmp_path / "ccm.pyz"
    write(target, {VERSION: [wheel]})
    (tmp_path / "home").mkdir(0o700)
    (tmp_path / "tmp").mkdir(0o700)
    return target


class Started:
    """A start of the one file: where its code came from, and what it warned of."""

    def __init__(self, pyz: Path, code: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, pyz, str(code)],
            env={"HOME": str(pyz.parent / "home"), "TMPDIR": str(pyz.parent / "tmp")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.code = code

    def place(self) -> str:
        """Where ccm was started."""
        out, self.said = self.process.communicate(timeout=60)
        assert self.process.returncode == self.code, self.said
        return out.strip()


def cached(pyz: Path) -> Path:
    """The directory of the libraries in the cache."""
    (directory,) = (pyz.parent / "home/.cache/ccm/pyz").iterdir()
    return directory


def test_it_is_unpacked_once(pyz: Path) -> None:
    """The second start uses what the first one unpacked, for this user alone."""
    first = Started(pyz).place()
    directory = cached(pyz)
    assert first == str(directory / "orchestrator/cli/app.py")
    assert Started(pyz, code=3).place() == first
    before = directory.stat().st_ino
    assert cached(pyz).stat().st_ino == before
    for path in (directory, directory.parent, Path(first).parent, Path(first)):
        assert path.stat().st_mode & 0o077 == 0


def _other_code(directory: Path) -> Path:
    other = directory.parents[3] / "other"
    other.mkdir(mode=0o700)
    (other / "app.py").write_text("def main():\n    return 99\n")
    return other


def cut(directory: Path) -> None:
    (directory / "orchestrator/cli/app.py").write_text("")


def remove(directory: Path) -> None:
    (directory / "orchestrator/cli/__init__.py").unlink()


def link_a_file(directory: Path) -> None:
    target = directory / "orchestrator/cli/app.py"
    other = _other_code(directory) / "app.py"
    other.write_text(other.read_text().ljust(target.stat().st_size))
    target.unlink()
    target.symlink_to(other)


def link_a_directory(directory: Path) -> None:
    cli = directory / "orchestrator/cli"
    moved = cli.rename(_other_code(directory) / "cli")
    cli.symlink_to(moved)


def link_all(directory: Path) -> None:
    moved = directory.rename(_other_code(directory) / "all")
    directory.symlink_to(moved)


def open_a_file(directory: Path) -> None:
    (directory / "orchestrator/cli/app.py").chmod(0o666)


def open_a_directory(directory: Path) -> None:
    (directory / "orchestrator").chmod(0o777)


def give_away(directory: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(directory / "orchestrator/cli/app.py", 65534, 65534)


DAMAGES = [
    *(cut, remove, link_a_file, link_a_directory, link_all),
    *(open_a_file, open_a_directory, give_away),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_is_not_as_it_was_is_replaced(pyz: Path, damage: Callable[[Path], None]) -> None:
    """Nothing is run of a directory in which something is missing, a link or open to others."""
    first = Started(pyz).place()
    damage(cached(pyz))
    again = Started(pyz)
    assert (again.place(), again.said) == (first, "")
    path = Path(first)
    assert path.read_text() == PROGRAM
    assert not any(p.is_symlink() for p in (path, *path.parents) if cached(pyz) in (p, *p.parents))
    assert path.stat().st_uid == os.geteuid()


def linked_cache(home: Path) -> None:
    (home / ".cache").mkdir(0o700)
    (home / "elsewhere").mkdir(0o700)
    (home / ".cache/ccm").symlink_to(home / "elsewhere")


def open_cache(home: Path) -> None:
    (home / ".cache").mkdir()
    (home / ".cache").chmod(0o777)


def open_own_directory(home: Path) -> None:
    (home / ".cache/ccm/pyz").mkdir(parents=True)
    (home / ".cache/ccm/pyz").chmod(0o755)


def home_of_another(home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(home, 65534, 65534)


def no_directory(home: Path) -> None:
    (home / ".cache").write_text("")


UNSAFE = [linked_cache, open_cache, open_own_directory, home_of_another, no_directory]


@pytest.mark.parametrize("make", UNSAFE, ids=lambda make: make.__name__)
def test_without_a_safe_cache_it_is_unpacked_for_one_run(
    pyz: Path, make: Callable[[Path], None]
) -> None:
    """Where others could write, nothing is kept; the reason is told, and nothing is left."""
    make(pyz.parent / "home")
    start = Started(pyz, code=4)
    assert start.place().startswith(str(pyz.parent / "tmp/ccm-pyz-"))
    assert start.said.startswith("ccm: warning: ")
    assert start.said.endswith(": the libraries are unpacked for this run only\n")
    assert os.listdir(pyz.parent / "tmp") == []


def test_several_start_at_once(pyz: Path) -> None:
    """All of them find a whole directory, and one is left."""
    starts = [Started(pyz) for _ in range(6)]
    assert len({start.place() for start in starts}) == 1
    assert [start.said for start in starts] == [""] * len(starts)
    assert cached(pyz).is_dir()


def test_what_an_interrupted_start_left_is_removed(pyz: Path) -> None:
    """The next unpacking removes an abandoned directory, but not a new one."""
    top = pyz.parent / "home/.cache/ccm/pyz"
    for name in (".new-old", ".new-fresh"):
        (top / name).mkdir(parents=True, mode=0o700)
    top.chmod(0o700)
    os.utime(top / ".new-old", (0, 0))
    Started(pyz).place()
    assert sorted(path.name for path in top.iterdir() if path.name.startswith(".")) == [
        ".new-fresh"
    ]
