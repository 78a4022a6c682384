import random
import time
import unittest
from typing import List

from remote_runtime.reporting import text_diff
from tests.texts import expect_text


def whole(lines: List[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def patched(old: List[str], hunks: List[str]) -> List[str]:
    """What a diff makes of the old lines; each line that it tells as theirs must be."""
    out = []  # type: List[str]
    at = 0
    for line in hunks:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            out += old[at:begin]
            at = begin
            continue
        if line[0] != "+":
            assert old[at] == line[1:]
            at += 1
        if line[0] != "-":
            out.append(line[1:])
    return out + old[at:]


class DifferenceTest(unittest.TestCase):
    def test_unified(self) -> None:
        """Two texts give a unified diff with the path on both sides."""
        self.assertEqual(
            text_diff.unified(b"a\nb\n", b"a\nc\n", "/f"),
            "--- /f\n+++ /f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        )

    def test_new(self) -> None:
        """A new file is shown against /dev/null."""
        self.assertEqual(
            text_diff.unified(None, b"a\nb\n", "/f"),
            "--- /dev/null\n+++ /f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        )

    def test_final_newline(self) -> None:
        """A missing final newline is told as diff tells it."""
        expect_text(text_diff.unified(b"a", b"a\n", "/f"), self)

    def test_binary(self) -> None:
        """A side with NUL or with what is not UTF-8 makes it binary."""
        self.assertEqual(text_diff.unified(b"a", b"\0", "/f"), "binary")
        self.assertEqual(text_diff.unified(b"\xff", b"a", "/f"), "binary")

    def test_far_apart(self) -> None:
        """Two changed lines far apart in a long file are two hunks."""
        old = [b"line %d" % i for i in range(10000)]
        new = old[:100] + [b"new"] + old[101:9900] + [b"last"] + old[9901:]
        lines = text_diff.unified(b"\n".join(old), b"\n".join(new), "/f").splitlines()
        self.assertEqual(
            [line for line in lines[2:] if line[0] in "@+-"],
            ["@@ -98,7 +98,7 @@", "-line 100", "+new",
             "@@ -9898,7 +9898,7 @@", "-line 9900", "+last"],
        )  # fmt: skip

    def test_any_two(self) -> None:
        """The hunks make of the one what the other is, whatever the two hold."""
        chance = random.Random(5)
        for words in (2, 30, 100000):
            for size in (5, 300, 9000):
                old = [str(chance.randrange(words)) for _ in range(size)]
                new = list(old)
                for _ in range(chance.randrange(1, 9)):
                    at = chance.randrange(len(new) + 1)
                    new[at : at + chance.randrange(4)] = [str(chance.randrange(words))]
                if chance.random() < 0.5:
                    new = new[size // 2 :] + new[: size // 2]
                told = text_diff.unified(whole(old), whole(new), "/f").splitlines()[2:]
                self.assertEqual(patched(old, told), new)

    def test_visible(self) -> None:
        """What nobody would see has a sign of its own; what is alike keeps its blanks."""
        diff = text_diff.unified(b"same \na\x1b[2Jb\nc\n", b"same \na\r\nc \t\n", "/f")
        self.assertEqual(
            text_diff.visible(diff).splitlines()[3:],
            [" same ", "-a\u241b[2Jb", "-c", "+a\u240d", "+c\u2420\u2409"],
        )
        self.assertEqual(text_diff.visible("+a\u202eb\x7f\x9f"), "+a<U+202E>b\u2421<U+009F>")

    def test_blanks_within_a_line(self) -> None:
        """However many there are, only those at its end get signs."""
        line = "+" + " " * 250000 + "x"
        self.assertEqual(text_diff.visible(line + "\t"), line + "\u2409")

    def test_hopeless(self) -> None:
        """Two large contents with nothing in common are told in bounded time, as one hunk."""
        old = b"".join(b"%d old\n" % i for i in range(20000))
        new = b"head\n" + b"".join(b"%d new\n" % (i % 7) for i in range(20000))
        started = time.time()
        lines = text_diff.unified(old, new, "/f").splitlines()
        self.assertLess(time.time() - started, 5)
        self.assertEqual(lines[2], "@@ -1,20000 +1,20001 @@")
        self.assertEqual(len(lines), 3 + 40001)

    def test_hopeless_inside(self) -> None:
        """Around such a hunk three equal lines stand on each side, with the right numbers."""
        same = b"".join(b"same %d\n" % i for i in range(10))
        old = same + b"".join(b"o%d\n" % i for i in range(5000)) + same
        new = same + b"".join(b"n%d\n" % i for i in range(5000)) + same
        lines = text_diff.unified(old, new, "/f").splitlines()
        self.assertEqual(
            lines[2:7], ["@@ -8,5006 +8,5006 @@", " same 7", " same 8", " same 9", "-o0"]
        )
        self.assertEqual(lines[-3:], [" same 0", " same 1", " same 2"])
