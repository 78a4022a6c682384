import os

from remote_runtime.system.process.filtered_file import FilteredFile
from tests.remote_runtime.fakes import DirectoryTest


class FiltersTest(DirectoryTest):
    def filtered(self, *argv: str, data: bytes = b"0123456789" * 1000) -> FilteredFile:
        with open(self.path("in"), "wb") as file:
            file.write(data)
        source = os.fdopen(os.open(self.path("in"), os.O_RDONLY), "rb")
        self.addCleanup(source.close)
        source.read(5)
        found = FilteredFile(argv, source)
        self.addCleanup(found.close)
        return found

    def test_a_stream(self) -> None:
        """All of the file goes through the program, and a few bytes can be read again."""
        stream = self.filtered("/bin/cat")
        self.assertEqual(stream.read(12), b"012345678901")
        stream.seek(9)
        self.assertEqual((stream.tell(), stream.read(3)), (9, b"901"))
        self.assertEqual(len(stream.read(20000)), 10000 - 12)
        self.assertEqual(stream.read(1), b"")
        for position in (0, 10001):
            self.assertRaises(ValueError, stream.seek, position)

    def test_a_program_that_fails(self) -> None:
        """The end of what it wrote is no end of the stream."""
        stream = self.filtered("/bin/sh", "-c", "head -c 10; exit 3")
        self.assertEqual(stream.read(10), b"0123456789")
        with self.assertRaisesRegex(ValueError, "sh ended with exit code 3"):
            stream.read(1)

    def test_a_stream_that_is_left(self) -> None:
        """The program of a stream that is closed early ends."""
        stream = self.filtered("/bin/sleep", "1000")
        stream.close()
        self.assertIsNotNone(stream._process.returncode)
        self.assertRaises(OSError, os.killpg, stream._process.pid, 0)
