"""Where paths lead through what is planned and what is there."""

import os
import unittest
from typing import Any, Tuple
from unittest import mock

from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.overlay import file_overlay
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.planned_nodes import ResolvedPath
from remote_runtime.system.files import Files
from remote_runtime.system.preconditions import PAGE
from tests.remote_runtime.fakes import DirectoryTest


class Counting(FileOverlay):
    """Counts the paths that it resolves."""

    resolved = 0

    def find(self, path: str, follow: bool) -> ResolvedPath:
        self.resolved += 1
        return super().find(path, follow)


class LayerTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.root = os.path.realpath(self.root)
        self.layer = FileOverlay(Files())
        self.since = 0

    def put(self, name: str, kind: str, **said: Any) -> None:
        self.since += 1
        effect = PathEffect(self.path(name), kind, **said)
        self.layer.put(effect, self.since, "t#a")

    def kind(self, name: str, follow: bool = True) -> str:
        """The kind that the layer has for a path, or whether the host's own counts."""
        found = self.layer.find(self.path(name), follow)
        if found.node is not None:
            return found.node.kind
        return "host" if found.there else "nothing"

    def test_what_is_planned_is_found_through_a_link(self) -> None:
        """By each of its names, whether the link is there or planned."""
        os.makedirs(self.path("real"))
        os.symlink("real", self.path("link"))
        self.put("link/f", "file")
        self.put("later", "symlink", target=self.path("real"))
        self.assertEqual(next(iter(self.layer.nodes)), self.path("real/f"))
        self.assertEqual([self.kind(n + "/f") for n in ("real", "link", "later")], ["file"] * 3)
        self.assertEqual((self.kind("later", False), self.kind("later")), ("symlink", "host"))

    def test_a_change_resolves_its_path_once(self) -> None:
        """The directories above a path without links are not resolved again."""
        self.layer = layer = Counting(Files())
        os.mkdir(self.path("d"))
        for name, kind in (("d/f", "file"), ("d/l", "symlink"), ("new/sub/f", "file")):
            before = layer.resolved
            self.put(name, kind, target="x")
            self.assertEqual(layer.resolved, before + 1, name)
        self.assertEqual([self.kind(n) for n in ("new", "new/sub/f")], ["directory", "file"])

    def test_a_path_through_nothing(self) -> None:
        """Where directories are not there yet, too, a node has the one name that has no ``..``."""
        self.put("none/../../%s/f" % os.path.basename(self.root), "file")
        self.assertEqual(next(iter(self.layer.nodes)), self.path("f"))

    def test_a_path_that_leads_nowhere(self) -> None:
        """``..`` behind nothing or a file, and a slash behind a file, lead to nothing."""
        self.write("f", b"")
        os.mkdir(self.path("d"))
        self.put("new", "file")
        for name in ("none/..", "d/none/../", "f/..", "f/", "new/", "new/../d"):
            self.assertEqual(self.kind(name), "nothing", name)
        self.assertEqual(
            [self.kind(n) for n in ("d/", "d/../d", "d/../new")], ["host", "host", "file"]
        )

    def test_what_is_removed_has_nothing_below(self) -> None:
        """Also once a directory is made in its place, but for what is put there then."""
        os.makedirs(self.path("d/sub"))
        self.put("d/planned", "file")
        self.put("d", "absent")
        self.assertEqual(
            [self.kind(n) for n in ("d", "d/sub", "d/planned")], ["absent", "nothing", "nothing"]
        )
        self.put("d", "directory")
        self.put("d/new", "file")
        self.assertEqual(
            [self.kind(n) for n in ("d", "d/sub", "d/new")], ["directory", "nothing", "file"]
        )

    def test_a_directory_that_is_changed_keeps_what_it_holds(self) -> None:
        """Its attributes are those of the effect, where that names them."""
        os.makedirs(self.path("d/sub"), 0o750)
        self.put("d", "directory", mode=0o700)
        node = self.layer.find(self.path("d"), False).node
        assert node is not None
        self.assertEqual((node.mode, node.uid, node.opaque), (0o700, os.geteuid(), False))
        self.assertEqual(self.kind("d/sub"), "host")

    def test_a_file_keeps_what_the_effect_leaves(self) -> None:
        """A change of its mode leaves its content that of the host."""
        self.write("f", b"abc", 0o640)
        self.put("f", "file", mode=0o600)
        node = self.layer.find(self.path("f"), False).node
        assert node is not None
        assert node.content is not None
        self.assertEqual((node.mode, node.content.size), (0o600, 3))
        self.assertEqual(node.content.read(), b"abc")

    def test_names_of_one_file_share_its_attributes(self) -> None:
        """Until one of them is replaced or removed; content replaces the file behind a name."""
        self.write("a", b"abc", 0o644)
        for name in ("b", "c", "d"):
            os.link(self.path("a"), self.path(name))
        self.put("a", "file", mode=0o600)
        self.assertEqual([self.mode(name) for name in "abcd"], [0o600] * 4)
        self.put("b", "file", mode=0o640)
        self.assertEqual([self.mode(name) for name in "abcd"], [0o640] * 4)
        self.put("c", "file", mode=0o400, content=Text("new"))
        self.put("d", "absent")
        self.put("a", "file", mode=0o604)
        self.assertEqual([self.mode(name) for name in "abc"], [0o604, 0o604, 0o400])
        self.assertEqual(self.kind("d"), "absent")

    def test_attributes_outlive_the_name_that_they_were_set_by(self) -> None:
        """Those of a file with other names, also where its directory is removed."""
        os.mkdir(self.path("folder"))
        self.write("folder/a", b"abc", 0o644)
        os.link(self.path("folder/a"), self.path("b"))
        self.put("folder/a", "file", mode=0o600)
        self.put("folder", "absent")
        self.assertEqual(self.mode("b"), 0o600)

    def mode(self, name: str) -> int:
        node = self.layer.find(self.path(name), False).node
        assert node is not None
        return node.mode

    def test_what_is_there_has_directories_above_it(self) -> None:
        """Of which nothing else is known than before."""
        self.put("a/b/c", "something")
        self.assertEqual(
            [self.kind(n) for n in ("a", "a/b", "a/b/c", "a/x")],
            ["directory", "directory", "something", "nothing"],
        )
        self.assertEqual(self.layer.find(self.path("a/x"), False).since, 0)
        self.assertEqual(self.layer.below(self.path("a")), ["b"])

    def test_a_link_that_leads_round(self) -> None:
        """It ends, and leads nowhere."""
        os.symlink("loop", self.path("loop"))
        self.put("other", "file")
        self.assertIn(self.kind("loop/x"), ("host", "nothing"))

    def test_a_copy_goes_its_own_way(self) -> None:
        """What is put into one is not in the other."""
        copy = self.layer.copy()
        self.put("f", "file")
        self.assertEqual((len(self.layer.nodes), len(copy.nodes)), (1, 0))

    def test_what_is_to_be_written_is_counted_once(self) -> None:
        """By pages, whatever is laid over it, or goes with its directory, less what it replaces."""
        self.write("old", b"12345", 0o644)
        before = self.layer.planned(self.path("x"))
        self.put("d", "directory")
        for name in ("d/a", "d/b", "old"):
            self.put(name, "file", content=Text("123"))
        self.assertEqual((before, self.layer.planned(self.path("x"))), ((0, 0), (2 * PAGE, 3)))
        self.put("d/a", "file", content=Text("1"))
        copy = self.layer.copy()
        self.put("d", "absent")
        self.assertEqual(self.layer.planned(self.path("x")), (0, 0))
        self.assertEqual(copy.planned(self.path("x")), (2 * PAGE, 3))

    def test_copies_do_not_count_again(self) -> None:
        """Each planned file is looked up on the host once, however many copies there are."""
        paths = []

        def counted(path: str, below: bool) -> Tuple[int, int]:
            paths.append(path)
            return 0, 0

        with mock.patch.object(file_overlay, "space_used_at", counted):
            for name in ("a", "b", "c"):
                self.put(name, "file", content=Text("123"))
                self.assertEqual(self.layer.copy().planned(self.root)[1], len(paths))
        self.assertEqual(paths, [self.path(name) for name in ("a", "b", "c")])

    def test_what_goes_with_its_directory_does_not_come_back(self) -> None:
        """What is laid there later is all that it holds."""
        self.put("d/e/a", "file")
        self.put("d", "absent")
        self.assertEqual(self.layer.below(self.path("d/e")), [])
        self.put("d/e/b", "file")
        self.assertEqual(self.layer.below(self.path("d/e")), ["b"])
        self.assertEqual(self.layer.below(self.path("d")), ["e"])


if __name__ == "__main__":
    unittest.main()
