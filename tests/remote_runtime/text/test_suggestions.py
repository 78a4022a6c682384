import unittest

from remote_runtime.text.suggestions import nearest


class NearestTest(unittest.TestCase):
    def test_a_misspelt_word_is_recognised(self) -> None:
        """The known word that is spelt most alike is found among others that are near."""
        self.assertEqual(nearest("onlyfi", ["only", "onlyif", "unless"]), "onlyif")

    def test_nothing_is_guessed_for_a_word_of_its_own(self) -> None:
        """A word unlike every known one, or asked of an empty list, has no guess."""
        self.assertEqual(nearest("zzz", ["only", "onlyif"]), "")
        self.assertEqual(nearest("only", []), "")
