"""Makes archives, harmless and hostile ones, for tests (Python 3.6 and newer)."""

import io
import tarfile
import zipfile
from typing import Any, List

TIME = 1500000000


def member(name: str, data: bytes = b"", **fields: Any) -> Any:
    """An entry of a tar archive with its content; fields as ``tarfile.TarInfo`` has them."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(data), TIME, 0o644
    for key, value in fields.items():
        setattr(entry, key, value)
    return entry, data


def directory(name: str, mode: int = 0o755) -> Any:
    return member(name, type=tarfile.DIRTYPE, mode=mode)


def symlink(name: str, to: str) -> Any:
    return member(name, type=tarfile.SYMTYPE, linkname=to)


def hardlink(name: str, to: str) -> Any:
    return member(name, type=tarfile.LNKTYPE, linkname=to)


def tar(members: List[Any], compressed: bool = True, style: int = tarfile.GNU_FORMAT) -> bytes:
    """The bytes of a tar.gz, or of a tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz" if compressed else "w", format=style) as archive:
        for entry, data in members:
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def zstd(data: bytes) -> bytes:
    """The bytes compressed by the program zstd."""
    import subprocess

    done = subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout


APP = [
    directory("app"),
    directory("app/bin", 0o2777),
    member("app/bin/run", b"#!/bin/sh\n", mode=0o4775, uid=4711, gid=4711, uname="eve"),
    member("app/secret", b"s", mode=0o600),
    member("app/data", b"x" * 100000),
    symlink("app/current", "bin/run"),
    symlink("app/bin/up", "../data"),
    hardlink("app/same", "app/data"),
]


def zipped(*entries: Any) -> bytes:
    """The bytes of a zip; an entry is (name, content) or (name, content, whole Unix mode)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, *mode in entries:
            info = zipfile.ZipInfo(name, (2017, 7, 14, 2, 40, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3 if mode else 0
            info.external_attr = (mode[0] if mode else 0) << 16
            archive.writestr(info, data)
    return out.getvalue()
