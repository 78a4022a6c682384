"""Writes inventories into a scratch directory and loads them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from inventory import Inventory, load
from remote_runtime.errors import InputError, Problem

Loader = Callable[..., Inventory]
Refuser = Callable[[str], list[Problem]]


@pytest.fixture
def loaded(tmp_path: Path) -> Loader:
    """Load one or several texts as inventories."""

    def run(*texts: str) -> Inventory:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"hosts{number or ''}.yaml"
            path.write_text(textwrap.dedent(text), encoding="utf-8")
            paths.append(path)
        return load(paths)

    return run


@pytest.fixture
def refused(loaded: Loader, tmp_path: Path) -> Refuser:
    """The problems of a bad inventory, with positions in ``hosts.yaml`` without its directory."""

    def run(text: str) -> list[Problem]:
        with pytest.raises(InputError) as caught:
            loaded(text)
        return [
            p._replace(where=p.where and p.where._replace(file=Path(p.where.file).name))
            for p in caught.value.problems
        ]

    return run
