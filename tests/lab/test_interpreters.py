"""Hosts with another Python, with none, and with one that lacks json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from . import (
    Host,
    Lab,
    LabError,
    find_interpreter,
    in_order,
    interpreter_path,
    with_interpreter,
    with_minimal_python,
    without_python,
)

_WANTED = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.12", "3.13")
_FOUND = [version for version in _WANTED if find_interpreter(version)]


@pytest.fixture(scope="module")
def pythons(needs_lab: None) -> Iterator[dict[str, Host]]:
    """A host without Python, one with python3-minimal, one with all others of this machine."""
    others = in_order(without_python, *(with_interpreter(version) for version in _FOUND))
    prepare = {"none": without_python, "minimal": with_minimal_python, "others": others}
    with Lab(names=list(prepare), prepare=prepare) as lab:
        yield lab.hosts


def test_a_host_can_be_without_python(pythons: dict[str, Host]) -> None:
    """There is no interpreter on the search path, and the host works."""
    host = pythons["none"]
    assert host.run("command -v python3 python3.11 python", check=False).stdout == ""
    assert host.run("systemctl is-system-running").stdout == "running\n"


def test_a_minimal_python_lacks_json(pythons: dict[str, Host]) -> None:
    """python3-minimal starts, and cannot import json."""
    host = pythons["minimal"]
    assert host.run("python3 -c 'import os, re, sys'").returncode == 0
    done = host.run("python3 -c 'import json'", check=False)
    assert "No module named 'json'" in done.stderr


@pytest.mark.parametrize("version", _WANTED)
def test_another_python_runs_for_any_user(pythons: dict[str, Host], version: str) -> None:
    """Where this machine has it, a host gets it, with the standard library's compiled parts."""
    if version not in _FOUND:
        pytest.skip(f"this machine has no Python {version}")
    program = "import hashlib, json, select, ssl, sys, zlib; print(*sys.version_info[:2], sep='.')"
    command = f'runuser -u deploy -- {interpreter_path(version)} -c "{program}"'
    assert pythons["others"].run(command).stdout == f"{version}\n"


def test_a_python_that_nobody_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Asking for an interpreter that is not there is an error at once, not on the host."""
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(LabError, match=r"no Python 2\.99"):
        with_interpreter("2.99")
