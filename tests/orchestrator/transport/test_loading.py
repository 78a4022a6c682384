"""The SSH libraries are loaded once, when a connection needs them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, sys
from orchestrator.transport import Connector, Credentials, Settings
connector = Connector(Settings(), Credentials(), None)
print("fabric" in sys.modules)
connector._ssh()
print("fabric" in sys.modules, gc.get_freeze_count() > 1000)
"""


def test_the_ssh_libraries_are_loaded_on_demand_and_left_out_of_garbage_collection() -> None:
    """A connector alone loads nothing; the first SSH connection does."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "True"], done
