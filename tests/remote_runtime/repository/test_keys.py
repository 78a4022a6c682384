"""OpenPGP keys without gpg."""

import base64
import unittest

from remote_runtime.resources.repository import openpgp_keys
from tests.remote_runtime.repository.signed import FINGERPRINT, KEY, OTHER_FINGERPRINT, OTHER_KEY

BINARY = openpgp_keys.dearmored(KEY.encode())
PRIVATE = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nabcd\n-----END PGP PRIVATE KEY BLOCK-----\n"


def packet(tag, body):
    """A packet of the new format."""
    size = len(body)
    length = bytes([size]) if size < 192 else b"\xff" + size.to_bytes(4, "big")
    return bytes([0xC0 | tag]) + length + body


class KeysTest(unittest.TestCase):
    def test_both_forms(self):
        """The fingerprint is the same of the armored and the binary form."""
        self.assertEqual(openpgp_keys.read(KEY.encode()).primary, [FINGERPRINT])
        self.assertEqual(openpgp_keys.read(BINARY).primary, [FINGERPRINT])
        self.assertTrue(openpgp_keys.is_armored(KEY.encode()))
        self.assertFalse(openpgp_keys.is_armored(BINARY))

    def test_armor(self):
        """A binary key becomes the text that gpg writes."""
        self.assertEqual(openpgp_keys.armored(BINARY).decode(), KEY)
        self.assertEqual(openpgp_keys.dearmored(openpgp_keys.armored(BINARY)), BINARY)

    def test_several_keys(self):
        """Two blocks in one text are two keys, with headers and other line ends, too."""
        headed = OTHER_KEY.replace("\n\n", "\nVersion: GnuPG v1\nComment:\n\n", 1)
        both = ("junk before\n" + KEY + "\n" + headed).replace("\n", "\r\n").encode()
        found = openpgp_keys.read(openpgp_keys.dearmored(both)).primary
        self.assertEqual(found, [FINGERPRINT, OTHER_FINGERPRINT])

    def test_line_ends(self):
        """apt reads no key with the line ends of Windows: they are replaced."""
        self.assertEqual(openpgp_keys.normalized(KEY.replace("\n", "\r\n").encode()), KEY.encode())
        self.assertEqual(openpgp_keys.normalized(BINARY), BINARY)

    def test_versions(self):
        """Keys of version 4 are hashed with SHA-1, later ones with SHA-256; older are refused."""
        lengths = {}
        for version in (4, 5, 6):
            body = bytes([version]) + b"x" * 300
            lengths[version] = len(openpgp_keys.read(packet(6, body)).primary[0])
        self.assertEqual(lengths, {4: 40, 5: 64, 6: 64})
        with self.assertRaisesRegex(ValueError, "version 3"):
            openpgp_keys.read(packet(6, b"\x03" + b"x" * 20))

    def test_subkeys(self):
        """Subkeys are told apart."""
        found = openpgp_keys.read(BINARY + packet(14, b"\x04subkey"))
        self.assertEqual((found.primary, len(found.subkeys)), ([FINGERPRINT], 1))

    def test_what_is_kept(self):
        """Only what is read as keys is kept, in armor of our own; what is no key stays."""
        evil = OTHER_KEY.replace("PUBLIC KEY BLOCK", "SIGNATURE")
        inner = KEY.replace("\n=", "\n=-----END PGP PUBLIC KEY BLOCK-----\n=", 1)
        headed = KEY.replace("\n\n", "\nComment: a\n\n", 1)
        for text in (KEY, evil + KEY, KEY + evil, inner, inner + evil, headed):
            self.assertEqual(openpgp_keys.canonical(text.encode()).decode(), KEY)
        both = openpgp_keys.canonical((KEY + OTHER_KEY).encode())
        self.assertEqual(openpgp_keys.read(both).primary, [FINGERPRINT, OTHER_FINGERPRINT])
        hidden = packet(8, b"\x00" + openpgp_keys.dearmored(OTHER_KEY.encode()))
        for data in (BINARY, BINARY + hidden, BINARY + packet(12, b"trust")):
            self.assertEqual(openpgp_keys.canonical(data), BINARY)
            self.assertEqual(openpgp_keys.canonical(openpgp_keys.armored(data)).decode(), KEY)
        self.assertEqual(openpgp_keys.canonical(b"<html>"), b"<html>")

    def test_what_is_no_key(self):
        """Every other file is refused with what it is."""
        cases = (
            (b"", "empty"),
            (b"<!DOCTYPE html>\n<html>", "begins with '<!DOCTYPE html>'"),
            (b"\x00\x00\x00\x20\x01\x01\x00\x02KBXf rest", "keybox"),
            (PRIVATE.encode(), "private key"),
            (packet(5, b"\x04secret"), "private key"),
            (packet(13, b"a user"), "not an OpenPGP public key"),
            (BINARY[:40], "truncated"),
            (KEY.encode()[:-40], "last line"),
            (KEY.replace("m", "!").encode(), "not base64"),
            (packet(6, b"\x04" * 70000), "not an OpenPGP public key"),
            (b"\xa7" + b"x" * 20, "not an OpenPGP public key"),
            (base64.b64encode(BINARY), "not an OpenPGP public key"),
        )
        for data, why in cases:
            with self.subTest(why), self.assertRaisesRegex(ValueError, why):
                openpgp_keys.read(data)

    def test_any_cut(self):
        """A key that is cut anywhere is refused or read, and nothing else."""
        for at in range(len(BINARY)):
            try:
                openpgp_keys.read(BINARY[:at])
            except ValueError as error:
                self.assertTrue(str(error))


if __name__ == "__main__":
    unittest.main()
