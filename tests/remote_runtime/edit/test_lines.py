import unittest
from typing import Any, Optional

from remote_runtime.resources.edit.document import Document, Place
from remote_runtime.resources.edit.line_edits import BlockEdit, LineEdit, Replacement


def applied(edit: Any, text: str, absent: bool = False) -> str:
    """The text after an edit, which changes nothing a second time."""
    document = Document(text.encode())
    step = edit.absent if absent else edit.present
    step(document)
    after = document.data()
    again = Document(after)
    step(again)
    assert again.data() == after, (after, again.data())
    return after.decode()


def line(
    text: Optional[str],
    match: Optional[str] = None,
    after: Optional[str] = None,
    before: Optional[str] = None,
) -> LineEdit:
    return LineEdit(text, match, Place(after, before))


class LineTest(unittest.TestCase):
    def test_added(self) -> None:
        """At the end, or beside an anchor."""
        for edit, text, expected in (
            (line("x"), "a\n", "a\nx\n"),
            (line("x"), "a", "a\nx\n"),
            (line("x"), "", "x\n"),
            (line("x"), "x\na\n", "x\na\n"),
            (line("x"), " x\n", " x\nx\n"),
            (line("x", after="^a"), "a\nb\n", "a\nx\nb\n"),
            (line("x", before="^b"), "a\nb\n", "a\nx\nb\n"),
            (line("x", before="BOF"), "a\n", "x\na\n"),
            (line("ab", after="^a"), "ab\nc\n", "ab\nc\n"),
            (line("ab", before="^a"), "c\nab\n", "c\nab\n"),
            (line("ab", after="^a"), "c\n", "c\nab\n"),
        ):
            self.assertEqual(applied(edit, text), expected)

    def test_match(self) -> None:
        """The last line that matches is replaced, wherever ``after`` points (ansible#36156)."""
        for edit, text, expected in (
            (line("a=2", "^a="), "a=1\nb\n", "a=2\nb\n"),
            (line("a=2", "^a="), "a=1\na=3\n", "a=1\na=2\n"),
            (line("a=2", "^a=", after=r"^\[m\]"), "[m]\nb\na=1\n", "[m]\nb\na=2\n"),
            (line("a=2", "^a=", after="^z"), "a=1\nz\n", "a=2\nz\n"),
            (line("a=2", "^a=", after=r"^\[m\]"), "[m]\nb\n", "[m]\na=2\nb\n"),
        ):
            self.assertEqual(applied(edit, text), expected)

    def test_a_match_that_misses_its_line(self) -> None:
        """The line is found by its text the next time, and never added twice (ansible#29776)."""
        edit = line("secure_path = /opt:/bin", "^secure_path = /bin$")
        self.assertEqual(applied(edit, "secure_path = /bin\n"), "secure_path = /opt:/bin\n")
        self.assertEqual(applied(line("Foo", "^#Foo"), "#Foo\nx\n#Foo\n"), "#Foo\nx\nFoo\n")

    def test_the_same_line_at_two_places(self) -> None:
        """Each anchor gets its own (ansible#28721, #38655)."""
        text = "1\n2\n3\n"
        for _ in range(2):
            for anchor in ("^1$", "^2$", "^3$"):
                text = applied(line("bar", after=anchor), text) if anchor != "^2$" else text
        self.assertEqual(text, "1\nbar\n2\n3\nbar\n")

    def test_absent(self) -> None:
        """Every line that is the same, or that matches."""
        for edit, text, expected in (
            (line("a"), "a\nb\na\n", "b\n"),
            (line(None, "^a"), "a1\nb\na2", "b\n"),
            (line("other", "^a"), "a1\nother\n", "other\n"),
            (line("a"), "b\n", "b\n"),
        ):
            self.assertEqual(applied(edit, text, absent=True), expected)


def block(text: str, marker: str = "# {mark} x", after: Optional[str] = None) -> BlockEdit:
    return BlockEdit(text, marker, Place(after))


class BlockTest(unittest.TestCase):
    def test_present(self) -> None:
        """Added with its markers, or changed between them (pyinfra#1028, #1075, #1031)."""
        whole = "# BEGIN x\na\nb\n# END x\n"
        for edit, text, expected in (
            (block("a\nb\n"), "", whole),
            (block("a\nb"), "1\n", "1\n" + whole),
            (block("a\r\nb\r\n"), "1", "1\n" + whole),
            (block("a\nb"), "1\n# BEGIN x\nold\n# END x\n2\n", "1\n" + whole + "2\n"),
            (block("a\nb"), "# BEGIN x\n# END x", whole[:-1]),
            (block("a\nb", after="^1"), "1\n2\n", "1\n" + whole + "2\n"),
        ):
            self.assertEqual(applied(edit, text), expected)

    def test_line_ends(self) -> None:
        """A block of a file with CRLF has CRLF."""
        self.assertEqual(applied(block("a"), "1\r\n"), "1\r\n# BEGIN x\r\na\r\n# END x\r\n")

    def test_literal(self) -> None:
        """Content and markers mean themselves (pyinfra#1258, #1758)."""
        text = "eval \"$(zoxide init)\" `id` 'q' \\1 {{ }}\n"
        expected = "\t# BEGIN x\n" + text + "\t# END x\n"
        self.assertEqual(applied(block(text, "\t# {mark} x"), ""), expected)

    def test_absent(self) -> None:
        """The markers go, too."""
        text = "1\n# BEGIN x\nold\n# END x\n2\n"
        self.assertEqual(applied(block(""), text, absent=True), "1\n2\n")
        self.assertEqual(applied(block(""), "1\n", absent=True), "1\n")

    def test_broken_markers(self) -> None:
        """What is no pair is refused, with the lines."""
        for text, expected in (
            ("# BEGIN x\na\n", "'# BEGIN x' on line 1, '# END x' on no line"),
            ("# END x\n# BEGIN x\n", "'# BEGIN x' on line 2, '# END x' on line 1"),
            ("# BEGIN x\n# END x\n" * 2, "'# BEGIN x' on lines 1, 3"),
        ):
            with self.assertRaises(ValueError) as caught:
                block("b").present(Document(text.encode()))
            self.assertIn(expected, str(caught.exception))


class ReplacementTest(unittest.TestCase):
    def test_replaced(self) -> None:
        """Every match in every line; nothing where nothing matches."""
        for match, text, before, after in (
            ("a(b)", r"<\1>", "ab ab\nx\nab", "<b> <b>\nx\n<b>"),
            ("^#(Port .*)", r"\1", "#Port 22\n##Port 1\n", "Port 22\n##Port 1\n"),
            ("x", "y", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("(?P<a>1)", r"\g<a>\\", "2\n", "2\n"),
        ):
            self.assertEqual(applied(Replacement(match, text), before), after)

    def test_one_that_never_ends(self) -> None:
        """A replacement that the next run would replace again is refused with its line."""
        with self.assertRaisesRegex(ValueError, "line 2 would change in every run"):
            Replacement("a", "aa").present(Document(b"x\na\n"))

    def test_a_long_line(self) -> None:
        """The time for one line is bounded."""
        with self.assertRaisesRegex(ValueError, "line 1 has 70001 characters"):
            Replacement("a", "b").present(Document(b"x" * 70000 + b"a\n"))


if __name__ == "__main__":
    unittest.main()
