"""Reads the members of tar and zip archives, with at most one block in memory (both sides)."""

import errno
import os
import stat
import sys
from typing import Any, Callable, List, Optional

from remote_runtime.archives.member_filter import (
    BLOCK,
    DIRECTORY,
    FILE,
    HARDLINK,
    SYMLINK,
    Member,
    Members,
)
from remote_runtime.archives.tar_headers import HeaderCheck
from remote_runtime.errors import ResourceError

_LARGEST_HEADER = 1 << 20  # of tar; it is read at once, and its size may be any number
_LARGEST_HEADERS = 4 << 20  # of one member: tarfile keeps a list of all parts of a sparse file
# Of a zip's directory, which zipfile reads and keeps as a whole.
_FEW, _PER_ENTRY = 10000, 128  # members, and bytes for each
_BLOCK_OF_TAR = 512
_MODULES = {"tar.gz": "gzip", "tar.xz": "lzma", "tar.bz2": "bz2", "tar.zst": "compression.zstd"}
ZSTD = "zstd"
_DOS = 0  # the system that a zip made on Windows names

ProgressCallback = Callable[[], None]


class ArchiveErrors(object):
    """A block that reads an archive: errors that show a broken archive are raised as
    ``ResourceError``.
    """

    def __init__(self, archive: str, kind: str) -> None:
        self._archive = archive
        self._kind = kind

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import tarfile
        import zipfile
        import zlib

        signs: Any = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError)
        signs += (getattr(sys.modules.get("lzma"), "LZMAError", EOFError),)
        signs += (getattr(sys.modules.get("compression.zstd"), "ZstdError", EOFError),)
        signs += (ValueError, NotImplementedError, RecursionError, OverflowError)
        if not isinstance(error, signs):
            return
        if isinstance(error, OSError) and error.errno not in (None, 0, errno.EINVAL):
            return  # the disk; an archive may tell to read before its beginning
        raise ResourceError(
            "%s is not a complete %s archive: %s"
            % (self._archive, self._kind, str(error) or type(error).__name__),
            kind="resource.archive.broken",
            hint="check what the url serves, and set checksum to detect damaged downloads",
        ) from error


def members(
    kind: str, file: Any, *, heartbeat: ProgressCallback, maximum: int, most: int, program: str = ""
) -> Members:
    """Yield the members of an open archive; the ``content`` of one is valid until the next one is
    requested.

    ``heartbeat`` is called often and may raise; at most ``maximum`` bytes are unpacked after the
    last member. A zip whose directory is too large for ``most`` members is refused. ``program``
    unpacks a tar.zst if Python cannot. For use inside ``ArchiveErrors``.
    """
    file.seek(0)
    if kind == "zip":
        return _zip(_Bounded(file, max(most, _FEW) * _PER_ENTRY), heartbeat)
    if kind == "tar.zst" and program:
        return _tar_of_program([program, "-dcq"], file, heartbeat, maximum)
    return _tar(_unpacked(kind, file), heartbeat, maximum)


class _Stream(object):
    """An unpacked stream that is skipped in blocks, and whose headers are checked and read with a
    size limit.
    """

    def __init__(self, raw: Any, heartbeat: ProgressCallback) -> None:
        self._raw = raw
        self._beat = heartbeat
        self._headers: Optional[HeaderCheck] = HeaderCheck()
        self._headers_left = _LARGEST_HEADERS

    def begin_member(self) -> None:
        """Expect the headers of the next member."""
        self._headers, self._headers_left = HeaderCheck(), _LARGEST_HEADERS

    def begin_content(self) -> None:
        """Expect content, which tarfile reads like headers, until the next member."""
        self._headers, self._headers_left = None, sys.maxsize

    def tell(self) -> int:
        return int(self._raw.tell())

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes of headers, checked; ``ValueError`` if they are too large."""
        if not 0 <= size <= _LARGEST_HEADER:
            raise ValueError("a header has an invalid size of %d bytes" % size)
        self._headers_left -= size
        if self._headers_left < 0:
            raise ValueError("a member has headers of more than %d bytes" % _LARGEST_HEADERS)
        data = self.content(size)
        if self._headers is not None:
            self._headers.check(data)
        return data

    def content(self, size: int) -> bytes:
        """Read the next bytes of the content, which is not a header."""
        self._beat()
        data: bytes = self._raw.read(size)
        return data

    def seek(self, position: int) -> None:
        """Read forward to a position; a stream cannot be read backward."""
        left = position - self._raw.tell()
        while left > 0:
            skipped = len(self.content(min(left, BLOCK)))
            if not skipped:
                return
            left -= skipped
        if left < 0:
            self._raw.seek(position)

    def drain(self, maximum: int) -> None:
        """Read to the end, where a compressed stream has its checksum."""
        while True:
            data = self.content(BLOCK)
            if not data:
                return
            maximum -= len(data)
            if maximum < 0:
                raise ValueError("too much data after the last member")


def _tar_of_program(
    argv: List[str], file: Any, heartbeat: ProgressCallback, maximum: int
) -> Members:
    from remote_runtime.system.process.filtered_file import FilteredFile

    unpacked = FilteredFile(argv, file)
    try:
        for member in _tar(unpacked, heartbeat, maximum):
            yield member
    finally:
        unpacked.close()


def _tar(unpacked: Any, heartbeat: ProgressCallback, maximum: int) -> Members:
    import tarfile

    stream = _Stream(unpacked, heartbeat)
    archive: Any = tarfile.TarFile(
        fileobj=stream,  # type: ignore[arg-type]  # it has what tarfile calls
        mode="r",
        encoding="utf-8",
        errors="surrogateescape",
    )
    while True:
        stream.begin_member()
        entry = archive.next()
        if entry is None:
            break
        archive.members = []  # tarfile would keep them all
        if sum(len(k) + len(v) for k, v in archive.pax_headers.items()) > _LARGEST_HEADER:
            raise ValueError("it has global headers of more than %d bytes" % _LARGEST_HEADER)
        yield _of_tar(archive, entry)
    _check_end(archive, stream)
    stream.drain(maximum)


def require(kind: str) -> None:
    """Raise ``ResourceError`` if this host's Python cannot unpack a kind of archive."""
    if kind in _MODULES:
        _module(kind)


