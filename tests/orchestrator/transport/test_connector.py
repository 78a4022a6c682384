"""The SSH libraries are loaded once, when a connection needs them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from orchestrator.transport import Connector, Credentials, Settings
connector = Connector(Settings(), Credentials(), None)
print("fabric" in sys.modules)
connector._ssh()
print("fabric" in sys.modules)
"""


def test_the_ssh_libraries_are_loaded_on_demand() -> None:
    """A connector alone loads nothing; the first SSH connection does."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done
