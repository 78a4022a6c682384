"""Units come out on a booted host as the overlay says, or it says that it does not know."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import remote_runtime
from tests.lab import Host, Lab
from tests.remote_runtime.host import random_units

SHORT, LONG = 4, 500  # cases of up to 8 steps
_DIRECTORY = "/srv/ccm-random-units"
_NEEDED = ("__init__.py", "fakes.py", "host/__init__.py", "host/random_units.py")


@pytest.fixture(scope="module")
def debian(lab: Lab) -> Host:
    """A fresh host with the runtime and the module of the cases."""
    host = lab.hosts["web2"]
    host.reset()
    root = host.path(_DIRECTORY)
    shutil.copytree(Path(remote_runtime.__file__).parent, root / "remote_runtime")
    tests = Path(random_units.__file__).parents[2]
    for name in ("__init__.py", *(f"remote_runtime/{one}" for one in _NEEDED)):
        (root / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tests / name, root / "tests" / name)
    return host


def unknown_share(host: Host, first: int, count: int) -> float:
    """Which share of what these cases read is unknown; all of them end alike."""
    command = f"python3 -m {random_units.__name__} --seed {first} --cases {count}"
    done = host.run(f"cd {_DIRECTORY} && {command}", check=False, timeout=count * 120)
    assert "0 differences" in done.stdout, done.stdout + done.stderr
    counts = {name: int(number) for number, name in re.findall(r"(\d+) ([\w ]+)", done.stdout)}
    return counts.get("unknown reads", 0) / counts["reads"]


@pytest.mark.timeout(900)
def test_random_units(debian: Host) -> None:
    """Every step ends alike and leaves the same state of every unit."""
    assert unknown_share(debian, 1, SHORT) < 1 / 2


@pytest.mark.long
@pytest.mark.timeout(60_000)
def test_many_random_units(debian: Host) -> None:
    """The same of some thousand steps."""
    assert unknown_share(debian, SHORT + 1, LONG) < 1 / 2
