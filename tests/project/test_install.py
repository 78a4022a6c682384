"""ccm as a user installs it: into a clean environment, on each Python of the controller."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.lab import find_interpreter

ROOT = Path(__file__).resolve().parents[2]
SITE = """\
ccm:
  resources:
    - exec:
        - "/usr/bin/env touch {made}": {{creates: "{made}"}}
"""


def run(*argv: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command in an environment that knows nothing of this checkout."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "XDG_"))
    }
    environment["HOME"] = str(cwd)
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_an_installed_ccm_pushes(version: str, tmp_path: Path) -> None:
    """``pip install .`` gives a working ccm that builds its runtime from the installed package."""
    prefix = find_interpreter(version)
    if prefix is None:
        pytest.skip(f"this machine has no Python {version}")
    home = tmp_path / "venv"
    made = run(prefix / f"bin/python{version}", "-m", "venv", home, cwd=tmp_path)
    if "ensurepip" in made.stdout + made.stderr:
        pytest.skip(f"Python {version} of this machine has no ensurepip (package python3-venv)")
    source = tmp_path / "source"
    copied = run("git", "clone", "-q", ROOT, source, cwd=tmp_path)
    assert copied.returncode == 0, copied.stderr
    installed = run(home / "bin/pip", "install", "-q", source, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    ccm = home / "bin/ccm"
    assert run(ccm, "--version", cwd=tmp_path).stdout.startswith("ccm ")
    (tmp_path / "hosts.yaml").write_text("hosts:\n  here: {connection: local}\n")
    (tmp_path / "site.yaml").write_text(SITE.format(made=tmp_path / "made"))
    push = ("push", "-i", "hosts.yaml", "--detailed-exitcode", "site.yaml")
    first, second = (run(ccm, *push, cwd=tmp_path) for _ in range(2))
    assert first.returncode == 4, first.stdout + first.stderr
    assert (tmp_path / "made").exists()
    assert second.returncode == 0, second.stdout + second.stderr
