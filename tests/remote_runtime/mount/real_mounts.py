"""Mounts of a process that has its own (Linux, as root): ``python -m ...`` prints what it saw."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any
from unittest import mock

from remote_runtime.resources.mount.resource import Resource
from remote_runtime.system.kernel import mounts
from tests.remote_runtime.fakes import item, one
from tests.remote_runtime.host import own_mounts
from tests.remote_runtime.host.kinds import run


def seen(root: str) -> list[Any]:
    """What becomes of each step: preview and push with their changes, and a second push."""
    for name in ("etc", "from/deep", "other", "a", "b", "c"):
        os.makedirs(os.path.join(root, name))
    image = os.path.join(root, "image")
    subprocess.run(["truncate", "-s", "4M", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    steps: list[tuple[str, dict[str, Any]]] = [
        ("a", {"device": f"{root}/from", "options": "bind"}),
        ("a", {"device": f"{root}/other", "options": "bind,ro"}),
        ("a", {"device": f"{root}/other", "options": "bind,rw"}),
        ("b", {"device": "tmpfs", "type": "tmpfs", "options": "size=1m,noexec,mode=711"}),
        ("b", {"device": "tmpfs", "type": "tmpfs", "options": "size=2m,ro"}),
        ("b", {"ensure": "unmounted"}),
        ("b", {"device": "tmpfs"}),
        ("b", {"ensure": "absent"}),
    ]
    if _has_loop(image):
        steps += [
            ("c", {"device": image, "type": "ext4", "options": "noatime"}),
            ("c", {"device": image, "type": "ext4", "options": "ro,relatime"}),
            ("c", {"ensure": "absent"}),
        ]
    return [_step(os.path.join(root, name), properties) for name, properties in steps]


def _step(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    wanted = item("mount", name, properties=properties)
    preview, push, again = (one(run(Resource, wanted, noop=noop)) for noop in (True, False, False))
    return {
        "step": [name, properties],
        "errors": [preview["error"], push["error"], again["error"]],
        "changes": [preview["changes"], push["changes"]],
        "again": again["status"],
    }


def _has_loop(image: str) -> bool:
    """Whether this machine can mount a file."""
    done = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, check=False)
    if done.returncode == 0:
        subprocess.run(["losetup", "--detach", done.stdout.strip()], check=True)
    return done.returncode == 0


@contextlib.contextmanager
def private() -> Iterator[str]:
    """A directory of a process whose mounts nobody else sees."""
    if not own_mounts.own_namespace():
        raise OSError("the mounts of this process cannot be its own")
    with tempfile.TemporaryDirectory(prefix="ccm-test-") as top:
        root = os.path.realpath(top)
        own_mounts.mount("ccm-test", root, "tmpfs")
        try:
            yield root
        finally:
            own_mounts.unmount(root)


def main() -> None:
    """Print what was seen."""
    with (
        private() as root,
        mock.patch.object(mounts, "ETC", os.path.join(root, "etc")),
        mock.patch.object(mounts, "LOADED", os.path.join(root, "nowhere")),
    ):
        json.dump(seen(root), sys.stdout)


if __name__ == "__main__":
    main()
