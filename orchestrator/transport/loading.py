"""Loads the SSH libraries when the first connection needs them (controller)."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.transport.ssh_connect import Dialer

_SSH_MODULE = "orchestrator.transport.ssh_connect"


def ssh_dialer() -> type[Dialer]:
    """Return the class that opens SSH connections, with the libraries it needs loaded.

    What is loaded stays for the whole run, so the garbage collector leaves it out from then on.
    """
    first = _SSH_MODULE not in sys.modules
    from orchestrator.transport.ssh_connect import Dialer

    if first:
        gc.freeze()
    return Dialer
