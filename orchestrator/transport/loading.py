"""Loads the SSH libraries without what they ask for and do not use here (controller).

They are a third of the time in which a short run starts.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING

from orchestrator.support.placeholder import placeholder

if TYPE_CHECKING:
    from orchestrator.transport.ssh_connect import Dialer

_CONNECTING = "orchestrator.transport.ssh_connect"
_METADATA = ".dist-info"


def ssh_dialer() -> type[Dialer]:
    """The class that opens SSH connections; what it needs is loaded."""
    first = _CONNECTING not in sys.modules
    with contextlib.ExitStack() as left_out:
        # A class of invoke for tests wants a mock, and that wants asyncio: 3 MiB as well.
        left_out.enter_context(placeholder("unittest"))
        left_out.enter_context(placeholder("unittest.mock", Mock=None))
        # invoke has a copy of PyYAML, for settings that are not read here.
        left_out.enter_context(placeholder("invoke.vendor.yaml"))
        # paramiko asks for its version, for which all that is known of it would be parsed.
        left_out.enter_context(placeholder("importlib.metadata", version=version))
        if first:  # What is loaded stays: to look through it for garbage takes as long as a host.
            gc.freeze()
        from orchestrator.transport.ssh_connect import Dialer

    if first:
        gc.freeze()
    return Dialer


def version(distribution: str) -> str:
    """The version of a distribution that is installed; ``PackageNotFoundError``.

    The name of its metadata's folder tells; where there is no such folder it takes longer.
    """
    begin = f"{distribution}-"
    for folder in sys.path:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder or "."):
                if name.startswith(begin) and name.endswith(_METADATA):
                    return name[len(begin) : -len(_METADATA)]
    from importlib import metadata

    return metadata.distribution(distribution).version  # not `version`: that is this function
