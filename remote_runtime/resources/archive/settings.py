"""What the properties of an archive resource come to (target)."""

from typing import Any, Dict, NamedTuple

from remote_runtime.downloads.request import Request, request_of
from remote_runtime.resources.archive import rules
from remote_runtime.text import duration

_DOWNLOAD_TIMEOUT = _EXTRACT_TIMEOUT = "1m"
_MAX_SIZE = "10GiB"
_MAX_MEMBERS = 200000


class Settings(NamedTuple):
    """Every property in the form that the type and its provider use; times in seconds."""

    kind: str
    owner: str
    group: str
    checksum: str
    extract_parent: str
    creates: str
    cleanup: bool
    request: Request
    extract_timeout: float
    max_size: int
    max_members: int


def settings(name: str, properties: Dict[str, Any]) -> Settings:
    """The settings of the archive ``name``; what is not given is "" or its default."""

    def text(key: str, default: str = "") -> str:
        value = properties.get(key)
        return default if value is None else str(value)

    return Settings(
        kind=rules.kind_of(name),
        owner=text("owner"),
        group=text("group"),
        checksum=text("checksum").lower(),
        extract_parent=text("extract_parent"),
        creates=text("creates"),
        cleanup=properties.get("cleanup") is True,
        request=request_of(
            properties,
            timeout=duration.parse(text("download_timeout", _DOWNLOAD_TIMEOUT)),
            setting="download_timeout",
            verified=bool(text("checksum")),
        ),
        extract_timeout=duration.parse(text("extract_timeout", _EXTRACT_TIMEOUT)),
        max_size=rules.parse_size(text("extract_max_size", _MAX_SIZE)),
        max_members=int(properties.get("extract_max_members") or _MAX_MEMBERS),
    )
