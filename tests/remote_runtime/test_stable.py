import json
import unittest
from typing import Any

from remote_runtime.stable import LONGEST, MOST_TURNS, StableTurns, Told, Turn
from remote_runtime.wire import MAX_FROM_TARGET, encode

TOLD = Told("posix", False, None, None, None)


class StableTurnsTest(unittest.TestCase):
    def turns(self, *rows: Any) -> StableTurns:
        found = StableTurns()
        for seq, (index, what) in enumerate(rows, 5):
            found.add(Turn(seq, 32 + seq, 7.25, seq, index, what))
        return found

    def test_alike(self) -> None:
        """Neighbours of which the same is told stand in one group, others apart."""
        other = TOLD._replace(final_ensure="1.2")
        turns = self.turns((0, TOLD), (1, TOLD), (3, TOLD), (4, other))
        self.assertEqual(turns.count, 4)
        self.assertEqual(
            turns.take(),
            {
                "t": "stable",
                "seq": 5,
                "id": 37,
                "at": 7250000,
                "groups": [
                    {"provider": "posix", "noop": False, "index": 0, "durations": [5, 6]},
                    {"provider": "posix", "noop": False, "index": 3, "durations": [7]},
                    {"provider": "posix", "noop": False, "final_ensure": "1.2", "index": 4,
                     "durations": [8]},
                ],
            },
        )  # fmt: skip
        self.assertEqual(turns.count, 0)

    def test_the_longest_texts_fit_a_frame(self) -> None:
        """As many turns as a message may have fit a frame, whatever is told of each."""
        wide = "\u20ac" * LONGEST
        rows = [(n * 2, Told(wide, False, wide, wide, "certain")) for n in range(MOST_TURNS)]
        frame = encode(self.turns(*rows).take())
        self.assertLess(len(frame), MAX_FROM_TARGET)
        self.assertEqual(len(json.loads(frame[5:].decode())["groups"]), MOST_TURNS)
