import unittest

from remote_runtime.resources.file.modes import directory_mode, leaves_special_bits, parse_mode


class ModesTest(unittest.TestCase):
    def test_modes(self) -> None:
        """The three spellings of a mode mean the same number."""
        for text in ("644", "0644", "0o644", "0O644"):
            self.assertEqual(parse_mode(text), 0o644)
        self.assertEqual(parse_mode("2755"), 0o2755)

    def test_special_bits(self) -> None:
        """A fourth digit that is not 0, or five digits, say something of the special bits."""
        for text in ("755", "0755", "0o755", "0o0755"):
            self.assertTrue(leaves_special_bits(text), text)
        for text in ("1777", "02755", "0o2755", "00755", "0o00755"):
            self.assertFalse(leaves_special_bits(text), text)

    def test_bad_modes(self) -> None:
        """Digits above 7, symbols and more bits than there are are refused."""
        for text in ("0888", "rw-r--r--", "17777", "", "0o"):
            with self.assertRaises(ValueError):
                parse_mode(text)

    def test_directory_modes(self) -> None:
        """A directory gets x in each triad that has r or w."""
        self.assertEqual(directory_mode(0o644), 0o755)
        self.assertEqual(directory_mode(0o620), 0o730)
        self.assertEqual(directory_mode(0o700), 0o700)