def needs_program(kind: str) -> str:
    """Return the program that a kind of archive needs on this host; "" if Python unpacks it."""
    if kind != "tar.zst":
        return ""
    try:
        _module(kind)
    except ResourceError:
        return ZSTD
    return ""


def _module(kind: str) -> Any:
    from importlib import import_module

    try:
        return import_module(_MODULES[kind])
    except ImportError as error:
        raise ResourceError(
            "%s archives require the module %s, but this host's Python was built without it"
            % (kind, _MODULES[kind]),
            kind="resource.archive.kind",
            hint="use a .tar.gz archive, or a Python that has the module",
        ) from error


def _unpacked(kind: str, file: Any) -> Any:
    """Return the tar stream inside a compressed file."""
    if kind == "tar":
        return file
    module = _module(kind)
    if kind == "tar.gz":
        return module.GzipFile(fileobj=file)
    opener = {"tar.xz": "LZMAFile", "tar.bz2": "BZ2File", "tar.zst": "ZstdFile"}[kind]
    return getattr(module, opener)(file)


def _check_end(archive: Any, stream: _Stream) -> None:
    """Check the end: tarfile mistakes a broken header for it; the true end is zeros, or the end of
    the file.
    """
    stream.seek(archive.offset)
    if stream.read(_BLOCK_OF_TAR).strip(b"\0"):
        raise ValueError("invalid header at byte %d" % archive.offset)


def _of_tar(archive: Any, entry: Any) -> Member:
    kinds = (
        (entry.isreg(), FILE),
        (entry.isdir(), DIRECTORY),
        (entry.issym(), SYMLINK),
        (entry.islnk(), HARDLINK),
        (entry.ischr() or entry.isblk(), "a device"),
        (entry.isfifo(), "a pipe"),
    )
    kind = next((name for holds, name in kinds if holds), "of an unknown type")
    return Member(
        entry.name,
        kind,
        size=entry.size if kind == FILE else 0,
        mode=entry.mode & 0o7777,
        mtime=float(entry.mtime),
        link=entry.linkname,
        content=lambda: _content(archive, entry),
    )


def _content(archive: Any, entry: Any) -> Any:
    if not entry.issparse():
        return _Content(archive.fileobj, entry)
    archive.fileobj.begin_content()
    return archive.extractfile(entry)


class _Content(object):
    """The content of one member, read from its position in the archive."""

    def __init__(self, stream: Any, entry: Any) -> None:
        self._stream = stream
        self._left: int = entry.size
        stream.seek(entry.offset_data)

    def __enter__(self) -> "_Content":
        return self

    def __exit__(self, *failure: Any) -> None:
        """Close nothing."""

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.content(min(size, self._left))
        self._left -= len(data)
        return data


class _Bounded(object):
    """The file of a zip, from which little is read at once."""

    def __init__(self, file: Any, largest: int) -> None:
        self._largest = largest
        self._read = file.read
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """``ValueError`` for a directory that is too large."""
        if size > self._largest:
            raise ValueError(
                "its central directory has %d bytes, too many for extract_max_members" % size
            )
        data: bytes = self._read(size)
        return data


def _zip(file: Any, heartbeat: ProgressCallback) -> Members:
    import zipfile

    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            heartbeat()
            if entry.flag_bits & 1:
                raise ValueError("member %r is encrypted" % entry.filename)
            yield _of_zip(archive, entry)


def _of_zip(archive: Any, entry: Any) -> Member:
    unix = entry.create_system == 3
    bits = entry.external_attr >> 16 if unix else 0
    kinds = {0: FILE, stat.S_IFREG: FILE, stat.S_IFDIR: DIRECTORY, stat.S_IFLNK: SYMLINK}
    kind = kinds.get(stat.S_IFMT(bits), "a device or a pipe")
    name = entry.filename
    if entry.create_system == _DOS and "/" not in name:
        name = name.replace("\\", "/")  # as unzip does
    if name.endswith("/"):
        kind = DIRECTORY
    link = ""
    if kind == SYMLINK:
        if entry.file_size > BLOCK:
            raise ValueError(
                "the target of symlink %r is too long (%d bytes)"
                % (entry.filename, entry.file_size)
            )
        link = os.fsdecode(archive.read(entry))
    return Member(
        name,
        kind,
        size=entry.file_size if kind == FILE else 0,
        mode=stat.S_IMODE(bits) or (0o755 if kind == DIRECTORY else 0o644),
        mtime=_time(entry.date_time),
        link=link,
        content=lambda: archive.open(entry),
    )


def _time(stamp: Any) -> float:
    """Return the time of a member. Times in a zip are local and have no time zone; an invalid date
    is replaced by the current time.
    """
    import time

    try:
        return time.mktime(tuple(stamp) + (0, 0, -1))
    except (ValueError, OverflowError):
        return time.time()
