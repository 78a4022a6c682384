"""Parts of paths; no file is accessed (controller)."""

import posixpath
from functools import partial
from typing import Any

from orchestrator.language import value_types
from orchestrator.language.filters.registry import documented

_documented = partial(documented, "Paths")


@_documented("basename()", example="'/etc/nginx/site.conf' | basename", result="'site.conf'")
def basename(path: Any) -> str:
    """The last part."""
    value_types.texts("basename", path)
    return str(posixpath.basename(path))


@_documented("dirname()", example="'/etc/nginx/site.conf' | dirname", result="'/etc/nginx'")
def dirname(path: Any) -> str:
    """The path without its last part."""
    value_types.texts("dirname", path)
    return str(posixpath.dirname(path))


@_documented("splitext()", example="'/etc/site.conf' | splitext", result="['/etc/site', '.conf']")
def splitext(path: Any) -> list[str]:
    """The path without its extension, and the extension."""
    value_types.texts("splitext", path)
    return list(posixpath.splitext(path))
