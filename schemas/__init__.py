"""JSON Schemas of documents that users write and messages that the two sides exchange (controller
only).

Envelopes are files in this package; the schema of a resource type is in the type's own directory,
``remote_runtime/resources/TYPE/schema.json``.
"""

import os
from typing import Any


def load(name: str) -> dict[str, Any]:
    """Return the schema ``NAME.json`` of this package; ``FileNotFoundError`` if there is none."""
    import json

    # importlib.resources would do, and takes longer to load than everything else here
    with open(os.path.join(os.path.dirname(__file__), name + ".json"), "rb") as file:
        schema: dict[str, Any] = json.load(file)
    if name == "plan":
        schema["properties"].update(_run_options())
    return schema


def _run_options() -> dict[str, Any]:
    """The members of a plan that are options of the run, from their single list."""
    from remote_runtime.options import RunOptions

    kinds = {bool: {"type": "boolean"}, float: {"type": "number", "minimum": 0}}
    return {name: kinds[type(value)] for name, value in RunOptions._field_defaults.items()}
