"""Whether mounts can be made on this machine, as what runs over a layer needs."""

import os
import subprocess

_MOUNTS = "mount -t tmpfs x /mnt && mkdir /mnt/u /mnt/w && mount -t overlay x /mnt -o " + (
    "lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w"
)


def possible() -> bool:
    """Whether this machine lets us."""
    if os.geteuid() != 0 or not os.path.isdir("/mnt"):
        return False
    try:
        return subprocess.call(["unshare", "-m", "sh", "-c", _MOUNTS]) == 0
    except OSError:
        return False
