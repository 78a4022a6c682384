"""What ``ccm status`` and a kept plan tell of a path (target)."""

import time
from typing import Any, Dict, Optional

from remote_runtime.context import Context
from remote_runtime.system.files import Status


def of_path(context: Context, path: str, status: Optional[Status]) -> Dict[str, Any]:
    """The attributes of what is there, in the words of the file type; {} where nothing is."""
    if status is None:
        return {}
    found: Dict[str, Any] = {
        "owner": context.accounts.user_name(status.uid),
        "group": context.accounts.group_name(status.gid),
        "mode": "%04o" % (status.mode & 0o7777),
        "mtime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.mtime)),
    }
    if status.kind == "file":
        found["size"] = status.size
        found["checksum"] = context.files.sha256(path, status)
    elif status.kind != "directory":
        found["kind"] = status.kind
    return found


def attributes_of(status: Optional[Status]) -> Any:
    """What a kept plan holds a path to; times and sizes change under what only has attributes."""
    return None if status is None else [status.kind, status.mode, status.uid, status.gid]
