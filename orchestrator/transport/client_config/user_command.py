"""Commands that the user has named in a setting or in ~/.ssh/config (controller)."""

from __future__ import annotations

import subprocess


def run_shell(command: str, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Run a line of shell without input and keep its output; None when the time was up."""
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
