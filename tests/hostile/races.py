"""Links and renames that race with a push as root below a user's directory.

Half of the time a user's swap comes between two chosen lines of the runtime, one after the other;
the other half a process of that user swaps at random. Neither may reach what is root's.
"""

import hashlib
import io
import random
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from remote_runtime.plan_item import Item
from tests.hostile.bob import UID, WAYS
from tests.hostile.figures import Figures
from tests.hostile.swapping import Attacker, World
from tests.remote_runtime.fakes import BlobStore, blob, item, run_items

TITLE = "Link and rename races"
_OURS = f"{Path(__file__).parents[2] / 'remote_runtime'}/"
_CONTENT = b"of the manifest\n"


class _Actions:
    """What a push does below Bob's directory: every way to write, change, read and remove."""

    def __init__(self, world: World) -> None:
        app = f"{world.home}/app"
        self._archive = str(world.top / "a.tar")
        self._make_archive()
        bob: dict[str, Any] = {"owner": str(UID), "group": str(UID)}

        def file(name: str, index: int = 0, **properties: Any) -> Item:
            return item("file", f"{app}/{name}", index, properties=properties)

        ours = {"content": "x", "mode": "0644", **bob}
        folder = {"ensure": "directory", "mode": "0755", **bob}

        def scaffold(**properties: Any) -> Item:
            files = [{"path": p, **blob(_CONTENT)} for p in ("conf", "data/inner/file", "new/file")]
            tree = {"$tree": "x", "files": files, "directories": []}
            return item("scaffold", app, properties={"source": tree, **properties})

        actions: dict[str, Item | list[Item]] = {
            "content": file("conf", **ours),
            "content in a folder": file("data/inner/file", **ours),
            "contents in a row": [
                file(name, index, **ours)
                for index, name in enumerate(("conf", "data/inner/file", "extra/file", "data/more"))
            ],
            "attributes": file("conf", mode="0666", **bob),
            "directory": file("data", ensure="directory", mode="0777", **bob),
            "new directory": file("new/deep", ensure="directory", mode="0777", **bob),
            "removal": file("conf", ensure="absent"),
            "removal of a tree": file("data", ensure="absent", force=True),
            "source": item(
                "file",
                str(world.top / "copy"),
                properties={
                    "source": f"{app}/conf", "owner": "root", "group": "root", "mode": "0644"
                },
            ),
            "archive": self._extraction(app),
            "archive into a new folder": self._extraction(f"{app}/new"),
            "scaffold": scaffold(purge=True),
            "absent scaffold": scaffold(ensure="absent"),
            "line": item("edit", f"{app}/conf", properties={"line": "x=1"}),
            "line with a backup": item(
                "edit", f"{app}/conf", properties={"line": "x=1", "backup": True}
            ),
            "link": item("link", f"{app}/data/link", properties={"target": "/etc/hostname"}),
            "attributes of a tree": file("data", recurse=True, file_mode="0644", **folder),
            "purge": file("data", recurse=True, purge=True, **folder),
            "content with a backup": file("conf", backup=True, **ours),
            "content that is validated": file("conf", validate="test -f {}", **ours),
        }  # fmt: skip
        self.all = {name: one if isinstance(one, list) else [one] for name, one in actions.items()}

    def _make_archive(self) -> None:
        with tarfile.open(self._archive, "w") as made:
            for name in ("conf", "data/inner/file", "made/file"):
                member = tarfile.TarInfo(name)
                member.size = len(_CONTENT)
                made.addfile(member, io.BytesIO(_CONTENT))

    def _extraction(self, parent: str) -> Item:
        properties = {
            "url": "http://127.0.0.1/a.tar",
            "checksum": hashlib.sha256(Path(self._archive).read_bytes()).hexdigest(),
            "owner": "root",
            "group": "root",
            "extract_parent": parent,
            "creates": f"{parent}/made/file",
        }
        return item("archive", self._archive, properties=properties)


class _Campaign:
    """Counts what was tried, and keeps what did not hold."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._actions = _Actions(world)
        self._random = random.Random(seed)
        self._counts: Counter[str] = Counter()
        self._broken: list[str] = []

    def figures(self, swaps: int) -> Figures:
        return Figures({**self._counts, "swaps at random": swaps}, self._broken)

    def in_step(self, until: float) -> None:
        """Swap once in each run, and back at a later line or never."""
        lengths: dict[str, int] = {}
        while time.monotonic() < until:
            name, action = self._chosen()
            if name not in lengths:
                lengths[name] = self._length(action)
            first = self._random.randrange(lengths[name])
            last = first + self._random.choice((1, 5, 50, lengths[name]))
            way = self._random.randrange(WAYS)

            def at(line: int, first: int = first, last: int = last, way: int = way) -> None:
                if line == first:
                    self._world.swap(way)
                elif line == last:
                    self._world.restore(way)

            self._world.reset()
            with _stepping(at):
                told = self._run(action)
            self._counts["pushes with a swap at a chosen line"] += 1
            self._judge(f"{name}: way {way} at lines {first} to {last}", told)

    def at_random(self, until: float, attacker: Attacker) -> None:
        """Run under an attacker who knows nothing of the lines."""
        while time.monotonic() < until:
            name, action = self._chosen()
            self._world.reset()
            attacker.go()
            told = self._run(action)
            attacker.stop()
            self._counts["pushes under swaps at random"] += 1
            self._judge(f"{name}: at random", told)

    def _chosen(self) -> tuple[str, list[Item]]:
        return self._random.choice(sorted(self._actions.all.items()))

    def _length(self, action: list[Item]) -> int:
        lines = [0]

        def count(line: int) -> None:
            lines[0] = line

        self._world.reset()
        with _stepping(count):
            self._run(action)
        return lines[0] + 1

    def _run(self, action: list[Item]) -> str:
        events = run_items(action, store=BlobStore(_CONTENT), diff=True, diff_private=True)
        self._counts["refused" if any(event["failed"] for event in events) else "done"] += 1
        return str(events)

    def _judge(self, what: str, told: str) -> None:
        harm = self._world.harm(told)
        if harm:
            self._broken.append(f"{what}: {harm}")


@contextmanager
def _stepping(at: Callable[[int], None]) -> Iterator[None]:
    """Call ``at`` with the number of each line of the runtime before it runs."""
    count = [0]

    def line(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            sys.settrace(None)
            at(count[0])
            sys.settrace(call)
            count[0] += 1
        return line

    def call(frame: FrameType, event: str, _: object) -> Any:
        return line if frame.f_code.co_filename.startswith(_OURS) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)


def run(seconds: float, seed: int) -> Figures:
    """As root only: half of the time in step, half at random."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ccm-races-") as top:
        world = World(Path(top))
        campaign = _Campaign(world, seed)
        campaign.in_step(began + seconds / 2)
        with Attacker(world.home, seed) as attacker:
            campaign.at_random(began + seconds, attacker)
            return campaign.figures(attacker.swaps)
