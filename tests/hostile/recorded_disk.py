"""A disk that records every write and every flush, and what it holds after a loss of power.

The disk is a file of a file system in user space, which this module serves over ``/dev/fuse``, with
a loop device on it. The kernel hands over each write, and each flush of the device as an fsync. A
disk keeps what was written before its last flush. Of later writes it keeps any part, in any order:
its cache is lost. `Recording.after` makes such an image for any moment.
"""

import contextlib
import ctypes
import errno
import os
import random
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK = 4096  # bytes that a disk writes as one
_LIMIT = 128 << 10  # bytes of one write
_ROOT, _FILE = 1, 2  # numbers of the directory and of the one file in it
_NAME = b"disk"
_IN = struct.Struct("=IIQQIIII")  # fuse_in_header
_OUT = struct.Struct("=IiQ")  # fuse_out_header
_ATTR = struct.Struct("=QQQQQQIIIIIIIIII")
_LOOKUP, _FORGET, _GETATTR, _OPEN, _READ, _WRITE, _STATFS = 1, 2, 3, 14, 15, 16, 17
_RELEASE, _FSYNC, _FLUSH, _INIT, _OPENDIR, _RELEASEDIR = 18, 20, 25, 26, 27, 29
_INTERRUPT, _DESTROY, _BATCH_FORGET, _FALLOCATE = 36, 38, 42, 43
_SILENT = (_FORGET, _BATCH_FORGET, _INTERRUPT)  # requests without an answer
_DIRECT_IO = 1  # of an open file: nothing of it is cached
_EMPTY = (_RELEASE, _FLUSH, _RELEASEDIR, _DESTROY)


class Write(NamedTuple):
    """Bytes that the disk was given, and where."""

    offset: int
    data: bytes


class Recording:
    """The contents of a disk as it was at first, and all that happened to it.

    ``log`` has a `Write` for each write, and None for each flush.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.content = bytearray(size)
        self._first = bytes(size)
        self.log: list[Write | None] = []

    def begin(self) -> None:
        """Take what is on the disk as durable, and record from here."""
        self._first = bytes(self.content)
        self.log = []

    def write(self, offset: int, data: bytes) -> None:
        self.content[offset : offset + len(data)] = data
        self.log.append(Write(offset, data))

    def flush(self) -> None:
        self.log.append(None)

    def after(self, moment: int, path: Path, chance: random.Random | None) -> int:
        """Write the image that is left when the power goes after so many entries of the log.

        Without ``chance`` all writes until then are there. With it each block that was written
        after the last flush is there or not. Returns how many blocks are lost.
        """
        flushed = max((at for at in range(moment) if self.log[at] is None), default=0)
        image = bytearray(self._first)
        lost = 0
        for at, entry in enumerate(self.log[:moment]):
            if entry is None:
                continue
            for start in range(0, len(entry.data), BLOCK):
                if chance is not None and at > flushed and chance.random() < 0.5:
                    lost += 1
                    continue
                data = entry.data[start : start + BLOCK]
                image[entry.offset + start : entry.offset + start + len(data)] = data
        _write_sparse(path, image)
        return lost


def _write_sparse(path: Path, image: bytearray) -> None:
    nothing = bytes(1 << 16)
    with open(path, "wb") as file:
        for start in range(0, len(image), len(nothing)):
            piece = image[start : start + len(nothing)]
            if piece != nothing[: len(piece)]:
                file.seek(start)
                file.write(piece)
        file.truncate(len(image))


class _Server(threading.Thread):
    """Answers the kernel about a directory with one file, the disk."""

    def __init__(self, descriptor: int, recording: Recording) -> None:
        super().__init__(daemon=True)
        self._descriptor = descriptor
        self._recording = recording

    def run(self) -> None:
        while True:
            try:
                request = os.read(self._descriptor, _LIMIT + (1 << 16))
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return  # ENODEV: it is no longer mounted
            _, code, unique, node, *_ = _IN.unpack_from(request)
            if code in _SILENT:
                continue
            answer = self._answer(code, node, request[_IN.size :])
            failed, body = (answer, b"") if isinstance(answer, int) else (0, answer)
            with contextlib.suppress(OSError):  # the asker has gone
                os.write(
                    self._descriptor,
                    _OUT.pack(_OUT.size + len(body), -failed, unique) + body,
                )

    def _answer(self, code: int, node: int, body: bytes) -> bytes | int:
        """The body of an answer, or the number of an error."""
        disk = self._recording
        if code == _INIT:
            major, minor, ahead, _ = struct.unpack_from("=IIII", body)
            return struct.pack(
                "=IIIIHHIIHHIIHHIIII", major, min(minor, 31), ahead, 0, 16, 12, _LIMIT, 1,
                _LIMIT // 4096, 0, *[0] * 8,
            )  # fmt: skip
        if code == _LOOKUP:
            if node != _ROOT or body.rstrip(b"\0") != _NAME:
                return errno.ENOENT
            return struct.pack("=QQQQII", _FILE, 0, 60, 60, 0, 0) + self._attributes(_FILE)
        if code == _GETATTR:
            return struct.pack("=QII", 60, 0, 0) + self._attributes(node)
        if code in (_OPEN, _OPENDIR):
            return struct.pack("=QII", 0, _DIRECT_IO, 0)
        if code == _READ:
            _, offset, size = struct.unpack_from("=QQI", body)
            return bytes(disk.content[offset : offset + size])
        if code == _WRITE:
            _, offset, size = struct.unpack_from("=QQI", body)
            disk.write(offset, body[40 : 40 + size])
            return struct.pack("=II", size, 0)
        if code == _FSYNC:
            disk.flush()
            return b""
        if code == _STATFS:
            return struct.pack("=QQQQQIIII", *[1 << 20] * 5, 4096, 255, 4096, 0) + bytes(24)
        return b"" if code in _EMPTY else errno.ENOSYS

    def _attributes(self, node: int) -> bytes:
        size = self._recording.size if node == _FILE else 0
        mode = stat.S_IFREG | 0o600 if node == _FILE else stat.S_IFDIR | 0o700
        return _ATTR.pack(node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


@contextlib.contextmanager
def recorded_disk(top: Path, size: int) -> Iterator[tuple[Recording, Path]]:
    """A recording, and the loop device whose writes and flushes it records; root only.

    ``OSError`` or ``CalledProcessError`` where this machine has no FUSE or no loop devices.
    """
    place = top / "fuse"
    place.mkdir()
    recording = Recording(size)
    descriptor = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        _mount(place, descriptor)
        server = _Server(descriptor, recording)
        server.start()
        try:
            told = subprocess.run(
                ["losetup", "--find", "--show", "--direct-io=off", place / _NAME.decode()],
                check=True,
                capture_output=True,
                text=True,
            )
            device = Path(told.stdout.strip())
            try:
                yield recording, device
            finally:
                subprocess.run(["losetup", "--detach", device], check=True)
        finally:
            _unmount(place)
    finally:
        os.close(descriptor)


def _mount(place: Path, descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={descriptor},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"recorded", os.fsencode(place), b"fuse", 0, options.encode()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "/dev/fuse")


def _unmount(place: Path) -> None:
    for _ in range(100):  # the loop device lets go of its file a moment later
        if subprocess.run(["umount", place], check=False, capture_output=True).returncode == 0:
            return
        time.sleep(0.05)
    subprocess.run(["umount", "-l", place], check=True)
