import unittest

from remote_runtime.resources.edit.document import Document, Place


class DocumentTest(unittest.TestCase):
    def test_round_trips(self) -> None:
        """Whatever the bytes are, what is not changed stays."""
        for data in (
            b"",
            b"\n",
            b"a",
            b"a\n\nb",
            b"a\r\nb\nc\r\n",
            b"\xef\xbb\xbfa\n",
            b"\xff\xfe\x80 latin \xe9\n",
            b"lone\rcarriage\n",
        ):
            self.assertEqual(Document(data).data(), data)

    def test_line_ends(self) -> None:
        """A new line ends as the lines beside it; the last line gets an end if one follows."""
        for data, at, expected in (
            (b"a\r\nb\r\n", 1, b"a\r\nnew\r\nb\r\n"),
            (b"a\r\nb", 2, b"a\r\nb\r\nnew\r\n"),
            (b"a\nb\r\nc\r\n", 3, b"a\nb\r\nc\r\nnew\r\n"),
            (b"a", 1, b"a\nnew\n"),
            (b"a", 0, b"new\na"),
            (b"", 0, b"new\n"),
            (b"\xef\xbb\xbfa\r\n", 0, b"\xef\xbb\xbfnew\r\na\r\n"),
        ):
            document = Document(data)
            document.insert(at, ["new"])
            self.assertEqual(document.data(), expected)

    def test_replaced(self) -> None:
        """The last line keeps that it has no end."""
        for data, texts, expected in (
            (b"a\nb", ["x"], b"a\nx"),
            (b"a\nb", ["x", "y"], b"a\nx\ny"),
            (b"a\nb", [], b"a\n"),
            (b"a\r\nb\r\n", ["x", "y"], b"a\r\nx\r\ny\r\n"),
        ):
            document = Document(data)
            document.replace(1, 2, texts)
            self.assertEqual(document.data(), expected)

    def test_no_text(self) -> None:
        """A binary file is refused."""
        with self.assertRaisesRegex(ValueError, "it is not a text file"):
            Document(b"a\0b\n")


class PlaceTest(unittest.TestCase):
    def test_places(self) -> None:
        """Beside the last line that matches; the end where nothing does."""
        document = Document(b"a\nb\na\nc\n")
        for place, at in (
            (Place(), 4),
            (Place(after="^a"), 3),
            (Place(before="^a"), 2),
            (Place(after="x"), 4),
            (Place(before="x"), 4),
            (Place(before="BOF"), 0),
            (Place(after="EOF"), 4),
        ):
            self.assertEqual(place.find(document), at)

    def test_sides(self) -> None:
        """A line is in place below the first anchor of after, above the last one of before."""
        document = Document(b"x\na\nx\na\nx\n")
        self.assertEqual(
            [Place(after="a").holds(document, at) for at in (0, 2, 4)], [False, True, True]
        )
        self.assertEqual(
            [Place(before="a").holds(document, at) for at in (0, 2, 4)], [True, True, False]
        )
        self.assertTrue(Place(after="no").holds(document, 0))


if __name__ == "__main__":
    unittest.main()
