import errno
import os
import threading
import unittest
import unittest.mock
from typing import List

from remote_runtime.system.files import Files
from tests.remote_runtime.fakes import ROOT, DirectoryTest, failure_of, one, run_items
from tests.texts import expect_text

BOB = 61001


@unittest.skipUnless(ROOT, "only root gives files away")
class AnothersDirectoryTest(DirectoryTest):
    """``home`` is Bob's, and so are the links in it that lead to ``srv``, which is root's."""

    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.root, 0o755)
        for name, owner in (("srv", 0), ("home", BOB)):
            os.mkdir(self.path(name), 0o755)
            os.chown(self.path(name), owner, owner)
        self.secret = self.write("srv/shadow", b"secret", 0o600)
        os.symlink("../srv", self.path("home/app"))
        os.chown(self.path("home/app"), BOB, BOB, follow_symlinks=False)
        self.files = Files()

    def hard(self) -> str:
        os.link(self.secret, self.path("home/f"))
        return self.path("home/f")

    def test_nothing_is_done_through_their_link(self) -> None:
        """What ccm reads, lists, writes, changes or removes is not reached by a user's link."""
        through = self.path("home/app/shadow")
        files = self.files
        for call, rest in (
            (files.status, ()),
            (files.sha256, ()),
            (files.read, (10,)),
            (files.entries, ()),
            (files.temporary, ()),
            (files.set_attributes, (BOB, BOB, 0o644)),
            (files.remove, ()),
            (files.remove_tree, ()),
            (files.directory, ()),
        ):
            self.assertEqual(failure_of(call, through, *rest).kind, "resource.file.link", call)
        new = self.path("home/app/new")
        error = failure_of(files.create_directory, new, 0o755, BOB, BOB)
        self.assertEqual(error.kind, "resource.file.link")
        self.assertEqual(os.listdir(self.path("srv")), ["shadow"])
        self.assertEqual(os.stat(self.secret).st_uid, 0)

    def test_a_directory_that_cannot_be_as_it_should(self) -> None:
        """It is not left behind for what comes later."""
        os.seteuid(BOB)
        self.addCleanup(os.seteuid, 0)
        error = failure_of(self.files.create_directory, self.path("home/d"), 0o755, 0, 0)
        self.assertIn("operation not permitted", error.message)
        self.assertEqual(os.listdir(self.path("home")), ["app"])
        # Nor are the directories above that were made for it.
        failure_of(self.files.create_directory, self.path("home/a/b/c"), 0o755, 0, 0)
        self.assertEqual(os.listdir(self.path("home")), ["app"])

    def test_a_directory_that_cannot_go_either(self) -> None:
        """It is told why it is not as it should be, not why it stays."""

        def refuse(descriptor: int, uid: int, gid: int) -> None:
            os.close(os.open("theirs", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

        with unittest.mock.patch("os.fchown", refuse):
            error = failure_of(self.files.create_directory, self.path("d"), 0o755, BOB, BOB)
        expect_text(error.message, self)
        self.assertEqual(os.listdir(self.path("d")), ["theirs"])

    def test_their_link_as_a_source(self) -> None:
        """An absolute source is not read through a user's link to a file that is not theirs."""
        os.symlink("../srv/shadow", self.path("home/conf"))
        os.chown(self.path("home/conf"), BOB, BOB, follow_symlinks=False)
        for source in ("home/conf", "home/app/shadow"):
            event = one(run_items([self.file("copy", source=self.path(source))]))
            self.assertTrue(event["failed"])
            self.assertIn("owned by user %d" % BOB, event["error"][0])
        self.assertFalse(os.path.exists(self.path("copy")))

    def test_their_own_link(self) -> None:
        """Files are written and read behind a user's link to a release of theirs."""
        os.makedirs(self.path("home/releases/3"))
        for name in ("home/releases", "home/releases/3"):
            os.chown(self.path(name), BOB, BOB)
        os.symlink("releases/3", self.path("home/current"))
        os.chown(self.path("home/current"), BOB, BOB, follow_symlinks=False)
        wanted = self.file("home/current/a", content="x", owner=str(BOB), group=str(BOB))
        self.assertEqual(one(run_items([wanted]))["error"], [])
        self.assertEqual(self.read("home/releases/3/a"), b"x")
        copy = self.file("copy", source=self.path("home/current/a"))
        self.assertEqual(one(run_items([copy]))["status"], "changed")
        self.assertEqual(one(run_items([wanted]))["status"], "stable")

    def test_what_a_user_moves_to_a_path(self) -> None:
        """A file or directory of root in a user's directory is given to the owner of its path."""
        self.write("home/secret", b"secret")
        os.mkdir(self.path("home/private"))
        for name, place, ensure in (
            ("secret", "home/f", "present"),
            ("private", "home/d", "directory"),
        ):
            os.rename(self.path("home", name), self.path(place))  # as Bob can
            self.assertEqual(os.stat(self.path(place)).st_uid, 0)
            wanted = self.file(place, ensure=ensure, owner=str(BOB), group=str(BOB), mode="0600")
            self.assertEqual(one(run_items([wanted]))["error"], [])
            self.assertEqual(os.stat(self.path(place)).st_uid, BOB)

    def test_a_file_with_another_name(self) -> None:
        """A file that may be anybody's is not read, and its attributes stay; it can be removed."""
        path = self.hard()
        for event in (
            one(run_items([self.file("copy", source=path)])),
            one(run_items([self.file("home/f", content="secret")])),
            one(run_items([self.file("home/f", owner=str(BOB), group=str(BOB), mode="0644")])),
        ):
            expect_text(event["error"][0], self)
        self.assertEqual(os.stat(self.secret).st_uid, 0)
        self.assertEqual(one(run_items([self.file("home/f", ensure="absent")]))["error"], [])
        self.assertEqual(self.read("srv/shadow"), b"secret")

    def test_a_file_with_another_name_where_only_root_writes(self) -> None:
        """Several names of a file that root gave it are no matter."""
        os.link(self.secret, self.path("srv/second"))
        self.files.set_attributes(self.path("srv/second"), 0, 0, 0o640)
        self.assertEqual(self.files.read(self.path("srv/second"), 10), b"secret")

    def test_a_name_that_comes_and_goes(self) -> None:
        """A file of which somebody takes the name away while it is opened is never read."""
        path, going = self.path("home/f"), threading.Event()

        def swap() -> None:
            while not going.is_set():
                os.link(self.secret, path)
                os.unlink(path)

        attacker = threading.Thread(target=swap)
        attacker.start()
        try:
            for _ in range(2000):
                self.assertNotIn("secret", str(failure_of(self.files.read, path, 10)))
        finally:
            going.set()
            attacker.join()

    def test_something_else_in_its_place(self) -> None:
        """The attributes of a directory are not given to a file that has taken its place."""
        os.mkdir(self.path("home/d"))
        error = failure_of(self.files.set_directory_attributes, self.secret, 0, 0, 0o2775)
        self.assertEqual(error.kind, "resource.file.moved")
        self.assertEqual(os.stat(self.secret).st_mode & 0o7777, 0o600)


class LastingTest(DirectoryTest):
    """What a run reports as changed survives a loss of power."""

    def setUp(self) -> None:
        super().setUp()
        self.files = Files()
        self.synced: List[str] = []
        self.files.sync_directory = self.note

    def note(self, descriptor: int) -> None:
        self.synced.append(os.readlink("/proc/self/fd/%d" % descriptor))

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "needs the paths of descriptors")
    def test_names_and_attributes(self) -> None:
        """A new or removed name is synced by its directory, attributes by what has them."""
        file, directory = self.write("f"), self.path("d")
        self.files.create_directory(directory, 0o755)
        self.files.set_attributes(file, -1, -1, 0o600)
        self.files.set_attributes(directory, -1, -1, 0o700)
        self.files.remove(file)
        self.files.remove_tree(directory)
        self.assertEqual(self.synced, [self.root, file, directory, self.root, self.root])

    def test_at_once(self) -> None:
        """Outside of a run, nothing waits."""
        self.files.sync_directory = None
        with unittest.mock.patch("os.fsync") as sync:
            self.files.remove(self.write("f"))
        self.assertEqual(sync.call_count, 1)


class FoundFileTest(DirectoryTest):
    def test_a_file_that_was_just_found(self) -> None:
        """It is read where it was found, and looked up again only if it has changed."""
        files, path = Files(), self.write("f", b"content")
        known = files.status(path, follow=True)
        with unittest.mock.patch.object(files.walker, "place", side_effect=AssertionError):
            self.assertEqual(files.read(path, 10, True, known), b"content")
        self.assertEqual(failure_of(files.read, path, 3, True, known).kind, "resource.file.size")
        self.write("f", b"another")
        self.assertEqual(files.read(path, 10, True, known), b"another")


class DeviceTest(DirectoryTest):
    def test_what_is_no_regular_file(self) -> None:
        """A device or FIFO is not opened to be read, because that may change the machine."""
        os.mkfifo(self.path("fifo"))
        os.symlink("/dev/zero", self.path("link"))
        names: List[str] = []

        def opened(name: str, *given: int, **options: int) -> int:
            names.append(os.path.basename(name))
            return os_open(name, *given, **options)

        files, os_open = Files(), os.open
        for path, follow in ((self.path("fifo"), False), (self.path("link"), True)):
            for call, given in (
                (files.read, (path, 10, follow)),
                (files.sha256, (path, None, follow)),
            ):
                with unittest.mock.patch("os.open", opened):
                    error = failure_of(call, *given)
                self.assertEqual(error.kind, "resource.file.kind", path)
        os.symlink(os.devnull, self.path("masked"))
        self.assertEqual(files.read(self.path("masked"), 10, follow=True), b"")
        self.assertTrue(names)
        self.assertTrue({"fifo", "zero"}.isdisjoint(names))

    @unittest.skipUnless(os.access("/proc/kmsg", os.R_OK), "needs the kernel's log")
    def test_files_of_the_kernel_that_are_like_devices(self) -> None:
        """The kernel's log is not read, because others would miss the lines; a file of the same
        name is."""
        os.symlink("/proc/kmsg", self.path("link"))
        for path in ("/proc/kmsg", self.path("link")):
            error = failure_of(Files().read, path, 10, True)
            self.assertEqual(error.kind, "resource.file.kind", path)
        self.assertEqual(Files().read(self.write("kmsg", b"mine"), 10), b"mine")


class PrivateDirectoryTest(DirectoryTest):
    def test_any_depth(self) -> None:
        """A working directory is removed with any number of levels of directories in it."""
        files = Files()
        files.note_in(self.path("state"), lambda text: None)
        directory = files.private_directory()
        here = os.open(directory, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("a", dir_fd=here)
            above, here = here, os.open("a", os.O_RDONLY, dir_fd=here)
            os.close(above)
        os.close(here)
        files.remove_private_directory(directory)
        self.assertFalse(os.path.exists(directory))


class LongPathTest(DirectoryTest):
    def test_a_link_that_goes_while_it_is_followed(self) -> None:
        """It is an error of the resource, and no defect."""
        os.symlink("d", self.path("link"))
        gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with unittest.mock.patch.object(os.path, "realpath", side_effect=gone):
            error = failure_of(lambda: Files().followed(self.path("link")))
        self.assertEqual(error.kind, "resource.file.enoent")

    def test_a_path_that_nobody_can_name(self) -> None:
        """It is neither looked at nor made, and neither are the directories above."""
        files, path = Files(), self.path("/".join(["n" * 200] * 22))
        for call, rest in ((files.status, ()), (files.create_directory, (0o755,))):
            error = failure_of(call, path, *rest)
            self.assertIn("the path is too long (a path has at most 4095 bytes)", str(error))
        wide = self.path("\u00e9" * 2100)  # in bytes it is too long
        expect_text(str(failure_of(files.status, wide)), self)
        self.assertEqual(os.listdir(self.root), [])

    def test_a_name_that_no_directory_holds(self) -> None:
        """Directories that were made above it are removed."""
        error = failure_of(Files().create_directory, self.path("a/b/" + "n" * 256), 0o755)
        expect_text(str(error), self)
        self.assertEqual(os.listdir(self.root), [])
