"""Writes manifests and loads them."""

from pathlib import Path

import pytest

from orchestrator.manifest import Site, load_site
from remote_runtime.errors import InputError, Problem


def write(directory: Path, text: str, name: str = "site.yaml") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def load(directory: Path, text: str) -> Site:
    return load_site(write(directory, text))


def refused(directory: Path, text: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        load(directory, text)
    return caught.value.problems


def refused_resource(directory: Path, text: str) -> list[Problem]:
    """The problems of a manifest whose resources are these lines."""
    lines = "".join(f"    {line}\n" for line in text.strip("\n").splitlines())
    return refused(directory, f"ccm:\n  resources:\n{lines}")
