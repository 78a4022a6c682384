"""Package files that unpack to more than a preview takes."""

import io
import os
import shutil
import subprocess
import tarfile
import time
import unittest
from unittest import mock

from remote_runtime.packages import package_inspection
from remote_runtime.packages.apt.package_files import Debs
from remote_runtime.packages.package_inspection import Probe

from ..fakes import DirectoryTest, context

CONTROL = b"Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: a\n"


def tar(name, data):
    """A compressed archive with one file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def deb(files):
    """The bytes of a package with this compressed archive of files."""
    packed = b"!<arch>\n"
    for name, data in (
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", tar("control", CONTROL)),
        ("data.tar.gz", files),
    ):
        head = "%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, "100644", len(data))
        packed += head.encode() + data + b"\n" * (len(data) % 2)
    return packed


@unittest.skipUnless(shutil.which("dpkg-deb"), "needs dpkg-deb")
class PackageSizesTest(DirectoryTest):
    def contents(self, data):
        """The contents of a package by its name, as a preview reads them."""
        path = self.write("a.deb", data)
        found = context(noop=True)
        run = found.commands.run

        def keeping(argv, **options):
            self.unpacked += [argv] if "--raw-extract" in argv else []
            return run(argv, **options)

        self.unpacked = []
        with mock.patch.object(found.commands, "run", keeping):
            return Probe(found).of_file("a", "1", path, Debs(found, keeping))

    def test_a_package_that_would_fill_the_disk(self):
        """A package file that unpacks to more than 256 MiB, or to more than half of the free space,
        is not unpacked."""
        small = deb(tar("usr/a", b"1"))
        self.assertEqual([m.path for m in self.contents(small)["a"].members], ["/usr", "/usr/a"])
        self.assertEqual(len(self.unpacked), 1)
        self.assertEqual(self.contents(deb(tar("usr/a", bytes(257 << 20)))), {})
        self.assertEqual(self.unpacked, [])
        with mock.patch.object(package_inspection, "MAX_SHARE", 1 << 50):
            self.assertEqual(self.contents(small), {})
        self.assertEqual(self.unpacked, [])

    def test_a_sparse_file(self):
        """A file that is almost only a hole of a terabyte is not read."""
        os.truncate(self.write("a"), 1 << 40)
        argv = ["tar", "-C", self.root, "--sparse", "-czf", "-", "a"]
        data = subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout
        began = time.monotonic()
        self.assertEqual(self.contents(deb(data)), {})
        self.assertEqual(len(self.unpacked), 1)
        self.assertLess(time.monotonic() - began, 60)
