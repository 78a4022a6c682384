"""Caches of a scratch user in which the image of the runtime stands, built once (2 s)."""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[1]


def fill(directory: Path) -> Path:
    """Make the directory of a new user's caches, as a first push leaves it."""
    if not directory.exists():
        shutil.copytree(_filled(), directory)
    return directory


@functools.cache
def _filled() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="ccm-test-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY), "XDG_CACHE_HOME": str(directory)}
    program = "import gc; gc.disable(); from orchestrator.image.builder import build; build()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    return directory
