"""Writes types of a site."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from orchestrator.site_types import SiteTypes, types_below
from remote_runtime.errors import InputError, Problem

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "own-type"


def copy_cron(site: Path, name: str = "cronjob") -> Path:
    """The example's type below ``types/`` of a site."""
    home = site / "types" / name
    shutil.copytree(
        EXAMPLE / "types" / "cronjob", home, ignore=shutil.ignore_patterns("__pycache__")
    )
    return home


def append(path: Path, text: str) -> int:
    """Add lines to a module; the number of the first one."""
    before = path.read_text(encoding="utf-8")
    path.write_text(before + text, encoding="utf-8")
    return before.count("\n") + 1


def change_schema(home: Path, **members: Any) -> None:
    """Set members of the schema; None removes one."""
    path = home / "schema.json"
    schema = {**json.loads(path.read_text()), **members}
    path.write_text(json.dumps({k: v for k, v in schema.items() if v is not None}, indent=1))


def refused(site: Path) -> list[Problem]:
    """What is wrong with the types of a site."""
    with pytest.raises(InputError) as caught:
        types_below(site)
    return caught.value.problems


def accepted(site: Path) -> SiteTypes:
    return types_below(site)
