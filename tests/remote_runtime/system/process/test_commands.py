import os
import threading
import unittest
from typing import Any

from remote_runtime.cancellation import Cancellation, Cancelled
from remote_runtime.stdlib_light import spawning
from remote_runtime.system.accounts import Accounts
from remote_runtime.system.files import Files
from remote_runtime.system.process.commands import DEFAULT_PATH, CommandNotStartedError, Commands
from tests.remote_runtime.controller import alive, within
from tests.remote_runtime.fakes import ROOT, DirectoryTest


class CommandsTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.cancellation = Cancellation()
        self.commands = Commands(Accounts(), self.cancellation)

    def shell(self, script: str, **options: Any) -> Any:
        return self.commands.run(["/bin/sh", "-c", script], **options)

    def test_environment(self) -> None:
        """A command gets the promised environment and nothing of ours."""
        os.environ["CCM_TEST_LEAK"] = "1"
        self.addCleanup(os.environ.pop, "CCM_TEST_LEAK")
        result = self.commands.run(["env"], env={"COLOUR": "deep blue"})
        got = dict(line.split("=", 1) for line in result.stdout.splitlines())
        self.assertEqual(
            sorted(got), sorted("PATH LANG LC_ALL HOME USER LOGNAME SHELL COLOUR".split())
        )
        self.assertEqual((got["PATH"], got["LC_ALL"]), (DEFAULT_PATH, "C"))

    def test_result(self) -> None:
        """Code, stdout and stderr come back, and input goes in whole."""
        result = self.shell("cat; echo err >&2; exit 7", input=b"x" * 300000, limit=1 << 20)
        self.assertEqual((result.code, len(result.stdout), result.stderr), (7, 300000, "err\n"))

    def test_not_started(self) -> None:
        """A program that is missing, not executable or in no directory is told apart."""
        plain = self.write("plain", b"#!/bin/sh\n")
        for argv, words in (
            (["/nonexistent/p"], "does not exist"),
            (["surely-no-such-program"], "not found"),
            ([plain], "not executable"),
            ([self.write("broken", b"#!/nonexistent/i\n", 0o755)], "could not be started"),
        ):
            with self.assertRaisesRegex(CommandNotStartedError, words):
                self.commands.run(argv)
        with self.assertRaisesRegex(CommandNotStartedError, "working directory"):
            self.commands.run(["true"], cwd=self.path("none"))

    def test_path(self) -> None:
        """A program is looked up in the path that the command is given."""
        self.write("tool", b"#!/bin/sh\necho found\n", 0o755)
        self.assertEqual(self.commands.run(["tool"], path=self.root).stdout, "found\n")

    def test_timeout(self) -> None:
        """At its timeout a command is killed with all that it started, willing or not."""
        script = "trap '' TERM; sleep 3600 & echo $! > %s; sleep 3600" % self.path("pid")
        result = self.shell(script, timeout=1)
        self.assertTrue(result.timed_out)
        child = int(self.read("pid"))
        self.assertTrue(within(10, lambda: not alive(child)))

    def test_daemon(self) -> None:
        """A daemon that keeps the pipe open is not waited for, and left alone."""
        daemon = "(while [ ! -e open ]; do sleep 0.05; done; touch mark) & echo hi"
        result = self.shell(daemon, timeout=3600, cwd=self.root)
        self.assertEqual((result.stdout, result.timed_out), ("hi\n", False))
        self.write("open", b"")
        self.assertTrue(within(10, lambda: os.path.exists(self.path("mark"))))

    def test_flood(self) -> None:
        """Of a flood the beginning and the end are kept, in whole lines, with a note between."""
        result = self.shell("seq 1 400000", limit=1000)
        self.assertLess(len(result.stdout), 1100)
        lines = result.stdout.splitlines()
        self.assertEqual((lines[0], lines[-1]), ("1", "400000"))
        self.assertEqual(len([x for x in lines if "omitted" in x]), 1)
        self.assertTrue(all(x.isdigit() for x in lines if "omitted" not in x))

    def test_lines(self) -> None:
        """Output is handed over line by line with its stream while the command runs."""
        seen = []
        self.shell("echo a; echo b >&2; printf c", on_output=lambda s, x: seen.append((s, x)))
        self.assertEqual(sorted(seen), [("stderr", "b"), ("stdout", "a"), ("stdout", "c")])

    def test_cancel(self) -> None:
        """Cancelling ends the command in flight, and nothing more is started."""
        threading.Timer(0.2, self.cancellation.set, ["enough"]).start()
        with self.assertRaises(Cancelled):
            self.shell("sleep 3600")
        with self.assertRaises(Cancelled):
            self.shell("true")

    def test_protected(self) -> None:
        """A command that must not be killed is let finish, and then nothing more is started."""
        threading.Timer(0.1, self.cancellation.set, ["enough"]).start()
        with self.cancellation.protected():
            self.assertEqual(self.shell("sleep 0.5; echo done").stdout, "done\n")
            with self.assertRaises(Cancelled):
                self.shell("true")

    def test_umask(self) -> None:
        """The umask is the one asked for, 022 otherwise."""
        self.assertEqual(int(self.shell("umask").stdout, 8), 0o022)
        self.assertEqual(int(self.shell("umask", umask=0o077).stdout, 8), 0o077)

    @unittest.skipUnless(ROOT, "only root becomes another user")
    def test_unreadable_file_of_its_owner(self) -> None:
        """A user other than root gives a file back the mode that they took away from themselves."""
        os.chmod(self.root, 0o777)
        path = self.path("f")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setgid(65534)
                os.setuid(65534)
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0))
                Files().set_attributes(path, 65534, 65534, 0o640)
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)

    @unittest.skipUnless(ROOT, "only root becomes another user")
    def test_user(self) -> None:
        """A command runs as the user and group asked for, with that user's environment."""
        result = self.shell("id -un; id -gn; id -Gn; echo $USER", user="nobody", group="daemon")
        user, group, groups, name = result.stdout.splitlines()
        self.assertEqual((user, group, name), ("nobody", "daemon", "nobody"))
        self.assertNotIn("root", groups)


@unittest.skipUnless(spawning.POSSIBLE, "since Python 3.8")
class SpawnedCommandsTest(CommandsTest):
    """The same commands from a process that is as commands begin."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(os.umask, os.umask(0o022))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir("/")
        self.commands = Commands(Accounts(), self.cancellation, at_root=True)

    def test_surroundings(self) -> None:
        """A plain command is in a session of its own, at /, without input and without our files."""
        held = os.open(self.write("held", b""), os.O_RDONLY)
        self.addCleanup(os.close, held)
        script = "echo $$ $(ps -o sid= -p $$); pwd; cat; ls -l /proc/$$/fd | grep -c held"
        numbers, directory, count = self.shell(script).stdout.splitlines()
        pid, session = numbers.split()
        self.assertEqual((session, directory, count), (pid, "/", "0"))

    def test_signals(self) -> None:
        """A command that writes into a closed pipe is ended by it, as its author expects."""
        result = self.shell("yes | head -1; kill -PIPE $$; echo survived")
        self.assertEqual((result.code, result.stdout), (-13, "y\n"))
