import base64
import struct
import unittest

from remote_runtime.text.authorized_keys import parse

ONE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1EUs1c"
QUOTED = 'command="echo \\"a, b\\"",no-pty,from="192.0.2.*,198.51.100.1"'


def made(kind, *fields):
    """A public key of these fields behind its type."""
    data = b"".join(struct.pack(">I", len(one)) + one for one in (kind.encode(), *fields))
    return "%s %s" % (kind, base64.b64encode(data).decode())


class KeyTest(unittest.TestCase):
    def test_forms_of_lines(self):
        """Options, type, data and comment are separated as sshd does it, quotes included."""
        for line, options, comment in (
            (ONE, None, ""),
            ("  %s\tanna's \"quote\r" % ONE, None, "anna's \"quote"),
            ("%s %s a  b # c" % (QUOTED, ONE), QUOTED, "a  b # c"),
            ("cert-authority %s" % ONE, "cert-authority", ""),
        ):
            key = parse(line)
            self.assertEqual((key.options, key.comment), (options, comment))
            self.assertEqual(key.identity, parse(ONE).identity)
        self.assertTrue(parse(ONE).fingerprint.startswith("SHA256:"))

    def test_every_type(self):
        """Keys of FIDO, certificates and types of tomorrow are keys, too."""
        point = b"\4" + bytes(64)
        for line in (
            made("sk-ssh-ed25519@openssh.com", bytes(32), b"ssh:"),
            made("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", point, b"ssh:"),
            made("ecdsa-sha2-nistp256", b"nistp256", point),
            made("ssh-rsa", b"\1\0\1", bytes(257)),
            made("ssh-ed25519-cert-v01@openssh.com", bytes(32), bytes(32)),
            made("ssh-mldsa65@example.com", bytes(1952)),
        ):
            self.assertEqual(parse(line + " x").comment, "x")

    def test_what_is_no_key(self):
        """Each mistake is named, and none of the key is shown."""
        blob = ONE.split()[1]
        for line, told in (
            ("", "expected TYPE BASE64"),
            ("ssh-ed25519", "expected TYPE BASE64"),
            (blob, "expected TYPE BASE64"),
            ("ssh-rsa " + blob, "of the type ssh-ed25519"),
            (ONE[:-1], "not valid base64"),
            (ONE[:-4], "damaged"),
            (ONE + "AAAA", "damaged"),
            ("ssh-ed25519 AAAA", "not an SSH key"),
            (made("ssh-ed25519", bytes(31)), "damaged"),
            ('from="192.0.2.1 ' + ONE, "quote in the options is not closed"),
            ("no-pty foo bar", "does not begin with the type"),
            ("no-pty, restrict " + ONE, "does not begin with the type"),
            ("ssh-ed25519 # comment", "missing"),
        ):
            with self.assertRaisesRegex(ValueError, told) as caught:
                parse(line)
            self.assertNotIn(blob[20:40], str(caught.exception))


if __name__ == "__main__":
    unittest.main()
