import unittest

from remote_runtime.context import DryRun
from remote_runtime.effects import PathEffect
from remote_runtime.uncertainty import ASSUMED, CERTAIN, Uncertainty
from tests.remote_runtime.fakes import context, item


class Turns(unittest.TestCase):
    def test_a_turn_within_another_one(self) -> None:
        """When a child's turn has ended, noop, mask and progress are its parent's again."""
        said = []
        shared = context(on_progress=lambda index, action: said.append((index, action)))
        with shared.for_resource(item("apply", "p", 3), noop=False, secrets=["parents"]):
            with shared.for_resource(item("t", "c", 4), noop=True, secrets=["childs"]):
                self.assertTrue(shared.noop)
                shared.progress("childs parents")
            self.assertFalse(shared.noop)
            shared.progress("childs parents")
        self.assertEqual(said, [(4, "[masked] [masked]"), (3, "childs [masked]")])

    def test_a_turn_that_fails(self) -> None:
        """A turn that ends with an error leaves nothing behind."""
        shared = context(noop=False)
        with self.assertRaises(ValueError), shared.for_resource(item("t", "a"), noop=True):
            raise ValueError
        self.assertFalse(shared.noop)

    def test_commands_of_a_sites_own_type(self) -> None:
        """In a preview they run on what is planned, as a user's do; ours on the host as it is."""
        shared = context(noop=True)
        shared.expect([PathEffect("/etc/planned", "file")], Uncertainty(), "file#/etc/planned")
        for own in (False, True):
            with shared.for_resource(item("t", "a", own=own), noop=True):
                self.assertEqual(shared.commands is shared.user_commands, own)

    def test_plans_do_not_change_what_is_unplanned(self) -> None:
        """The target without planned changes stays so, whatever is planned or tried on it."""
        shared = context(noop=True)
        unplanned = shared.planned()
        shared.overlay_with([PathEffect("/tried", "file")])
        with shared.apart():
            shared.expect([PathEffect("/planned", "file")], Uncertainty(), "file#/planned")
            self.assertIsNot(shared.planned(), unplanned)
        self.assertIs(shared.planned(), unplanned)
        self.assertEqual(unplanned.layer.nodes, {})

    def test_a_planned_dry_run_is_not_repeated(self) -> None:
        """Its overlay becomes the planned target, but only for its effects on the same target."""
        shared = context(noop=True)
        effects = [PathEffect("/planned", "file")]

        def tried() -> DryRun:
            base, overlay = shared.planned(), shared.overlay_with(())
            overlay.lay(tuple(effects), CERTAIN, "file#/planned")
            shared.has_tried(DryRun(base, base.sequence, overlay, effects, ()))
            return DryRun(base, base.sequence, overlay, effects, ())

        first = tried()
        shared.expect(effects, CERTAIN, "file#/planned")
        self.assertIs(shared.planned(), first.overlay)
        shared.expect(effects, CERTAIN, "file#/planned")  # again: on another target
        self.assertEqual(shared.planned().sequence, 2)
        for uncertainty, other in (
            (Uncertainty(ASSUMED, "if x succeeds"), effects),
            (CERTAIN, [PathEffect("/planned", "file")]),
            (CERTAIN, [*effects, PathEffect("/more", "file")]),
        ):
            dry_run = tried()
            shared.expect(other, uncertainty, "file#/planned")
            self.assertIsNot(shared.planned(), dry_run.overlay)


if __name__ == "__main__":
    unittest.main()
