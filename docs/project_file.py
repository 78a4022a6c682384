"""The tables of the page on the project's file, from its schema and the list of settings."""

from __future__ import annotations

import schemas
from orchestrator.project.settings import SETTINGS
from schemas import tables


def parts() -> dict[str, str]:
    """The keys of the file, and the variables of the environment."""
    schema = schemas.load("project")
    rows = [[f"`{one.variable}`", one.meaning] for one in SETTINGS]
    return {
        "keys": tables.properties(schema),
        "rollout": tables.properties(schema["$defs"]["rollout"]),
        "variables": tables.table(["Variable", "Description"], rows),
    }
