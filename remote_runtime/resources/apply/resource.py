"""The apply type: runs the resources of a child manifest in its place (target; ``check`` on both
sides).

The controller reads the child manifest, and its resources are this resource's children in the plan.
The engine runs them; apply itself then has nothing left to do.
"""

import re
from typing import Any, List, Mapping, Optional, Tuple

from remote_runtime.base import ActionStateType, Properties
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import HostReader

_ARCHIVE = r"https?://[^\s?#]+#(?:[^\s#]*&)?sha256=[0-9a-fA-F]{64}(?:&|\Z)"


class Resource(ActionStateType):
    """Applies one child manifest."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. The path of the child must be below the parent's directory."""
        key = "manifest" if "manifest" in properties else "name"
        return [(key, message) for message in _complaints(str(properties.get(key, name)))]

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. The state of an apply is that of its children."""
        raise ResourceError("an apply has no state to inspect; check its resources")

    def due(self, host: HostReader) -> bool:
        """See the base class. Never due: all changes are those of its children."""
        return False


def _complaints(name: str) -> List[str]:
    if "://" in name:
        if re.match(_ARCHIVE, name):
            return []
        return [
            "the URL of a child manifest must have a digest: https://HOST/NAME.tar.gz#sha256=HEX"
        ]
    if name.startswith("/"):
        return ["a child manifest must be relative to its parent's directory, not absolute"]
    depth = 0
    for part in name.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return [
                "a child manifest must be inside its parent's directory; .. must not lead out of it"
            ]
    return []
