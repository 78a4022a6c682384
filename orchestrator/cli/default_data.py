"""The default data of ``ccm ensure``: the data file in the directory of a script (controller)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.planning import PlanOptions

FILE = ".hiera"
_OTHERS = 0o002


def with_default_data(options: PlanOptions) -> PlanOptions:
    """The options, with ``./.hiera`` as the default of data.

    UsageError if other users can write to ``.hiera`` or own the link: in another user's directory,
    that user would control it.
    """
    if options.hiera:
        return options
    try:
        found, link = os.stat(FILE), os.lstat(FILE)
    except OSError:
        return options
    owners = {found.st_uid, link.st_uid}
    if owners - {0, os.geteuid()} or found.st_mode & _OTHERS:
        from remote_runtime.errors import UsageError

        raise UsageError(
            f"refusing to read data from ./{FILE}: other users can write to it",
            hint="set the data file with --hiera or CCM_HIERA_DATA, or change to another directory",
        )
    return options._replace(hiera=[FILE])
