"""The machine below a lab."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .machine import LabError, apt_get

_HOLD = """
import fcntl, sys, time
with open(sys.argv[1], "w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print(flush=True)
    time.sleep(2)
"""


@pytest.mark.skipif(not shutil.which("apt-get"), reason="needs Debian's apt-get")
def test_who_else_uses_apt_is_waited_for(tmp_path: Path) -> None:
    """A new machine brings itself up to date; what apt does not wait for itself is tried again."""
    clean = ("-o", f"Dir::Cache::archives={tmp_path}/", "clean")
    (tmp_path / "partial").mkdir()
    command = [sys.executable, "-c", _HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        began = time.monotonic()
        apt_get(*clean)
        assert time.monotonic() - began > 1
    with pytest.raises(LabError, match="no-such-word"):
        apt_get("no-such-word")
