"""Reads a conformance case and runs it through the command line, as a user would."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from orchestrator.cli import app

SECONDS_PER_RUN = 120
COMPARED = {"changed", "refreshed", "failed", "skipped", "noop"}


@dataclass(frozen=True)
class Case:
    """One file of the corpus, with @ROOT@ replaced."""

    document: dict[str, Any]
    root: Path

    @classmethod
    def read(cls, path: Path, root: Path) -> "Case":
        text = path.read_text(encoding="utf-8").replace("@ROOT@", str(root))
        return cls(yaml.safe_load(text), root)

    def write_files(self) -> None:
        self.root.chmod(0o755)
        for name, text in self.document.get("files", {}).items():
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def shell(self, command: str) -> None:
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.root, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"{command!r} exited {done.returncode}: {done.stderr}"


@dataclass(frozen=True)
class Outcome:
    """What one apply did: its exit code, its events in order, and its output for messages."""

    code: int
    events: list[dict[str, Any]]
    output: str


@dataclass(frozen=True)
class Controller:
    """The command line, the inventory that it pushes to and the directories that it may use.

    ``cache`` holds what is built once and shipped in every run. ``in_process``: without an
    interpreter of its own, which takes longer than most cases.
    """

    inventory: Path
    scratch: Path
    cache: Path
    in_process: bool = False

    def run(self, *words: str) -> tuple[int, str]:
        """Run ``ccm``; its exit code and all its output."""
        environment = {
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "XDG_STATE_HOME": str(self.scratch / "state"),
            "XDG_CACHE_HOME": str(self.cache),
        }
        if self.in_process:
            output = io.StringIO()
            with (
                mock.patch.dict(os.environ, {**environment, "HOME": str(self.scratch)}),
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(output),
            ):
                return app.main(list(words)), output.getvalue()
        done = subprocess.run(
            [sys.executable, "-m", "orchestrator.cli.app", *words],
            capture_output=True,
            text=True,
            timeout=SECONDS_PER_RUN,
            env={**os.environ, **environment},
        )
        return done.returncode, done.stdout + done.stderr


def push(case: Case, run: dict[str, Any], controller: Controller) -> Outcome:
    """Apply the case's manifest once with ``ccm push``."""
    events = controller.scratch / "events.jsonl"
    events.unlink(missing_ok=True)
    words = ["push", "-i", str(controller.inventory), "--events", str(events)]
    words += ["--noop"] if run.get("noop") else []
    words += ["--monitor-only"] if run.get("monitor_only") else []
    if "hiera" in case.document:
        words += ["--hiera", str(case.root / case.document["hiera"])]
    code, output = controller.run(*words, str(case.root / "manifest.yaml"))
    lines = events.read_text(encoding="utf-8").splitlines() if events.exists() else []
    return Outcome(code, [json.loads(line) for line in lines], output)


_CODES = {"ok": (0,), "failed": (1,)}
_DEFAULTS = {"noop_message": "", "unmet_requirements": []}


def problems(run: dict[str, Any], outcome: Outcome) -> list[str]:
    """What of an outcome is not what the case says of this run."""
    found = []
    codes = _CODES.get(run["rc"], (1, 2))
    if outcome.code not in codes:
        found.append(f"exit code {outcome.code}, not one of {codes}: {outcome.output}")
    if "events" not in run:
        return found
    ids = [f"{event['type']}#{event['name']}" for event in outcome.events]
    expected = [wanted["id"] for wanted in run["events"]]
    if ids != expected:
        return [*found, f"events of {ids}, not of {expected}: {outcome.output}"]
    for wanted, event in zip(run["events"], outcome.events, strict=True):
        found += [
            f"{wanted['id']} {key}: expected {value!r}: {event}"
            for key, value in wanted.items()
            if not _is_as_wanted(key, value, event)
        ]
    return found


def _is_as_wanted(key: str, value: Any, event: dict[str, Any]) -> bool:
    if key in COMPARED:
        return event[key] is value
    if key in _DEFAULTS:
        return bool(event.get(key, _DEFAULTS[key]) == value)
    if key == "error_contains":
        return value.lower() in "\n".join(map(str, event.get("error", []))).lower()
    assert key == "id", f"the case compares {key!r}, which this runner does not know"
    return True
