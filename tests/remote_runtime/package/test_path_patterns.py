"""dpkg's patterns of paths: what dpkg 1.21 left out by each of them was looked at on Debian 12."""

import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.packages.dpkg import path_patterns

_NAMES = ("a b", "f", "\u00e4")


def left_out(pattern):
    """Those of the names that dpkg leaves out below /x."""
    compiled = path_patterns.compiled(pattern.encode())
    return [name for name in _NAMES if compiled.match(("/x/" + name).encode())]


class Patterns(unittest.TestCase):
    def test_as_dpkg_takes_them(self):
        """A question mark is a byte, a star goes on behind slashes, a bracket may hold a slash."""
        for pattern, names in (
            ("/x/?", ["f"]),
            ("/x/??", ["\u00e4"]),
            ("/x/[^f]*", ["a b", "\u00e4"]),
            ("/x/[!]f]*", ["a b", "\u00e4"]),
            ("/x/[f", []),
            ("/x/[a-z", []),
            ("/x/f\\", []),
            ("/x/a\\ b", ["a b"]),
            ("/x/[[.f.]]", ["f"]),
            ("/x/[a-]*", ["a b"]),
            ("/x/[]f]", ["f"]),
            ("/x/[\\f]", ["f"]),
            ("/x[/]f", ["f"]),
            ("/x/[g-a]", []),
            ("/x/[[:nonsense:]]", []),
            ("/x/[[:lower:]]", ["f"]),
            ("/x/**f**", ["f"]),
            ("*", list(_NAMES)),
            ("/*f", ["f"]),
            ("x/*", []),
        ):
            self.assertEqual(left_out(pattern), names, pattern)

    def test_what_cannot_be_told(self):
        """A name for a character is another thing on another host."""
        with self.assertRaises(Unknowable):
            path_patterns.compiled(b"/x/[[.space.]]")

    def test_many_stars_take_no_longer(self):
        """No path makes a pattern try all ways to part it."""
        compiled = path_patterns.compiled(b"/" + b"*a" * 40 + b"b")
        self.assertIsNone(compiled.match(b"/" + b"a" * 4000))
        self.assertTrue(compiled.match(b"/" + b"a" * 4000 + b"b"))


if __name__ == "__main__":
    unittest.main()
