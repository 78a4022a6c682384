"""Headers that some versions of Python take very long to parse, or much memory."""

import io
import tarfile
import unittest
from typing import Optional

from remote_runtime.archives.tar_headers import HeaderCheck


def extended(records: bytes) -> bytes:
    """A tar archive with an extended header before its member."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, data in (("x", tarfile.XHDTYPE, records), ("a", tarfile.REGTYPE, b"")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.size = kind, len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


class HeaderCheckTest(unittest.TestCase):
    def checked(self, records: bytes, headers: Optional[HeaderCheck] = None) -> int:
        """Check the parts of an archive as tarfile reads them; return their number."""
        data = extended(records)
        end = 512 + -(-len(records) // 512) * 512
        headers = headers or HeaderCheck()
        parts = data[:512], data[512:end], data[end : end + 512]
        for part in parts:
            headers.check(part)
        return len(parts)

    def test_what_tar_writes(self) -> None:
        """The records of tarfile and of other programs are as they should be."""
        fields = {"path": "ä" * 300 + "9" * 255, "mtime": "1.5", "SCHILY.xattr.user.x": "a\n=\0b"}
        written = tarfile.TarInfo.create_pax_global_header(fields)
        headers = HeaderCheck()
        headers.check(written[:512])
        headers.check(written[512:])
        for records in (b"", b"6 a=b\n", b"6 a=b\n9 c=d\ne=\n", b"5 a=\n\0\0"):
            self.assertEqual(self.checked(records), 3)

    def test_long_name(self) -> None:
        """A long name of GNU tar is no header, whatever is where a header has its type."""
        for letter in "xgX":
            name = "d" * 156 + letter + "/file"
            written = tarfile.TarInfo(name).tobuf(tarfile.GNU_FORMAT)
            headers = HeaderCheck()
            for begin in range(0, len(written), 512):
                headers.check(written[begin : begin + 512])
            self.assertEqual(written[512:].index(letter.encode()), 156)
            with self.assertRaises(ValueError, msg="the records of the next header are checked"):
                self.checked(b"a=b\n", headers)

    def test_what_takes_long(self) -> None:
        """Long rows of digits, and records that overlap or do not end, are refused."""
        for records in (
            b"9" * 256,
            b"6 a=b\n" + b"1" * 500_000 + b" hdrcharset",
            b"270 a=" + b"9" * 263 + b"\n",
            b"5 aa" * 100_000 + b"=\n",
            b"5 aa=\n",
            b"0 a=b\n",
            b"7 a=b\n",
            b"6 abc\n",
            b"a=b\n",
        ):
            with self.assertRaises(ValueError, msg=records[:20]):
                self.checked(records)


if __name__ == "__main__":
    unittest.main()
