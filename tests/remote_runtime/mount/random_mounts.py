"""Random mounts, previewed and then pushed, in a process with its own mounts (Linux, as root).

``python -m tests.remote_runtime.mount.random_mounts SEED COUNT`` prints each certain prediction
that the push does not meet.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import sys
from collections import Counter
from typing import Any
from unittest import mock

from remote_runtime.plan_item import Item
from remote_runtime.system.kernel import mounts
from tests.remote_runtime.fakes import item, run_items
from tests.remote_runtime.host import own_mounts
from tests.remote_runtime.mount.real_mounts import private

_POINTS = ("a", "b", "a/x", "c")
_SOURCES = ("from", "other", "a", "b")
_ENSURE = ("mounted", "mounted", "mounted", "mounted", "present", "unmounted", "absent")
_BOUND = ("bind", "bind", "bind,ro", "bind,nodev")
_MEMORY = ("size=1m", "size=2m,ro", "size=1m,mode=700,nodev", "defaults")
_OWNED = {"owner": "root", "group": "root"}

Drawn = list[tuple[str, str, dict[str, Any]]]


def _mount(pick: random.Random, root: str) -> tuple[str, str, dict[str, Any]]:
    properties: dict[str, Any] = {"ensure": pick.choice(_ENSURE)}
    bare = properties["ensure"] == "unmounted" and pick.random() < 0.6
    if properties["ensure"] != "absent" and not bare:
        if pick.random() < 0.5:
            device = f"{root}/{pick.choice(_SOURCES)}"
            properties.update(device=device, options=pick.choice(_BOUND))
        else:
            properties.update(device="tmpfs", type="tmpfs", options=pick.choice(_MEMORY))
    return "mount", f"{root}/{pick.choice(_POINTS)}", properties


def _file(pick: random.Random, root: str) -> tuple[str, str, dict[str, Any]]:
    name, kind = f"{root}/{pick.choice((*_POINTS, *_SOURCES, 'from/deep'))}", pick.random()
    if kind < 0.6:
        return "file", f"{name}/{pick.choice('fg')}", {"mode": "0644", **_OWNED}
    if kind < 0.8:
        return "file", f"{name}/{pick.choice('fgx')}", {"ensure": "absent", "force": True}
    mode = pick.choice(("0755", "0700"))
    return "file", name, {"ensure": "directory", "mode": mode, **_OWNED}


def _drawn(pick: random.Random, root: str) -> Drawn:
    """Different resources, most of them mounts."""
    makers = [_mount if pick.random() < 0.6 else _file for _ in range(pick.randint(2, 6))]
    found = [make(pick, root) for make in makers]
    return list({(kind, name): (kind, name, given) for kind, name, given in found}.values())


def _items(drawn: Drawn) -> list[Item]:
    return [item(*one[:2], at, properties=dict(one[2])) for at, one in enumerate(drawn)]


def _shown(event: dict[str, Any]) -> Any:
    """What a preview has to know, if it is certain."""
    changes = [(change["what"], change["from"], change["to"]) for change in event["changes"]]
    told = event["error"] if event["failed"] else changes
    return event["changed"], event["failed"], told


def differing(seed: int, top: str, counts: Counter[str]) -> str:
    """The first certain prediction of a case that is wrong, "" for none."""
    pick, root = random.Random(seed), f"{top}/{seed}"
    for name in ("etc", "from/deep", "other", "a/x", "b"):
        os.makedirs(os.path.join(root, name))
    for name in ("from/f", "other/g", "a/f"):
        with open(os.path.join(root, name), "w"):
            pass
    with (
        mock.patch.object(mounts, "ETC", os.path.join(root, "etc")),
        mock.patch.object(mounts, "LOADED", os.path.join(root, "nowhere")),
    ):
        if pick.random() < 0.5:
            run_items(_items(_drawn(pick, root)))
        drawn = _drawn(pick, root)
        previews = run_items(_items(drawn), noop=True)
        gc.collect()  # what another run has opened would keep a mount busy
        events = run_items(_items(drawn))
        gc.collect()
    for preview, event in zip(previews, events):
        counts[f"{preview['type']} {preview.get('prediction') or 'failed'}"] += 1
        sure = preview["failed"] or preview["prediction"] == "certain"
        if sure and _shown(preview) != _shown(event):
            told = f"seed {seed}: {drawn}\n{preview['name']}\n{_shown(preview)}\n{_shown(event)}"
            return told.replace(root, "@")
    return ""


def _clear(root: str) -> None:
    with open("/proc/self/mountinfo") as table:
        points = [line.split()[4] for line in table]
    for point in reversed([point for point in points if point.startswith(root)]):
        with contextlib.suppress(OSError):
            own_mounts.unmount(point)


def main() -> int:
    """Exit with 1 where something differs."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    counts: Counter[str] = Counter()
    found = []
    with private() as top:
        for seed in range(first, first + count):
            found.append(differing(seed, top, counts))
            _clear(f"{top}/{seed}/")
    for one in filter(None, found):
        print(one)
    print(", ".join(f"{number} {name}" for name, number in sorted(counts.items())))
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
