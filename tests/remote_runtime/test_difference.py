import time
import unittest

from remote_runtime import difference


class DifferenceTest(unittest.TestCase):
    def test_unified(self) -> None:
        """Two texts give a unified diff with the path on both sides."""
        self.assertEqual(
            difference.unified(b"a\nb\n", b"a\nc\n", "/f"),
            "--- /f\n+++ /f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        )

    def test_new(self) -> None:
        """A new file is shown against /dev/null."""
        self.assertEqual(
            difference.unified(None, b"a\nb\n", "/f"),
            "--- /dev/null\n+++ /f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        )

    def test_final_newline(self) -> None:
        """A missing final newline is told as diff tells it."""
        self.assertIn("-a\n\\ No newline at end of file\n+a\n",
                      difference.unified(b"a", b"a\n", "/f"))  # fmt: skip

    def test_binary(self) -> None:
        """A side with NUL or with what is not UTF-8 makes it binary."""
        self.assertEqual(difference.unified(b"a", b"\0", "/f"), "binary")
        self.assertEqual(difference.unified(b"\xff", b"a", "/f"), "binary")

    def test_hopeless(self) -> None:
        """Two large contents with nothing in common are told in bounded time, as one hunk."""
        old = b"".join(b"%d old\n" % i for i in range(20000))
        new = b"head\n" + b"".join(b"%d new\n" % (i % 7) for i in range(20000))
        started = time.time()
        lines = difference.unified(old, new, "/f").splitlines()
        self.assertLess(time.time() - started, 5)
        self.assertEqual(lines[2], "@@ -1,20000 +1,20001 @@")
        self.assertEqual(len(lines), 3 + 40001)

    def test_hopeless_inside(self) -> None:
        """Around such a hunk three equal lines stand on each side, with the right numbers."""
        same = b"".join(b"same %d\n" % i for i in range(10))
        old = same + b"".join(b"o%d\n" % i for i in range(5000)) + same
        new = same + b"".join(b"n%d\n" % i for i in range(5000)) + same
        lines = difference.unified(old, new, "/f").splitlines()
        self.assertEqual(
            lines[2:7], ["@@ -8,5006 +8,5006 @@", " same 7", " same 8", " same 9", "-o0"]
        )
        self.assertEqual(lines[-3:], [" same 0", " same 1", " same 2"])
