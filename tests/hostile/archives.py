"""Archives made to lead out of where they are extracted, at random.

Each is a handful of members, harmless and hostile ones mixed, as tar, tar.gz or zip, sometimes with
bytes of it changed or cut off. Whatever becomes of it, nothing outside may change.
"""

import gzip
import hashlib
import io
import os
import random
import stat
import struct
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.hostile.figures import Figures
from tests.remote_runtime.fakes import GROUP, OWNER, item, run_items

TITLE = "Hostile archives"
_LARGEST = 1 << 20  # bytes; extract_max_size
_LIMIT = 50  # extract_max_members
_NAMES = (
    "a", "a/b", "a/b/c", "A", "a/B", "d/", "./x", "x//y", "a/./b", "l", "l/f", "h", "line\nline",
    "é", "../out", "a/../../out", "/abs", "//abs", "..", ".", "", "/", "a/..", "l/../../out",
    "..\\out", ".ccm-0", "n" * 255, "n" * 256, "d/" * 300 + "f", "d/" * 3000 + "f", "nul\0name",
)  # fmt: skip
_LINKS = (
    "a", "x", "b", ".", "..", "../a", "../..", "/", "/etc", "{top}/victim", "../victim",
    "../victim/kept", "l", "l/..", "a/../../victim", "", "d/../..", "h", "victim", "x/" * 2100,
)  # fmt: skip
_KINDS = (
    (tarfile.REGTYPE, 8), (tarfile.DIRTYPE, 4), (tarfile.SYMTYPE, 5), (tarfile.LNKTYPE, 3),
    (tarfile.CHRTYPE, 1), (tarfile.BLKTYPE, 1), (tarfile.FIFOTYPE, 1), (tarfile.CONTTYPE, 1),
    (tarfile.GNUTYPE_SPARSE, 1), (b"9", 1),
)  # fmt: skip
_MODES = (0o644, 0o755, 0o4755, 0o2777, 0, 0o7777, 0o1777)


class _Made(NamedTuple):
    name: str  # of the archive: its ending says its kind
    data: bytes


