"""Writes manifests and loads them."""

from pathlib import Path

import pytest

from orchestrator.manifest import Site, load_site
from remote_runtime.errors import InputError, Problem


def write(folder: Path, text: str, name: str = "site.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def load(folder: Path, text: str) -> Site:
    return load_site(write(folder, text))


def refused(folder: Path, text: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        load(folder, text)
    return caught.value.problems


def refused_resource(folder: Path, text: str) -> list[Problem]:
    """The problems of a manifest whose resources are these lines."""
    lines = "".join(f"    {line}\n" for line in text.strip("\n").splitlines())
    return refused(folder, f"ccm:\n  resources:\n{lines}")
