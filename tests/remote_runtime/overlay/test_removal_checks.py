"""What keeps a planned tree from being removed by a user other than root."""

import os
import unittest

from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.overlay import removal_checks
from remote_runtime.system import preconditions
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import ROOT, DirectoryTest, context
from tests.texts import expect_text

NOBODY = 65534
LOADED = (preconditions, removal_checks)  # nobody may read the directory that they are in


@unittest.skipUnless(ROOT, "needs root, to be somebody else")
class EmptyingTest(DirectoryTest):
    """Each tree is ``d`` with ``d/e``, and a file in that."""

    def setUp(self) -> None:
        super().setUp()
        self.root = os.path.realpath(self.root)
        os.chmod(self.root, 0o755)
        self.context = context(noop=True)

    def make(self, mode: int, *names: str) -> None:
        """The tree on the host, as its user's own."""
        os.makedirs(self.path("d/e"))
        for name in names:
            self.write(os.path.join("d/e", name), b"x")
        for directory in ("", "d", "d/e"):
            os.chown(self.path(directory), NOBODY, NOBODY)
        os.chmod(self.path("d/e"), mode)

    def plan(self, name: str, kind: str = "directory", mode: int = 0o755) -> None:
        effect = PathEffect(self.path(name), kind, mode, NOBODY, NOBODY)
        self.context.expect([effect], Uncertainty(), "file#x")

    def remove(self) -> str:
        """What the removal of ``d`` by its user is refused with."""
        os.seteuid(NOBODY)
        try:
            self.context.files.obstacles(self.path("d")).removing(tree=True)
        except ResourceError as error:
            return error.message.replace(self.root + "/", "")
        finally:
            os.seteuid(0)
        return ""

    def test_rights_that_are_planned(self) -> None:
        """They count instead of those that the host has."""
        self.make(0o755, "f")
        self.assertEqual(self.remove(), "")
        self.plan("d/e", mode=0o500)
        expect_text(self.remove(), self)
        self.plan("d/e", mode=0o300)
        expect_text(self.remove(), self)
        self.plan("d/e", mode=0o700)
        self.assertEqual(self.remove(), "")

    def test_rights_that_are_given_back(self) -> None:
        """What may not be written is going to be."""
        self.make(0o500, "f")
        expect_text(self.remove(), self)
        self.plan("d/e", mode=0o700)
        self.assertEqual(self.remove(), "")

    def test_names_that_are_not_seen_yet(self) -> None:
        """A directory that is opened only then may hold what does not go."""
        self.make(0o300, "f")
        self.plan("d/e", mode=0o700)
        expect_text(self.remove(), self)

    def test_a_directory_that_will_be_empty(self) -> None:
        """It has to be entered, and nothing in it to be removed."""
        self.make(0o755, "f")
        self.plan("d/e/f", "absent")
        self.plan("d/e", mode=0o500)
        self.assertEqual(self.remove(), "")
        self.plan("d/e", mode=0o600)
        expect_text(self.remove(), self)

    def test_an_empty_directory_of_the_host(self) -> None:
        """It has to be entered as well."""
        self.make(0o600)
        expect_text(self.remove(), self)

    def test_a_tree_that_is_planned_only(self) -> None:
        """The host has nothing of it."""
        self.make(0o755)
        self.plan("d", "absent")
        self.plan("d")
        self.plan("d/new")
        self.plan("d/new/f", "file", 0o644)
        self.assertEqual(self.remove(), "")
        self.plan("d/new", mode=0o500)
        expect_text(self.remove(), self)

    def test_what_is_of_another_user(self) -> None:
        """A sticky directory keeps it."""
        self.make(0o1777, "f")
        self.plan("d/e/g", "file", 0o644)
        self.assertEqual(self.remove(), "")  # the directory is our own
        os.chown(self.path("d/e"), 0, 0)
        expect_text(self.remove(), self)
        self.plan("d/e/f", "absent")
        self.assertEqual(self.remove(), "")
