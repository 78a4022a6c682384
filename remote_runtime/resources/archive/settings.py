"""The settings of an archive resource, derived from its properties (target)."""

from typing import Any, Dict, NamedTuple

from remote_runtime.changes import HASHED
from remote_runtime.downloads.request import Request, request_of
from remote_runtime.host.download_ports import Extraction
from remote_runtime.resources.archive import rules
from remote_runtime.text import duration

_DOWNLOAD_TIMEOUT = _EXTRACT_TIMEOUT = "1m"
_MAX_SIZE = "10GiB"
_MAX_MEMBERS = 200000


class Settings(NamedTuple):
    """Every property in the form that the type uses; ``checksum`` in its canonical form."""

    owner: str
    group: str
    checksum: str
    cleanup: bool
    request: Request
    extraction: Extraction


def settings(name: str, properties: Dict[str, Any]) -> Settings:
    """Return the settings of the archive ``name``; omitted ones are "" or their default."""

    def text(key: str, default: str = "") -> str:
        value = properties.get(key)
        return default if value is None else str(value)

    return Settings(
        owner=text("owner"),
        group=text("group"),
        checksum=HASHED + text("checksum").lower() if text("checksum") else "",
        cleanup=properties.get("cleanup") is True,
        request=request_of(
            properties,
            timeout=duration.parse(text("download_timeout", _DOWNLOAD_TIMEOUT)),
            setting="download_timeout",
            verified=bool(text("checksum")),
        ),
        extraction=Extraction(
            kind=rules.kind_of(name),
            parent=text("extract_parent"),
            creates=text("creates"),
            timeout=duration.parse(text("extract_timeout", _EXTRACT_TIMEOUT)),
            max_size=rules.parse_size(text("extract_max_size", _MAX_SIZE)),
            max_members=int(properties.get("extract_max_members") or _MAX_MEMBERS),
        ),
    )
