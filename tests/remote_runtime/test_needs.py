"""What must be there before a resource can act."""

import os
import unittest

from remote_runtime import needs
from remote_runtime.changes import Action, Condition, Missing
from tests.remote_runtime.fakes import FakeAccounts, context

NOBODY = "ccm-test-nobody"


class TestNeeds(unittest.TestCase):
    def test_an_account_that_is_planned_is_no_need(self) -> None:
        """It has no number yet, and only a preview counts it as there."""
        for noop, unmet in ((True, []), (False, [Condition("user", NOBODY)])):
            with self.subTest(noop=noop):
                ctx = context(accounts=FakeAccounts(), noop=noop)
                ctx.pending.add([Condition("user", NOBODY)])
                uid, gid, found = needs.owners(ctx, NOBODY, "0")
                self.assertEqual((uid, gid, [m.condition for m in found]), (-1, 0, unmet))

    def test_a_parent_that_is_to_go_is_none(self) -> None:
        """What an earlier resource removes holds no file, unless it is made again."""
        folder = os.path.dirname(os.path.abspath(__file__))
        path = os.path.join(folder, "x")
        ctx = context(noop=True)
        self.assertIsNone(needs.parent(ctx, path))
        ctx.pending.add([Condition("absent", folder)])
        missing = needs.parent(ctx, path)
        self.assertEqual(missing and missing.condition, Condition("directory", folder))
        ctx.pending.add([Condition("directory", folder)])
        self.assertEqual(needs.unmet(ctx, missing, None), [])

    def test_a_program_is_named_with_its_purpose(self) -> None:
        """The message begins with what it is for."""
        missing = needs.program(context(), "ccm-no-such-program", what="it cannot be validated")
        self.assertIn("it cannot be validated: there is no program", str(missing))
        self.assertIsNone(needs.program(context(), "true", what="it cannot be validated"))

    def test_what_nothing_could_bring_is_told_first(self) -> None:
        """Of two needs that a pending action cannot meet comes before one that it may."""
        ctx = context(noop=True)
        ctx.pending.add([Condition("user", "alice")], certain=False)
        would = Action("Would have acted", lambda: None)
        both = [Missing(Condition(kind, "alice"), kind) for kind in ("user", "group")]
        with self.assertRaises(Missing) as caught:
            needs.raise_first(ctx, both, [would])
        self.assertEqual((caught.exception.message, caught.exception.would), ("group", [would]))
        needs.raise_first(ctx, [], [would])


if __name__ == "__main__":
    unittest.main()
