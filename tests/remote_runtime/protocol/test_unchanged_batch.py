import json
import unittest
from typing import Any

from remote_runtime.protocol.unchanged_batch import (
    MAX_ROWS,
    MAX_TEXT_LENGTH,
    UnchangedBatch,
    UnchangedEvent,
    Unplanned,
)
from remote_runtime.protocol.wire import MAX_FROM_TARGET, encode

SAID = Unplanned("posix", None, None, False, "")


class UnchangedBatchTest(unittest.TestCase):
    def batch(self, *results: Any) -> UnchangedBatch:
        found = UnchangedBatch()
        for seq, (index, said) in enumerate(results, 5):
            found.add(UnchangedEvent(seq, 32 + seq, 7.25, seq, index, said))
        return found

    def test_rows(self) -> None:
        """Each resource is a row of its index, its duration and its provider; states of which the
        plan does not say all follow."""
        batch = self.batch(
            (0, SAID),
            (3, SAID._replace(final_ensure="1.2")),
            (4, SAID._replace(requested_ensure="present")),
        )
        self.assertEqual(batch.count, 3)
        self.assertEqual(
            batch.take(),
            {
                "t": "stable",
                "seq": 5,
                "id": 37,
                "at": 7250000,
                "noop": False,
                "prediction": "",
                "rows": [
                    [0, 5, "posix"],
                    [3, 6, "posix", "1.2", None],
                    [4, 7, "posix", None, "present"],
                ],
            },
        )
        self.assertEqual(batch.count, 0)

    def test_a_preview_is_a_message_of_its_own(self) -> None:
        """A message says once whether it is a preview, and how certain."""
        batch = self.batch((0, SAID))
        for said, fits in (
            (SAID._replace(provider="x"), True),
            (SAID._replace(noop=True), False),
            (SAID._replace(prediction="certain"), False),
        ):
            self.assertEqual(batch.fits(UnchangedEvent(6, 38, 7.25, 1, 1, said)), fits)
        batch.take()
        self.assertTrue(batch.fits(UnchangedEvent(6, 38, 7.25, 1, 1, SAID._replace(noop=True))))

    def test_the_longest_texts_fit_a_frame(self) -> None:
        """As many rows as a message may have fit a frame, whatever they say."""
        wide = "\u20ac" * MAX_TEXT_LENGTH
        said = Unplanned(wide, wide, wide, False, "certain")
        frame = encode(self.batch(*[(n, said) for n in range(MAX_ROWS)]).take())
        self.assertLess(len(frame), MAX_FROM_TARGET)
        self.assertEqual(len(json.loads(frame[5:].decode())["rows"]), MAX_ROWS)
