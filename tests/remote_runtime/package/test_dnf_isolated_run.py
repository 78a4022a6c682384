import os
import shutil
import subprocess
import tempfile
import unittest
from subprocess import PIPE
from unittest import mock

from remote_runtime.packages.dnf import isolated_run
from remote_runtime.system.process.commands import Result
from tests.remote_runtime.fake_commands import FakeCommands, make_context
from tests.remote_runtime.fakes import ROOT


class AsideTest(unittest.TestCase):
    def test_a_push(self) -> None:
        """There a command is what it is."""
        argv = ["dnf", "install", "x"]
        self.assertEqual(isolated_run.isolated(make_context(FakeCommands()), argv), tuple(argv))

    @unittest.skipUnless(ROOT, "needs root")
    def test_nothing_is_left(self) -> None:
        """What is written where package managers write is gone with the command, whose output and
        exit code are its own."""
        path = "/var/log/ccm-test-aside"
        script = "echo kept > %s && cat %s; exit 7" % (path, path)
        argv = isolated_run.isolated(make_context(FakeCommands(), noop=True), ["sh", "-c", script])
        done = subprocess.run(argv, stdout=PIPE, stderr=PIPE, universal_newlines=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (7, "kept\n"), done.stderr)
        self.assertFalse(os.path.exists(path))

    @unittest.skipUnless(ROOT, "needs root")
    def test_a_missing_cache(self) -> None:
        """The command can create it, and it is gone with the command."""
        directory = tempfile.mkdtemp(dir="/var")
        self.addCleanup(shutil.rmtree, directory)
        with mock.patch.object(isolated_run, "CACHES", (directory + "/dnf",)):
            context = make_context(FakeCommands(), noop=True)
            argv = isolated_run.isolated(context, ["mkdir", directory + "/dnf"])
        done = subprocess.run(argv, stdout=PIPE, stderr=PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(directory), [])

    @unittest.skipUnless(ROOT, "needs root")
    def test_rpm(self) -> None:
        """Only the directories that rpm writes to are set aside, because each takes time."""
        context = make_context(FakeCommands(), noop=True)
        argv = isolated_run.isolated(context, ["rpm", "-q", "x"])
        self.assertIn("/var/lib/rpm", argv)
        self.assertNotIn("/var/lib/dnf", argv)
        self.assertIn("/var/lib/dnf", isolated_run.isolated(context, ["dnf", "-q", "x"]))

    @unittest.skipUnless(ROOT, "needs root")
    def test_a_directory_to_keep(self) -> None:
        """What is written to it stays, though it is where all else goes."""
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        script = "echo kept > %s/a; echo gone > %s" % (directory, directory + "-gone")
        context = make_context(FakeCommands(), noop=True)
        argv = isolated_run.isolated(context, ["sh", "-c", script], directory)
        done = subprocess.run(argv, stdout=PIPE, stderr=PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(directory), ["a"])
        self.assertFalse(os.path.exists(directory + "-gone"))

    def test_not_begun(self) -> None:
        """rpm ends with the number of packages that are missing, which is no failure of ours."""
        self.assertTrue(isolated_run.has_failed(Result(125, "", "mount: permission denied")))
        self.assertFalse(isolated_run.has_failed(Result(125, "package x is not installed\n", "")))
        self.assertIn(
            "permission denied", isolated_run.not_begun("mount: permission denied").message
        )