class _Maker:
    """Makes archives of a seeded chance; ``top`` is what absolute links are to lead to."""

    def __init__(self, chance: random.Random, top: Path) -> None:
        self._chance = chance
        self._top = top
        self._mild = False

    def make(self) -> _Made:
        self._mild = self._chance.random() < 0.5  # or hardly any would be extracted
        kind = self._chance.choice(("tar", "tar", "tar.gz", "zip"))
        count = self._chance.choice((1, 2, 3, 4, 6, 10, 60))
        data = self._zip(count) if kind == "zip" else self._tar(count)
        data = self._damaged(data)
        if kind == "tar.gz":
            data = self._damaged(gzip.compress(data, 1))
        return _Made(f"a.{kind}", data)

    def _name(self) -> str:
        return self._chance.choice(_NAMES[:14] if self._mild else _NAMES)

    def _link(self) -> str:
        links = _LINKS[:4] if self._mild else _LINKS
        return self._chance.choice(links).replace("{top}", str(self._top))

    def _content(self) -> bytes:
        size = self._chance.choice((0, 1, 511, 512, 513, 3000))
        if self._chance.random() < 0.02:
            size = 2 * _LARGEST
        return bytes([self._chance.randrange(256)]) * size

    def _tar(self, count: int) -> bytes:
        out = io.BytesIO()
        form = self._chance.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))
        with tarfile.open(fileobj=out, mode="w", format=form, errors="surrogateescape") as made:
            for _ in range(count):
                member = tarfile.TarInfo(self._name())
                kinds, weights = zip(*_KINDS[: 4 if self._mild else None], strict=True)
                member.type = self._chance.choices(kinds, weights)[0]
                member.mode = self._chance.choice(_MODES)
                member.linkname = self._link() if member.type in (b"1", b"2") else ""
                member.mtime = self._chance.choice((0, 1e9, 2**33, -1))
                content = self._content() if member.isreg() else b""
                member.size = len(content)
                if form == tarfile.PAX_FORMAT and self._chance.random() < 0.1:
                    member.pax_headers = self._pax()
                made.addfile(member, io.BytesIO(content))
        return out.getvalue()

    def _pax(self) -> dict[str, str]:
        """Headers that say something else than the member itself."""
        key = self._chance.choice(("path", "linkpath", "size", "GNU.sparse.name", "GNU.sparse.map"))
        numbers = ("-1", "99999999999999999999", "0,5", "x")
        value = self._link() if "pa" in key or "name" in key else self._chance.choice(numbers)
        return {key: value or "."}

    def _zip(self, count: int) -> bytes:
        out = io.BytesIO()
        kinds = (
            stat.S_IFREG,
            stat.S_IFREG,
            stat.S_IFLNK,
            stat.S_IFDIR,
            stat.S_IFCHR,
            stat.S_IFIFO,
            0,
        )
        with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
            warnings.simplefilter("ignore")  # of names that are there twice
            for _ in range(count):
                entry = zipfile.ZipInfo(self._name() or "x")
                kind = self._chance.choice(kinds[: 4 if self._mild else None])
                entry.create_system = 3
                entry.external_attr = (kind | self._chance.choice(_MODES)) << 16
                content = self._link().encode() if kind == stat.S_IFLNK else self._content()
                made.writestr(entry, content)
        return out.getvalue()

    def _damaged(self, data: bytes) -> bytes:
        """The same, or with a few bytes changed, cut off, or a size that lies."""
        if self._chance.random() < 0.8 or not data:
            return data
        changed = bytearray(data)
        for _ in range(self._chance.choice((1, 1, 4))):
            at = self._chance.randrange(len(changed))
            changed[at : at + 4] = struct.pack("<I", self._chance.getrandbits(32))
        return bytes(changed[: self._chance.choice((len(changed), len(changed) // 2))])


class _Place:
    """Where they are extracted: ``out``, beside ``victim``, which must stay as it is."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.out = top / "in" / "out"
        (top / "victim").mkdir()
        (top / "victim" / "kept").write_text("kept")
        self.out.mkdir(parents=True)
        self._before = self._outside()
        self._defect = ""

    def extract(self, made: _Made) -> bool:
        """Whether it was extracted."""
        path = self.top / made.name
        path.write_bytes(made.data)
        properties = {
            "url": "http://127.0.0.1/a",
            "checksum": hashlib.sha256(made.data).hexdigest(),
            "owner": OWNER,
            "group": GROUP,
            "extract_parent": str(self.out),
            "creates": str(self.out / "never there"),
            "extract_max_size": "1MiB",
            "extract_max_members": _LIMIT,
        }
        (event,) = run_items([item("archive", str(path), properties=properties)])
        path.unlink()
        told = str(event["error"])
        if "internal error" in told:
            self._defect = told
        return "was extracted into" in told  # it was extracted, without what creates names

    def harm(self) -> str:
        """What has happened that must not, "" for nothing; empties ``out``."""
        if self._outside() != self._before:
            return f"something outside has changed: {self._outside()}"
        found, size = self._defect, 0
        self._defect = ""
        for path in self._inside():
            status = path.lstat()
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
            found = found or self._wrong(path, status)
        self._empty()
        return found or (f"{size} bytes were written" if size > _LARGEST else "")

    def _wrong(self, path: Path, status: os.stat_result) -> str:
        if path.name.startswith(".ccm-") and path.name != ".ccm-0":
            return f"{path.name} was left behind"
        if stat.S_ISLNK(status.st_mode):
            real = Path(os.path.realpath(path))
            inside = real == self.out or self.out in real.parents
            return "" if inside else f"the link {path} leads to {real}"
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            return f"{path} is a device or a pipe"
        return f"{path} has the mode {status.st_mode:o}" if status.st_mode & 0o7022 else ""

    def _inside(self) -> list[Path]:
        return [
            Path(directory, name)
            for directory, directories, files in os.walk(self.out)
            for name in directories + files
        ]

    def _outside(self) -> list[tuple[str, str]]:
        found = []
        for directory, directories, files in os.walk(self.top):
            if Path(directory) == self.out.parent:
                directories.remove("out")
            for name in directories + files:
                path = Path(directory, name)
                found.append((str(path), path.read_text() if path.is_file() else ""))
        return sorted(found)

    def _empty(self) -> None:
        from remote_runtime.system.remove_tree import clear
        from remote_runtime.system.walk import Walker

        clear(Walker().place(str(self.out)))
        self.out.mkdir()


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """Make and extract archives until the time is up."""
    until = now() + seconds
    counts: Counter[str] = Counter(extracted=0, refused=0)
    broken = []
    with tempfile.TemporaryDirectory(prefix="ccm-archives-") as top:
        place = _Place(Path(os.path.realpath(top)))
        maker = _Maker(random.Random(seed), place.top)
        while now() < until:
            made = maker.make()
            counts["extracted" if place.extract(made) else "refused"] += 1
            harm = place.harm()
            if harm:
                broken.append(f"archive {sum(counts.values())}, {made.name}: {harm}")
    return Figures(dict(counts), broken)
