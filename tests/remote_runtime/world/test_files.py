"""The file system as it will be."""

import os
import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.effects import ASSUMED, Doubt, Fog, PathEffect, everything
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file.content import Text
from tests.remote_runtime.fakes import FolderTest, context


class WorldFilesTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.root = os.path.realpath(self.root)
        self.context = context(noop=True)

    def expect(self, name: str, kind: str, **said: object) -> None:
        effect = PathEffect(self.path(name), kind, **said)  # type: ignore[arg-type]  # any field
        self.context.expect([effect], Doubt(), "t#a")

    def test_a_planned_file(self) -> None:
        """It has the content and the attributes that it will have."""
        self.expect("f", "file", mode=0o640, uid=1, gid=2, content=Text("héllo"))
        files, path = self.context.files, self.path("f")
        status = files.status(path)
        assert status is not None
        self.assertEqual((status.kind, status.mode, status.uid, status.gid, status.size),
                         ("file", 0o640, 1, 2, 6))  # fmt: skip
        self.assertEqual(files.read(path, 100), "héllo".encode())
        self.assertEqual(files.sha256(path, status), Text("héllo").sha256)
        self.assertEqual((files.exists(path), files.is_there(path)), (True, True))
        self.assertEqual((files.is_directory(path), os.path.exists(path)), (False, False))
        with self.assertRaises(ResourceError):
            files.read(path, 3)

    def test_a_planned_program_needs_its_x(self) -> None:
        """A command can be started by then if the file will be executable."""
        for mode, found in ((0o644, ""), (0o755, self.path("tool"))):
            self.expect("tool", "file", mode=mode, content=Text("#!/bin/sh\n"))
            self.assertEqual(self.context.user_commands.find(self.path("tool")), found)

    def test_names_in_a_directory(self) -> None:
        """Those that are there, without what goes and with what comes."""
        os.mkdir(self.path("d"))
        for name in ("a", "b"):
            self.write("d/" + name)
        self.expect("d/a", "absent")
        self.expect("d/c", "file")
        files = self.context.files
        self.assertEqual(files.entries(self.path("d")), ["b", "c"])
        self.assertEqual(files.status(self.path("d/a")), None)
        self.assertEqual((files.exists(self.path("d/b")), files.exists(self.path("d/a"))),
                         (True, False))  # fmt: skip
        self.expect("d", "absent")
        self.expect("d", "directory")
        self.assertEqual(files.entries(self.path("d")), [])

    def test_what_nobody_can_tell(self) -> None:
        """Something is there, and asking for more ends in not knowing."""
        self.expect("made", "something")
        self.expect("file", "file")
        files = self.context.files
        self.assertTrue(files.exists(self.path("made")))
        for ask in (files.status, files.is_directory):
            with self.assertRaises(Unknowable):
                ask(self.path("made"))
        with self.assertRaises(Unknowable):
            files.sha256(self.path("file"))

    def test_what_is_below_something_nobody_can_tell(self) -> None:
        """Nothing is said of what is below a path of which it is not known what it will be."""
        self.expect("made", "something")
        files = self.context.files
        for ask in (files.status, files.is_directory, files.exists, files.is_there, files.entries):
            with self.assertRaises(Unknowable):
                ask(self.path("made/below"))
        self.expect("made/own", "file", content=Text("x"))
        self.expect("made", "absent")
        self.assertFalse(files.exists(self.path("made/own")))

    def test_new_below_setgid(self) -> None:
        """What is made below a folder with setgid has its group, a folder its bit as well."""
        self.expect("team", "directory", mode=0o2775, gid=7)
        self.expect("team/a/b/file", "file", content=Text("x"))
        self.expect("team/exact", "directory", mode=0o755)
        found = {
            name: self.context.files.status(self.path("team/" + name))
            for name in ("a", "a/b", "a/b/file", "exact")
        }
        self.assertEqual(
            {name: (oct(status.mode), status.gid) for name, status in found.items()},
            {
                "a": ("0o2755", 7),
                "a/b": ("0o2755", 7),
                "a/b/file": ("0o644", 7),
                "exact": ("0o755", 7),
            },
        )

    def test_what_is_put_after_the_fog_is_known(self) -> None:
        """What was read in fog is noted, what was put there since is not, nor a folder of ours."""
        fog = Fog(Doubt(ASSUMED, "exec#x may change it"), everything)
        self.context.expect([fog], Doubt(), "exec#x")
        self.expect("f", "file", content=Text("x"))
        self.expect("d", "directory")
        ours = self.context.files.private_folder()
        self.addCleanup(self.context.files.remove_private_folder, ours)
        for path, level in (
            (self.path("f"), ""),
            (self.path("d/inside"), ""),
            (ours + "/x", ""),
            (self.path("other"), ASSUMED),
        ):
            with self.context.turn(self.file("x"), True):
                self.context.files.status(path)
                self.assertEqual(self.context.doubt.level, level, path)

    def test_a_folder_of_ours_goes_with_the_run(self) -> None:
        """Who discards what is temporary discards what is there for the work of the run."""
        self.expect("f", "file")
        ours = self.context.files.private_folder()
        self.context.files.discard_temporary()
        self.assertFalse(os.path.lexists(ours))

    def test_a_run_that_changes_things_sees_the_host(self) -> None:
        """Whatever a child in noop has planned."""
        self.expect("f", "file")
        with self.context.turn(self.file("x"), False):
            self.assertFalse(self.context.files.is_there(self.path("f")))


if __name__ == "__main__":
    unittest.main()
