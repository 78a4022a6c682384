"""The links that package scripts create and remove with update-alternatives."""

import os
import unittest
from unittest import mock

from remote_runtime.effects import PathEffect
from remote_runtime.packages.maintainer_scripts import alternatives
from remote_runtime.packages.maintainer_scripts.effects import Declared
from remote_runtime.packages.maintainer_scripts.shell import Call
from tests.remote_runtime.fakes import DirectoryTest, context


class AlternativesTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.path("records"))
        os.mkdir(self.path("links"))
        for name, value in (("_RECORDS", [self.path("records")]), ("_LINKS", self.path("links"))):
            patch = mock.patch.object(alternatives, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.link, self.own = self.path("edit"), self.path("links/edit")
        self.vi = self.write("vi")

    def called(self, *words: str) -> Declared:
        call = Call(("update-alternatives", *words), certain=True)
        found = alternatives.declared(context(noop=True).files, call)
        assert found is not None
        return found

    def record(self, *lines: str) -> None:
        self.write("records/edit", ("\n".join(lines) + "\n").encode())

    def test_other_commands(self) -> None:
        """They are not followed."""
        self.assertIsNone(alternatives.declared(context(noop=True).files, Call(("true",), True)))

    def test_a_new_name(self) -> None:
        """It leads to its only choice, by a link of the tool."""
        found = self.called("--install", self.link, "edit", self.vi, "10")
        self.assertEqual(
            found.effects,
            [
                PathEffect(self.own, "symlink", target=self.vi),
                PathEffect(self.link, "symlink", target=self.own),
            ],
        )
        self.assertNotIn(self.link, found.open)

    def test_what_priorities_or_a_file_decide(self) -> None:
        """A known name, a file at the link and slaves are uncertain."""
        install = ("--install", self.link, "edit", self.vi, "10")
        slave = self.called(*install, "--slave", self.path("s"), "s", self.vi)
        self.write("edit")
        file = self.called(*install)
        os.unlink(self.link)
        self.record("auto", self.link, "", "/other", "5", "")
        known = self.called(*install)
        for found in (slave, file, known, self.called("--set", "edit", self.vi)):
            self.assertEqual(found.effects, [])
            self.assertIn(self.link, found.open)

    def test_the_last_choice_goes(self) -> None:
        """With it go both links; nothing happens to a name that has no such choice."""
        os.symlink(self.own, self.link)
        os.symlink(self.vi, self.own)
        self.record("auto", self.link, "", self.vi, "5", "")
        found = self.called("--remove", "edit", self.vi)
        gone = [PathEffect(self.own, "absent"), PathEffect(self.link, "absent")]
        self.assertEqual(found.effects, gone)
        self.assertEqual(self.called("--remove", "edit", "/other"), ([], []))
        self.assertEqual(self.called("--remove", "none", self.vi), ([], []))

    def test_one_of_several_choices_goes(self) -> None:
        """The link may lead to another one."""
        self.record("auto", self.link, "", self.vi, "5", "/other", "3", "")
        found = self.called("--remove", "edit", self.vi)
        self.assertEqual(found.effects, [])
        self.assertIn(self.link, found.open)


if __name__ == "__main__":
    unittest.main()
