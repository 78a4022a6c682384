"""Unknown effects, and the reads that they affect."""

import unittest
from typing import List

from remote_runtime.effects import Things, UnknownEffect
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty

FILE = Things(["content"], ["/etc/passwd"])


class UnknownRegionsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.noted: List[Uncertainty] = []
        self.regions = UnknownRegions(lambda found, reason: self.noted.append(found))

    def add(self, level: str, reason: str, since: int) -> None:
        self.regions.add(UnknownEffect(Uncertainty(level, reason), FILE), since)

    def test_the_newest_effect_on_the_same_things_counts(self) -> None:
        """A site of many users would otherwise compare each read with each of them."""
        for since in (1, 2, 3):
            self.add(UNKNOWN, "effect %d" % since, since)
        self.regions.record_read("content", "/etc/passwd", True)
        self.assertEqual(self.noted, [Uncertainty(UNKNOWN, "effect 3")])

    def test_a_less_uncertain_effect_does_not_hide_an_earlier_one(self) -> None:
        self.add(UNKNOWN, "surely", 1)
        self.add(ASSUMED, "if it runs", 2)
        self.regions.record_read("content", "/etc/passwd", True)
        self.assertEqual(self.noted, [Uncertainty(UNKNOWN, "surely")])

    def test_a_value_known_later_is_not_affected(self) -> None:
        self.add(UNKNOWN, "earlier", 1)
        self.regions.record_read("content", "/etc/passwd", True, since=1)
        self.regions.record_read("path", "/etc/passwd", True)
        self.assertEqual(self.noted, [])
