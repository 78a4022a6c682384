from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.remote_runtime.fakes import ROOT
from tests.remote_runtime.mount.swapped_mounts import WHERE


@pytest.mark.skipif(not ROOT, reason="mounting needs root")
def test_real_mounts() -> None:
    """The kernel agrees with each preview, and a second push changes nothing."""
    words = [sys.executable, "-m", "tests.remote_runtime.mount.real_mounts"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for step in json.loads(done.stdout):
        assert step["errors"] == [[], [], []], step
        assert step["changes"][0] == step["changes"][1] != [], step
        assert step["again"] == "stable", step


@pytest.mark.skipif(not ROOT, reason="mounting needs root")
def test_random_mounts() -> None:
    """What a preview says for certain of random mounts is what a push does."""
    words = [sys.executable, "-m", "tests.remote_runtime.mount.random_mounts", "1", "30"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mount certain" in done.stdout


@pytest.mark.skipif(not ROOT, reason="mounting needs root")
def test_mounts_below_a_directory_of_a_user() -> None:
    """A link that comes as the program starts leads no mount to what is root's."""
    words = [sys.executable, "-m", "tests.remote_runtime.mount.swapped_mounts"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {name: mounted for name, (_, mounted) in json.loads(done.stdout).items()}
    away, theirs = ("/home/app/data.away", "/home/app.away/data"), ["/victim/data", "theirs", False]
    assert found == {
        **{f"mount {w}": [[at, "tmpfs", False]] for w, at in zip(WHERE, away, strict=True)},
        **{f"bind {w}": [[at, "safe", False]] for w, at in zip(WHERE, away, strict=True)},
        "source point": [["/safe", "home/from/data.away", False]],
        "source above": [["/safe", "home/from.away/data", False]],
        "remount point": [theirs, ["/home/app/data", "tmpfs", True]],
        "remount above": [theirs, ["/home/app.away/data", "tmpfs", True]],
        "umount point": [theirs],
        "umount above": [theirs],
    }
