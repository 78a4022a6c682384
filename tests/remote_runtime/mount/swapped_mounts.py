"""Mounts below a directory of a user, who puts links there as the program starts (Linux, as root).

``python -m ...`` prints what was mounted, where.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from unittest import mock

from remote_runtime.system.kernel import mounts
from tests.remote_runtime.fakes import item, one, run_items
from tests.remote_runtime.mount.real_mounts import private

_USER = 61001
_STARTS = "remote_runtime/system/process/commands.py"
WHERE = ("point", "above")
Change = Callable[[], None]


def seen(root: str) -> dict[str, Any]:
    """What is below the directory of the user and that of root after each step."""
    return {
        f"{what} {where}": _step(f"{root}/{what}-{where}", what, where)
        for what in ("mount", "bind", "source", "remount", "umount")
        for where in WHERE
    }


def _step(root: str, what: str, where: str) -> list[Any]:
    """The status, and what is mounted below ``home`` and ``victim``."""
    for name in ("victim/data", "home/app/data", "home/from/data", "safe", "etc"):
        os.makedirs(f"{root}/{name}")
    for name in ("home", "home/app", "home/app/data", "home/from", "home/from/data"):
        os.chown(f"{root}/{name}", _USER, _USER)
    point, properties = f"{root}/home/app/data", {"device": "tmpfs", "type": "tmpfs"}
    if what == "bind":
        properties = {"device": f"{root}/safe", "options": "bind"}
    elif what == "source":
        point = f"{root}/safe"
        properties = {"device": f"{root}/home/from/data", "options": "bind"}
    fstab = mock.patch.object(mounts, "ETC", f"{root}/etc")
    with fstab:
        if what in ("remount", "umount"):
            subprocess.run(["mount", "-t", "tmpfs", "theirs", f"{root}/victim/data"], check=True)
            assert one(_push(point, properties))["error"] == []
            properties = {"ensure": "unmounted"} if what == "umount" else properties
            properties |= {"options": "ro"} if what == "remount" else {}
        folder = "from" if what == "source" else "app"
        with _as_it_starts(lambda: _swap(f"{root}/home/{folder}", where)):
            event = one(_push(point, properties))
    below = [one for one in mounts._mounted() if one.point.startswith(f"{root}/")]
    return [event["status"], [(one.point[len(root) :], *_told(one, root)) for one in below]]


def _told(found: mounts.MountEntry, root: str) -> tuple[str, bool]:
    """The directory that is seen, or the name of the file system, and whether it is read-only."""
    seen_at = found.root.partition(f"/{os.path.basename(root)}/")[2]
    return seen_at or found.source, "ro" in found.options


def _push(point: str, properties: dict[str, Any]) -> list[dict[str, Any]]:
    return run_items([item("mount", point, properties=properties)])


def _swap(folder: str, where: str) -> None:
    """What the user does: the directory or the one above becomes a link."""
    name = f"{folder}/data" if where == "point" else folder
    try:
        os.rename(name, f"{name}.away")
    except OSError:
        return  # something is mounted there
    os.symlink("../../victim/data" if where == "point" else "../victim", name)
    os.chown(name, _USER, _USER, follow_symlinks=False)


@contextmanager
def _as_it_starts(change: Change) -> Iterator[None]:
    """Call ``change`` once, before mount or umount is started."""
    left = [change]

    def call(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        starts = code.co_name == "_start" and code.co_filename.endswith(_STARTS)
        if starts and left and frame.f_locals["argv"][0] in ("mount", "umount"):
            left.pop()()

    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(None)
    assert not left, "nothing was started"


if __name__ == "__main__":
    with private() as top:
        os.chmod(top, 0o755)
        print(json.dumps(seen(top)))
