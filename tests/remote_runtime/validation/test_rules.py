import unittest

from remote_runtime.text import duration
from remote_runtime.validation.rules import of_creates, of_path, of_text, of_tries


class RulesTest(unittest.TestCase):
    def test_paths(self) -> None:
        """A path is absolute, without detours and without control characters."""
        for path in ("/", "/a", "/a b/ö"):
            self.assertEqual(of_path(path), [], path)
        for path, word in (
            ("a", "absolute"),
            ("/a\n", "control"),
            ("/a\x7f", "control"),
            ("/a/../b", "double slashes or a trailing slash: write /b"),
            ("//a", "write /a"),
            ("/a/", "write /a"),
        ):
            (message,) = of_path(path)
            self.assertIn(word, message)

    def test_texts(self) -> None:
        """What a parser refuses is told in its words."""
        self.assertEqual(of_text(duration.parse, "5m"), [])
        self.assertEqual(
            of_text(duration.parse, "5"), ["'5' is not a duration such as 30s, 5m or 1h30m"]
        )

    def test_creates(self) -> None:
        """A pattern and a home directory are refused; a lone bracket is a name."""
        for path in ("/a", "a/b", "/usr/bin/[", "/a[]b", "/a]b", "/a~", "/{a,b}"):
            self.assertEqual(of_creates(path), [], path)
        for path, word in (
            ("/a/*.done", "one path"),
            ("a?", "one path"),
            ("/v[0-9]/x", "one path"),
            ("~/done", "home directory"),
            ("~deploy/done", "home directory"),
        ):
            (message,) = of_creates(path)
            self.assertIn("not expanded", message)
            self.assertIn(word, message)
        self.assertIn("use unless with provider: shell", of_creates("/a*", "unless")[0])

    def test_tries(self) -> None:
        """The pause between tries is a duration."""
        self.assertEqual(of_tries({"tries": 3, "try_sleep": "5s"}), [])
        self.assertEqual([key for key, _ in of_tries({"try_sleep": "soon"})], ["try_sleep"])
