"""Links of a push that are lost at any moment: what the report says then, and what is so.

A site is pushed over SSH to an sshd on loopback. At a random moment the line is cut for good, cut
and restored, or the controller is killed. Each resource leaves a trace on the host, which says what
really happened. No report may contradict that log, neither the one right after the loss nor
the one after the next contact; after that nothing is unknown any more.
"""

import contextlib
import json
import random
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests import own_lock
from tests.hostile.figures import Figures
from tests.lab.proxy import DelayProxy
from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm
from tests.remote_runtime.controller import alive, within
from tests.remote_runtime.fakes import GROUP, OWNER

TITLE = "Lost links of a push"
WAYS = ("cut", "restored", "killed")
CONTACTS = ("push", "preview", "facts", "status", "run")
_TURNS = 6
_PATIENCE = 60  # seconds until whatever was left alone has noticed


class Place:
    """A folder of this machine, the way to push to it, and what really happened there."""

    def __init__(self, scratch: Path, sshd: Sshd, proxy: DelayProxy) -> None:
        self.root = scratch / "root"
        self.proxy = proxy
        self.ccm = Ccm(scratch)
        known = scratch / "known_hosts"
        key = sshd.known_hosts.read_text().partition(" ")[2]
        known.write_text(f"[127.0.0.1]:{proxy.port} {key}")
        self.inventory = scratch / "hosts.yaml"
        self.inventory.write_text(
            f"hosts: {{h: {{address: 127.0.0.1, port: {proxy.port}, key_file: {sshd.user_key}, "
            f"known_hosts: {known}, user: {OWNER}}}}}\n"
        )
        self.site = self.ccm.site(self._site())

    def _site(self) -> str:
        lines = ["ccm:", "  resources:"]
        own = f"owner: {OWNER}, group: '{GROUP}', mode: '0644'"
        for number in range(_TURNS):
            path = self.root / f"f{number}"
            lines.append(f"    - file: [{{{path}: {{content: 'x', {own}}}}}]")
            script = f"echo $PPID > runtime; sleep 0.3; echo x{number} >> log"
            lines.append(
                f"    - exec: [{{x{number}: {{command: '{script}', cwd: {self.root}, "
                f"provider: shell, subscribe: ['file#{path}']}}}}]"
            )
        return "\n".join(lines) + "\n"

    def renew(self) -> None:
        """As before the first push."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        self.proxy.black_hole = False

    def happened(self) -> set[str]:
        """The resources that did what they had to, as the host shows it."""
        log = self.root / "log"
        done = {f"exec#{word}" for word in log.read_text().split()} if log.exists() else set()
        return done | {f"file#{path}" for path in self.root.glob("f*")}

    def is_quiet(self) -> bool:
        path = self.root / "runtime"
        return (
            not any(alive(int(pid)) for pid in path.read_text().split()) if path.exists() else True
        )

    def push(self) -> "subprocess.Popen[str]":
        return self.ccm.start("push", "-i", str(self.inventory), str(self.site))

    def contact(self, how: str) -> None:
        """Speak with the host once more, by one of the commands that do."""
        where = ["-i", str(self.inventory)]
        words = {
            "push": ["push", *where, str(self.site)],
            "preview": ["push", "--noop", *where, str(self.site)],
            "facts": ["facts", *where],
            "status": ["status", *where, "file", str(self.root / "f0")],
            "run": ["run", *where, "-l", "all", "--", "true"],
        }[how]
        done = self.ccm.run(*words)
        assert done.code == 0, done.output

    def report(self, run_id: str) -> dict[str, Any]:
        done = self.ccm.run("report", run_id, "--json")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def last_run(self) -> str:
        return max(path.name for path in (self.ccm.scratch / "state" / "ccm" / "runs").iterdir())


def contradictions(document: dict[str, Any], happened: set[str], quiet: bool) -> list[str]:
    """What a report says that the host does not; ``quiet``: nothing goes on there any more."""
    found = []
    told = document["hosts"]["h"]
    for event in document["events"]:
        name = f"{event['type']}#{event['name']}"
        if event["status"] == "changed" and name not in happened:
            found.append(f"{name} is said to have changed")
        if event["status"] == "stable":
            found.append(f"{name} is said to have been as desired")
    known = [f"{event['type']}#{event['name']}" for event in document["events"]]
    found += [f"{name} is told twice" for name, count in Counter(known).items() if count > 1]
    if quiet:
        for name in told.get("did_not_run", ()):
            if name in happened:
                found.append(f"{name} is said to have not run")
    return found


def lose(place: Place, way: str, chance: random.Random) -> tuple[str, list[str]]:
    """Push, and lose the link at a moment of chance: the run, and what its report says wrongly."""
    push = place.push()
    moment = chance.uniform(0, 2.4) if chance.random() < 0.8 else None
    if not within(_PATIENCE, lambda: (place.root / "runtime").exists() or push.poll() is not None):
        push.kill()
        return "", [f"the push did not begin: {push.communicate()}"]
    if moment is not None:
        time.sleep(moment)
    if way == "killed":
        push.kill()
    else:
        place.proxy.black_hole = True
    if way == "restored":
        time.sleep(chance.uniform(0.5, 8))
        place.proxy.black_hole = False
    try:
        push.communicate(timeout=2 * _PATIENCE)
    except subprocess.TimeoutExpired:
        push.kill()
        push.communicate()
        return "", ["the controller does not end"]
    run_id = place.last_run()
    quiet = within(_PATIENCE, place.is_quiet)
    found = [] if quiet else ["the runtime does not end"]
    document = place.report(run_id)
    return run_id, found + contradictions(document, place.happened(), quiet=True)


def tell_later(place: Place, run_id: str, how: str) -> list[str]:
    """What does not hold of the run's report after the next contact."""
    happened = place.happened()
    place.proxy.black_hole = False
    place.contact(how)
    document = place.report(run_id)
    told = document["hosts"]["h"]
    found = [f"{name} is not known after {how}" for name in told.get("not_known", ())]
    found += contradictions(document, happened, quiet=True)
    changed = {
        f"{event['type']}#{event['name']}"
        for event in document["events"]
        if event["status"] in ("changed", "failed")
    }
    return found + [f"{name} ran and is not told of" for name in happened - changed]


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """A place to push to."""
    own_lock.take()
    with tempfile.TemporaryDirectory(prefix="lost-") as top:
        sshd = Sshd(Path(top) / "sshd")
        try:
            with DelayProxy("127.0.0.1", sshd.port) as proxy:
                yield Place(Path(top), sshd, proxy)
        finally:
            sshd.stop()


def run(seconds: float, seed: int, choose: Callable[[str], bool] = lambda way: True) -> Figures:
    """Lose one link after the other in the ways that are chosen, each at least once."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    with place() as here:
        while not tried or time.monotonic() < deadline:
            for way in filter(choose, WAYS):
                here.renew()
                run_id, found = lose(here, way, chance)
                how = chance.choice(CONTACTS)
                if run_id:
                    found += tell_later(here, run_id, how)
                broken += [f"{way}, then {how}: {text}" for text in found]
                tried["links"] += 1
                tried[f"of {way}"] += 1
                if time.monotonic() >= deadline:
                    break
    return Figures(dict(tried), broken)
