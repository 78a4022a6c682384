import unittest
from typing import List

from remote_runtime.plan_item import Item
from remote_runtime.state.lazy_refreshes import LazyRefreshes, Refreshes
from tests.remote_runtime.fakes import context

ITEM = Item(index=0, type="file", name="/a", properties={})


class NoneDueTest(unittest.TestCase):
    def setUp(self) -> None:
        self.made: List[Refreshes] = []
        self.refreshes = LazyRefreshes(self.remember)

    def remember(self) -> Refreshes:
        self.made.append(Refreshes())
        return self.made[-1]

    def test_nothing_remembers_until_something_is_changed(self) -> None:
        """Until then nothing is due, whatever it is asked and told."""
        self.refreshes.served(ITEM, ["file#/b"])
        self.refreshes.released(ITEM)
        self.refreshes.end(True)
        self.refreshes.close()
        asked = self.refreshes.due, self.refreshes.since(ITEM), self.refreshes.owed(ITEM)
        self.assertEqual(asked, (False, "", ""))
        self.assertEqual(self.made, [])

    def test_what_remembers_takes_over_before_the_first_change(self) -> None:
        """It is made once, and is that of the run from then on."""
        ctx = context()
        ctx.refreshes = self.refreshes
        self.assertIs(ctx.ledger(), ctx.ledger())
        self.assertEqual(self.made, [ctx.refreshes])
