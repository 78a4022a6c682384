"""Reads a conformance case and runs it through the command line, as a user would."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

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


def push(case: Case, run: dict[str, Any], inventory: Path, scratch: Path) -> Outcome:
    """Apply the case's manifest once with ``ccm push``."""
    events = scratch / "events.jsonl"
    events.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "orchestrator.cli.app", "push", "-i", str(inventory)]
    argv += ["--events", str(events)]
    argv += ["--noop"] if run.get("noop") else []
    argv += ["--monitor-only"] if run.get("monitor_only") else []
    if "hiera" in case.document:
        argv += ["--hiera", str(case.root / case.document["hiera"])]
    argv.append(str(case.root / "manifest.yaml"))
    repository = Path(__file__).resolve().parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": str(repository),
        "XDG_STATE_HOME": str(scratch / "state"),
        "XDG_CACHE_HOME": str(scratch / "cache"),
    }
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=SECONDS_PER_RUN, env=environment
    )
    lines = events.read_text(encoding="utf-8").splitlines() if events.exists() else []
    return Outcome(done.returncode, [json.loads(line) for line in lines], done.stdout + done.stderr)


def compare(run: dict[str, Any], outcome: Outcome) -> None:
    """Assert that an outcome is what the case says of this run."""
    expected = run["rc"]
    if expected == "ok":
        assert outcome.code == 0, outcome.output
    elif expected == "failed":
        assert outcome.code == 1, outcome.output
    else:
        assert outcome.code in (1, 2), outcome.output
    if "events" not in run:
        return
    ids = [f"{event['type']}#{event['name']}" for event in outcome.events]
    assert ids == [wanted["id"] for wanted in run["events"]], outcome.output
    for wanted, event in zip(run["events"], outcome.events, strict=True):
        _compare_event(wanted, event)


def _compare_event(wanted: dict[str, Any], event: dict[str, Any]) -> None:
    for key, value in wanted.items():
        if key in COMPARED:
            assert event[key] is value, f"{wanted['id']} {key}: {event}"
        elif key == "noop_message":
            assert event.get("noop_message", "") == value, f"{wanted['id']}: {event}"
        elif key == "unmet_requirements":
            assert event.get("unmet_requirements", []) == value, f"{wanted['id']}: {event}"
        elif key == "error_contains":
            text = "\n".join(map(str, event.get("error", []))).lower()
            assert value.lower() in text, f"{wanted['id']}: {event}"
        else:
            assert key == "id", f"the case compares {key!r}, which this runner does not know"
