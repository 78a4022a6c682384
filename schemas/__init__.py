"""JSON Schemas of what users write and what the two sides exchange (controller only).

Envelopes are files here; the schema of a resource type is in the type's own folder,
``remote_runtime/resources/TYPE/schema.json``.
"""

import json
import pkgutil
from typing import Any


def load(name: str) -> dict[str, Any]:
    """Return the schema ``NAME.json`` of this package; ``FileNotFoundError`` when there is none."""
    # importlib.resources would do, and takes longer to load than everything else here
    data = pkgutil.get_data(__name__, name + ".json")
    if data is None:
        raise FileNotFoundError(f"{name}.json")
    schema: dict[str, Any] = json.loads(data)
    return schema
