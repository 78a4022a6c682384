"""What is said before links of a unit are made and removed; systemd 252 does as the tables say."""

import os
import unittest

from remote_runtime.errors import ResourceError
from remote_runtime.units.preview.link_checks import LinkChecks
from remote_runtime.units.unit_files import Places

from ..fakes import ROOT, DirectoryTest, context
from ..system.flags import flag
from .fake_units import FakeUnits

WANTED = "[Install]\nWantedBy=a.target b.target\n"
NAMED = WANTED + "Alias=y.service\n"


class LinkingTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("a.target.wants"))
        self.places = Places(configured=self.root)
        self.units = FakeUnits({"x.service": WANTED, "n.service": NAMED}, self.places)

    def refused(self, name="x.service", removal=False):
        """The kind of the error, "" for none."""
        linking = LinkChecks(context(noop=True), self.units)
        try:
            (linking.preflight_removal if removal else linking.preflight)(name)
        except ResourceError as error:
            return error.kind.rpartition(".")[2]
        return ""

    def test_links_that_can_be_made(self):
        """Also over a link to another unit, and where all are there."""
        self.assertEqual(self.refused(), "")
        os.symlink("../other.service", self.path("a.target.wants/x.service"))
        self.assertEqual(self.refused(), "")

    def test_what_is_no_link(self):
        """A file stays where a link belongs, a link to another unit where an alias does."""
        self.write("a.target.wants/x.service", b"")
        self.assertEqual(self.refused(), "failed")
        self.write("y.service", b"")
        self.assertEqual(self.refused("n.service"), "failed")
        for target, kind in (("other.service", "failed"), ("n.service", "")):
            os.unlink(self.path("y.service"))
            os.symlink(target, self.path("y.service"))
            self.assertEqual(self.refused("n.service"), kind)

    def test_a_mask_over_the_file_of_a_unit(self):
        """The error says how to do without a mask."""
        self.write("x.service", b"")
        with self.assertRaises(ResourceError) as caught:
            LinkChecks(context(noop=True), self.units).preflight_mask("x.service")
        self.assertIn("x.service already exists", caught.exception.message)
        self.assertIn("omit masked", caught.exception.hint)

    def test_one_that_conflicts_with_its_other_name(self):
        """It may stop as soon as it has it."""
        self.units = FakeUnits({"n.service": "[Unit]\nConflicts=y.service\n" + NAMED}, self.places)
        self.assertEqual(self.refused("n.service"), "unknowable")
        os.symlink("n.service", self.path("y.service"))
        self.assertEqual(self.refused("n.service"), "")

    def test_aliases_that_cannot_be(self):
        """One of another type, or of an instance where it is none."""
        for unit, alias, kind in (
            ("x.service", "y.socket", "failed"),
            ("x.service", "y@.service", "failed"),
            ("t@1.service", "y.service", "failed"),
            ("t@1.service", "y@1.service", ""),
        ):
            self.units = FakeUnits({unit: "[Install]\nAlias=%s\n" % alias}, self.places)
            self.assertEqual(self.refused(unit), kind, alias)

    @unittest.skipUnless(ROOT, "only root may set flags")
    def test_a_directory_that_stays_as_it_is(self):
        """Nothing is made or removed there; once an alias is made the rest does not matter."""
        link = self.path("a.target.wants/x.service")
        os.symlink("../x.service", link)
        self.units.linked = [link]
        self.assertEqual(self.refused(removal=True), "")
        os.unlink(self.path("a.target.wants/x.service"))
        flag(self.path("a.target.wants"), 0x10)
        self.addCleanup(flag, self.path("a.target.wants"), 0)
        self.assertEqual(self.refused(), "eperm")
        self.assertEqual(self.refused("n.service"), "")
        flag(self.path("a.target.wants"), 0)
        os.symlink("../x.service", link)
        flag(self.path("a.target.wants"), 0x10)
        self.assertEqual(self.refused(removal=True), "eperm")


if __name__ == "__main__":
    unittest.main()
