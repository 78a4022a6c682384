"""What the lists of apt say about versions."""

import unittest
from typing import List, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt.package_records import ListedTexts


class ListedTextsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.asked: List[Sequence[str]] = []
        self.texts = ListedTexts(self.query)

    def query(self, words: Sequence[str]) -> str:
        self.asked.append(words)
        if "lost=1" in words:
            raise ResourceError("lost=1 was not found")
        told = [word.split("=") for word in words[1:] if word != "none=1"]
        return "\n\n".join("Package: %s\nVersion: %s\nA: b" % (n, v) for n, v in told)

    def test_each_is_asked_for_once(self) -> None:
        """The first question includes what will be needed soon; only what is wanted is returned."""
        text = self.texts.of([("a", "1")], "amd64", soon=[("a", "1"), ("b", "2")])
        self.assertEqual(text, "Package: a\nVersion: 1\nA: b")
        both = self.texts.of([("b", "2"), ("a", "1")], "amd64")
        self.assertEqual(both, "Package: b\nVersion: 2\nA: b\n\n" + text)
        self.assertEqual(self.asked, [["show", "a=1", "b=2"]])

    def test_what_is_not_listed(self) -> None:
        """A version without a text has none, and is not asked for again."""
        for _ in range(2):
            self.assertEqual(self.texts.of([("none", "1")], "amd64"), "")
        self.assertEqual(len(self.asked), 1)

    def test_a_question_that_fails(self) -> None:
        """If the question about more fails, only what is wanted counts, from then on too."""
        for name in ("a", "b"):
            self.assertIn(name, self.texts.of([(name, "1")], "amd64", soon=[("lost", "1")]))
        self.assertEqual(self.asked, [["show", "a=1", "lost=1"], ["show", "a=1"], ["show", "b=1"]])
        with self.assertRaises(ResourceError):
            self.texts.of([("lost", "1")], "amd64")


if __name__ == "__main__":
    unittest.main()
