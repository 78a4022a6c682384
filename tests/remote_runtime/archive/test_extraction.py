import bz2
import gzip
import hashlib
import lzma
import os
import shutil
import stat
import sys
import tarfile
import unittest
import unittest.mock
from typing import Any, List

from remote_runtime.archives.staging import file_mode
from remote_runtime.cancellation import Cancelled
from remote_runtime.system.files import Files
from tests.remote_runtime.archive.case import ArchiveTest
from tests.remote_runtime.archive.making import (
    APP,
    TIME,
    directory,
    hardlink,
    member,
    symlink,
    tar,
    zipped,
    zstd,
)
from tests.remote_runtime.fakes import ROOT, context, item, one, run_items
from tests.texts import expect_text

BOB = 61001

OUTSIDE = [
    member("../evil", b"x"),
    member("a/../../evil", b"x"),
    member("a/../b", b"x"),
    member("/etc/evil", b"x"),
    directory("../evil"),
    symlink("link", "/etc"),
    symlink("link", ".."),
    symlink("a/link", "../.."),
    symlink("a/link", "b/../../.."),
    symlink("a/link", "../b/../.."),
    symlink("link", ""),
    hardlink("link", "/etc/passwd"),
    hardlink("link", "../evil"),
    hardlink("link", "nowhere"),
    member("device", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
    member("device", type=tarfile.BLKTYPE),
    member("pipe", type=tarfile.FIFOTYPE),
    member("a" * 5000, b"x"),
]


class ChangedAfterwards(Files):
    """A file system in which somebody writes into a file as soon as its hash was found."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    def sha256(self, path: str, known: Any = None, follow: bool = False) -> str:
        found = super().sha256(path, known, follow)
        with open(path, "wb") as file:
            file.write(self.data)
        return found


class SwappedAfterwards(Files):
    """A file system in which somebody puts another directory there as soon as a hash was found."""

    def __init__(self, directory: str) -> None:
        super().__init__()
        self.swapped = directory

    def sha256(self, path: str, known: Any = None, follow: bool = False) -> str:
        found = super().sha256(path, known, follow)
        os.rename(self.swapped, self.swapped + ".old")
        os.rename(self.swapped + ".new", self.swapped)
        return found


class ExtractionTest(ArchiveTest):
    def mode(self, name: str) -> int:
        return stat.S_IMODE(os.lstat(self.path(name)).st_mode)

    def assert_refused(
        self, data: bytes, expected: str, name: str = "a.tar.gz", **more: Any
    ) -> None:
        """Extraction fails with this, nothing is written and the archive is not put in place."""
        self.serve(name, data)
        message = self.error(self.extracting(name, creates=self.path("out/app"), **more))
        self.assertRegex(message, expected)
        self.assertEqual(self.names("."), ["dl"])
        self.assertEqual(self.names("dl"), [])

    def test_tar(self) -> None:
        """tar, tar.gz and tgz give files, directories and links, then nothing is to do."""
        for name, data in (
            ("a.tar.gz", tar(APP)),
            ("b.tgz", tar(APP, style=tarfile.PAX_FORMAT)),
            ("c.tar", tar(APP, compressed=False)),
        ):
            self.serve(name, data)
            out = self.path("out-" + name)
            resource = self.archive(name, extract_parent=out, creates=out + "/app/bin/run")
            event = self.apply(resource)
            self.assertEqual((event["changed"], event["error"]), (True, []))
            self.assertEqual(sorted(os.listdir(out)), ["app"])
            self.assertEqual(os.readlink(out + "/app/current"), "bin/run")
            self.assertEqual(os.stat(out + "/app/bin/up").st_size, 100000)
            self.assertTrue(os.path.samefile(out + "/app/same", out + "/app/data"))
            self.assertEqual(self.apply(resource)["status"], "stable")
        self.assertEqual(len(self.web.requests), 3)

    def test_attributes(self) -> None:
        """Owner is the run's user, modes have no special bits and no writing, times are kept."""
        self.serve("a.tar.gz", tar(APP))
        self.apply(self.extracting())
        found = os.stat(self.path("out/app/bin/run"))
        self.assertEqual((found.st_uid, found.st_gid), (os.geteuid(), os.getegid()))
        self.assertEqual(self.mode("out/app/bin/run"), 0o755)
        self.assertEqual((self.mode("out"), self.mode("out/app/bin")), (0o755, 0o755))
        self.assertEqual(self.mode("out/app/secret"), 0o600)
        self.assertEqual((found.st_mtime, os.stat(self.path("out/app")).st_mtime), (TIME, TIME))

    def test_zip(self) -> None:
        """A zip gives its files with the modes that Unix wrote into it, symlinks included."""
        data = zipped(
            ("app/", b"", stat.S_IFDIR | 0o775),
            ("app/run", b"#!/bin/sh\n", stat.S_IFREG | 0o4755),
            ("app/plain", b"text"),
            ("app/link", b"run", stat.S_IFLNK | 0o777),
            ("deep/er/file", b"x" * 100000),
        )
        self.serve("a.zip", data)
        resource = self.extracting("a.zip", creates=self.path("out/app/run"))
        self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual((self.mode("out/app/run"), self.mode("out/app/plain")), (0o755, 0o644))
        self.assertEqual(os.readlink(self.path("out/app/link")), "run")
        self.assertEqual(self.read("out/deep/er/file"), b"x" * 100000)
        self.assertEqual(self.apply(resource)["status"], "stable")

    def test_compressions(self) -> None:
        """xz and bzip2 are unpacked as gzip is; what is cut off, or led outside, is refused."""
        plain = tar(APP, compressed=False)
        evil = tar([*APP, member("../evil", b"x")], compressed=False)
        kinds = (
            ("a.tar.xz", lzma.compress),
            ("a.txz", lzma.compress),
            ("a.tar.bz2", bz2.compress),
            ("a.tbz2", bz2.compress),
        )
        for name, pack in kinds:
            self.assert_refused(pack(evil), "refusing to extract ", name)
            self.assert_refused(pack(plain)[:-12], "is not a complete tar.", name)
            self.assert_refused(b"no archive", "is not a complete tar.", name)
        for name, pack in kinds:
            self.serve(name, pack(plain))
            directory = "out-" + name
            event = self.apply(self.extracting(name, extract_parent=self.path(directory)))
            self.assertFalse(event["failed"], event)
            self.assertEqual(self.names(directory + "/app/bin"), ["run", "up"])

    @unittest.skipUnless(shutil.which("zstd"), "this machine has no program zstd")
    def test_zstd(self) -> None:
        """A tar.zst is unpacked by the host's program: cut off, hostile and unread ones refused."""
        plain, evil = tar(APP, compressed=False), tar([*APP, member("../x", b"x")], False)
        bulky = tar([member("big", os.urandom(3 << 20)), *APP], compressed=False)
        for name in ("a.tar.zst", "a.tzst"):
            self.assert_refused(zstd(evil), "refusing to extract ", name)
            self.assert_refused(zstd(plain)[:-12], "is not a complete tar.", name)
            self.assert_refused(b"no archive", "is not a complete tar.", name)
            self.assert_refused(zstd(bulky), "more than", name, extract_max_size="1MiB")
        for name in ("a.tar.zst", "a.tzst"):
            self.serve(name, zstd(bulky))
            directory = "out-" + name
            event = self.apply(self.extracting(name, extract_parent=self.path(directory)))
            self.assertFalse(event["failed"], event)
            self.assertEqual(self.names(directory + "/app/bin"), ["run", "up"])

    def test_a_host_without_zstd(self) -> None:
        """The error names what to install, in a preview too."""
        self.serve("a.tar.zst", b"x")
        with unittest.mock.patch("remote_runtime.archives.member_reader.ZSTD", "no-such-zstd"):
            for noop in (False, True):
                message = self.error(self.extracting("a.tar.zst"), noop=noop)
                self.assertIn("tar.zst archives", message)
                self.assertIn("no-such-zstd", message)

    def test_a_url_without_an_ending(self) -> None:
        """The name says what kind the archive is."""
        self.serve("download", tar(APP))
        event = self.apply(self.extracting("a.tar.gz", url=self.web.url("/download")))
        self.assertFalse(event["failed"], event)
        self.assertEqual(self.names("out/app/bin"), ["run", "up"])

    def test_a_kind_that_the_host_cannot_unpack(self) -> None:
        """A preview, too, says which module of Python is missing."""
        self.serve("a.tar.xz", b"x")
        with unittest.mock.patch.dict(sys.modules, {"lzma": None}):
            for noop in (False, True):
                message = self.error(self.extracting("a.tar.xz"), noop=noop)
                expect_text(message, self)

    def test_zip_of_windows(self) -> None:
        """Backslashes separate directories in a zip of DOS, and cannot lead outside."""
        for name in ("..\\evil", "a\\..\\..\\evil", "\\evil"):
            self.assert_refused(
                zipped(("good", b"x"), (name, b"x")), "refusing to extract ", "a.zip"
            )
        self.serve("a.zip", zipped(("app\\", b""), ("app\\bin\\run.sh", b"x")))
        self.assertFalse(self.apply(self.extracting("a.zip"))["failed"])
        self.assertEqual(self.names("out/app"), ["bin"])
        self.assertEqual(self.names("out/app/bin"), ["run.sh"])
        self.serve("b.zip", zipped(("a\\b", b"x", stat.S_IFREG | 0o644)))
        self.apply(self.extracting("b.zip", extract_parent=self.path("unix")))
        self.assertEqual(self.names("unix"), ["a\\b"])

    def test_hostile_tar(self) -> None:
        """One member that leads outside, behind good ones, and nothing at all is written."""
        for entry in OUTSIDE:
            self.assert_refused(tar([*APP, entry]), "refusing to extract ")

    def test_hostile_zip(self) -> None:
        """The same for zip: paths, symlinks and devices."""
        entries: List[Any] = [
            ("../evil", b"x"),
            ("/etc/evil", b"x"),
            ("a/../../evil", b"x", stat.S_IFREG | 0o644),
            ("link", b"/etc", stat.S_IFLNK | 0o777),
            ("link", b"../x", stat.S_IFLNK | 0o777),
            ("device", b"", stat.S_IFCHR | 0o666),
        ]
        for entry in entries:
            self.assert_refused(zipped(("good", b"x"), entry), "refusing to extract ", "a.zip")

    def test_through_a_symlink(self) -> None:
        """No member lies below a file, a loop or what becomes a symlink only after it."""
        for entries in (
            [member("s/file", b"x"), symlink("s", "d")],
            [symlink("s", "d"), directory("s")],
            [symlink("s", "s"), member("s/file", b"x")],
            [symlink("a", "b"), symlink("b", "a"), member("a/file", b"x")],
            [member("f", b"x"), symlink("s", "f"), member("s/file", b"x")],
            [directory("d"), symlink("s", "d"), symlink("s/up", "../.."), member("s/up/x", b"x")],
            [directory("d/e"), symlink("s", "d/e"), symlink("s/up", "../../..")],
            [symlink("s", "a/b"), symlink("a/b/t", "../../../x"), member("s/t/x", b"x")],
            [directory("d"), symlink("s", "d"), member("s/../../x", b"x")],
            [directory("a/b"), symlink("x", "a/b"), symlink("y", "x/.."), member("y/../z", b"x")],
            [member("s", b"x"), member("s/file", b"x")],
            [symlink("s", "d"), hardlink("h", "s")],
        ):
            self.assert_refused(tar(entries), "refusing to extract ")

    def test_below_a_symlink_that_stays_inside(self) -> None:
        """A member below a symlink of the archive is extracted where the symlink leads."""
        entries = [
            directory("app/lib"),
            symlink("app/lib64", "lib"),
            member("app/lib64/x", b"x"),
            symlink("app/usr/lib64", "../lib64"),
            member("app/usr/lib64/sub/y", b"y"),
            symlink("app/lib64/here", "."),
            member("app/lib64/here/here/z", b"z"),
            hardlink("app/lib64/same", "app/usr/lib64/x"),
            symlink("app/lib64/up", "../data"),
            member("app/lib/up/deep", b"d"),
            symlink("app/new", "later"),
            member("app/new/file", b"n"),
        ]
        for number in range(2):  # over what is there as well
            name, last = "%d.tar.gz" % number, "app/%d" % number
            self.serve(name, tar([*entries, member(last, b"")]))
            event = self.apply(self.extracting(name, creates=self.path("out", last)))
            self.assertFalse(event["failed"], event)
        self.assertEqual(self.names("out/app/lib"), ["here", "same", "sub", "up", "x", "z"])
        self.assertEqual(self.names("out/app/data"), ["deep"])
        self.assertEqual(self.names("out/app/later"), ["file"])
        self.assertEqual(os.readlink(self.path("out/app/lib64")), "lib")
        self.assertEqual(os.readlink(self.path("out/app/usr/lib64")), "../lib64")
        self.assertTrue(os.path.samefile(self.path("out/app/lib/x"), self.path("out/app/lib/same")))

    def test_a_symlink_of_the_host_is_not_followed(self) -> None:
        """Where the host has a symlink to elsewhere in the way of one of the archive."""
        os.mkdir(self.path("elsewhere"))
        os.makedirs(self.path("out/app"))
        os.symlink(self.path("elsewhere"), self.path("out/app/lib"))
        entries = [directory("app/lib"), symlink("app/lib64", "lib"), member("app/lib64/x", b"x")]
        self.serve("a.tar.gz", tar(entries))
        expect_text(self.error(self.extracting()), self)
        self.assertEqual(self.names("elsewhere"), [])

    def test_bombs(self) -> None:
        """More content, more members or a longer header than allowed: refused unwritten."""
        zeros = [member("zeros", b"\0" * 3000000)]
        self.assert_refused(tar(zeros), "more than 2097152 bytes", extract_max_size="2MiB")
        flat = zipped(*[("f%d" % n, b"\0" * 100000) for n in range(50)])
        self.assert_refused(flat, "more than 2097152 bytes", "a.zip", extract_max_size="2MiB")
        many = tar([member("f%d" % n) for n in range(11)])
        self.assert_refused(many, "more than 10 members", extract_max_members=10)
        behind = tar(APP) + gzip.compress(b"\0" * 5000000)
        self.assert_refused(behind, "too much data after", extract_max_size="2MiB")
        header = tar([member("h", b"x" * 3000000, type=tarfile.XHDTYPE)])
        self.assert_refused(header, "a header has an invalid size of \\d+ bytes")
        less = tar([*APP, member("n", pax_headers={"size": "-512"})], style=tarfile.PAX_FORMAT)
        self.assert_refused(less, "negative size|not a complete tar.gz")

    def test_headers_that_take_long(self) -> None:
        """Rows of digits and overlapping records, for which Python takes hours or all memory."""
        for records in (b"1" * 1_000_000, b"5 aa" * 200_000 + b"=\n"):
            for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE):
                entries = [member("x", records, type=kind), member("a")]
                self.assert_refused(tar(entries), "is not a complete tar.gz archive: a")

    def test_bombs_of_headers(self) -> None:
        """Headers that Python keeps as a whole, whatever they unpack to, are bounded."""
        text = "k%d=" + "v" * 900000 + "\n"
        records = [("900011 " + text % n).encode() for n in (1, 2)]
        both = [member("g", record, type=tarfile.XGLTYPE) for record in records]
        self.assert_refused(tar([both[0], member("a"), both[1], member("b")]), "global headers of")
        sparse = {"major": "1", "minor": "0", "name": "x", "realsize": "1"}
        fields = {"GNU.sparse." + key: value for key, value in sparse.items()}
        parts = member("x", b"3000000\n" + b"0\n" * 3000000, pax_headers=fields)
        self.assert_refused(tar([parts], style=tarfile.PAX_FORMAT), "headers of more than 4194304")
        names = zipped(*[("%d/" % n + "x" * 60000, b"") for n in range(25)])
        refusal = "its central directory has 1501\\d+ bytes"
        self.assert_refused(names, refusal, "a.zip", extract_max_members=10)

    def test_work_of_a_member(self) -> None:
        """A member costs the same whatever their number, so that 150,000 of them end in time."""

        def calls(name: str, count: int) -> int:
            paths = ["%s%d/%d/f%d" % (name, count, n // 50, n) for n in range(count)]
            packed = zipped(*[(path, b"x") for path in paths])
            data = packed if name == "a.zip" else tar([member(path, b"x") for path in paths])
            name = "%d-%s" % (count, name)
            self.serve(name, data)
            made = self.extracting(name, creates=self.path("out/" + paths[0]))
            counted = 0

            def count_call(frame: Any, event: str, argument: Any) -> None:
                nonlocal counted
                counted += event in ("call", "c_call")

            sys.setprofile(count_call)
            try:
                event = self.apply(made)
            finally:
                sys.setprofile(None)
            self.assertEqual((event["changed"], event["error"]), (True, []))
            return counted

        for name in ("a.tar.gz", "a.zip"):
            few, more, maximum = (calls(name, count) for count in (200, 400, 1200))
            self.assertLess((maximum - more) / 800, 1.5 * (more - few) / 200, name)

    def test_broken(self) -> None:
        """An archive that is cut off, damaged, of another kind or empty is refused whole."""
        good = tar(APP)
        plain = tar(APP, compressed=False)
        hurt = bytearray(plain)
        hurt[1024 + 10] ^= 0xFF
        flipped = bytearray(good)
        flipped[-6] ^= 0xFF
        for data in (good[:-20], good[:150], bytes(flipped), plain, b"", b"<html>"):
            self.assert_refused(data, "not a complete tar.gz archive")
        for data in (plain[:2000], bytes(hurt), good, b"", b"<html>" * 200):
            self.assert_refused(data, "not a complete tar archive", "a.tar")
        packed = zipped(("a", b"x" * 1000), ("b", b"y" * 1000))
        for data in (packed[:-30], good, b"", b"<html>"):
            self.assert_refused(data, "not a complete zip archive", "a.zip")

    def test_a_damaged_zip_leaves_nothing(self) -> None:
        """What shows only while it is unpacked undoes what was written so far."""
        packed = bytearray(zipped(("a", os.urandom(5000)), ("b", os.urandom(5000))))
        early = bytearray(packed)  # its members would stand before its beginning
        early[-6] += 10
        packed[8000] ^= 0xFF
        for data in (packed, early):
            self.serve("a.zip", bytes(data))
            message = self.error(self.extracting("a.zip", creates=self.path("out/a")))
            self.assertIn("not a complete zip archive", message)
            self.assertEqual((self.names("out"), self.names("dl")), ([], []))

    def test_beside_what_is_there(self) -> None:
        """Existing directories are filled and keep their mode, files are replaced, others stay."""
        os.makedirs(self.path("out/app/bin"))
        os.chmod(self.path("out/app"), 0o700)
        self.write("out/app/mine", b"mine")
        held = self.write("out/app/data", b"old")
        os.symlink(held, self.path("out/app/secret"))
        self.serve("a.tar.gz", tar(APP))
        self.assertEqual(self.apply(self.extracting())["error"], [])
        self.assertEqual((self.mode("out/app"), self.read("out/app/mine")), (0o700, b"mine"))
        self.assertEqual(
            (self.read("out/app/data"), self.read("out/app/secret")[:1]), (b"x" * 100000, b"s")
        )
        self.assertEqual(self.names("out"), ["app"])

    def test_in_the_way(self) -> None:
        """A link or file where a directory goes, or the reverse, is refused before anything."""
        self.serve("a.tar.gz", tar(APP))
        os.makedirs(self.path("elsewhere"))
        for prepare, expected in (
            (lambda: os.symlink(self.path("elsewhere"), self.path("out/app")), "is a symlink"),
            (lambda: self.write("out/app"), "is a file"),
            (lambda: os.makedirs(self.path("out/app/data")), "is a directory"),
        ):
            os.mkdir(self.path("out"))
            prepare()
            self.assertRegex(self.error(self.extracting()), "out/app(/data)? " + expected)
            self.assertEqual((self.names("elsewhere"), self.names("dl")), ([], []))
            self.assertEqual(self.names("out"), ["app"])
            self.setUp()
            os.makedirs(self.path("elsewhere"))
            self.serve("a.tar.gz", tar(APP))

    def test_twice_the_same_path(self) -> None:
        """Of a path that stands in an archive twice the last one counts, links written over."""
        entries = [
            member("victim", b"safe"),
            symlink("a", "victim"),
            symlink("a", "other"),
            member("b", b"old"),
            hardlink("c", "b"),
            member("b", b"new"),
            hardlink("b", "b"),
        ]
        self.serve("a.tar.gz", tar(entries))
        self.assertEqual(self.apply(self.extracting())["error"], [])
        self.assertEqual(os.readlink(self.path("out/a")), "other")
        self.assertEqual(
            [self.read("out/" + n) for n in ("victim", "b", "c")], [b"safe", b"new", b"old"]
        )

    def test_odd_names(self) -> None:
        """Names that are no UTF-8, hold blanks or begin with a dash are kept byte for byte."""
        names = ["./-rf", "with blank", "b\udcff", "ü", "./"]
        try:
            os.fsencode("".join(names))
        except UnicodeEncodeError:
            self.skipTest("this locale cannot say such a name")
        self.serve("a.tar.gz", tar([member(n, b"x") for n in names[:-1]] + [directory("./")]))
        self.assertEqual(self.apply(self.extracting())["error"], [])
        self.assertEqual(self.names("out"), sorted(["-rf", "with blank", "b\udcff", "ü"]))

    def test_no_program_of_the_host(self) -> None:
        """Neither tar nor unzip is needed."""
        self.serve("a.tar.gz", tar(APP))
        self.serve("b.zip", zipped(("b", b"b")))
        for name, made in (("a.tar.gz", "app"), ("b.zip", "b")):
            shared = context()  # type: Any
            shared.commands.run = lambda *words, **how: self.fail("it starts %r" % (words,))
            resource = self.extracting(name, creates=self.path("out", made))
            self.assertEqual(one(run_items([resource], shared=shared))["error"], [])
        self.assertEqual(self.names("out"), ["app", "b"])

    def test_timeout_and_cancel(self) -> None:
        """An extraction that takes too long, or is cancelled, leaves nothing behind."""
        self.serve("a.tar.gz", tar(APP))
        message = self.error(self.extracting(extract_timeout="1ns"))
        self.assertIn("raise extract_timeout", message)
        self.assertEqual((self.names("."), self.names("dl")), (["dl"], []))

        def stop(index: int, action: str) -> None:
            if action.startswith("extracting"):
                shared.cancellation.set("enough")

        shared = context(on_progress=stop)
        with self.assertRaises(Cancelled):
            run_items([self.extracting()], shared=shared)
        self.assertEqual(self.names("dl"), [])
        self.assertFalse(os.path.exists(self.path("out/app")))


class StateTest(ArchiveTest):
    """When is what done: the documents' tables, with what ``creates`` decides."""

    def setUp(self) -> None:
        super().setUp()
        self.serve("a.tar.gz", tar(APP))
        self.creates = self.path("out/app/bin/run")

    def resource(self, **properties: Any) -> Any:
        return self.extracting(creates=self.creates, **properties)

    def test_noop_wording(self) -> None:
        """Each preview has the documents' words, and the run then does just that."""
        sentence = "Would have downloaded. Would have extracted"
        resource = self.resource(cleanup=True)
        event = self.apply(resource, noop=True)
        self.assertEqual(event["noop_message"], sentence + ". Would have cleaned up")
        self.assertEqual((self.names("."), self.web.requests), (["dl"], []))
        self.assertEqual(self.apply(self.resource(), noop=True)["noop_message"], sentence)
        self.assertEqual(self.apply(self.extracting(), noop=True)["noop_message"], sentence)
        self.apply(resource)
        self.assertEqual((self.names("dl"), self.names("out")), ([], ["app"]))
        self.assertEqual(self.apply(resource)["status"], "stable")
        self.assertEqual(self.apply(resource, noop=True)["status"], "stable")

    def test_final_ensure(self) -> None:
        """The event says whether the archive file is there in the end, whatever came of it."""
        for properties, final in (
            ({}, "present"),
            ({"ensure": "absent"}, "absent"),
            ({"ensure": "absent"}, "absent"),
        ):
            self.assertEqual(self.apply(self.archive(**properties))["final_ensure"], final)
        for _ in range(2):
            event = self.apply(self.resource(cleanup=True))
            told = event["requested_ensure"], event["final_ensure"], event["error"]
            self.assertEqual(told, ("present", "absent", []))

    def test_creates_decides(self) -> None:
        """Where creates exists, a missing or wrong archive is not downloaded again."""
        os.makedirs(os.path.dirname(self.creates))
        self.write("out/app/bin/run")
        self.assertEqual(self.apply(self.resource())["status"], "stable")
        self.write("dl/a.tar.gz", b"other")
        wrong = self.resource(checksum="0" * 64, owner="4711")
        self.assertEqual(self.apply(wrong)["status"], "stable")
        self.assertEqual(self.web.requests, [])

    def test_left_over(self) -> None:
        """Where creates exists, cleanup removes an archive that was left over, nothing else."""
        os.makedirs(os.path.dirname(self.creates))
        self.write("out/app/bin/run")
        self.write("dl/a.tar.gz", b"left over")
        resource = self.resource(cleanup=True)
        expect_text(self.apply(resource, noop=True)["noop_message"], self)
        self.assertTrue(self.apply(resource)["changed"])
        self.assertEqual((self.names("dl"), self.web.requests), ([], []))

    def test_only_extracted(self) -> None:
        """An archive that is there is extracted without a download when creates is missing."""
        self.write("dl/a.tar.gz", tar(APP), 0o600)
        preview = self.apply(self.resource(), noop=True)
        expect_text(preview["noop_message"], self)
        self.assertEqual(self.apply(self.resource())["error"], [])
        self.assertEqual((self.names("out"), self.web.requests), (["app"], []))

    def test_changed_after_its_checksum(self) -> None:
        """What others write into an archive once its checksum was found is not extracted."""
        good, bad = tar(APP), tar([member("app/bin/run", b"#!/bin/evil")])
        resource = self.resource(checksum=hashlib.sha256(good).hexdigest())
        for data in (bad, bad.ljust(len(good), b"\0")):
            self.write("dl/a.tar.gz", good)
            os.chmod(self.path("dl/a.tar.gz"), 0o666)
            message = self.error(resource, files=ChangedAfterwards(data))
            expect_text(message, self)
            self.assertEqual((self.names("dl"), self.web.requests), (["a.tar.gz"], []))
            self.assertFalse(os.path.exists(self.creates))
            self.assertNotIn("app", os.listdir(self.root) + self.names("out"))

    @unittest.skipUnless(ROOT, "only root gives folders away")
    def test_swapped_after_its_checksum(self) -> None:
        """Nor is an archive of root's in the place of another one, whose directory is root's as
        well: the one above is of somebody who may give both another name.
        """
        good, bad = tar(APP), tar([member("app/bin/run", b"#!/bin/old")])
        for name, data in (("home/dl", good), ("home/dl.new", bad.ljust(len(good), b"\0"))):
            os.makedirs(self.path(name))
            self.write(name + "/a.tar.gz", data)
        os.chown(self.path("home"), BOB, BOB)
        resource = self.resource(checksum=hashlib.sha256(good).hexdigest())
        resource = resource._replace(name=self.path("home/dl/a.tar.gz"))
        message = self.error(resource, files=SwappedAfterwards(self.path("home/dl")))
        expect_text(message, self)
        self.assertFalse(os.path.exists(self.creates))
        self.assertEqual(self.web.requests, [])

    def test_others_may_write_it(self) -> None:
        """An archive that others may write and have not is extracted, and nothing else is left."""
        self.write("dl/a.tar.gz", tar(APP))
        os.chmod(self.path("dl/a.tar.gz"), 0o666)
        resource = self.resource(checksum=hashlib.sha256(tar(APP)).hexdigest())
        self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual((self.names("dl"), self.names("out")), (["a.tar.gz"], ["app"]))
        self.assertEqual(self.web.requests, [])

    def test_without_creates(self) -> None:
        """Without creates an archive that is there was extracted; one that failed is not there."""
        good = self.web.answers.pop("/a.tar.gz")
        self.serve("a.tar.gz", tar([*APP, member("../evil")]))
        self.error(self.extracting())
        self.web.answers["/a.tar.gz"] = good
        self.assertEqual(self.apply(self.extracting())["error"], [])
        self.assertEqual(self.names("out"), ["app"])
        self.assertEqual(self.apply(self.extracting())["status"], "stable")

    def test_creates_that_never_comes(self) -> None:
        """An archive that does not bring what creates names fails and says so, with what was done;
        it is not removed."""
        for cleanup in (True, False):
            for name in self.names("dl"):
                os.remove(self.path("dl", name))
            resource = self.extracting(creates=self.path("out/elsewhere"), cleanup=cleanup)
            event = self.apply(resource)
            message = "\n".join(event["error"])
            self.assertTrue(message.startswith("desired state not achieved: "), message)
            self.assertIn("but %s does not exist" % self.path("out/elsewhere"), message)
            self.assertEqual([c["what"] for c in event["changes"]], ["ensure", "extracted"])
            self.assertEqual((self.names("dl"), self.names("out")), (["a.tar.gz"], ["app"]))

    def test_a_download_that_is_not_kept_is_no_change(self) -> None:
        """Where the extraction fails nothing was changed, the archive included."""
        self.serve("a.tar.gz", tar([*APP, member("../evil")]))
        event = self.apply(self.extracting())
        self.assertEqual(
            (event["status"], event["changed"], event["changes"]), ("failed", False, [])
        )
        self.assertEqual(self.names("dl"), [])

    def test_absent_keeps_what_was_extracted(self) -> None:
        """Absent removes the archive and leaves what was extracted from it."""
        self.apply(self.resource())
        self.assertTrue(self.apply(self.resource(ensure="absent"))["changed"])
        self.assertEqual((self.names("dl"), self.names("out")), ([], ["app"]))

    def test_what_a_preview_provides(self) -> None:
        """Behind a pending extraction a file below it is uncertain, creates is known."""
        behind = self.file("out/app/etc/conf", 1, content="x")
        run = item("exec", "true", 2, properties={"creates": self.creates})
        events = run_items([self.resource(), behind, run], noop=True)
        self.assertEqual([e["failed"] for e in events], [False] * 3)
        self.assertEqual(events[1]["prediction"], "unknown")
        self.assertFalse(events[2]["changed"])

    def test_extract_parent_is_a_file(self) -> None:
        """A file where extract_parent should be is told in the preview already."""
        self.write("out")
        for noop in (True, False):
            message = self.error(self.extracting(), noop=noop)
            expect_text(message, self)


class ModeTest(unittest.TestCase):
    def test_file_modes(self) -> None:
        """Others may not write, nobody gets special bits, x goes with the owner's."""
        cases = ((0o777, 0o755), (0o6755, 0o755), (0o444, 0o644), (0o000, 0o600), (0o611, 0o600))
        for given, wanted in cases:
            self.assertEqual(file_mode(given), wanted)
