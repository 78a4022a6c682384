"""The options of a run, as far as a target needs them (both sides)."""

from typing import NamedTuple


class RunOptions(NamedTuple):
    """The plan has each field under its name: true, false or a number of seconds.

    ``status_only``: the resources are only read, regardless of their desired state. ``drift``: a
    preview reports what caused each difference, and no subscription fires. ``adhoc``: the one item
    is a command of the user, which runs as written. ``package_probe``: a preview may download
    packages to examine them. ``probe_urls``: it may ask a server for an archive. ``refresh_lists``:
    the package lists of a host are refreshed once, before the first package that needs them, also
    in a preview. A ``timeout`` of 0 means no limit for a host, and a ``stall_timeout`` of 0 no
    limit for the time without progress.
    """

    noop: bool = False
    monitor_only: bool = False
    status_only: bool = False
    drift: bool = False
    adhoc: bool = False
    diff: bool = True
    diff_private: bool = False
    package_probe: bool = True
    probe_urls: bool = False
    refresh_lists: bool = False
    timeout: float = 0.0
    stall_timeout: float = 6 * 3600.0
    lock_timeout: float = 60.0
