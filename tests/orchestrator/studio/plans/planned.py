"""A project with plans, and the people who approve them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from orchestrator.plan_files.signing import sign
from orchestrator.plan_files.storage import write_plan
from tests.orchestrator.plan_files.made import keep
from tests.orchestrator.studio.history import Site

NAME = "change.plan"


def project_of(tmp_path: Path) -> Path:
    """A directory of a project."""
    root = tmp_path / "project"
    root.mkdir(exist_ok=True)
    return root


def put_plan(root: Path, name: str = NAME, /, **about: Any) -> Path:
    """Write a plan that was made a minute ago, unless it is said otherwise."""
    created = int(about.pop("created", time.time() - 60))
    kept = keep(root, **{"created": created, "expires": created + 86_400, **about})
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_plan(kept, str(path))
    return path


class People:
    """People with keys, who are listed in a file of signers outside of the project."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self._directory = directory
        self.signers = directory / "allowed_signers"
        self.signers.touch(0o644)
        self.signers.chmod(0o644)

    def add(self, person: str) -> None:
        """Make a key for a person."""
        key = self._directory / person
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", person, "-f", str(key)]
        subprocess.run(words, check=True)
        public = " ".join(Path(f"{key}.pub").read_text().split()[:2])
        with self.signers.open("a") as out:
            out.write(f"{person}@example.org {public}\n")

    def sign(self, person: str, plan: Path) -> None:
        """Approve a plan."""
        sign(str(plan), plan.read_bytes(), str(self._directory / person))


def studio_of(state: Path, root: Path, **options: Any) -> Site:
    """A studio over the plans of a project."""
    return Site(state, project=root, **options)


def command_of(script: str, *words: str) -> tuple[str, ...]:
    """A program in the place of the process that pushes; ``order`` is what it got."""
    begin = "import json, os, sys, time; order = json.loads(sys.stdin.readline())\n"
    return (sys.executable, "-c", begin + script, *words)
