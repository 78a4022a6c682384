"""Which files beside a manifest its plans can need, whatever host they are for (controller)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from orchestrator.planning.content.blob_references import PATH
from orchestrator.planning.site.manifests import Part

_MOST = 1 << 20  # bytes of a file that is searched for calls
# A call of a function that reads a file beside the manifest; what only looks like one counts.
_READING = re.compile(rb"\b(?:file|readFile|jet|template|include|import|extends)\b\s*[\"'(]")


def is_literal(parts: Iterable[Part], files: Iterable[Path]) -> bool:
    """Whether all that manifests read is spelled out: ``files`` is all that plans need, then.

    Trees and the site's own types read what no manifest names.
    """
    return all(map(_names_all, parts)) and not any(map(_may_read, files))


def _names_all(part: Part) -> bool:
    site = part.site
    if part.is_generated or (site.path.parent / "types").is_dir():
        return False
    return not any(
        declared.type.tree or PATH in declared.templated or "foreach" in declared.raw
        for declared in part.declared.declared
    )


def _may_read(path: Path) -> bool:
    """Whether there is a call in a file that reads another; in one that is not read, there may."""
    try:
        if path.stat().st_size > _MOST:
            return True
        return _READING.search(path.read_bytes()) is not None
    except OSError:
        return True
