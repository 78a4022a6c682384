"""Random runs of types that manage paths, previewed and then pushed (Linux, as root).

``python -m tests.contract.random_runs --minutes 10`` draws runs for so long. Each is a tree and the
resources that manage it. What a preview tells as certain has to come true. A run that differs is
made as small as it gets, and told.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from remote_runtime.plan_item import Item
from tests.remote_runtime import fakes

NAMES = ("a", "b", "c")
STRANGER = 4711
MODES = ("0644", "0600", "0755", "0750", "4755", "0444")
_KINDS = ("file", "file", "directory", "absent", "link", "edit", "edit", "exec")
LINES = ("one", "two", "x = 1", "[s]", "# BEGIN managed by ccm", "# END managed by ccm", "y=2")
SEEN = ("changed", "failed", "skipped", "final_ensure", "status", "changes")
"""Members of events that a certain prediction has to get right."""


class Thing(NamedTuple):
    """What is there before a run: a file with this text, a link to it, or a directory."""

    path: str
    kind: str
    text: str = ""
    mode: int = 0o644
    uid: int = 0

    def make(self, root: str) -> None:
        """Create it, where there is room for it."""
        path = root + self.path
        if not os.path.isdir(os.path.dirname(path)) or os.path.lexists(path):
            return
        if self.kind == "link":
            os.symlink(self.text.replace("@", root), path)
        elif self.kind == "directory":
            os.mkdir(path)
        else:
            with open(path, "w") as out:
                out.write(self.text)
        os.chown(path, self.uid, -1, follow_symlinks=False)
        if self.kind != "link":
            os.chmod(path, self.mode | (0o111 if self.kind == "directory" else 0))


class Wanted(NamedTuple):
    """One resource; in texts ``@`` stands for the directory of the tree."""

    type: str
    name: str
    properties: dict[str, Any]
    subscribe: str = ""

    def item(self, index: int, root: str, store: fakes.BlobStore) -> Item:
        """The item of a plan."""
        given = _placed(self.properties, root)
        fields: dict[str, Any] = {"provider": "shell" if self.type == "exec" else ""}
        if self.type == "file" and "content" in given:
            given["content"] = _blob(given["content"], store)
        if self.type == "scaffold":
            files = [{"path": path, **_blob(text, store)} for path, text in given.pop("files")]
            given["source"] = {"$tree": "app", "files": files, "directories": []}
        if self.subscribe:
            fields["subscribe"] = (self.subscribe.replace("@", root),)
        name = self.name.replace("@", root)
        return fakes.item(self.type, name, index, properties=given, **fields)


class Case(NamedTuple):
    """A tree, and the resources of a run."""

    seed: int
    tree: tuple[Thing, ...]
    wanted: tuple[Wanted, ...]

    def told(self) -> str:
        """All of it, to be read."""
        things = [
            f"  {one.kind} {one.path} {one.text!r} {one.mode:04o} {one.uid}" for one in self.tree
        ]
        resources = [
            f"  {kind}#{name}: {properties} {subscribe}"
            for kind, name, properties, subscribe in self.wanted
        ]
        return "\n".join([f"seed {self.seed}", *things, *resources])


def _placed(value: Any, root: str) -> Any:
    if isinstance(value, dict):
        return {key: _placed(one, root) for key, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, root) for one in value]
    return value.replace("@", root) if isinstance(value, str) else value


def _blob(text: str, store: fakes.BlobStore) -> dict[str, Any]:
    import hashlib

    data = text.encode()
    store.held[hashlib.sha256(data).hexdigest()] = data
    return fakes.blob(data)


# -- drawing --------------------------------------------------------------------------------------


def drawn(seed: int) -> Case:
    """The case of a seed."""
    pick = random.Random(seed)
    paths = _paths()
    tree = []
    for path in paths:
        kind = pick.choice(("", "", "file", "directory", "directory", "link"))
        if kind:
            text = _target(pick) if kind == "link" else _text(pick)
            uid = pick.choice((0, 0, 0, STRANGER))
            tree.append(Thing(path, kind, text, int(pick.choice(MODES), 8), uid))
    wanted = [_wanted(pick, paths) for _ in range(pick.randrange(2, 7))]
    if pick.random() < 0.4:
        of = pick.choice(wanted)
        given = {"command": "true", "refresh_only": True}
        wanted.append(Wanted("exec", "refresh", given, f"{of.type}#{of.name}"))
    return Case(seed, tuple(tree), tuple(wanted))


def _paths() -> list[str]:
    found, last = [], [""]
    for _ in range(3):
        last = [f"{path}/{name}" for path in last for name in NAMES]
        found += last
    return found


def _text(pick: random.Random) -> str:
    return "".join(f"{pick.choice(LINES)}\n" for _ in range(pick.randrange(5)))


def _target(pick: random.Random) -> str:
    return pick.choice(("a", "b", "../a", "nowhere", "@/b", "@/c/a", "..", "@/a/b"))


def _wanted(pick: random.Random, paths: Sequence[str]) -> Wanted:
    path = "@" + pick.choice(paths if pick.random() < 0.4 else paths[:12])
    kind = pick.choice((*_KINDS, "scaffold"))
    wanted: Wanted = globals()[f"_{kind}"](pick, path)
    return wanted


def _attributes(pick: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"owner": fakes.OWNER, "group": fakes.GROUP, "mode": pick.choice(MODES)}
    return found


def _file(pick: random.Random, path: str) -> Wanted:
    given = _attributes(pick)
    if pick.random() < 0.8:
        given["content"] = _text(pick)
        if pick.random() < 0.2:
            given["replace"] = False
        if pick.random() < 0.2:
            given["backup"] = True
        if pick.random() < 0.1:
            given["validate"] = pick.choice(("test -s {}", "grep -q one {}"))
    return Wanted("file", path, given)


def _directory(pick: random.Random, path: str) -> Wanted:
    given = {"ensure": "directory", **_attributes(pick)}
    if pick.random() < 0.3:
        given["recurse"] = True
    if pick.random() < 0.3:
        given["purge"] = True
        if pick.random() < 0.5:
            given["keep"] = [pick.choice(("a", "b/*", "*/c", "**/a"))]
    return Wanted("file", path, given)


def _absent(pick: random.Random, path: str) -> Wanted:
    kind = pick.choice(("file", "file", "link"))
    given: dict[str, Any] = {"ensure": "absent"}
    if pick.random() < 0.5 and kind == "file":
        given["force"] = True
    return Wanted(kind, path, given)


def _link(pick: random.Random, path: str) -> Wanted:
    given: dict[str, Any] = {"target": _target(pick)}
    if pick.random() < 0.4:
        given["force"] = True
    return Wanted("link", path, given)


def _edit(pick: random.Random, path: str) -> Wanted:
    form = pick.choice(("line", "line", "block", "settings", "gone"))
    given: dict[str, Any] = {"create": True} if pick.random() < 0.4 else {}
    if form == "line":
        given["line"] = pick.choice(LINES)
        where = pick.choice(("", "match", "after", "before"))
        if where:
            given[where] = "^" + pick.choice(("one", "two", "x"))
    elif form == "block":
        given["block"] = _text(pick).replace("# ", "") or "z\n"
    elif form == "settings":
        given["settings"] = {"s": {pick.choice("xyz"): pick.choice((1, 2, None))}}
    else:
        given = {"ensure": "absent", "match": "^" + pick.choice(("one", "two", "x"))}
    return Wanted("edit", path, given)


def _scaffold(pick: random.Random, path: str) -> Wanted:
    names = pick.sample(("a", "b/a", "b/c", "c", "c/b/a"), pick.randrange(1, 4))
    kept = [name for name in names if not any(one.startswith(f"{name}/") for one in names)]
    given: dict[str, Any] = {"files": [[name, _text(pick)] for name in kept]}
    if pick.random() < 0.3:
        given["ensure"] = "absent"
    elif pick.random() < 0.3:
        given["purge"] = True
    return Wanted("scaffold", path, given)


def _exec(pick: random.Random, path: str) -> Wanted:
    other = "@" + pick.choice(_paths()[:12])
    command = pick.choice((f"touch {path}", f"rm -f {path}", f"cat {other} > {path}", "true"))
    given: dict[str, Any] = {"command": command}
    form = pick.choice(("", "creates", "onlyif", "unless"))
    if form == "creates":
        given = {"command": f"touch {path}", "creates": path}
    elif form:
        given[form] = pick.choice((f"test -e {other}", f"grep -q one {other}", f"test -d {other}"))
    return Wanted("exec", f"run {pick.randrange(1000)}", given)


# -- one case -------------------------------------------------------------------------------------


@contextlib.contextmanager
def built(case: Case) -> Iterator[str]:
    """The directory that the tree of a case is made in."""
    outside = os.path.realpath(tempfile.mkdtemp(prefix="ccm-test-"))
    os.chmod(outside, 0o755)
    root = os.path.join(outside, "1/2/3/4/t")  # so that links to .. stay in what is the test's own
    os.makedirs(root)
    try:
        for thing in case.tree:
            thing.make(root)
        yield root
    finally:
        shutil.rmtree(outside, ignore_errors=True)


def compared(case: Case, counts: Counter[str]) -> str:
    """What a preview told as certain and came otherwise; "" for nothing."""
    with built(case) as root:
        before = _state(root)
        previews = _events(case, root, noop=True)
        if _state(root) != before:
            return "the preview changed the tree"
        events = _events(case, root, noop=False)
    for wanted, preview, event in zip(case.wanted, previews, events):
        counts[preview.get("prediction") or "none"] += 1
        if wanted.type == "exec" and event["failed"]:
            break  # only running a command tells
        if preview.get("prediction") != "certain":
            continue
        told, done = _seen(preview), _seen(event)
        if told != done:
            names = [key for key in SEEN if told[key] != done[key]]
            lines = [f"{wanted.type}#{wanted.name}"]
            lines += [f"  {key}: {told[key]} / {done[key]}" for key in names]
            return "\n".join([*lines, f"  error: {preview['error']} / {event['error']}"])
    return ""


def _events(case: Case, root: str, noop: bool) -> list[dict[str, Any]]:
    store = fakes.BlobStore()
    items = [one.item(index, root, store) for index, one in enumerate(case.wanted)]
    return fakes.run_items(items, noop=noop, store=store)


def _seen(event: dict[str, Any]) -> dict[str, Any]:
    changes = sorted(str((one["what"], one["from"], one["to"])) for one in event["changes"])
    found = {key: event.get(key) for key in SEEN}
    if event["failed"]:  # what was done until then is not foretold
        return dict.fromkeys(SEEN, event["failed"])
    return dict(found, changes=changes, final_ensure="", status=event["status"] == "stable")


def _state(root: str) -> dict[str, Any]:
    found = {}
    for directory, directories, names in os.walk(root):
        for name in (*directories, *names):
            path = os.path.join(directory, name)
            status = os.lstat(path)
            text = os.readlink(path) if os.path.islink(path) else ""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path) as file:
                    text = file.read()
            found[path] = (status.st_mode, status.st_uid, status.st_gid, status.st_ino, text)
    return found


def shrunk(case: Case) -> Case:
    """The smallest case found that still differs: without resources and things."""
    found, smaller = case, True
    while smaller:
        smaller = False
        for one in _smaller(found):
            if compared(one, Counter()):
                found, smaller = one, True
                break
    return found


def _smaller(case: Case) -> Iterator[Case]:
    for number in reversed(range(len(case.wanted))):
        yield case._replace(wanted=case.wanted[:number] + case.wanted[number + 1 :])
    for number in reversed(range(len(case.tree))):
        yield case._replace(tree=case.tree[:number] + case.tree[number + 1 :])
    for number, thing in enumerate(case.tree):
        plain = thing if thing.kind == "link" else thing._replace(text="")
        for one in (thing._replace(uid=0), plain):
            if one != thing:
                yield case._replace(tree=(*case.tree[:number], one, *case.tree[number + 1 :]))
    for number, wanted in enumerate(case.wanted):
        for key in wanted.properties:
            if key in ("owner", "group", "mode", "command", "ensure", "files"):
                continue
            less = {one: value for one, value in wanted.properties.items() if one != key}
            one_less = wanted._replace(properties=less)
            yield case._replace(
                wanted=(*case.wanted[:number], one_less, *case.wanted[number + 1 :])
            )


def main() -> int:
    """Draw cases until the time is up; 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--maximum", type=int, default=5, help="differences after which it ends")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    until, seed, wrong = time.monotonic() + given.minutes * 60, given.seed, 0
    while time.monotonic() < until and wrong < given.maximum:
        case = drawn(seed)
        try:
            differs = compared(case, counts)
        except Exception as error:  # reported with its case
            differs = f"{type(error).__name__}: {error}"
        if differs:
            wrong += 1
            with contextlib.suppress(Exception):  # the original case is reported then
                case = shrunk(case)
                differs = compared(case, Counter()) or differs
            sys.stdout.write(f"{case.told()}\n{differs}\n\n")
        seed += 1
    sys.stdout.write(f"{wrong} differences in {seed - given.seed} runs, {dict(counts)}\n")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
