import unittest

from remote_runtime.text import shell_words


class WordsTest(unittest.TestCase):
    def test_quotes(self) -> None:
        """Blanks part words, and quotes and backslashes keep them together as in a POSIX shell."""
        for text, expected in (
            ("echo hello world", ["echo", "hello", "world"]),
            ("echo 'hello  world'", ["echo", "hello  world"]),
            ("echo hello\\ world", ["echo", "hello world"]),
            ('echo "it\'s a test"', ["echo", "it's a test"]),
            ("a'b'\"c\"d", ["abcd"]),
            ("'' \"\"", ["", ""]),
            ("a\\\nb", ["ab"]),
            ("\\\n", []),
            ("  \t\n ", []),
        ):
            self.assertEqual(shell_words.split(text), expected, text)

    def test_double_quotes(self) -> None:
        """Inside double quotes a backslash escapes $ ` " \\ and newline only."""
        self.assertEqual(shell_words.split(r'"\$\`\"\\"'), ['$`"\\'])
        self.assertEqual(shell_words.split(r'"\n\a"'), [r"\n\a"])
        self.assertEqual(shell_words.split('"a\\\nb"'), ["ab"])

    def test_nothing_is_expanded(self) -> None:
        """Variables, globs, redirections, operators and comments are plain characters."""
        text = "p $HOME * && > out ; # end"
        self.assertEqual(shell_words.split(text), text.split(" "))

    def test_broken(self) -> None:
        """A quote that is not closed and a backslash at the end are refused with their place."""
        for text, message in (("a 'b", "character 3"), ('"b', "character 1"), ("a\\", "backslash")):
            with self.assertRaisesRegex(ValueError, message):
                shell_words.split(text)
