import unittest

from remote_runtime.text import duration


class DurationTest(unittest.TestCase):
    def test_units(self) -> None:
        """Durations add up their parts, whatever their unit."""
        for text, seconds in (
            ("30s", 30), ("5m", 300), ("1h30m", 5400), ("500ms", 0.5), ("1.5s", 1.5), ("0", 0),
            ("1d", 86400),
        ):  # fmt: skip
            self.assertAlmostEqual(duration.parse(text), seconds)

    def test_refused(self) -> None:
        """What has no unit, no number or anything else is refused by its text."""
        for text in ("", "5", "s", "-3s", "3 s", "1x", "5s!"):
            with self.assertRaisesRegex(ValueError, "not a duration"):
                duration.parse(text)
