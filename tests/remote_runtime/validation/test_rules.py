import unittest

from remote_runtime.text import duration
from remote_runtime.validation.rules import of_path, of_text


class RulesTest(unittest.TestCase):
    def test_paths(self) -> None:
        """A path is absolute, clean and without control characters."""
        for path in ("/", "/a", "/a b/ö"):
            self.assertEqual(of_path(path), [], path)
        for path, word in (
            ("a", "absolute"),
            ("/a\n", "control"),
            ("/a\x7f", "control"),
            ("/a/../b", "clean, without . or .. or doubled slashes: /b"),
            ("//a", "clean"),
            ("/a/", "clean"),
        ):
            (message,) = of_path(path)
            self.assertIn(word, message)

    def test_texts(self) -> None:
        """What a parser refuses is told in its words."""
        self.assertEqual(of_text(duration.parse, "5m"), [])
        self.assertEqual(
            of_text(duration.parse, "5"), ["'5' is not a duration such as 30s, 5m or 1h30m"]
        )
