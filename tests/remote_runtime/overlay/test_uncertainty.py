"""Unknown effects, and the reads that they affect."""

import unittest
from typing import List

from remote_runtime.effects import AnyOf, Below, Covers, Named, Things, UnknownEffect
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

    def test_an_effect_is_preferred_that_mentions_the_name(self) -> None:
        """The name is not part of a longer word, and the effect covers the read."""
        for reason, text in (
            ("named", "install /srv/é.conf"),
            ("longer", "rm /srv/é.conf2"),
            ("other word", "ls /srv/conf"),
            ("newest", "true"),
        ):
            effect = UnknownEffect(Uncertainty(ASSUMED, reason), Below("/srv"), text)
            self.regions.add(effect, 1)
        elsewhere = Uncertainty(ASSUMED, "elsewhere")
        self.regions.add(UnknownEffect(elsewhere, Below("/etc"), "cp /srv/é.conf /etc"), 1)
        for path in ("/srv/é.conf", "/srv/other", "/srv/conf"):
            self.regions.record_read("path", path, True)
        self.assertEqual([one.reason for one in self.noted], ["named", "newest", "other word"])

    def test_a_read_is_compared_with_few_effects(self) -> None:
        """Otherwise a preview of many commands and resources compares each with each."""
        compared: List[str] = []

        class Compared(Below):
            def __call__(self, kind: str, value: str, present: bool) -> bool:
                compared.append(self.top)
                return super().__call__(kind, value, present)

        def anything(kind: str, value: str, present: bool) -> bool:
            compared.append("anything")
            return True

        def add(covers: Covers, number: int) -> None:
            effect = UnknownEffect(Uncertainty(ASSUMED, "x"), covers, "touch /srv/%d" % number)
            self.regions.add(effect, number)

        def comparisons(kind: str, value: str, since: int) -> List[str]:
            compared.clear()
            self.regions.record_read(kind, value, True, since)
            return compared

        for number in range(100):
            places = Compared("/srv/%d" % number, itself=True), Named("unit", "u%d" % number)
            add(AnyOf(places), number)
        for kind, value, since, expected in (
            ("path", "/srv/7/x", 0, ["/srv/7"]),
            ("path", "/srv/7/x", 99, []),
            ("unit", "u7", 0, ["/srv/7"]),
            ("user", "u7", 0, []),
            ("content", "/srv/7", 0, []),
        ):
            with self.subTest(kind=kind, value=value, since=since):
                self.assertEqual(comparisons(kind, value, since), expected)
        for number in range(100, 200):
            add(anything, number)
        self.assertEqual(comparisons("path", "/srv/x", 0), ["anything"])

    def test_a_part_of_a_unit_covers_the_unit(self) -> None:
        for path in ("/etc/systemd/system/web.service.d/x.conf", "/etc/systemd/system/web.service"):
            self.regions.add(UnknownEffect(Uncertainty(ASSUMED, path), Below(path, itself=True)), 1)
            self.regions.record_read("unit", "web.service", True)
            self.regions.record_read("unit", "other.service", True)
            self.assertEqual([one.reason for one in self.noted], [path])
            self.noted.clear()
