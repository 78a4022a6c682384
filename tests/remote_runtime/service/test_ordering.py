"""Units that wait for each other; systemd 252 refuses and starts as the table says."""

import unittest

from remote_runtime.units.preview.ordering import cycle

from .fake_units import FakeUnits


class OrderingTest(unittest.TestCase):
    def cycle(self, running=(), **texts):
        units = FakeUnits({"%s.service" % n: "[Unit]\n%s\n" % t for n, t in texts.items()})
        units.running = ["%s.service" % name for name in running]
        found = cycle(units, units.definition("a.service"))
        return " ".join(name.partition(".")[0] for name in found)

    def test_cycles(self):
        """Whatever way the order is said, as far as each is needed and does not run yet."""
        both = "Requires=%s.service\nAfter=%s.service"
        rows = [
            ({"a": both % ("b", "b"), "b": both % ("a", "a")}, (), "a b a"),
            ({"a": both % ("b", "b"), "b": both % ("a", "a")}, ("b",), ""),
            ({"a": both % ("b", "b"), "b": "Requires=a.service"}, (), ""),
            ({"a": "Wants=b.service\nAfter=b.service", "b": both % ("a", "a")}, (), ""),
            ({"a": "After=a.service"}, (), ""),
            ({"a": "Requires=gone.service\nAfter=gone.service"}, (), ""),
            (
                {
                    "a": "BindsTo=b.service c.service\nBefore=b.service",
                    "b": "Before=c.service",
                    "c": "Before=a.service",
                },
                (),
                "a c b a",
            ),
            ({"a": "Requires=b.service", "b": both % ("c", "c"), "c": both % ("b", "b")}, (),
             "b c b"),
        ]  # fmt: skip
        for texts, running, expected in rows:
            self.assertEqual(self.cycle(running, **texts), expected, texts)


if __name__ == "__main__":
    unittest.main()
