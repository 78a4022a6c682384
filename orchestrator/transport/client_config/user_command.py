"""Commands that the user names in a setting or in ~/.ssh/config (controller)."""

from __future__ import annotations

import subprocess


def run_shell(command: str, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Run a shell command line without input, and return its output; None after a timeout."""
    try:
        return subprocess.run(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
