"""What must be there before a resource can act."""

import os
import tempfile
import unittest

from remote_runtime import missing_parents
from remote_runtime.changes import Missing
from remote_runtime.effects import AccountEffect, PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host.host_reader import reader
from remote_runtime.host.machine.contents import Contents
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import FakeAccounts, context, failure_of

NOBODY = "ccm-test-nobody"


class TestNeeds(unittest.TestCase):
    def test_an_account_that_is_planned_is_no_need(self) -> None:
        """Only a preview counts it as there; it has no number of its own yet."""
        for noop in (True, False):
            with self.subTest(noop=noop):
                ctx = context(accounts=FakeAccounts(), noop=noop)
                ctx.expect([AccountEffect("user", NOBODY)], Uncertainty(), "exec#add")
                accounts = reader(ctx, ctx).accounts
                uid = accounts.uid(NOBODY)
                self.assertEqual(uid is not None and uid < 0, noop)
                self.assertEqual(uid is not None and accounts.user_name(uid) == NOBODY, noop)

    def test_a_parent_that_is_to_go_is_none(self) -> None:
        """What an earlier resource removes holds no file, unless it is made again."""
        directory = os.path.dirname(os.path.abspath(__file__))
        path = os.path.join(directory, "x")
        ctx = context(noop=True)
        reader(ctx, ctx).files.require_parent(path)
        ctx.expect([PathEffect(directory, "absent")], Uncertainty(), "file#a")
        missing = failure_of(lambda: reader(ctx, ctx).files.require_parent(path))
        self.assertIsInstance(missing, Missing)
        self.assertIn("the parent directory %s does not exist" % directory, missing.message)
        ctx.expect([PathEffect(directory, "directory")], Uncertainty(), "file#b")
        reader(ctx, ctx).files.require_parent(path)

    def test_a_link_to_nowhere_is_no_parent_that_can_be_made(self) -> None:
        """What is to be made below it fails, as the push does."""
        with tempfile.TemporaryDirectory() as directory:
            os.symlink("nowhere", os.path.join(directory, "link"))
            with self.assertRaises(ResourceError) as caught:
                missing_parents.parents(
                    context(noop=True).files, os.path.join(directory, "link/a/b"), 0o755
                )
            self.assertIn("No such file or directory", str(caught.exception))
            made = missing_parents.parents(
                context(noop=True).files, os.path.join(directory, "a/b"), 0o755
            )
            self.assertEqual([each.path for each in made], [os.path.join(directory, "a")])

    def test_a_program_is_named_with_its_purpose(self) -> None:
        """The message begins with what it is for."""
        contents, what = Contents(context()), "it cannot be validated"
        missing = failure_of(lambda: contents.require("ccm-no-such-program", what))
        self.assertIn("it cannot be validated: program ccm-no-such-program not found", str(missing))
        contents.require("true", what)


if __name__ == "__main__":
    unittest.main()
