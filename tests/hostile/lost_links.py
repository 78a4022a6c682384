"""Links of a push that are lost at any moment: what every report says then, and what is so.

A site is pushed over SSH to an sshd on loopback. At a random moment the line goes dead for good, or
for a while, or the controller is stopped (SIGSTOP) for longer than a host waits, or is killed at a
named point. Each resource leaves a trace on the host, which says what really happened. No form of
the report may contradict it, neither right after the loss nor after the next contact, whatever
command makes that; then nothing is unknown any more.
"""

import contextlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests import own_lock
from tests.hostile import claims
from tests.hostile.figures import Figures
from tests.hostile.quick_ccm import GRACE, SILENCE, quick_ccm
from tests.lab.proxy import DelayProxy
from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm
from tests.remote_runtime.controller import alive, within
from tests.remote_runtime.fakes import GROUP, OWNER

TITLE = "Lost links of a push"
_TURNS = 6
_LAST = _TURNS - 1
CONTACTS = ("push", "verify", "drift", "fetch", "run", "plan", "facts", "status", "preview")
FINDINGS = {"verify": (1,), "drift": (4,), "fetch": (1,), "status": (1,)}
"""Exit codes of those that say what they found on the host."""
_PATIENCE = 120  # seconds until whatever was left alone has noticed
_MOMENT = 2.4  # seconds that the commands of the site take


class Place:
    """A directory of this machine, the way to push to it, and what really happened there."""

    def __init__(self, scratch: Path, sshd: Sshd, proxy: DelayProxy) -> None:
        self.root = scratch / "root"
        self.proxy = proxy
        self.ccm = quick_ccm(scratch)
        known = scratch / "known_hosts"
        key = sshd.known_hosts.read_text().partition(" ")[2]
        known.write_text(f"[127.0.0.1]:{proxy.port} {key}")
        self.inventory = scratch / "hosts.yaml"
        self.inventory.write_text(
            f"hosts: {{h: {{address: 127.0.0.1, port: {proxy.port}, key_file: {sshd.user_key}, "
            f"known_hosts: {known}, user: {OWNER}}}}}\n"
        )
        self.site = self.ccm.site(site(self.root))

    def renew(self) -> None:
        """As before the first push."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        self.proxy.black_hole = False
        self.proxy.connections = 0
        self._before = set(self._runs())

    def _runs(self) -> list[Path]:
        runs = self.ccm.scratch / "state" / "ccm" / "runs"
        return sorted(runs.iterdir()) if runs.exists() else []

    def kept(self, name: str) -> str:
        """A file of the run that this push keeps; "" as long as it is not there."""
        for run in set(self._runs()) - self._before:
            with contextlib.suppress(OSError):
                return (run / name).read_text(encoding="utf-8")
        return ""

    def has_phase(self, phase: str) -> bool:
        return f'"{phase}"' in self.kept("phases.jsonl")

    def log(self) -> set[str]:
        """The commands that came to their end."""
        return words_of(self.root / "log")

    def happened(self) -> set[str]:
        """The resources that did what they had to, as the host shows it."""
        files = {f"file#{path}" for path in self.root.glob("f*")}
        return files | {f"exec#{word}" for word in self.log()}

    def is_quiet(self) -> bool:
        return not any(alive(int(pid)) for pid in words_of(self.root / "runtime"))

    def push(self) -> "subprocess.Popen[str]":
        return self.ccm.start("push", "-i", str(self.inventory), str(self.site))

    def contact(self, how: str) -> list[str]:
        """Speak with the host once more, by one of the commands that do; how that failed."""
        done = self.ccm.run(*contact(how, self.inventory, self.site, str(self.root / "f0")))
        over = done.code == 0 or (how in FINDINGS and done.code in FINDINGS[how])
        return [] if over else [f"{how} ended with {done.code}: {done.output[-500:]}"]

    def said(self, run_id: str, host: str = "h") -> Iterator[tuple[str, str, list[str]]]:
        """What each form of the report says, and whether it could be made."""
        yield from reports(self.ccm, run_id, host)

    def last_run(self) -> str:
        """The id of the run that was pushed last, "" where it keeps none."""
        new = sorted(path.name for path in set(self._runs()) - self._before)
        return new[0] if new else ""


POINTS: dict[str, Callable[[Place], bool]] = {
    "connecting": lambda place: place.proxy.connections > 0,
    "gathering": lambda place: place.has_phase("gathering"),
    "planning": lambda place: place.has_phase("planning"),
    "running": lambda place: place.has_phase("running"),
    "first file": lambda place: (place.root / "f0").exists(),
    "first command": lambda place: (place.root / "runtime").exists(),
    "file in the middle": lambda place: (place.root / f"f{_TURNS // 2}").exists(),
    "first event": lambda place: bool(place.kept("events.jsonl")),
    "last file": lambda place: (place.root / f"f{_LAST}").exists(),
    "last command": lambda place: f"x{_LAST}" in place.log(),
}
WAYS = ("cut", "restored", "stopped", *(f"killed at {point}" for point in POINTS))


def site(root: Path) -> str:
    """A manifest of files, and of commands that subscribe to them and log that they are done."""
    lines = ["ccm:", "  resources:"]
    own = f"owner: {OWNER}, group: '{GROUP}', mode: '0644'"
    for number in range(_TURNS):
        path = root / f"f{number}"
        lines.append(f"    - file: [{{{path}: {{content: 'x', {own}}}}}]")
        script = f"echo $PPID > runtime; sleep 0.3; echo x{number} >> log"
        lines.append(
            f"    - exec: [{{x{number}: {{command: '{script}', cwd: {root}, "
            f"provider: shell, subscribe: ['file#{path}']}}}}]"
        )
    return "\n".join(lines) + "\n"


def words_of(path: Path) -> set[str]:
    return set(path.read_text().split()) if path.exists() else set()


def contact(how: str, inventory: Path, site: Path, path: str) -> list[str]:
    """The command line that speaks with the hosts that way."""
    where = ["-i", str(inventory)]
    there = str(inventory.parent / "fetched")
    return {
        "push": ["push", *where, str(site)],
        "preview": ["push", "--noop", *where, str(site)],
        "plan": ["plan", *where, str(site)],
        "drift": ["drift", *where, str(site)],
        "verify": ["verify", *where, str(site), "--", "-p", "no:cacheprovider"],
        "facts": ["facts", *where],
        "status": ["status", *where, "file", path],
        "run": ["run", *where, "-l", "all", "--", "true"],
        "fetch": ["fetch", *where, "-l", "all", "-d", there, path],
    }[how]


def reports(ccm: Ccm, run_id: str, host: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each form of a run's report: its name, its text, and what went wrong in making it."""
    told = ccm.run("report", run_id, "--host", host)
    with tempfile.TemporaryDirectory(dir=ccm.scratch) as directory:
        files = {
            form: Path(directory) / form for form in claims.FORMS if form not in ("text", "json")
        }
        options = [word for form, path in files.items() for word in (f"--{form}", str(path))]
        made = ccm.run("report", run_id, "--json", *options)
        texts = {"text": told.stdout, "json": made.stdout}
        for form, path in files.items():
            texts[form] = path.read_text(encoding="utf-8") if path.exists() else ""
    for form, text in texts.items():
        done = told if form == "text" else made
        problem = f"ended with {done.code}: {done.stderr}"
        yield form, text, [problem] if done.code or not text else []


