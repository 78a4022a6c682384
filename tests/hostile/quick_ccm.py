"""A copy of ccm whose two sides take each other for dead after a few seconds, not after 30.

Nothing but these constants differs, so what a lost link leads to is the same, only sooner.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.push.command import REPOSITORY, Ccm

_DIRECTORIES = ("orchestrator", "inventory", "schemas", "remote_runtime")
SILENCE, PING, GRACE = 4.0, 1.0, 10.0
_CONSTANTS = {
    "remote_runtime/protocol/wire.py": {"SILENCE": SILENCE, "PING_INTERVAL": PING},
    "orchestrator/fleet/store/lost_runs.py": {"GRACE": GRACE},
}


def quick_ccm(scratch: Path) -> Ccm:
    """The command line of such a copy, with its state and caches in a scratch directory."""
    copy = scratch / "ccm"
    for name in _DIRECTORIES:
        shutil.copytree(REPOSITORY / name, copy / name, ignore=shutil.ignore_patterns("*.pyc"))
    for name, constants in _CONSTANTS.items():
        path = copy / name
        text = path.read_text(encoding="utf-8")
        for constant, seconds in constants.items():
            text, count = re.subn(rf"(?m)^{constant} = [\d.]+", f"{constant} = {seconds}", text)
            assert count == 1, f"{name} has no {constant}"
        path.write_text(text, encoding="utf-8")
    cache = scratch / "quick-cache"
    environment = {"PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(cache)}
    made = Ccm(scratch, environment)
    program = "from orchestrator.image.builder import build; build()"
    subprocess.run([sys.executable, "-c", program], env=made.environment, check=True, cwd=scratch)
    return made
