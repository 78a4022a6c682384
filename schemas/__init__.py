"""JSON Schemas of what users write and what the two sides exchange (controller only).

Envelopes are files here; the schema of a resource type is in the type's own folder,
``remote_runtime/resources/TYPE/schema.json``.
"""

import json
from importlib import resources
from typing import Any


def load(name: str) -> dict[str, Any]:
    """Return the schema ``NAME.json`` of this package; ``FileNotFoundError`` when there is none."""
    text = resources.files(__name__).joinpath(name + ".json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
