"""A file system for the hosts of one run.

Hosts of users have one of their own, on which next to nothing is removed. All hosts of a lab share
that of this machine, and for minutes after many files were removed there, by a lab before this one
or by pip, ext4 searches long for the inode of each new file: that alone took a first push from 85
to 150 ms of CPU per host.
"""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

SIZE = 8 << 30  # bytes at most; what nobody writes takes no room


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Have this process's temporary files on an ext4 made just now, in a file where they were
    before. CalledProcessError or OSError where it cannot be made."""
    with tempfile.TemporaryDirectory(prefix="disk-") as directory:
        image, point = Path(directory, "image"), Path(directory, "d")
        point.mkdir()
        with open(image, "wb") as file:
            file.truncate(SIZE)
        _tool("mkfs.ext4", "-q", "-F", str(image))
        _tool("mount", "-o", "loop", str(image), str(point))
        before = tempfile.tempdir
        tempfile.tempdir = str(point)
        try:
            yield
        finally:
            tempfile.tempdir = before
            _tool("umount", str(point))


def _tool(*argv: str) -> None:
    subprocess.run(argv, check=True)