def check(
    said: Iterator[tuple[str, str, list[str]]], happened: set[str], host: str = "h", *, later: bool
) -> list[str]:
    """What does not hold of a report's forms; ``later``: the host was spoken with since."""
    found = []
    for form, text, problems in said:
        told = list(claims.claims(form, text, host)) if not problems else []
        wrong = problems + claims.contradictions(told, happened)
        if later:
            wrong += [f"{name} is not known" for name, claim in told if claim == claims.NOT_KNOWN]
            complete = form in ("text", "json", "html")
            missing = happened - {name for name, claim in told if claim in ("changed", "failed")}
            wrong += [f"{name} ran and is not told of" for name in missing if complete]
        found += [f"{form}: {text}" for text in wrong]
    return found


def lose(place: Place, way: str, chance: random.Random) -> tuple[str, list[str]]:
    """Push, and lose the link: the run, and what its report says wrongly."""
    push = place.push()
    point = POINTS.get(way.rpartition("killed at ")[2], POINTS["first command"])
    if not within(_PATIENCE, lambda: point(place) or push.poll() is not None):
        push.kill()
        return "", [f"the push did not begin: {push.communicate()}"]
    if way.startswith("killed"):
        push.kill()
    elif way == "stopped":
        time.sleep(chance.uniform(0, _MOMENT / 2))
        push.send_signal(signal.SIGSTOP)
        time.sleep(3 * SILENCE)
        push.send_signal(signal.SIGCONT)
    else:
        time.sleep(chance.uniform(0, _MOMENT))
        place.proxy.black_hole = True
    if way == "restored":
        time.sleep(chance.uniform(0.1, 6))
        place.proxy.black_hole = False
    try:
        out, _ = push.communicate(timeout=2 * _PATIENCE)
    except subprocess.TimeoutExpired:
        push.kill()
        push.communicate()
        return "", ["the controller does not end"]
    run_id = place.last_run()
    found = [] if within(_PATIENCE, place.is_quiet) else ["the runtime does not end"]
    happened = place.happened()
    found += [
        f"summary: {text}" for text in claims.contradictions(claims.of_text(out, "h"), happened)
    ]
    if run_id:
        found += check(place.said(run_id), happened, later=False)
    return run_id, found


def tell_later(place: Place, run_id: str, how: str) -> list[str]:
    """What does not hold of the run's report after the next contact."""
    happened = place.happened()
    place.proxy.black_hole = False
    if not happened:
        time.sleep(GRACE + 1)  # only then does it mean something that the host has no record
    return place.contact(how) + check(place.said(run_id), happened, later=True)


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
    """Lose one link after the other in the ways that are chosen, each at least once; the commands
    that make the next contact take turns."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    with place() as here:
        while not tried or time.monotonic() < deadline:
            for way in filter(choose, WAYS):
                here.renew()
                run_id, found = lose(here, way, chance)
                how = CONTACTS[tried["links"] % len(CONTACTS)]
                if run_id:
                    found += tell_later(here, run_id, how)
                broken += [f"{way}, then {how}: {text}" for text in found]
                tried["links"] += 1
                tried[way.partition(" at ")[0]] += 1
                if time.monotonic() >= deadline:
                    break
    return Figures(dict(tried), broken)
