"""Random changes of systemd units through the ports, on the overlay and then on the machine.

This file runs on a booted host, as root: ``python -m tests.remote_runtime.host.random_units
--cases 20 --seed 1``. Each case has a few units and the steps that are taken with them: calls of
the port for units, and unit files that are written and removed. The two must agree on how each
step ends and on the state of every unit then, or the overlay must have said that it does not know.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.host.host_reader import reader
from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.host.preview.preview_host import Overlay
from tests.remote_runtime.fakes import close, context, item

UNKNOWN, SKIPPED = "unknown", "skipped"
DIRECTORY = "/etc/systemd/system"
NAMES = tuple(f"rnd-{one}" for one in "abcd")
FULL = tuple(f"{one}.service" for one in NAMES)
CALLS = ("start", "stop", "restart", "enable", "disable", "mask", "unmask")
STEPS = 8
_LATE = 0.3  # seconds until what fails by itself has failed

View = dict[str, Any]


class Step(NamedTuple):
    """A call of the port for units, or a unit file that is written or removed."""

    call: str
    path: str
    text: str = ""

    def on(self, host: Host) -> None:
        """Call it."""
        if self.call == "write":
            host.files.write(self.path, self.text.encode(), mode=0o644)
        elif self.call == "unlink":
            host.files.unlink(self.path)
        else:
            getattr(host.units, self.call)(self.path)

    def __str__(self) -> str:
        text = "".join(f"\n      {line}" for line in self.text.splitlines())
        return f"{self.call} {self.path}{text}"


class Case(NamedTuple):
    """The steps that make the host, and those that are compared."""

    seed: int
    before: tuple[Step, ...]
    steps: tuple[Step, ...]

    def told(self) -> str:
        """All of it, to be read."""
        lines = [f"seed {self.seed}", "  before:"]
        lines += [f"    {step}" for step in self.before]
        return "\n".join([*lines, "  compared:", *(f"    {step}" for step in self.steps)])


def drawn(seed: int) -> Case:
    """The case of a seed."""
    pick = random.Random(seed)
    before = [
        Step("write", f"{DIRECTORY}/{name}", _text(pick, name))
        for name in FULL
        if pick.random() < 0.8
    ]
    known = [os.path.basename(step.path) for step in before]
    before += [
        Step(pick.choice(("start", "enable", "start", "mask")), name)
        for name in known
        if pick.random() < 0.5
    ]
    return Case(seed, tuple(before), tuple(_step(pick) for _ in range(STEPS)))


def _step(pick: random.Random) -> Step:
    name = pick.choice(FULL)
    drop_in = f"{DIRECTORY}/{name}.d/x.conf"
    chance = pick.random()
    if chance < 0.12:
        return Step("write", f"{DIRECTORY}/{name}", _text(pick, name))
    if chance < 0.18:
        return Step("write", drop_in, f"[Unit]\n{_relation(pick, name)}[Service]\nUMask=0077\n")
    if chance < 0.24:
        return Step("unlink", pick.choice((f"{DIRECTORY}/{name}", drop_in)))
    return Step(pick.choice(CALLS), name)


def _relation(pick: random.Random, own: str) -> str:
    kind = pick.choice(
        ("Requires", "Wants", "BindsTo", "PartOf", "Conflicts", "Requisite", "Upholds")
    )
    order = pick.choice(("", "", "After", "Before"))
    other = pick.choice([name for name in FULL if name != own])
    return f"{kind}={other}\n" + (f"{order}={other}\n" if order else "")


def _text(pick: random.Random, own: str) -> str:
    unit = "".join(_relation(pick, own) for _ in range(pick.choice((0, 0, 1, 1, 2))))
    if pick.random() < 0.15:
        unit += pick.choice(
            (
                "ConditionPathExists=/etc/passwd\n",
                "ConditionPathExists=/nowhere\n",
                "AssertPathExists=/nowhere\n",
                "RefuseManualStart=yes\n",
                "RefuseManualStop=yes\n",
            )
        )
    service = pick.choice(
        (
            "ExecStart=/bin/sleep infinity\n",
            "ExecStart=/bin/sleep infinity\n",
            "Type=exec\nExecStart=/bin/sleep infinity\n",
            "Type=oneshot\nExecStart=/bin/true\nRemainAfterExit=yes\n",
            "Type=oneshot\nExecStart=/bin/true\n",
            "ExecStart=/nowhere/program\n",
            "Type=oneshot\nRemainAfterExit=yes\nExecStart=-/nowhere/program\n",
            "User=nobody\nExecStart=/bin/sleep infinity\n",
            "User=missing\nExecStart=/bin/sleep infinity\n",
            "ExecStartPre=/nowhere/program\nExecStart=/bin/sleep infinity\n",
            "WorkingDirectory=/nowhere\nExecStart=/bin/sleep infinity\n",
            "Type=notify\nNotifyAccess=all\n"
            "ExecStart=/bin/sh -c 'systemd-notify --ready; sleep infinity'\n",
            "ExecStart=/bin/sleep infinity\nExecReload=/bin/true\n",
        )
    )
    install = ""
    if pick.random() < 0.8:
        words = pick.choice(("WantedBy", "RequiredBy"))
        other = pick.choice(("multi-user.target", "multi-user.target", *FULL))
        install = f"[Install]\n{words}={other}\n"
        if pick.random() < 0.2:
            install += pick.choice(("Also=", "Alias=alias-")) + pick.choice(FULL) + "\n"
    text = f"[Unit]\n{unit}" if unit else ""
    return f"{text}[Service]\n{service}{install}"


# -- one case -------------------------------------------------------------------------------------


def _said(call: Callable[[], Any], uncertainties: Callable[[], int]) -> Any:
    before = uncertainties()
    try:
        said = call()
    except Unknowable:
        return UNKNOWN
    except ResourceError as error:
        said = f"error: {error.message} ({error.kind})"
    return UNKNOWN if uncertainties() > before else said


def _look(host: HostReader, uncertainties: Callable[[], int]) -> View:
    def ask(name: str) -> Any:
        status = host.units.status(name)
        if not status.found:
            return {"found": False}
        return status._replace(words="", failure="yes" if status.failure else "")._asdict()

    return {name: _said(partial(ask, name), uncertainties) for name in FULL}


def compared(case: Case, counts: Counter[str]) -> str:
    """In what the overlay and the machine differ; the units are as ``case.before`` leaves them."""
    predicted = _predicted(case)
    now = context()
    host = machine(now)
    try:
        for number, (step, (said, views)) in enumerate(zip(case.steps, predicted)):
            if said == SKIPPED:
                continue
            if said == UNKNOWN:
                counts["unknown steps"] += 1
                return ""
            counts["steps"] += 1
            done = _said(partial(step.on, host), lambda: 0)
            if _kind(done) != _kind(said):
                return f"step {number + 1} ends\n    overlay: {said}\n    machine: {done}"
            if done is not None:  # what a failure leaves is for the type to say
                counts["failures"] += 1
                return ""
            time.sleep(_LATE)
            told = _differing(views, _seen(), counts)
            if told:
                return f"after step {number + 1}, {told}"
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
            there = reader(planned, ctx, planned)
            if step.call in CALLS and _is_idle(
                step, _look(there, lambda: ctx.uncertainties)[step.path]
            ):
                found.append((SKIPPED, {}))
                continue
            said = _said(partial(_predict, step, overlay), lambda: ctx.uncertainties)
            found.append((said, _look(there, lambda: ctx.uncertainties)))
            if said == UNKNOWN:
                break
    close(ctx)
    return found


def _predict(step: Step, overlay: Overlay) -> None:
    try:
        step.on(overlay)
    except UnsettledError as error:  # in a push, the type finds it out
        raise Unknowable(error.message) from error


def _is_idle(step: Step, said: Any) -> bool:
    """Whether no type would call it: there is no such unit, or enabling it does nothing."""
    if not isinstance(said, dict):
        return bool(said != UNKNOWN)
    return not said["found"] or (said["either"] and step.call in ("enable", "disable"))


def _seen() -> View:
    ctx = context()
    try:
        return _look(machine(ctx), lambda: 0)
    finally:
        close(ctx)


def _differing(overlay: View, found: View, counts: Counter[str]) -> str:
    for name, got in found.items():
        said = overlay[name]
        counts["reads"] += 1
        if said == UNKNOWN:
            counts["unknown reads"] += 1
            continue
        if isinstance(said, dict) and isinstance(got, dict):
            parts = [key for key in {**got, **said} if said.get(key) != got.get(key)]
            if parts:
                pairs = [(key, said.get(key), got.get(key)) for key in parts]
                told = ", ".join(f"{key}: overlay {one}, machine {two}" for key, one, two in pairs)
                return f"{name} has {told}"
        elif _kind(said) != _kind(got):
            return f"{name}\n    overlay: {said}\n    machine: {got}"
    return ""


def _kind(said: Any) -> Any:
    """Of a failure only that it is one."""
    return "error" if isinstance(said, str) and said.startswith("error: ") else said


@contextlib.contextmanager
def built(case: Case) -> Iterator[None]:
    """Have the host as the case begins."""
    clean()
    try:
        for step in case.before:
            if step.call == "write":
                with open(step.path, "w", encoding="utf-8") as out:
                    out.write(step.text)
        _run("daemon-reload")
        for step in case.before:
            if step.call != "write":
                _run(step.call, step.path)
        time.sleep(_LATE)
        yield
    finally:
        clean()


def clean() -> None:
    """Have none of the units."""
    os.makedirs(DIRECTORY, exist_ok=True)
    everything = "rnd-*", "alias-*"
    for name in FULL:  # what refuses to be stopped is asked nothing
        _remove(f"{DIRECTORY}/{name}")
    subprocess.run(
        f"cd {DIRECTORY}; rm -rf rnd-* alias-*; find . -name 'rnd-*' -delete -o -name 'alias-*'"
        " -delete",
        shell=True,
        check=False,
    )
    _run("daemon-reload")
    _run("kill", "--signal=KILL", *everything)
    _run("stop", *everything)
    _run("reset-failed")


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _run(*words: str) -> None:
    subprocess.run(
        ["systemctl", "-q", *words],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run(case: Case, counts: Counter[str]) -> str:
    """In what a case differs, "" in nothing."""
    with built(case):
        try:
            return compared(case, counts)
        except Exception:  # a crash is a difference
            return traceback.format_exc()


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case found that still fails."""
    found, smaller = case, True
    while smaller:
        smaller = False
        for one in _smaller(found):
            if fails(one):
                found, smaller = one, True
                break
    return found


def _smaller(case: Case) -> Iterator[Case]:
    for number in reversed(range(len(case.steps))):
        yield case._replace(steps=case.steps[:number] + case.steps[number + 1 :])
    for number in reversed(range(len(case.before))):
        yield case._replace(before=case.before[:number] + case.before[number + 1 :])
    for number, step in enumerate(case.before):
        lines = step.text.splitlines(keepends=True)
        for at, line in enumerate(lines):
            if not line.startswith(("[", "Type=", "Exec", "Remain")):
                fewer = step._replace(text="".join(lines[:at] + lines[at + 1 :]))
                yield case._replace(
                    before=(*case.before[:number], fewer, *case.before[number + 1 :])
                )


def main(argv: Sequence[str] | None = None) -> int:
    """Exit with 1 where something differs."""
    parser = argparse.ArgumentParser(prog=f"python -m {__name__}", description=__doc__)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--maximum", type=int, default=1, help="differences, then stop")
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args(argv)
    counts: Counter[str] = Counter()
    until, differ = time.monotonic() + given.minutes * 60, 0
    for seed in range(given.seed, given.seed + given.cases):
        if differ >= given.maximum or time.monotonic() > until:
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
