"""Selects the runs that a page shows (controller)."""

from typing import Any, NamedTuple

from orchestrator.studio.index.reader import like
from orchestrator.studio.pages.page import Parameters

KINDS = ("all", "pushes", "previews", "drift", "others")
_OF_KIND = {
    "pushes": "is_push",
    "previews": "noop AND command != 'drift'",
    "drift": "command = 'drift'",
    "others": "NOT is_push AND NOT noop",
}


class RunFilter(NamedTuple):
    """A condition on ``runs`` with the values for its placeholders."""

    condition: str
    values: list[Any]


def run_filter(parameters: Parameters) -> RunFilter:
    """The filter for ``kind``, ``who``, ``commit`` and ``manifest``."""
    parts: list[str] = []
    values: list[Any] = []
    kind = parameters.choice("kind", KINDS)
    if kind in _OF_KIND:
        parts.append(_OF_KIND[kind])
    for name, column in (("who", "who"), ("manifest", "manifest")):
        if text := parameters.text(name):
            parts.append(f"{column} LIKE ? ESCAPE '\\'")
            values.append(like(text))
    if commit := parameters.text("commit").rstrip("+"):
        parts.append("revision LIKE ? ESCAPE '\\'")
        values.append(like(commit)[1:])
    return RunFilter(" AND ".join(parts) or "1", values)
