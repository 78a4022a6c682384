"""A directory of a user whom nobody should trust, what they are after, and whether they got it."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.hostile import bob

SECRET = "s3cret-of-root"
_NAMES = ("conf", "data/inner/file", "extra/file")


class World:
    """``victim`` is root's, ``home`` is Bob's and holds ``app`` with files of the same names."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.top.chmod(0o755)
        self.victim, self.home = top / "victim", top / "home"
        self._fill(self.victim, 0, SECRET, 0o600)
        self.home.mkdir()
        os.chown(self.home, bob.UID, bob.UID)
        self._before = self._seen()

    def _fill(self, directory: Path, owner: int, text: str, mode: int) -> None:
        for name in _NAMES:
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(mode)
        for path in (directory, *directory.rglob("*")):
            os.chown(path, owner, owner)

    def reset(self) -> None:
        """Make Bob's directory as it was in the beginning."""
        for path in self.home.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        with contextlib.suppress(FileNotFoundError):
            (self.top / "copy").unlink()
        self._fill(self.home / "app", bob.UID, "of Bob", 0o644)

    def swap(self, way: int) -> None:
        """What Bob does at one step."""
        self._in_home(bob.swap, way)

    def restore(self, way: int) -> None:
        """What he does to hide it."""
        self._in_home(bob.restore, way)

    def _in_home(self, what: Callable[[int], None], way: int) -> None:
        before = os.getcwd()
        os.chdir(self.home)
        try:
            what(way)
        finally:
            os.chdir(before)

    def harm(self, told: str) -> str:
        """What Bob has reached, "" for nothing; ``told`` is what the run said of it."""
        seen = self._seen()
        if seen != self._before:
            changed = sorted(set(seen) ^ set(self._before))
            shutil.rmtree(self.victim, ignore_errors=True)
            self._fill(self.victim, 0, SECRET, 0o600)
            return f"what is root's has changed: {changed[:3]}"
        copy = self.top / "copy"
        if copy.exists() and SECRET in copy.read_text():
            return "a source of root's was copied"
        if "internal error in ccm" in told:
            return told
        if SECRET in told:
            return "the content of a file of root's was told"
        for path in self.home.rglob("*"):
            own = path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1
            if own and SECRET in path.read_text():
                return f"a copy of a file of root's came to {path}"
        return ""

    def _seen(self) -> list[tuple[str, int, int, int, str]]:
        found = []
        for path in sorted(self.top.glob("victim/**/*")):
            status = path.lstat()
            text = path.read_text() if path.is_file() else ""
            mode, owner, group = status.st_mode, status.st_uid, status.st_gid
            found.append((str(path), mode, owner, group, text))
        return found


class Attacker:
    """Bob, in a process of his own: swaps at random between ``go`` and ``stop``."""

    def __init__(self, home: Path, seed: int) -> None:
        command = [sys.executable, bob.__file__, str(home), str(seed)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.swaps = 0

    def __enter__(self) -> "Attacker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def go(self) -> None:
        self._tell()

    def stop(self) -> None:
        self._tell()
        assert self._process.stdout is not None
        self.swaps = int(self._process.stdout.readline())

    def _tell(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b".")
        self._process.stdin.flush()
