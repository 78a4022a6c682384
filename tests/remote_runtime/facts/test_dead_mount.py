"""A real mount that never answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import remote_runtime

REPOSITORY = str(Path(remote_runtime.__file__).parents[1])
PROGRAM = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
mountpoint, device = sys.argv[2], sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)
options = "fd=%s,rootmode=40000,user_id=0,group_id=0" % device
if libc.mount(b"dead", mountpoint.encode(), b"fuse", 0, options.encode()):
    sys.exit(77)
from remote_runtime.facts import gather, memory, partition
from remote_runtime.facts.fact_source import Source

class Machine(Source):
    def text(self, path, errors="replace"):
        text = super().text(path, errors)
        return text + "\\tfuse\\n" if path == "/proc/filesystems" else text

families = [("partition", "partition", partition.read), ("memory", "memory", memory.read)]
found = gather(0.5, Machine(), families)
print(found.unavailable, sorted(found.facts))
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="mounts, so needs root and fuse"
)
def test_a_dead_mount_costs_the_partitions_only(tmp_path: Path) -> None:
    """A file system that never answers makes partition unavailable and does not hold the exit."""
    device = os.open("/dev/fuse", os.O_RDWR)  # held here: the mount stays dead, not gone
    try:
        command = ["unshare", "--mount", sys.executable, "-I", "-S", "-c", PROGRAM]
        done = subprocess.run(
            [*command, REPOSITORY, str(tmp_path), str(device)],
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[device],
            timeout=120,
        )
    finally:
        os.close(device)
    if done.returncode == 77:
        pytest.skip("this machine does not let root mount")
    assert done.returncode == 0
    assert done.stdout == "{'partition': 'not ready within 0.5 s'} ['memory']\n"
