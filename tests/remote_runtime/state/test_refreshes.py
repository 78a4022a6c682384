import unittest
from typing import Any, List

from remote_runtime.item import Item
from remote_runtime.state.refreshes import LazyRefreshes, Refreshes

ITEM = Item(index=0, type="file", name="/a", properties={})


class Kept(Refreshes):
    """Notes what it is told, and says of everything that it is due."""

    due = True

    def __init__(self) -> None:
        self.told: List[Any] = []

    def since(self, item: Item) -> str:
        return "since"

    def owed(self, item: Item) -> str:
        return "owed"

    def begin(self, item: Item, itself: bool = False) -> bool:
        self.told.append(("begin", item.id))
        return True

    def end(self, changed: bool) -> None:
        self.told.append(("end", changed))

    def served(self, item: Item, fired: Any) -> None:
        self.told.append(("served", item.id, fired))

    def released(self, item: Item) -> None:
        self.told.append(("released", item.id))

    def close(self) -> None:
        self.told.append(("close",))


class NoneDueTest(unittest.TestCase):
    def setUp(self) -> None:
        self.made: List[Kept] = []
        self.refreshes = LazyRefreshes(self.remember)

    def remember(self) -> Refreshes:
        self.made.append(Kept())
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

    def test_what_remembers_is_told_all_from_then_on(self) -> None:
        """It is made once, and asked in place of this one."""
        self.assertTrue(self.refreshes.begin(ITEM))
        self.refreshes.end(False)
        self.refreshes.begin(ITEM)
        self.refreshes.served(ITEM, ["file#/b"])
        self.refreshes.released(ITEM)
        self.refreshes.close()
        asked = self.refreshes.due, self.refreshes.since(ITEM), self.refreshes.owed(ITEM)
        self.assertEqual(asked, (True, "since", "owed"))
        (kept,) = self.made
        begin = ("begin", "file#/a")
        self.assertEqual(
            kept.told,
            [
                begin,
                ("end", False),
                begin,
                ("served", "file#/a", ["file#/b"]),
                ("released", "file#/a"),
                ("close",),
            ],
        )
