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


def fill(folder: Path) -> Path:
    """Make the folder of a new user's caches, as a first push leaves it."""
    if not folder.exists():
        shutil.copytree(_filled(), folder)
    return folder


@functools.cache
def _filled() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ccm-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY), "XDG_CACHE_HOME": str(folder)}
    program = "from orchestrator.image.building import build; build()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    return folder
