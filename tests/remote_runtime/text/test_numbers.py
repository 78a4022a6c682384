import unittest

from remote_runtime.text.numbers import is_number


class NumbersTest(unittest.TestCase):
    def test_digits(self):
        """Other digits than those of ASCII, and very many of them, are no number."""
        for text in ("0", "007", "9" * 18):
            self.assertTrue(is_number(text), text)
        for text in ("", "-1", "1.0", " 1", "\u00b2", "\u0663", "1_0", "9" * 19, "9" * 5000):
            self.assertFalse(is_number(text), text)
