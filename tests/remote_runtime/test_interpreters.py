"""The runtime's own tests under every Python that a target may have."""

import ast
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

import remote_runtime

REPOSITORY = Path(remote_runtime.__file__).parents[1]
HERE = Path(__file__).parent
SUPPORTED = [f"3.{minor}" for minor in range(6, 14)]


def interpreters() -> dict[str, str]:
    """Every supported Python of this machine by its version, pyenv's and those in PATH."""
    root = Path(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"), "versions")
    found = {}
    for version in SUPPORTED:
        programs = [str(path) for path in sorted(root.glob(f"{version}.*/bin/python3"))]
        programs += filter(None, [shutil.which(f"python{version}")])
        programs = [
            p for p in programs if subprocess.run([p, "-V"], capture_output=True).returncode == 0
        ]
        if programs:
            found[version] = programs[0]
    return found or {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}


def modules() -> list[str]:
    """The test modules that need nothing but the standard library and what Python 3.6 has."""
    names = [_name(path) for path in HERE.rglob("test_*.py")]
    return sorted(name for name in names if _runs_anywhere(name))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)


@cache
def _runs_anywhere(module: str) -> bool:
    """Whether a module of the tests is one for any Python, with all modules that it imports."""
    path = REPOSITORY.joinpath(*module.split(".")).with_suffix(".py")
    if not path.is_file():
        return True  # a package, or a name of a module
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            names = [source, *(f"{source}.{alias.name}" for alias in node.names)]
        else:
            continue
        if {"pytest", "collections.abc", "__future__.annotations", "tests.lab"} & set(names):
            return False
        if not all(_runs_anywhere(name) for name in names if name.startswith("tests.")):
            return False
    return True


def shares(versions: "list[str]") -> "dict[str, list[str]]":
    """The test modules that each Python runs: all of them the oldest one.

    Each of the others runs a share of them, so that every module has a newer one, too.
    ``CCM_TEST_ALL_PYTHONS`` has all of them run all modules.
    """
    found = modules()
    newer = [] if os.environ.get("CCM_TEST_ALL_PYTHONS") else versions[1:]
    return {
        version: found[newer.index(version) :: len(newer)] if version in newer else found
        for version in versions
    }


def run(program: str, names: "list[str]") -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    environment["CCM_TEST_EVERY_PYTHON"] = "yes"
    environment["LC_ALL"] = "C.UTF-8"  # as a push sets it
    return subprocess.run(
        [program, "-s", "-m", "unittest", *names],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=2400,
    )


@pytest.mark.begun_first
@pytest.mark.timeout(2700)
def test_every_interpreter() -> None:
    """The tests of the runtime pass under every Python found, with its standard library only.

    Under the one of this process pytest runs them itself, so that it is left out beside others;
    where it is the only one, the short form has a share of them run without pytest.
    """
    found = interpreters()
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = {version: program for version, program in found.items() if version != own} or found
    # They mostly wait for timeouts, so a few at a time cost little more than one.
    names = shares(list(found))
    if [*found] == [own] and not os.environ.get("CCM_TEST_ALL_PYTHONS"):
        names = {own: modules()[::4]}
    with ThreadPoolExecutor(4) as pool:
        results = dict(zip(found, pool.map(run, found.values(), names.values())))
    print("ran under Python", ", ".join(sorted(results)))
    failed = {v: done.stderr[-4000:] for v, done in results.items() if done.returncode != 0}
    assert not failed, "\n".join(f"Python {v}:\n{text}" for v, text in failed.items())
    assert all("Ran " in done.stderr for done in results.values())


def test_every_module_has_an_old_and_a_newer_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest Python runs all tests, the others share them out; in the long form all run all."""
    monkeypatch.delenv("CCM_TEST_ALL_PYTHONS", raising=False)
    found = shares(["3.6", "3.7", "3.8", "3.12"])
    assert found["3.6"] == modules()
    others = [found[version] for version in ("3.7", "3.8", "3.12")]
    assert sorted(name for names in others for name in names) == modules()
    assert min(map(len, others)) > 0
    monkeypatch.setenv("CCM_TEST_ALL_PYTHONS", "1")
    assert shares(["3.6", "3.7", "3.8"])["3.7"] == modules()
