"""Runs ``ccm`` as a user would: the command line in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from orchestrator.fleet.checks.event_check import ADDED
from schemas import load
from tests import caches
from tests.lab import Host
from tests.push import forked

REPOSITORY = Path(__file__).resolve().parents[2]
_NOT_OURS = ("SSH_AUTH_SOCK", "PYTEST_ADDOPTS")  # of who runs the tests
SECONDS = 600  # a busy machine takes long over what is large; a test has its own end
CHECKED = 300  # events of one run that are checked against the schema; more would only take time

Event = dict[str, Any]
EVENT = Draft202012Validator(load("event"))


@dataclass(frozen=True)
class Run:
    """How one command ended, with the events it wrote."""

    code: int
    stdout: str
    stderr: str
    events: list[Event]

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    def of(self, host: str) -> dict[str, Event]:
        """The events of one host by ``type#name``."""
        return {f"{e['type']}#{e['name']}": e for e in self.events if e["host"] == host}

    def event(self, identity: str, host: str = "web1") -> Event:
        """The one event of a resource on a host."""
        return self.of(host)[identity]


class Ccm:
    """The command line with its state and caches in a scratch directory."""

    def __init__(self, scratch: Path, environment: Mapping[str, str] | None = None) -> None:
        self.scratch = scratch
        self.forks = True  # False for a process of its own, with its command line and its memory
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in _NOT_OURS},
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(scratch / "home"),
            "XDG_STATE_HOME": str(scratch / "state"),
            "XDG_CACHE_HOME": str(caches.fill(scratch / "cache")),
            "NO_COLOR": "1",
            **(environment or {}),
        }
        (scratch / "home").mkdir(exist_ok=True)

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "orchestrator.cli.app", *arguments]

    def run(self, *arguments: str, stdin: str = "") -> Run:
        """Run any command to its end."""
        if self.forks and not stdin and forked.serves(self.environment, REPOSITORY):
            return Run(*forked.run(arguments, self.environment, self.scratch, SECONDS), [])
        done = subprocess.run(
            self.argv(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=self.environment,
            cwd=self.scratch,
        )
        return Run(done.returncode, done.stdout, done.stderr, [])

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command and return at once; its output is captured."""
        return subprocess.Popen(
            self.argv(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=self.scratch,
        )

    def site(self, text: str, name: str = "site.yaml") -> Path:
        """Write a manifest into the scratch directory."""
        path = self.scratch / name
        path.write_text(text, encoding="utf-8")
        return path

    def push(self, inventory: Path, site: str | Path, *options: str) -> Run:
        """``ccm push``; a site given as text is written first; events must fit their schema."""
        path = self.site(site) if isinstance(site, str) else site
        return self.recorded("push", "-i", str(inventory), *options, str(path))

    def recorded(self, command: str, *arguments: str) -> Run:
        """A command that writes events, with these; they must fit their schema."""
        spool = self.scratch / "events.jsonl"
        spool.unlink(missing_ok=True)
        done = self.run(command, "--events", str(spool), *arguments)
        lines = spool.read_text(encoding="utf-8").splitlines() if spool.exists() else []
        events = [json.loads(line) for line in lines]
        for event in events[:CHECKED]:
            # The schema is of what a target sends; the controller adds these two.
            EVENT.validate({k: v for k, v in event.items() if k not in ADDED})
        return Run(done.code, done.stdout, done.stderr, events)


def runtimes(host: Host) -> str:
    """The processes on a host that run our bootstrap or runtime, a line each."""
    # Neither holds our name: it is the start of the program in their command lines.
    return host.run("pgrep -fa '[v]ersion_info<' || true").stdout
