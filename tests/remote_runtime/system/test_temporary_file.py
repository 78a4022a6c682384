import os
import struct
import subprocess
import sys
import unittest
from typing import Any, List

from remote_runtime.system.extended_attributes import Attributes, with_mode
from remote_runtime.system.files import Files
from tests.remote_runtime.fakes import ROOT, DirectoryTest

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
NOBODY, BOB = 0xFFFFFFFF, 61001
OWNER, USER, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x10, 0x20

# Reads whatever appears in a directory, as Bob, until it is told to end; then says what it has
# read.
READER = """
import os, select, sys
os.setgid(61001), os.setuid(61001)
seen = set()
print(flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for name in os.listdir(sys.argv[1]):
        try:
            with open(os.path.join(sys.argv[1], name)) as file:
                seen.add(file.read(7))
        except OSError:
            pass
print(*sorted(seen - {""}))
"""


def acl(*entries: Any) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def of_bob(allowed: int = 6, mask: int = 6) -> bytes:
    """An ACL that lets Bob read and write."""
    return acl(
        (OWNER, 6, NOBODY),
        (USER, allowed, BOB),
        (GROUP, 4, NOBODY),
        (MASK, mask, NOBODY),
        (OTHER, 0, NOBODY),
    )


class ModeTest(unittest.TestCase):
    def test_an_acl_with_a_mode(self) -> None:
        """A mode changes the mask and leaves the group, or the group where there is no mask."""
        self.assertEqual(with_mode(of_bob(), 0o640), of_bob(mask=4))
        bare = acl((OWNER, 7, NOBODY), (GROUP, 7, NOBODY), (OTHER, 7, NOBODY))
        wanted = acl((OWNER, 6, NOBODY), (GROUP, 4, NOBODY), (OTHER, 0, NOBODY))
        self.assertEqual(with_mode(bare, 0o640), wanted)


@unittest.skipUnless(ROOT, "only root gives files away")
class AclTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.root, 0o755)
        path = self.write("a", b"old")
        try:
            os.setxattr(path, ACCESS, of_bob())
        except OSError:
            self.skipTest("this file system has no ACLs")

    def replace(self, content: bytes, mode: int, name: str = "a") -> None:
        temporary = Files().temporary(self.path(name))
        temporary.write(content)
        temporary.finish(0, 0, mode, Attributes())
        temporary.commit()

    def test_an_acl_is_carried_over(self) -> None:
        """An ACL stays as setting the mode leaves it."""
        self.replace(b"new", 0o640)
        self.assertEqual(os.getxattr(self.path("a"), ACCESS), of_bob(mask=4))
        self.assertEqual(os.stat(self.path("a")).st_mode & 0o7777, 0o640)

    def test_an_acl_that_was_not_there(self) -> None:
        """A file without an ACL does not get the one that its directory gives to new files."""
        os.removexattr(self.path("a"), ACCESS)
        os.setxattr(self.root, DEFAULT, of_bob())
        self.replace(b"new", 0o644)
        self.assertNotIn(ACCESS, os.listxattr(self.path("a")))
        self.replace(b"new", 0o640, "fresh")
        self.assertIn(ACCESS, os.listxattr(self.path("fresh")))

    def test_who_could_read_the_old_content_races(self) -> None:
        """Whom the old ACL lets read never reads content that the new mode keeps from them."""
        command = [sys.executable, "-c", READER, self.root]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdout.readline()
            for _ in range(200):
                os.setxattr(self.path("a"), ACCESS, of_bob())
                self.replace(b"private", 0o600)
                self.write("b", b"old", 0o644)
                os.setxattr(self.path("b"), ACCESS, of_bob())
                os.rename(self.path("b"), self.path("a"))
            reader.stdin.write(b"\n")
            reader.stdin.close()
            seen: List[bytes] = reader.stdout.read().split()
        self.assertEqual(seen, [b"old"])
