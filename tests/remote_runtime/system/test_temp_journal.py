import errno
import json
import os
import pwd
import subprocess
import unittest
from typing import List
from unittest import mock

from remote_runtime.system import state_directory as state_directory
from remote_runtime.system.process import process_identity
from remote_runtime.system.temp_journal import TempJournal, sweep
from tests.remote_runtime.fakes import ROOT, DirectoryTest


def account(name: str, uid: int, home: str) -> pwd.struct_passwd:
    """A user as the system lists it."""
    return pwd.struct_passwd((name, "x", uid, uid, "", home, "/bin/sh"))


class UnfinishedTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.state = self.path("state")
        self.warnings = []  # type: List[str]
        self.unfinished = TempJournal(self.state, self.warnings.append)
        os.mkdir(self.path("work"))

    def begun(self, lead: str = ".x.") -> str:
        return self.path("work", lead + self.unfinished.name(self.path("work")))

    def begun_file(self) -> str:
        path = self.begun()
        with open(path, "wb") as out:
            out.write(b"secret")
        return path

    def directory(self, noted: bool = True) -> str:
        path = self.begun(".")
        os.mkdir(path, 0o700)
        descriptor = os.open(path, os.O_RDONLY)
        if noted:
            self.unfinished.made(descriptor)
        os.close(descriptor)
        return path

    def die(self) -> str:
        """The journal as it is once the process that wrote it is gone."""
        (journal,) = state_directory.journals(self.state)
        process = subprocess.Popen(["true"])
        process.wait()
        token = journal.rpartition("-")[2]
        dead = os.path.join(os.path.dirname(journal), "%d-1-%s" % (process.pid, token))
        os.rename(journal, dead)
        return dead

    def swept(self) -> List[str]:
        return sorted(sweep(self.die(), self.warnings.append))

    def test_nothing_is_written_before_it_is_needed(self) -> None:
        """A run that makes nothing has no journal, nor has one that is over."""
        self.assertFalse(os.path.exists(self.state))
        path = self.begun_file()
        self.assertEqual(len(state_directory.journals(self.state)), 1)
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o700)
        os.unlink(path)
        self.unfinished.close()
        self.assertEqual(state_directory.journals(self.state), [])

    def test_what_a_dead_run_left(self) -> None:
        """Its files and directories go, whatever is in these; its journal goes last."""
        left = [self.begun_file(), self.directory()]
        os.makedirs(os.path.join(left[1], "a", "b"))
        with open(os.path.join(left[1], "a", "f"), "w"):
            os.symlink("/etc", os.path.join(left[1], "a", "link"))
        self.write("work/stays")
        self.assertEqual(self.swept(), sorted(left))
        self.assertEqual(os.listdir(self.path("work")), ["stays"])
        self.assertEqual((state_directory.journals(self.state), self.warnings), ([], []))

    def test_directory_however_deep(self) -> None:
        """A directory with more in each other than a path can name goes as well."""
        left = self.directory()
        at = os.open(left, os.O_RDONLY)
        for _ in range(3000):
            os.mkdir("d", dir_fd=at)
            inner = os.open("d", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = inner
        os.close(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=at))
        os.close(at)
        self.assertEqual((self.swept(), self.warnings), ([left], []))
        self.assertEqual(os.listdir(self.path("work")), [])

    def test_run_that_lives(self) -> None:
        """Nothing of a run that is at work is touched."""
        path = self.begun_file()
        (journal,) = state_directory.journals(self.state)
        self.assertEqual(sweep(journal, self.fail), [])
        self.assertTrue(os.path.exists(path) and os.path.exists(journal))

    def test_number_of_before_a_restart(self) -> None:
        """A process of that number and start, but of another start of the system, is another."""
        path = self.begun_file()
        (journal,) = state_directory.journals(self.state)
        with open(journal) as file:
            lines = file.read().splitlines()
        self.assertEqual(json.loads(lines[0]), process_identity.boot())
        with open(journal, "w") as out:
            out.write("\n".join(['"of before"'] + lines[1:] + [""]))
        self.assertEqual(sweep(journal, self.fail), [path])

    def test_disk_of_another_number_since_a_restart(self) -> None:
        """After a restart a directory is known by its inode alone, before by its device, too."""
        for boot, left in (('"of before"', []), (json.dumps(process_identity.boot()), ["f"])):
            path = self.directory()
            open(os.path.join(path, "f"), "w").close()
            journal = self.die()
            with open(journal) as file:
                names = [line for line in file.read().splitlines() if "work" in line]
            lines = [boot, *names, json.dumps([4711, os.stat(path).st_ino])]
            with open(journal, "w") as out:
                out.write("\n".join(lines + [""]))
            sweep(journal, self.fail)
            found = os.listdir(path) if os.path.exists(path) else []
            self.assertEqual(found, left, boot)
            self.unfinished = TempJournal(self.state, self.warnings.append)

    def test_directory_that_somebody_else_put_there(self) -> None:
        """A directory of our name with another inode keeps its content; an empty one is removed."""
        empty, other = self.directory(noted=False), self.directory(noted=False)
        kept = os.path.join(other, "theirs")
        with open(kept, "w"):
            pass
        self.assertEqual(self.swept(), [empty])
        self.assertTrue(os.path.exists(kept))

    def test_other_names(self) -> None:
        """Names of other runs and of other programs are left."""
        self.begun_file()
        names = [".x.ccm-0123456789abcdef-0123456789ab", "ccm-notes", ".x.ccm-0a1b2c3d4e5f"]
        for name in names:
            self.write("work/" + name)
        self.swept()
        self.assertEqual(sorted(os.listdir(self.path("work"))), sorted(names))

    def test_directory_that_is_gone(self) -> None:
        """A directory that nobody has any more holds nothing up."""
        os.unlink(self.begun_file())
        os.rmdir(self.path("work"))
        self.assertEqual((self.swept(), state_directory.journals(self.state)), ([], []))

    def test_line_that_was_cut_short(self) -> None:
        """A last line without its end was not followed by anything that bears the name."""
        path = self.begun_file()
        journal = self.die()
        with open(journal, "a") as out:
            out.write('"/etc')
        self.assertEqual(sweep(journal, self.fail), [path])

    def test_what_a_user_left(self) -> None:
        """It goes if the user is gone and it is the same still, but not once that is settled, and
        not if another user has the uid or a home directory there."""
        for case, user, goes in (
            ("gone", "no-such-user", True),
            ("there", "root", False),
            ("settled", "no-such-user", False),
            ("replaced", "no-such-user", False),
            ("renamed", "no-such-user", False),
            ("at home", "no-such-user", False),
            ("unread", "no-such-user", False),
        ):
            uid = os.getuid() if case == "renamed" else 4711
            paths = [self.path("work", case), self.write("work/%s.mail" % case)]
            homes = paths if case == "at home" else [self.path("work")]
            users = [account("other", uid, home) for home in homes if case != "unread"]
            os.mkdir(paths[0])
            self.write("work/%s/file" % case)
            for path in paths:
                opened = os.open(path, os.O_RDONLY)
                self.unfinished.leaves(user, path, opened)
                if case == "replaced":
                    os.rename(path, path + ".old")
                    self.write("work/%s.new" % case)
                    os.rename(self.path("work", case + ".new"), path)
                os.close(opened)
                if case == "settled":
                    self.unfinished.settled(path)
            with mock.patch("pwd.getpwall", return_value=users):
                self.assertEqual(self.swept(), paths if goes else [], case)
            left = [path for path in paths if os.path.exists(path)]
            self.assertEqual((left, self.warnings), ([] if goes else paths, []), case)
            self.unfinished = TempJournal(self.state, self.warnings.append)

    def test_directories_that_cannot_be_renamed(self) -> None:
        """As those of a lower layer of an overlay file system; what a user left goes there, too."""
        home = self.path("work", "home")
        os.makedirs(os.path.join(home, "a", "b", "c"))
        opened = os.open(home, os.O_RDONLY)
        self.unfinished.leaves("no-such-user", home, opened)
        os.close(opened)
        journal = self.die()
        rename = mock.patch("os.rename", side_effect=OSError(errno.EXDEV, "Invalid link"))
        with rename, mock.patch("pwd.getpwall", return_value=[account("other", 4711, "/")]):
            self.assertEqual(
                (sweep(journal, self.fail), os.listdir(self.path("work"))), ([home], [])
            )

    def test_text_that_is_no_journal(self) -> None:
        """What cannot be read is left alone, and no defect."""
        os.makedirs(self.path("state", "unfinished"))
        for name, text in (("x", b""), ("1-1-0123456789abcdef", b"{\n"), ("1-1-0", b"")):
            self.assertEqual(sweep(self.write("state/unfinished/" + name, text), self.fail), [])

    @unittest.skipIf(ROOT and not os.path.exists("/proc"), "needs a folder that cannot be written")
    def test_state_that_cannot_be_written(self) -> None:
        """Where nothing can be noted the run goes on, with one warning."""
        run = TempJournal("/proc/none", self.warnings.append)
        names = {run.name(self.root), run.name(self.path("work"))}
        self.assertEqual((len(names), len(self.warnings)), (2, 1))
        self.assertIn("/proc/none", self.warnings[0])
        run.close()
