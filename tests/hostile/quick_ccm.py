"""A copy of ccm whose two sides take each other for dead after a few seconds, not after 30.

Nothing but these constants differs, so what a lost link leads to is the same, only sooner.
"""

import atexit
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
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
    copy, filled = _copied()
    cache = scratch / "quick-cache"
    shutil.copytree(filled, cache)
    return Ccm(scratch, {"PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(cache)})


@functools.cache
def _copied() -> tuple[Path, Path]:
    """The copy, and caches in which its image of the runtime stands; made once."""
    scratch = Path(tempfile.mkdtemp(prefix="ccm-test-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    copy, cache = scratch / "ccm", scratch / "cache"
    for name in _DIRECTORIES:
        shutil.copytree(REPOSITORY / name, copy / name, ignore=shutil.ignore_patterns("*.pyc"))
    for name, constants in _CONSTANTS.items():
        path = copy / name
        text = path.read_text(encoding="utf-8")
        for constant, seconds in constants.items():
            text, count = re.subn(rf"(?m)^{constant} = [\d.]+", f"{constant} = {seconds}", text)
            assert count == 1, f"{name} has no {constant}"
        path.write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(cache)}
    program = "import gc; gc.disable(); from orchestrator.image.builder import build; build()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, cwd=scratch)
    return copy, cache
