"""What dpkg-maintscript-helper comes to in an upgrade."""

import os

from remote_runtime.packages.maintainer_scripts import maintscript_helper
from remote_runtime.packages.maintainer_scripts.maintscript_helper import (
    Conffiles,
    Request,
)
from remote_runtime.packages.maintainer_scripts.shell import Call

from ..fakes import DirectoryTest, context


class Helper(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.old = self.write("old", b"mine\n", 0o640)
        self.files = context(noop=True).overlay_with([]).files

    def told(self, *wanted, before="1", unedited=False, moved=()):
        old = Conffiles({self.old}, {self.old} if unedited else set())
        request = Request(*wanted)
        return maintscript_helper.declared(
            request, self.files, before=before, old=old, moved=set(moved)
        )

    def test_a_conffile_that_goes(self):
        """An unedited one is gone; one that somebody edited lies beside."""
        told = self.told("rm_conffile", (self.old,), "2~", unedited=True)
        self.assertEqual([(e.path, e.kind) for e in told.effects], [(self.old, "absent")])
        kept, gone = self.told("rm_conffile", (self.old,), "2~").effects
        self.assertEqual(
            (kept.path, kept.mode, kept.content.read(), gone.kind),
            (self.old + ".dpkg-bak", 0o640, b"mine\n", "absent"),
        )

    def test_a_conffile_that_moves(self):
        """What somebody edited takes the new place, and the package's lies beside it."""
        new = self.write("new", b"new\n")
        told = self.told("mv_conffile", (self.old, new), "")
        self.assertEqual(
            [(e.path, e.kind, e.content and e.content.read()) for e in told.effects],
            [(new + ".dpkg-new", "file", b"new\n"), (new, "file", b"mine\n"),
             (self.old, "absent", None)],
        )  # fmt: skip

    def test_when_nothing_is_done(self):
        """On a first installation, from a later version, and with what is not the package's."""
        other = self.write("other")
        for told in (
            self.told("rm_conffile", (self.old,), "2", before=""),
            self.told("rm_conffile", (self.old,), "0.5"),
            self.told("rm_conffile", (other,), "2"),
            self.told("supports", ("rm_conffile",), ""),
        ):
            self.assertEqual((told.effects, told.open), ([], []))

    def test_directories_and_links(self):
        """Each gives way to the other where it is the one that the package had."""
        directory, link = self.path("folder"), self.path("link")
        os.mkdir(directory)
        self.write("folder/own")
        os.symlink("target", link)
        requests = [
            Request("symlink_to_dir", (link, "target"), "2"),
            Request("dir_to_symlink", (directory, "x"), "2"),
        ]
        own = {directory + "/own"}
        self.assertEqual(
            maintscript_helper.moves(requests, self.files, "1", own), {directory, link}
        )
        self.assertEqual(maintscript_helper.moves(requests, self.files, "1", set()), {link})
        self.assertEqual(maintscript_helper.moves(requests, self.files, "", own), set())
        told = self.told("dir_to_symlink", (directory, "x"), "2")
        self.assertEqual((told.effects, told.open), ([], [directory]))
        told = self.told("dir_to_symlink", (directory, "x"), "2", moved=[directory])
        self.assertEqual((told.effects, told.open), ([], []))

    def test_calls(self):
        """A call is read up to its two dashes; a version that is left out means every one."""
        call = Call((maintscript_helper.NAME, "mv_conffile", "/a", "/b", "--", "configure"), True)
        self.assertEqual(maintscript_helper.request(call), Request("mv_conffile", ("/a", "/b"), ""))
        self.assertIsNone(maintscript_helper.request(Call(("ls", "a", "b"), True)))
