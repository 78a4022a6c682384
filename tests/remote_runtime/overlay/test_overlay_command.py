"""A guard sees the host as it will be and leaves nothing on it: as root, where mounts can be made.

``test_guards_on_host`` holds the same on hosts that are booted for it.
"""

import errno
import os
import shutil
import socket
import threading
import unittest
from typing import Any, List

from remote_runtime.changes import Unknowable
from remote_runtime.content import Content
from remote_runtime.effects import Effect, PackageEffect, PathEffect
from remote_runtime.system.process.commands import CommandNotStartedError, Commands
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import DirectoryTest, context, item
from tests.remote_runtime.mounting import possible
from tests.texts import expect_text


class Text(Content):
    """A text that a file is to hold."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()
        self.size = len(self._data)

    def chunks(self) -> Any:
        yield self._data


class NotThere(Commands):
    """A host without unshare."""

    def find(self, program: str, path: Any = None, cwd: Any = None) -> str:
        return "" if program == "unshare" else super().find(program, path, cwd)


class LayeredTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.root, 0o755)
        self.context = context(noop=True)
        self.write("old", b"old\n")
        self.write("gone", b"gone\n")

    def lay(self, path: str, kind: str, text: Any = None, **fields: Any) -> None:
        content = None if text is None else Text(text)
        effect = PathEffect(self.path(path), kind, content=content, **fields)
        self.context.expect([effect], Uncertainty(), "file#" + path)

    def run_in_preview(self, *argv: str, **how: Any) -> Any:
        with self.context.for_resource(item("exec", "x"), True):
            return self.context.user_commands.run(list(argv), **how)

    def test_not_to_be_had(self) -> None:
        """Without unshare nobody can tell, and the reason is said."""
        self.context = context(noop=True, commands=NotThere)
        self.lay("new", "file", "x")
        with self.assertRaises(Unknowable) as caught:
            self.run_in_preview("test", "-f", self.path("new"))
        wanted = "unshare is not installed" if os.geteuid() == 0 else "only root"
        self.assertIn(wanted, caught.exception.message)

    def test_what_reads_nothing_planned_runs_on_the_host(self) -> None:
        """There it needs no layer, also where that cannot be had."""
        self.context = context(noop=True, commands=NotThere)
        self.lay("new", "file", "x")
        old = self.path("old")
        self.assertEqual(self.run_in_preview("test", old, "-ef", old).code, 0)
        self.assertEqual(self.run_in_preview("true").code, 0)

    def test_what_an_overlay_tells_wrongly(self) -> None:
        """Which names are one file, and how many names it has, nobody can tell over the layer."""
        self.lay("new", "file", "x")
        new, old = self.path("new"), self.path("old")
        for argv in (("test", new, "-ef", old), ("stat", "-c", "%h", old), ("find", "-links", "2")):
            with self.assertRaises(Unknowable) as caught:
                self.run_in_preview(*argv)
            expect_text(caught.exception.message, self)

    def test_what_no_path_shows(self) -> None:
        """Beside a planned package only what looks at files is run."""
        self.context.expect([PackageEffect("app", "1")], Uncertainty(), "package#app")
        self.assertEqual(self.run_in_preview("test", "-f", self.path("old")).code, 0)
        with self.assertRaises(Unknowable) as caught:
            self.run_in_preview("dpkg", "-s", "app")
        expect_text(caught.exception.message, self)

    def test_what_another_host_told_of_a_package(self) -> None:
        """Nothing is run over its files before they are known to be so."""
        ran = self.path("ran")
        script = "#!/bin/sh\ntouch %s\n" % ran
        effects: List[Effect] = [
            PackageEffect("app", "1", lambda: False),
            PathEffect("/usr/bin/test", "file", 0o755, content=Text(script)),
        ]
        self.context.expect(effects, Uncertainty(), "package#app")
        with self.assertRaises(Unknowable) as caught:
            self.run_in_preview("test", "-f", ran)
        expect_text(caught.exception.message, self)


@unittest.skipUnless(possible(), "needs root and mount namespaces")
class InsideTest(LayeredTest):
    def said(self, script: str, **how: Any) -> str:
        result = self.run_in_preview("sh", "-c", "cd %s; %s" % (self.root, script), **how)
        return str(result.stdout) + str(result.stderr)

    def test_paths_as_they_will_be(self) -> None:
        """Files with content and attributes, directories, links and removals are as planned."""
        self.lay("new", "file", "planned\n", mode=0o640, uid=7, gid=8)
        self.lay("old", "file", "changed\n", mode=0o600)
        self.lay("gone", "absent")
        self.lay("folder", "directory", mode=0o750)
        self.lay("folder/tool", "file", "#!/bin/sh\necho tool $1\n", mode=0o755)
        self.lay("link", "symlink", target="folder/tool")
        self.assertEqual(
            self.said("cat new old; ls; stat -c '%a %u %g' new folder; ./link x"),
            "planned\nchanged\nfolder\nlink\nnew\nold\n640 7 8\n750 0 0\ntool x\n",
        )

    def test_other_names_of_a_file_change_too(self) -> None:
        """Beside it and where the command names them; one that is elsewhere makes it unknown."""
        os.link(self.path("old"), self.path("other"))
        self.lay("old", "file", mode=0o604)
        self.assertEqual(self.said("stat -c %a old other"), "604\n604\n")
        os.mkdir(self.path("far"))
        os.link(self.path("old"), self.path("far/name"))
        self.assertEqual(self.said("stat -c %%a %s" % self.path("far/name")), "604\n")
        with self.assertRaises(Unknowable) as caught:
            self.said("find . -perm 604")
        expect_text(caught.exception.message, self)

    def test_a_large_planned_file_is_read_where_it_is_named(self) -> None:
        """Another one is not known until."""
        self.lay("large", "file", "x" * 1600000 + "end\n")
        self.assertEqual(self.said("tail -c 4 large"), "end\n")

    def test_what_a_replaced_file_keeps(self) -> None:
        """Its extended attributes, but not under a file of a package."""
        with open(self.path("old"), "a"):
            pass
        try:
            os.setxattr(self.path("old"), "user.kept", b"yes")
        except OSError as error:
            self.skipTest("no extended attributes here: %s" % error)
        asked = "import os; print(os.listxattr('old'))"
        for once, told in ((False, "user.kept"), (True, "[]")):
            self.lay("old", "file", "changed\n", once=once)
            self.assertIn(told, self.said('python3 -c "%s"' % asked))

    def test_what_is_asked_of_a_file_system(self) -> None:
        """The layer has others, so that what is said of them is unknown."""
        self.lay("new", "file", "x")
        for script in ("df .", "stat -f .", "findmnt -no FSTYPE /", "df -P / | tail -1"):
            with self.assertRaises(Unknowable):
                self.said(script)
        self.said("stat new; cat new; echo df.txt")

    def test_what_another_host_told_and_is_so(self) -> None:
        """It is looked at once, however many commands are run."""
        asked = []

        def look() -> bool:
            asked.append(1)
            return True

        is_so = PackageEffect("app", "1", look)
        self.context.expect([is_so], Uncertainty(), "package#app")
        self.lay("new", "file", "told\n")
        for _ in range(2):
            self.assertEqual(self.run_in_preview("cat", self.path("new")).stdout, "told\n")
        self.assertEqual(asked, [1])

    def test_a_planned_program(self) -> None:
        """One that is not there yet is found and run; one that cannot be begun is told."""
        self.lay("tool", "file", "#!/bin/sh\necho $0 $1; exit 3\n", mode=0o755)
        result = self.run_in_preview("tool", "x", path=self.root)
        self.assertEqual((result.code, result.stdout), (3, "%s x\n" % self.path("tool")))
        self.lay("bad", "file", "#!/nowhere\n", mode=0o755)
        with self.assertRaises(CommandNotStartedError) as caught:
            self.run_in_preview(self.path("bad"))
        self.assertTrue(caught.exception.message.endswith("started: " + os.strerror(errno.ENOENT)))

    def test_a_program_that_only_the_push_makes(self) -> None:
        """Whether it can be begun is not known, by its path from a directory neither."""
        self.lay("folder", "directory", mode=0o755)
        self.lay("folder/made", "something")
        for program, cwd in ((self.path("folder/made"), None), ("./made", self.path("folder"))):
            with self.assertRaises(Unknowable) as caught:
                self.run_in_preview(program, cwd=cwd)
            expect_text(caught.exception.message, self)

    def test_the_kind_of_what_only_the_push_makes(self) -> None:
        """Its existence is known, its kind is not."""
        self.lay("made", "something")
        self.assertEqual(self.run_in_preview("test", "-e", self.path("made")).code, 0)
        for option in ("-d", "-f"):
            with self.assertRaises(Unknowable):
                self.run_in_preview("test", option, self.path("made"))

    def test_as_on_the_host(self) -> None:
        """User, group, umask, directory, environment and input are as everywhere."""
        self.lay("new", "directory", mode=0o755)
        result = self.run_in_preview(
            "sh", "-c", "id -un; pwd; umask; cat; echo $A $HOME; exit 4",
            cwd=self.path("new"), env={"A": "b"}, user="nobody", umask=0o077, input=b"in\n",
        )  # fmt: skip
        home = os.path.expanduser("~nobody")
        expected = "nobody\n%s\n0077\nin\nb %s\n" % (self.path("new"), home)
        self.assertEqual((result.code, result.stdout, result.stderr), (4, expected, ""))
        with self.assertRaises(CommandNotStartedError):
            self.run_in_preview("true", cwd=self.path("nowhere"))

    def test_what_it_writes(self) -> None:
        """It is lost, and nothing is left mounted or lying about."""
        before = (sorted(os.listdir("/mnt")), self._mounts())
        self.lay("new", "file", "planned\n")
        self.assertEqual(self.said("echo x > mine; echo y > old; cat mine old"), "x\ny\n")
        self.assertEqual(self.read("old"), b"old\n")
        self.assertEqual(sorted(os.listdir(self.root)), ["gone", "old"])
        self.assertEqual((sorted(os.listdir("/mnt")), self._mounts()), before)

    @staticmethod
    def _mounts() -> str:
        with open("/proc/self/mountinfo") as file:
            return file.read()

    def test_a_directory_of_our_own(self) -> None:
        """What a command leaves in a directory for work of ours is there afterwards."""
        self.lay("new", "file", "planned\n")
        own = self.context.files.private_directory()
        self.addCleanup(self.context.files.remove_private_directory, own)
        self.said("echo x > %s/result" % own)
        with open(os.path.join(own, "result")) as file:
            self.assertEqual(file.read(), "x\n")

    def test_content_that_is_not_known(self) -> None:
        """It may be looked up but not read."""
        self.lay("some", "something")
        self.assertEqual(self.said("test -e some && echo yes"), "yes\n")
        with self.assertRaises(Unknowable) as caught:
            self.said("cat some")
        self.assertIn("reads %s" % self.path("some"), caught.exception.message)

    def test_a_command_that_hangs(self) -> None:
        """Its time is its own, and all that it started ends with it."""
        self.lay("new", "file", "planned\n")
        result = self.run_in_preview("sh", "-c", "sleep 0.2", timeout=0.1)
        self.assertTrue(result.timed_out)
        # It is killed then, not seconds later.
        result = self.run_in_preview("sh", "-c", "echo began; sleep 3; echo late", timeout=0.3)
        self.assertEqual((result.stdout, result.timed_out), ("began\n", True))
        result = self.run_in_preview("sh", "-c", "kill -9 $$")
        self.assertEqual((result.code, result.timed_out), (-9, False))

    def test_sockets(self) -> None:
        """What listens on the host answers inside as well."""
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(self.path("socket"))
        listening.listen(1)
        self.lay("new", "file", "planned\n")
        connect = "import socket; socket.socket(socket.AF_UNIX).connect('socket')"
        self.assertEqual(self.said('python3 -c "%s" && cat new' % connect), "planned\n")

    def test_sockets_that_come_and_go(self) -> None:
        """What is gone before it can be seen inside is left out, whatever else is there."""
        over = threading.Event()

        def come_and_go() -> None:
            while not over.is_set():
                held = []
                for number in range(20):
                    directory = self.path("listens%d" % number)
                    os.mkdir(directory)
                    held.append(socket.socket(socket.AF_UNIX))
                    held[-1].bind(os.path.join(directory, "socket"))
                for number, listening in enumerate(held):
                    listening.close()
                    shutil.rmtree(self.path("listens%d" % number))

        busy = threading.Thread(target=come_and_go)
        busy.start()
        try:
            self.lay("new", "file", "planned\n")
            for _ in range(10):
                self.assertEqual(self.said("cat new"), "planned\n")
        finally:
            over.set()
            busy.join()


if __name__ == "__main__":
    unittest.main()
