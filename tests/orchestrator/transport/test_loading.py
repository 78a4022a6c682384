"""What is left out when the SSH libraries are loaded, and what is there afterwards."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import paramiko
import pytest

from orchestrator.support.placeholder import placeholder
from orchestrator.transport.loading import version

PROGRAM = """
import gc, sys
from orchestrator.transport import Connector, Credentials, Settings
Connector(Settings(), Credentials(), None)._ssh()
left_out = ("asyncio", "invoke.vendor.yaml", "email", "unittest")
print("fabric" in sys.modules, *(name for name in left_out if name in sys.modules))
import paramiko
print(paramiko.__version__, paramiko.Transport._CLIENT_ID)
print(gc.get_count()[0] < 1000)
from importlib import metadata
from unittest.mock import Mock
from invoke.vendor import yaml
print(metadata.version("fabric"), Mock()(), yaml.safe_load("a: 1"))
"""


def test_nothing_is_loaded_that_is_not_used() -> None:
    """It takes a third of the time; who wants it afterwards has it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    version = metadata.version("paramiko")
    lines = done.stdout.splitlines()
    assert lines[:3] == ["True", f"{version} paramiko_{version}", "True"], done
    assert lines[3].startswith(f"{metadata.version('fabric')} <Mock name="), done
    assert lines[3].endswith("{'a': 1}")


def test_a_version_is_that_of_the_metadata() -> None:
    assert version("paramiko") == metadata.version("paramiko") == paramiko.__version__


def test_what_is_not_installed_has_none() -> None:
    with pytest.raises(metadata.PackageNotFoundError):
        version("paramik")


def test_one_without_such_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As distributions have it that bring their packages without pip."""
    (tmp_path / "thing.egg-info").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 3.1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version("thing") == "3.1"
    monkeypatch.delitem(sys.modules, "importlib.metadata")
    with placeholder("importlib.metadata", version=version):
        assert importlib.import_module("importlib.metadata").version("thing") == "3.1"


def test_the_first_one_on_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the module itself is looked for."""
    for folder, number in (("a", "1.0"), ("b", "2.0")):
        (tmp_path / folder / f"thing-{number}.dist-info").mkdir(parents=True)
    (tmp_path / "a" / "thing-0.dist-info-old").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / n) for n in ("missing", "a", "b")])
    assert version("thing") == "1.0"
