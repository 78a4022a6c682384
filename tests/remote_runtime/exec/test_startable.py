import os
import pwd
import shutil
import struct
import tempfile
import unittest
from typing import Any, Dict

from remote_runtime.overlay.permissions import is_foreign, other_formats
from tests.remote_runtime.fakes import DirectoryTest, item, run_items
from tests.texts import expect_text

_ACL = "system.posix_acl_access"
_DEFAULT_ACL = "system.posix_acl_default"


class StartableTest(DirectoryTest):
    """What keeps a planned command from starting fails in the preview as it does in the push."""

    def both(self, content: str, mode: str = "0755", **properties: Any) -> Dict[str, Any]:
        """The event of the push, once that of the preview has told the same."""
        program = self.path("program")
        resources = [
            self.file("program", 0, content=content, mode=mode),
            item("exec", "run", 1, properties=dict(properties, command=program)),
        ]
        told = run_items(resources, noop=True)[1]
        self.assertEqual(told["prediction"], "certain")
        self.assertFalse(os.path.exists(program))
        came = run_items(resources)[1]
        os.unlink(program)
        self.assertEqual((told["failed"], told["error"]), (came["failed"], came["error"]))
        return came

    def let_in(self, user: str, attribute: str = _ACL, may: int = 1) -> None:
        """Give a user the right to pass through the directory, which its mode does not."""
        everybody = 0xFFFFFFFF
        entries = [(1, 7, everybody), (2, may, pwd.getpwnam(user).pw_uid), (4, 0, everybody),
                   (16, may, everybody), (32, 0, everybody)]  # fmt: skip
        acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in entries)
        try:
            os.setxattr(self.root, attribute, acl)
        except OSError as error:
            self.skipTest("no access control lists here: %s" % error)

    def test_interpreters(self) -> None:
        """A script needs its interpreter, and that one the right to be executed."""
        self.assertFalse(self.both("#!/bin/sh -e\n")["failed"])
        self.assertFalse(self.both("#! /usr/bin/env  sh\n")["failed"])
        self.assertFalse(self.both("#! \t/bin/sh\t-e \n")["failed"])
        dos = self.both("#!/bin/sh\r\n")
        expect_text(dos["error"][0], self)
        missing = self.both("#!/usr/bin/no-such-interpreter\n")
        expect_text(missing["error"][0], self)
        self.write("interpreter", b"")
        denied = self.both("#!%s\n" % self.path("interpreter"))
        self.assertIn("Permission denied", denied["error"][0])

    def test_interpreters_of_interpreters(self) -> None:
        """A script may be the interpreter of another one, so often; each has to be startable."""
        self.write("0", b"#!/bin/sh\n")
        for number in range(1, 6):
            self.write(str(number), b"#!%s\n" % os.fsencode(self.path(str(number - 1))))
        for number in range(6):
            os.chmod(self.path(str(number)), 0o755)
        self.assertFalse(self.both("#!%s\n" % self.path("3"))["failed"])
        deep = self.both("#!%s\n" % self.path("4"))
        self.assertIn("Too many levels", deep["error"][0])
        os.chmod(self.path("0"), 0o644)
        self.assertIn("Permission denied", self.both("#!%s\n" % self.path("1"))["error"][0])
        os.unlink(self.path("0"))
        expect_text(self.both("#!%s\n" % self.path("1"))["error"][0], self)

    def test_interpreters_that_are_relative(self) -> None:
        """They are looked for where the command runs, as programs that are relative are."""
        expect_text(self.both("#!bin/sh\n", cwd=self.root)["error"][0], self)
        self.assertFalse(self.both("#!bin/sh\n", cwd="/")["failed"])
        run = item("exec", "./program", 1, properties={"cwd": self.root})
        resources = [self.file("program", 0, content="#!/no/such\n", mode="0755"), run]
        self.assertTrue(run_items(resources, noop=True)[1]["failed"])
        self.assertTrue(run_items(resources)[1]["failed"])

    @unittest.skipUnless(os.path.isdir("/proc/sys/fs"), "needs Linux")
    def test_no_interpreter(self) -> None:
        """What begins like a script and names nothing is no program."""
        if not other_formats():
            self.assertIn("Exec format error", self.both("#!\n")["error"][0])

    @unittest.skipUnless(os.path.isdir("/proc/sys/fs"), "needs Linux")
    def test_neither_script_nor_program(self) -> None:
        """The system starts no file that says nothing of how."""
        for content in ("", "echo hello\n"):
            self.assertIn("Exec format error", self.both(content)["error"][0])

    @unittest.skipUnless(os.path.exists("/proc/self/exe"), "needs Linux")
    @unittest.skipIf(other_formats(), "this system starts programs of other machines")
    def test_programs_of_other_machines(self) -> None:
        """They are told by their header; those that one machine runs in two sizes are let be."""
        with open("/proc/self/exe", "rb") as file:
            own = file.read(64)
        self.assertFalse(is_foreign(own))
        self.assertFalse(is_foreign(b"#!/bin/sh"))
        self.assertTrue(is_foreign(own[:18] + b"\xf3\x7f" + own[20:]))
        self.assertTrue(is_foreign(own[:5] + bytes([own[5] ^ 3]) + own[6:]))
        self.assertTrue(is_foreign(own[:6]))
        pairs = ((b"\x3e\0", b"\x03\0"), (b"\xb7\0", b"\x28\0"))
        for other in [small for large, small in pairs if own[18:20] == large]:
            self.assertFalse(is_foreign(own[:18] + other + own[20:]))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_users(self) -> None:
        """The command's user must reach the program and have the right to execute it."""
        script = "#!/bin/sh\nexit 0\n"
        self.root = tempfile.mkdtemp(prefix="ccm-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.root)
        denied = self.both(script, user="nobody")
        self.assertIn("Permission denied", denied["error"][0])
        self.let_in("nobody")
        self.assertFalse(self.both(script, user="nobody")["failed"])
        os.chmod(self.root, 0o700)  # and nobody that the list names
        self.assertIn("Permission denied", self.both(script, user="nobody")["error"][0])
        os.chmod(self.root, 0o710)
        self.let_in("nobody", _DEFAULT_ACL, 5)
        self.assertFalse(self.both(script, mode="0750", user="nobody")["failed"])
        denied = self.both(script, mode="0700", user="nobody")
        self.assertIn("Permission denied", denied["error"][0])
        os.removexattr(self.root, _DEFAULT_ACL)
        os.removexattr(self.root, _ACL)
        os.chmod(self.root, 0o755)
        self.assertFalse(self.both(script, user="nobody")["failed"])
        self.assertFalse(self.both(script, mode="0700")["failed"])
        denied = self.both(script, mode="0744", user="nobody")
        self.assertIn("Permission denied", denied["error"][0])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_scripts_that_cannot_be_read(self) -> None:
        """Their interpreter is started and fails, unless it does not read them."""
        self.root = tempfile.mkdtemp(prefix="ccm-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.root)
        os.chmod(self.root, 0o755)
        for content, returns, failed in (
            ("#!/bin/sh\n", [0], True),
            ("#!/bin/sh\n", [0, 2], False),
            ("#!/bin/true\n", [0], False),
        ):
            given = {"command": self.path("program"), "user": "nobody", "returns": returns}
            resources = [
                self.file("program", 0, content=content, mode="0711"),
                item("exec", "run", 1, properties=given),
            ]
            told, came = run_items(resources, noop=True)[1], run_items(resources)[1]
            os.unlink(self.path("program"))
            self.assertEqual((told["failed"], came["failed"]), (failed, failed), told["error"])
