"""Archives that may be anyone's."""

import gzip
import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from orchestrator.sources import unpacking
from orchestrator.sources.address import SourceError
from orchestrator.sources.unpacking import File, files_of, is_below, write
from tests.texts import expect_text


def member(name: str, data: bytes = b"x", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o644
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def with_hole(name: str, size: int) -> tuple[tarfile.TarInfo, bytes]:
    """A file of this size, of which only the last byte is stored."""
    fields = {"major": "1", "minor": "0", "name": name, "realsize": str(size)}
    stored = b"1\n%d\n1\n" % (size - 1)
    headers = {f"GNU.sparse.{key}": value for key, value in fields.items()}
    return member(name, stored.ljust(512, b"\0") + b"x", pax_headers=headers)


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_files_and_directories(tmp_path: Path) -> None:
    """They are written below a private directory, as they are, and recognized there."""
    data = packed(
        member("./", b"", type=tarfile.DIRTYPE),
        member("./site.yaml", b"ccm: {}\n"),
        member("bin/run", b"#!/bin/sh\n", mode=0o755),
        member("empty", b""),
    )
    files = files_of(data, "a")
    assert files == {
        "site.yaml": File(b"ccm: {}\n", False),
        "bin/run": File(b"#!/bin/sh\n", True),
        "empty": File(b"", False),
    }
    directory = tmp_path / "new"
    write(files, directory)
    assert is_below(files, directory)
    assert directory.stat().st_mode & 0o777 == 0o700
    assert os.access(directory / "bin/run", os.X_OK)
    (directory / "more").write_text("x")
    assert not is_below(files, directory)
    (directory / "more").unlink()
    (directory / "empty").unlink()
    (directory / "empty").symlink_to("/dev/null")
    assert not is_below(files, directory)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([member("../x")], "points outside"),
        ([member("a/../../x")], "points outside"),
        ([member("/etc/x")], "points outside"),
        ([member("..", b"", type=tarfile.DIRTYPE)], "points outside"),
        ([member("l", b"", type=tarfile.SYMTYPE, linkname="a")], "neither a file nor a directory"),
        ([member("l", b"", type=tarfile.LNKTYPE, linkname="a")], "neither a file nor a directory"),
        ([member("f", b"", type=tarfile.FIFOTYPE)], "neither a file nor a directory"),
        ([member("d", b"", type=tarfile.CHRTYPE)], "neither a file nor a directory"),
        ([member("a"), member("./a")], "in it twice"),
        ([member("a"), member("a/b")], "is both a file and a directory"),
        ([member("a/b"), member("a")], "is both a file and a directory"),
        ([member("x" * 300)], "is too long"),
        ([member("/".join(["x" * 200] * 8))], "is too long"),
        ([member("a\x1b[2J")], "control character"),
        ([member("a\n")], "control character"),
        ([member("."), member("a")], "has no name"),
    ],
)
def test_what_is_refused(members: list[tuple[tarfile.TarInfo, bytes]], words: str) -> None:
    """Nothing that points outside, no link, no device, no odd name; nothing is written."""
    with pytest.raises(SourceError, match=words):
        files_of(packed(*members), "a")


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is that which unpacks, whatever headers say of it."""
    monkeypatch.setattr(unpacking, "MAX_UNPACKED", 1 << 20)
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 50)
    monkeypatch.setattr(unpacking, "_HEADERS", 3 * 512 * 50)
    for data in (
        packed(member("a", b"\0" * (2 << 20))),
        packed(*(member(f"f{number}", b"\0" * 100_000) for number in range(20))),
        packed(member("a", pax_headers={"comment": "x" * (3 << 20)})),
        gzip.compress(b"\0" * (8 << 20)),
        packed(with_hole("a", 600_000), with_hole("b", 600_000)),
    ):
        with pytest.raises(SourceError) as refused:
            files_of(data, "a")
        expect_text(refused.value)
    assert files_of(gzip.compress(b"\0" * (1 << 20)), "a") == {}  # its first block ends it
    with pytest.raises(SourceError) as raised:
        files_of(packed(*(member(f"f{number}") for number in range(60))), "a")
    expect_text(raised.value)


def test_a_file_with_holes() -> None:
    """It has zeros there."""
    files = files_of(packed(with_hole("a", 1000)), "a")
    assert files == {"a": File(b"\0" * 999 + b"x", False)}


def test_headers_that_take_long() -> None:
    """Rows of digits and overlapping records, for which Python takes hours or all memory."""
    for records in (b"1" * 1_000_000, b"5 aa" * 200_000 + b"=\n"):
        with pytest.raises(SourceError) as refused:
            files_of(packed(member("x", records, type=tarfile.XHDTYPE), member("a")), "a")
        expect_text(refused.value)


def test_what_is_no_archive() -> None:
    """Other bytes, and one that was cut, are refused in one sentence."""
    whole = packed(member("a", os.urandom(5000)))
    for data in (b"", b"text", gzip.compress(b"text"), whole[: len(whole) // 2], whole[:-4000]):
        with pytest.raises(SourceError) as refused:
            files_of(data, "a")
        expect_text(refused.value)


def test_a_header_that_is_damaged_or_nested() -> None:
    """An archive is refused as a whole: it does not end where Python cannot read it."""
    damaged = bytearray(gzip.decompress(packed(member("a"), member("b"))))
    damaged[1024 + 10] ^= 0xFF
    name = tarfile.TarInfo("a")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 2
    nested = (name.tobuf() + b"a\0".ljust(512, b"\0")) * 2000
    for data in (bytes(damaged), nested):
        with pytest.raises(SourceError, match="not a complete gzip-compressed tar archive"):
            files_of(gzip.compress(data), "a")
