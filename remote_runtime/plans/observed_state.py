"""The properties of a path for ``ccm status``, plan files and ``ccm drift`` (target)."""

import itertools
import os
import time
from typing import Any, Dict, Iterable, Optional

from remote_runtime.context import Context
from remote_runtime.system.paths import Status

_MAX_PATHS = 10000
_ASKING = 10.0  # seconds, for the package of a path


def of_path(
    context: Context, path: str, status: Optional[Status], hashed: bool = True
) -> Dict[str, Any]:
    """Return the attributes of an existing path, named as in the file type; {} for none.

    The content is included only if ``hashed``; the time for this grows with the size of the file.
    """
    if status is None:
        return {}
    properties: Dict[str, Any] = {
        "owner": context.accounts.user_name(status.uid),
        "group": context.accounts.group_name(status.gid),
        "mode": "%04o" % (status.mode & 0o7777),
        "mtime": _time(status.mtime),
    }
    if status.kind == "file":
        properties["size"] = status.size
        if hashed:
            properties["checksum"] = context.files.sha256(path, status)
    elif status.kind != "directory":
        properties["kind"] = status.kind
    return properties


def provenance_of(context: Context, path: str) -> Dict[str, str]:
    """Return a path's owner, last change and package; {} if it does not exist, or if its current
    state is only planned.
    """
    status = context.files.status(path)
    if status is None:
        return {}
    changed = status.identity[-1] // 10**9
    if changed <= 0:
        return {}
    traces = {"owner": context.accounts.user_name(status.uid), "changed": _time(changed)}
    package = _package_of(context, path)
    return dict(traces, package=package) if package else traces


def newest_provenance(context: Context, paths: Iterable[str]) -> Dict[str, str]:
    """The same of the one of several paths that was changed last, with its ``path``.

    A path that does not exist counts as changed when its directory was; who did that is not known.
    """
    newest = (-1, "", False)
    for path in itertools.islice(paths, _MAX_PATHS):
        status = context.files.status(path)
        there = status is not None
        if status is None:
            status = context.files.status(os.path.dirname(path))
        if status is not None:
            newest = max(newest, (status.identity[-1] // 10**9, path, there))
    changed, path, there = newest
    if not path or changed <= 0:
        return {}
    return dict(provenance_of(context, path) if there else {"changed": _time(changed)}, path=path)


def _package_of(context: Context, path: str) -> str:
    """The package that owns a path; "" if there is none."""
    commands = context.commands
    if commands.find("dpkg-query"):
        result = commands.run(["dpkg-query", "-S", path], timeout=_ASKING)
        for line in result.stdout.splitlines():
            packages, _, rest = line.partition(": ")
            if rest == path and not packages.startswith("diversion by "):
                return packages.partition(",")[0].partition(":")[0]
    elif commands.find("rpm"):
        result = commands.run(["rpm", "-qf", "--qf", "%{NAME}\\n", path], timeout=_ASKING)
        return result.stdout.partition("\n")[0] if result.code == 0 else ""
    return ""


def _time(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
