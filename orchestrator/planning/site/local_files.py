"""Finds the local files that plans can need for any host (controller)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from orchestrator.planning.content.blob_references import PATH
from orchestrator.planning.site.manifests import RunManifest

_LIMIT = 1 << 20  # bytes of a file that is searched for calls
# A call of a function that reads a local file; false matches count, too.
_READING = re.compile(rb"\b(?:file|readFile|jet|template|include|import|extends)\b\s*[\"'(]")


def is_literal(parts: Iterable[RunManifest], files: Iterable[Path]) -> bool:
    """Whether all files that manifests read have literal names; ``files`` then has everything that
    plans need.

    Trees and custom types read files that no manifest names.
    """
    return all(map(_names_all, parts)) and not any(map(_may_read, files))


def _names_all(part: RunManifest) -> bool:
    site = part.site
    if part.is_generated or (site.path.parent / "types").is_dir():
        return False
    return not any(
        declared.type.tree or PATH in declared.templated or "foreach" in declared.raw
        for declared in part.declared.declared
    )


def _may_read(path: Path) -> bool:
    """Whether a file has a call that reads another one; true for a file that was not read."""
    try:
        if path.stat().st_size > _LIMIT:
            return True
        return _READING.search(path.read_bytes()) is not None
    except OSError:
        return True
