"""Named tuples as the shipped runtime makes them."""

import unittest
from typing import Any

from remote_runtime.stdlib_light.named_tuple import NamedTuple, items, made


class Point(NamedTuple):
    y = 2  # type: Any
    _fields = ("x", "y")
    __new__ = lambda cls, x, y=y: made(cls, (x, y))  # noqa: E731 - as the image has it
    x, y = items[:2]
    kind = "point"

    def sum(self) -> Any:
        return self.x + self.y


class TestNamedTuple(unittest.TestCase):
    def test_is_a_tuple(self) -> None:
        """Unpacks, compares and hashes as a tuple does."""
        x, y = Point(1, 5)
        self.assertEqual((x, y), (1, 5))
        self.assertEqual(Point(1), (1, 2))
        self.assertEqual(len({Point(1), Point(1, 2), Point(x=1)}), 1)

    def test_has_names(self) -> None:
        """Fields are read by name, beside constants and methods."""
        point = Point(y=5, x=1)
        self.assertEqual((point.x, point.y, point.kind, point.sum()), (1, 5, "point", 6))
        self.assertEqual(repr(point), "Point(x=1, y=5)")

    def test_replaces_fields(self) -> None:
        """A copy with other values is of the same class; the original stays."""
        point = Point(1)
        moved = point._replace(x=9)
        self.assertEqual((type(moved), moved, point), (Point, (9, 2), (1, 2)))

    def test_refuses_wrong_fields(self) -> None:
        """Too few, too many, unknown and repeated fields are errors."""
        for values, named in (((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1})):
            with self.subTest(values=values), self.assertRaises(TypeError):
                Point(*values, **named)
        with self.assertRaisesRegex(TypeError, "Point"):
            Point(1)._replace(z=1)


if __name__ == "__main__":
    unittest.main()
