"""What a command loads that finds everything as it should be."""

import os
import subprocess
import sys
from pathlib import Path

from tests import caches

_PROGRAM = """
import sys
from orchestrator.cli import app
app.main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
"""


def hosts(directory: Path) -> Path:
    """An inventory of this machine."""
    path = directory / "hosts.yaml"
    path.write_text("hosts: {here: {connection: local}}\n")
    return path


def site(directory: Path) -> Path:
    """A manifest of one file."""
    owned = f"owner: '{os.getuid()}', group: '{os.getgid()}', mode: '0644'"
    path = directory / "site.yaml"
    resource = f"{{{directory}/a: {{content: x, {owned}}}}}"
    path.write_text(f"ccm: {{resources: [{{file: [{resource}]}}]}}\n")
    return path


def imported(directory: Path, *words: str, says: str = "1 unchanged") -> list[str]:
    """What a command imports the second time, when everything is there already, in that order."""
    cache = str(caches.fill(directory / "cache"))
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": str(directory)}
    command = [sys.executable, "-c", _PROGRAM, *words]
    for _ in range(2):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=True
        )
    assert says in done.stdout
    return done.stderr.splitlines()[-1].split()
