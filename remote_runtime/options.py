"""What the user chose for a run, as far as a target must know it (both sides)."""

from typing import NamedTuple


class RunOptions(NamedTuple):
    """The plan's envelope has each field under its name, true or false or a number of seconds.

    ``status_only``: the resources are looked at, whatever is desired. ``drift``: a preview says who
    has brought about what differs, and no subscription fires. ``adhoc``: the one item is a command
    of the user's, which runs as it stands. ``package_probe``: a preview may
    download packages to look into them, ``probe_urls``: it may ask a server for an archive.
    ``refresh_lists``: the package lists of a host are refreshed once, before its first package that
    needs them, in a preview too. A ``timeout`` of 0 is no bound for one host, and a
    ``stall_timeout`` of 0 none on the time without progress.
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
