import unittest

from remote_runtime.masking import MASKED, Mask


class MaskTest(unittest.TestCase):
    def test_secrets(self) -> None:
        """Every spelling of a secret is replaced, the longer of two before the shorter."""
        mask = Mask(["hunter2", "hunter22", 'qu"ote\n'])
        self.assertEqual(mask.text("a hunter22 b hunter2"), "a [masked] b [masked]")
        self.assertEqual(mask.text(repr('qu"ote\n')), "'[masked]\\n'")

    def test_short_values_stay(self) -> None:
        """Values of fewer than 4 characters are not searched for."""
        self.assertEqual(Mask(["abc"]).text("abcd"), "abcd")

    def test_lines_of_a_secret(self) -> None:
        """A secret of several lines is hidden line by line too, as in a diff."""
        self.assertEqual(Mask(["first line\nsecond"]).text("+first line\n+second\n"),
                         "+[masked]\n+[masked]\n")  # fmt: skip

    def test_urls(self) -> None:
        """A password and a token in a URL are hidden, the user and the host are not."""
        mask = Mask()
        self.assertEqual(mask.text("get http://u:pass@h/x"), "get http://u:[masked]@h/x")
        self.assertEqual(mask.text("https://token@h/x"), "https://[masked]@h/x")
        self.assertEqual(mask.text("ssh://git@h/x"), "ssh://git@h/x")

    def test_long_texts(self) -> None:
        """A text that only looks like the beginnings of URLs is searched in one pass."""
        text = "a.b+" * 500000 + " ://"
        self.assertEqual(Mask().text(text), text)

    def test_authorization(self) -> None:
        """An Authorization header is hidden to its end, in a text and as a key."""
        mask = Mask()
        self.assertEqual(mask.text("Authorization: Basic dTpw\nHost: h"),
                         "Authorization: [masked]\nHost: h")  # fmt: skip
        self.assertEqual(
            mask.value({"headers": {"Authorization": "Bearer x", "Host": "h"}, "n": 1}),
            {"headers": {"Authorization": MASKED, "Host": "h"}, "n": 1},
        )
