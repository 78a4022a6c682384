import unittest

from remote_runtime.effects import PathEffect
from remote_runtime.uncertainty import Uncertainty
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


if __name__ == "__main__":
    unittest.main()
