"""Random changes of sysctl, crontabs and sources of packages, on the overlay and on the machine.

This file runs on a booted host, as root: ``python -m tests.remote_runtime.host.random_settings
--cases 20 --seed 1``. A case is what the host has and the steps that are taken then: calls of the
ports to the kernel, crontabs and package lists, and files of each that are written and removed. The
two must agree on how each step ends and on what can be read then, or the overlay must have said
that it does not know.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.host_reader import reader
from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.resources.repository import conflicts
from remote_runtime.system.kernel.sysctl_files import number_of
from tests.remote_runtime.fakes import close, context, item

UNKNOWN = "unknown"
STEPS = 8
SPOOL = "/var/spool/cron/crontabs"
USERS = ("root", "nobody", "daemon")
KEYS = ("ip_forward", "tcp_syncookies", "tcp_fin_timeout", "ip_local_port_range")
PARAMETERS = tuple(f"net/ipv4/{key}" for key in KEYS)
VALUES = ("0", "1", "1", "61", "0x1", "32768\t60999", "x", "")
SYSCTLS = (
    "/etc/sysctl.d/50-rnd-a.conf",
    "/etc/sysctl.d/60-rnd-b.conf",
    "/run/sysctl.d/50-rnd-a.conf",
)
APT = ("rnd-a.sources", "rnd-b.sources", "rnd-c.list")
DNF = ("rnd-a.repo", "rnd-b.repo")
KEYRINGS = ("/etc/apt/keyrings/rnd-a.asc", "/etc/pki/rpm-gpg/RPM-GPG-KEY-rnd-a")
SOURCES = (
    *(f"/etc/apt/sources.list.d/{name}" for name in APT),
    *(f"/etc/yum.repos.d/{name}" for name in DNF),
)
FILES = (*SYSCTLS, *SOURCES, *KEYRINGS, *(f"{SPOOL}/{user}" for user in USERS))
DIRECTORIES = ("/run/sysctl.d", "/etc/yum.repos.d", "/etc/pki/rpm-gpg", "/etc/apt/keyrings")
URLS = ("http://one.example/debian", "http://two.example/debian")
MODULES = ("no_such_module", "no-such-module")

View = dict[str, Any]


class Step(NamedTuple):
    """A call of a port, by the name of both, and what it is given."""

    port: str
    call: str
    given: tuple[str, ...]

    def on(self, host: Host) -> None:
        """Call it."""
        port = getattr(host, self.port)
        if self.call == "write":
            host.files.write(self.given[0], self.given[1].encode(), mode=0o644)
        else:
            getattr(port, self.call)(*self.given)

    def __str__(self) -> str:
        return f"{self.port}.{self.call}({', '.join(map(repr, self.given))})"


class Case(NamedTuple):
    """The steps that make the host, and those that are compared."""

    seed: int
    before: tuple[Step, ...]
    steps: tuple[Step, ...]

    def told(self) -> str:
        """All of it, to be read."""
        before, steps = ([f"    {step}" for step in part] for part in (self.before, self.steps))
        return "\n".join([f"seed {self.seed}", "  before:", *before, "  compared:", *steps])


def drawn(seed: int) -> Case:
    """The case of a seed."""
    pick = random.Random(seed)
    before = [_made(pick) for _ in range(pick.randrange(6))]
    return Case(seed, tuple(before), tuple(_step(pick) for _ in range(STEPS)))


def _made(pick: random.Random) -> Step:
    """What may be there: no removal, nothing that fails."""
    if pick.random() < 0.3:
        return Step("crontabs", "set_text", (pick.choice(USERS), _crontab(pick)))
    path = pick.choice(FILES[: -len(USERS)])
    return Step("files", "write", (path, _text(pick, path)))


def _step(pick: random.Random) -> Step:
    chance = pick.random()
    if chance < 0.2:
        return Step("kernel", "set_value", (pick.choice(PARAMETERS), pick.choice(VALUES)))
    if chance < 0.25:
        call = pick.choice(("load", "unload"))
        return Step("kernel", call, (pick.choice(MODULES),))
    if chance < 0.4:
        return Step("crontabs", "set_text", (pick.choice(USERS), _crontab(pick)))
    if chance < 0.45:
        return Step("lists", "outdate", (pick.choice(("apt", "dnf")), "rnd-a"))
    path = pick.choice(FILES)
    if chance < 0.65 or path.startswith(SPOOL):
        return Step("files", "unlink", (path,))
    return Step("files", "write", (path, _text(pick, path)))


def _crontab(pick: random.Random) -> str:
    lines = (
        "# kept",
        "A=b",
        'MAILTO=""',
        "5 3 * * * true",
        "@daily echo a\\%b",
        "",
        "*/5 * * * 1 x",
    )
    return "".join(f"{pick.choice(lines)}\n" for _ in range(pick.randrange(5)))


def _text(pick: random.Random, path: str) -> str:
    if path in SYSCTLS:
        return "".join(f"{_line(pick)}\n" for _ in range(pick.randrange(4)))
    if path in KEYRINGS:
        return pick.choice(("a key\n", "another key\n"))
    url, key = pick.choice(URLS), pick.choice(("", *KEYRINGS))
    if path.endswith(".sources"):
        signed = f"Signed-By: {key}\n" if key else ""
        return f"Types: deb\nURIs: {url}\nSuites: stable\nComponents: main\n{signed}"
    if path.endswith(".list"):
        return f"# old\ndeb {f'[signed-by={key}] ' if key else ''}{url} stable main\n"
    return f"[{pick.choice(('rnd-a', 'rnd-c'))}]\nname=x\nbaseurl={url}\ngpgkey=file://{key}\n"


def _line(pick: random.Random) -> str:
    key = f"net.ipv4.{pick.choice(KEYS)}"
    forms = ("%s = %s", "%s=%s", "-%s = %s", "# %s = %s", "net/ipv4/x.%s=%s")
    return pick.choice(forms) % (key, pick.choice(VALUES))


# -- one case -------------------------------------------------------------------------------------


def _said(call: Callable[[], Any], uncertainties: Callable[[], int]) -> Any:
    before = uncertainties()
    try:
        said = json.loads(json.dumps(call()))
    except Unknowable:
        return UNKNOWN
    except ResourceError as error:
        said = f"error: {error.message} ({error.kind})"
    return UNKNOWN if uncertainties() > before else said


def _settings(host: HostReader, key: str) -> Any:
    return [one for one in host.kernel.settings(key) if "rnd" in one.file]


def _look(host: HostReader, uncertainties: Callable[[], int]) -> View:
    asked: dict[str, Callable[[], Any]] = {}
    for key in PARAMETERS:
        asked[f"value of {key}"] = partial(_value, host, key)
        asked[f"settings of {key}"] = partial(_settings, host, key)
    for module in MODULES:
        asked[f"module {module}"] = partial(host.kernel.is_loaded, module)
    for user in USERS:
        asked[f"crontab of {user}"] = partial(host.crontabs.text, user)
    for path in FILES:
        asked[path] = partial(_file, host, path)
    for manager in ("apt", "dnf"):
        asked[f"other sources of {manager}"] = partial(_others, host, manager)
        for key in KEYRINGS:
            name = f"who mentions {key} for {manager}"
            asked[name] = partial(conflicts.mentions, host, manager, "rnd-a", key)
    return {name: _said(ask, uncertainties) for name, ask in asked.items()}


def _value(host: HostReader, key: str) -> list[Any]:
    """The numbers of a parameter, which the kernel spells in its own way."""
    words = host.kernel.value(key).split()
    return [word if number_of(word) is None else number_of(word) for word in words]


def _file(host: HostReader, path: str) -> Any:
    node = host.files.lstat(path)
    if node is None:
        return None
    return [node.kind, node.mode, node.uid, node.size, host.files.read(path).decode()]


def _others(host: HostReader, manager: str) -> list[str]:
    state = {"enabled": True, "urls": [URLS[0]], "suites": ["stable"], "signed_by": None}
    return conflicts.find(host, manager, "rnd-a", state)


def compared(case: Case, counts: Counter[str]) -> str:
    """In what the overlay and the machine differ; the host is as ``case.before`` leaves it."""
    predicted = _predicted(case)
    now = context()
    host = machine(now)
    try:
        for number, (step, (said, views)) in enumerate(zip(case.steps, predicted), 1):
            if said == UNKNOWN:
                counts["unknown steps"] += 1
                return ""
            counts["steps"] += 1
            done = _said(partial(step.on, host), lambda: 0)
            if _kind(done) != _kind(said):
                return f"step {number} ends\n    overlay: {said}\n    machine: {done}"
            told = _differing(views, _seen(), counts)
            if told:
                return f"after step {number}, {told}"
        return ""
    finally:
        close(now)


def _predicted(case: Case) -> list[tuple[Any, View]]:
    ctx = context(noop=True)
    found: list[tuple[Any, View]] = []
    thing = item("thing", "x")
    with ctx.for_resource(thing, True):
        overlay = Overlay(ctx.overlay_with(()), thing.id, context=ctx)
        planned = overlay.record.overlay
        for step in case.steps:
            said = _said(partial(step.on, overlay), lambda: ctx.uncertainties)
            there = reader(planned, ctx, planned)
            found.append((said, _look(there, lambda: ctx.uncertainties)))
            if said == UNKNOWN:
                break
    close(ctx)
    return found


def _seen() -> View:
    ctx = context()
    try:
        return _look(machine(ctx), lambda: 0)
    finally:
        close(ctx)


def _differing(overlay: View, found: View, counts: Counter[str]) -> str:
    for name, got in found.items():
        counts["reads"] += 1
        if overlay[name] == UNKNOWN:
            counts["unknown reads"] += 1
        elif _kind(overlay[name]) != _kind(got):
            return f"{name}\n    overlay: {overlay[name]}\n    machine: {got}"
    return ""


def _kind(said: Any) -> Any:
    """Of a failure its kind."""
    failed = isinstance(said, str) and said.startswith("error: ")
    return said.rpartition("(")[2] if failed else said


def run(case: Case, counts: Counter[str]) -> str:
    """In what a case differs, "" in nothing."""
    kept = {key: _parameter(key) for key in PARAMETERS}
    clean()
    now = context()
    try:
        for step in case.before:
            step.on(machine(now))
        return compared(case, counts)
    except Exception:  # a crash is a difference
        return traceback.format_exc()
    finally:
        close(now)
        for key, value in kept.items():
            with open(f"/proc/sys/{key}", "w", encoding="ascii") as out:
                out.write(value)
        clean()


def _parameter(key: str) -> str:
    with open(f"/proc/sys/{key}", encoding="ascii") as file:
        return file.read()


def clean() -> None:
    """Have none of the files, and the directories that they need."""
    for path in FILES:
        if os.path.lexists(path):
            os.unlink(path)
    for path in DIRECTORIES:
        os.makedirs(path, exist_ok=True)


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case found that still fails."""
    found, smaller = case, True
    while smaller:
        smaller = False
        for part in ("steps", "before"):
            steps = getattr(found, part)
            for number in reversed(range(len(steps))):
                one = found._replace(**{part: steps[:number] + steps[number + 1 :]})
                if fails(one):
                    found, smaller = one, True
                    break
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Exit with 1 where something differs."""
    parser = argparse.ArgumentParser(prog=f"python -m {__name__}", description=__doc__)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--maximum", type=int, default=1, help="differences, then stop")
    given = parser.parse_args(argv)
    counts: Counter[str] = Counter()
    differ = 0
    for seed in range(given.seed, given.seed + given.cases):
        if differ >= given.maximum:
            break
        case = drawn(seed)
        counts["cases"] += 1
        if run(case, counts):
            differ += 1
            small = shrunk(case, lambda one: bool(run(one, Counter())))
            print(f"{small.told()}\n  {run(small, Counter())}", flush=True)
    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
    print(f"{differ} differences from seed {given.seed} on: {told}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
