"""Sysctl, crontabs and sources of packages come out on a booted host as the overlay says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import remote_runtime
from tests.importing import mirror
from tests.lab import Host, Lab
from tests.remote_runtime.host import random_settings

SHORT, LONG = 40, 20_000  # cases of up to 8 steps
_DIRECTORY = "/srv/ccm-random-settings"
_NEEDED = ("__init__.py", "fakes.py", "host/__init__.py", "host/random_settings.py")
_PROGRAMS = ("cron", "kmod")


@pytest.fixture(scope="module")
def debian(lab: Lab) -> Host:
    """A fresh host with the runtime, the module of the cases, and Debian's cron and modprobe."""
    host = lab.hosts["web2"]
    host.reset()
    root = host.path(_DIRECTORY)
    shutil.copytree(Path(remote_runtime.__file__).parent, root / "remote_runtime")
    tests = Path(random_settings.__file__).parents[2]
    for name in ("__init__.py", *(f"remote_runtime/{one}" for one in _NEEDED)):
        (root / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tests / name, root / "tests" / name)
    shutil.copytree(mirror.ensure(_PROGRAMS), root / "packages")
    host.write(mirror.LIST, f"deb [trusted=yes] file:{_DIRECTORY}/packages ./\n")
    install = "DEBIAN_FRONTEND=noninteractive apt-get -qq install -y"
    host.run(f"apt-get -qq update && {install} {' '.join(_PROGRAMS)}", timeout=120)
    return host


def unknown_share(host: Host, first: int, count: int) -> float:
    """Which share of what these cases read is unknown; all of them end alike."""
    command = f"python3 -m {random_settings.__name__} --seed {first} --cases {count}"
    done = host.run(f"cd {_DIRECTORY} && {command}", check=False, timeout=60 + count * 5)
    assert "0 differences" in done.stdout, done.stdout + done.stderr
    counts = {name: int(number) for number, name in re.findall(r"(\d+) ([\w ]+)", done.stdout)}
    assert counts["steps"] > 3 * count, done.stdout
    return counts.get("unknown reads", 0) / counts["reads"]


@pytest.mark.timeout(600)
def test_random_settings(debian: Host) -> None:
    """Every step ends alike and leaves the same to be read."""
    assert unknown_share(debian, 1, SHORT) < 1 / 20


@pytest.mark.long
@pytest.mark.timeout(60_000)
def test_many_random_settings(debian: Host) -> None:
    """The same of a hundred thousand steps."""
    assert unknown_share(debian, SHORT + 1, LONG) < 1 / 20
