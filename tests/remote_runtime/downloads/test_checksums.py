import unittest

from remote_runtime.downloads.checksums import checksum_in, parse_checksum
from remote_runtime.errors import ResourceError

A, B = "a" * 64, "b" * 64
LONG = "c" * 128

SIGNED = """-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

# app.iso: 123 bytes
SHA256 (app.iso) = %s
SHA1 (app.iso) = %s
-----BEGIN PGP SIGNATURE-----

iQIzBAEBCAAdFiEE
-----END PGP SIGNATURE-----
""" % (A, "d" * 40)


class ChecksumsTest(unittest.TestCase):
    def find(self, text: str, path: str = "/dist/app.iso") -> str:
        return checksum_in(text.encode("utf-8", "surrogateescape"), path, "the list")

    def test_published_forms(self) -> None:
        """Lines in every form that people publish."""
        for text in (
            "%s  app.iso\n" % A,
            "%s *app.iso\r\n" % A,
            "%s app.iso" % A.upper(),
            "%s\tapp.iso\n" % A,
            "%s  ./dist/app.iso\n%s  ./old/app.iso\n" % (A, B),
            "%s  other.iso\n%s  app.iso\n" % (B, A),
            "SHA256 (app.iso) = %s\n" % A,
            "SHA2-256(app.iso)= %s\n" % A,
            "SHA256(dist/app.iso)= %s\n" % A,
            "%s\n" % A,
            "\ufeff%s" % A,
            "# a comment\n\n%s  app.iso\n%s  app.iso\n" % ("d" * 40, A),
            "%s  app.iso\n%s  app.iso\n" % (A, A),
            SIGNED,
        ):
            self.assertEqual(self.find(text), "sha256:" + A, text)
        self.assertEqual(self.find("%s  app.iso\n%s  app.iso\n" % (A, LONG)), "sha512:" + LONG)
        self.assertEqual(self.find("\\%s  a\\\\b\n" % A, "/a\\b"), "sha256:" + A)
        self.assertEqual(self.find("%s  with space.iso\n" % A, "/with space.iso"), "sha256:" + A)

    def test_refused(self) -> None:
        """Another name, two answers, none at all."""
        for text, word in (
            ("%s  other.iso\n" % A, "no checksum for app.iso: it names other.iso"),
            ("%s  app.iso.sig\n" % A, "it names app.iso.sig"),
            ("%s  x/app.iso\n%s  y/app.iso\n" % (A, B), "has 2 checksums for app.iso"),
            ("%s\n%s\n" % (A, B), "has no checksum for app.iso"),
            ("%s  app.iso\n" % ("d" * 40), "contains no SHA-256 or SHA-512"),
            ("SHA256 (app.iso) = %s\n" % LONG, "contains no SHA-256 or SHA-512"),
            ("<html>\n", "contains no"),
            ("", "contains no"),
            ("".join("%s  f%d\n" % (A, n) for n in range(9)), "and 4 more"),
        ):
            with self.assertRaises(ResourceError) as caught:
                self.find(text)
            self.assertIn(word, caught.exception.message)
            self.assertIn("the list", caught.exception.message)

    def test_of_manifests(self) -> None:
        """The algorithm follows from the digits, and may be said."""
        self.assertEqual(parse_checksum(A.upper()), "sha256:" + A)
        self.assertEqual(parse_checksum("sha256:" + A), "sha256:" + A)
        self.assertEqual(parse_checksum("SHA-512:" + LONG), "sha512:" + LONG)
        for text, word in (
            ("abc", "this value has 3 characters"),
            ("sha512:" + A, "expected SHA-256"),
            ("md5:" + "d" * 32, "md5 is not supported"),
            (":" + A, "an empty algorithm"),
            ("g" * 64, "expected SHA-256"),
            ("sha256:https://example.com/SHA256SUMS", "use checksum_url"),
        ):
            with self.assertRaises(ValueError) as caught:
                parse_checksum(text)
            self.assertIn(word, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
