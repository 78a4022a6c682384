"""The facts are gathered by every Python that a target may have."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import remote_runtime
from remote_runtime.facts import gather

REPOSITORY = str(Path(remote_runtime.__file__).parents[1])
PROGRAM = (
    "import sys, json; sys.path.insert(0, sys.argv[1])\n"
    "sys.dont_write_bytecode = True\n"
    "from remote_runtime.facts import gather\n"
    "heavy = ['subprocess', 'socket', 'platform', 'tempfile', 're', 'argparse']\n"
    "before = set(sys.modules)\n"
    "found = dict(gather(30)._asdict(), python=list(sys.version_info[:2]))\n"
    "found['heavy'] = [name for name in heavy if name in sys.modules and name not in before]\n"
    "json.dump(found, sys.stdout)\n"
)


def interpreters() -> dict[str, str]:
    """Return every Python 3.6 to 3.13 of this machine by its version."""
    found = {f"3.{sys.version_info[1]}": sys.executable}
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    installed = [str(path) for path in Path(root, "versions").glob("3.*/bin/python3")]
    for minor in range(6, 14):
        version = f"3.{minor}"
        programs = [path for path in installed if f"/{version}." in path]
        programs += filter(None, [shutil.which(f"python{version}")])
        for program in programs:
            if version not in found and runs(program):
                found[version] = program
    return found


def runs(program: str) -> bool:
    """Whether this is an interpreter and not a stand-in for one that is not installed."""
    return subprocess.run([program, "-V"], capture_output=True, timeout=60).returncode == 0


INTERPRETERS = interpreters()


def steady(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what cannot change between two gatherings."""
    info = {k: v for k, v in facts["host"]["info"].items() if k not in ("uptime", "procs")}
    return {
        "host": info,
        "cpu": [dict(entry, mhz=0) for entry in facts["cpu"]["info"]],
        "memory": facts["memory"]["virtual"]["total"],
        "network": facts["network"],
        "partitions": facts["partition"]["partitions"],
        "usage": [entry["total"] for entry in facts["partition"]["usage"]],
    }


@pytest.mark.parametrize("environment", [{}, {"LANG": "C", "LC_ALL": "C"}], ids=["bare", "C"])
@pytest.mark.parametrize("version", INTERPRETERS)
def test_interpreter(version: str, environment: dict[str, str]) -> None:
    """Every interpreter tells the same facts as this one and loads nothing heavy for it."""
    command = [INTERPRETERS[version], "-I", "-S", "-c", PROGRAM, REPOSITORY]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, timeout=60)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    print("gathered by Python", found["python"])
    assert found["python"] == [int(part) for part in version.split(".")]
    assert found["unavailable"] == {}
    assert found["heavy"] == []
    assert steady(found["facts"]) == steady(gather(30).facts)


def test_as_a_program() -> None:
    """python3 -m remote_runtime.facts prints the facts as JSON."""
    command = [sys.executable, "-m", "remote_runtime.facts"]
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=REPOSITORY, timeout=60, check=True)
    assert json.loads(done.stdout)["facts"]["host"]["info"]["os"] == "linux"
