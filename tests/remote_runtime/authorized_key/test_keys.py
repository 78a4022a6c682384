import unittest

from remote_runtime.resources.authorized_key import key_list
from remote_runtime.resources.authorized_key.conflicts import find
from remote_runtime.resources.authorized_key.resource import Resource

from ..text.test_authorized_keys import ONE, QUOTED, made

OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFpBWFdKAaQ8dXALEfTKWlB5xXEA9XGjQ1NdXJ0U2tRn"


class CheckTest(unittest.TestCase):
    def wrong(self, name="anna", **properties):
        return [key + ": " + text for key, text in Resource.check(name, properties)]

    def test_good_ones(self):
        """Texts with comments, lists, and no key at all for an exclusive resource."""
        for properties in (
            {"key": "# mine\n\n%s a\n%s b\n" % (ONE, OTHER)},
            {"key": [ONE, OTHER + "\n"], "options": QUOTED},
            {"key": [], "exclusive": True},
            {"key": "%s %s" % (QUOTED, ONE), "path": "/etc/ssh/%u/keys"},
            {"key": ONE, "path": "%h/keys"},
            {"source": "keys/anna.pub"},
        ):
            self.assertEqual(self.wrong(**properties), [])

    def test_bad_ones(self):
        """Each mistake is told with its property and its place in it."""
        private = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n"
        for told, properties in (
            ("key: this is a private key", {"key": private}),
            ("key: this is not in OpenSSH format", {"key": "---- BEGIN SSH2 PUBLIC KEY ----"}),
            ("key: it must be a key, not a URL", {"key": "https://github.com/anna.keys"}),
            ("key: line 2: the line says", {"key": ONE + "\nssh-rsa " + ONE.split()[1]}),
            ("key: key 2: expected TYPE", {"key": [ONE, "x"]}),
            ("key: it contains no key", {"key": "# nothing\n"}),
            ("key: it has a NUL byte", {"key": ONE + "\0"}),
            ("key: the value of from must be in", {"key": "from=192.0.2.1 " + ONE}),
            (
                "options: the key has its own options",
                {"key": "no-pty " + ONE, "options": "restrict"},
            ),
            ("options: whitespace outside", {"key": ONE, "options": "no-pty, restrict"}),
            ("options: a quote in", {"key": ONE, "options": 'from="192.0.2.1'}),
            ("options: from requires a value", {"key": ONE, "options": ["from"]}),
            ("options: no-pty has no value", {"key": ONE, "options": 'no-pty="x"'}),
            ("options: there is an empty option", {"key": ONE, "options": "no-pty,,restrict"}),
            ("options: the options must be one line", {"key": ONE, "options": "no-pty\n"}),
            ("comment: it applies to exactly one key", {"key": [ONE, OTHER], "comment": "x"}),
            ("source: use a path relative to", {"source": "/root/keys"}),
            ("source: key and source", {"source": "keys", "key": ONE}),
            ("path: write %h", {"key": ONE, "path": "~/keys"}),
            ("path: only %h", {"key": ONE, "path": "/etc/%i"}),
        ):
            (message,) = self.wrong(**properties)
            self.assertTrue(message.startswith(told), message)
        self.assertIn("set user", self.wrong("a laptop", key=ONE)[0])

    def test_doubtful_ones(self):
        """An unknown option, a DSA key and a certificate are allowed, and told."""
        certificate = made("ssh-ed25519-cert-v01@openssh.com", bytes(32))
        for properties, told, hint in (
            ({"key": ONE, "options": "no-ptty"}, "unknown option no-ptty", "did you mean no-pty?"),
            ({"key": made("ssh-dss", b"a", b"b", b"c", b"d")}, "DSA", "another key"),
            ({"key": certificate}, "no certificate", "cert-authority"),
        ):
            ((_, message, advice),) = Resource.warnings("anna", properties)
            self.assertIn(told, message)
            self.assertIn(hint, advice)
        self.assertEqual(Resource.warnings("anna", {"key": "No-PTY " + ONE}), [])


class MergeTest(unittest.TestCase):
    def merged(self, before, exclusive=False, **properties):
        """The file after one run, and that a second one leaves it alone."""
        wanted = key_list.listed(properties).keys
        lines = key_list.file_of(before).merged(wanted, exclusive)
        after = key_list.data_of(lines)
        again = key_list.file_of(after).merged(wanted, exclusive)
        self.assertEqual(key_list.data_of(again), after)
        return after

    def test_what_is_not_managed_stays(self):
        """Other keys, their options, comments, odd lines and bytes stay as they are."""
        kept = ('# caf\xe9 "\n\n%s %s  x\t\n\tfoo bar\r\n\xff\n' % (QUOTED, OTHER)).encode(
            "latin-1"
        )
        self.assertEqual(self.merged(kept, key=ONE), kept + ONE.encode() + b"\n")
        self.assertEqual(self.merged(kept[:-1], key=ONE), kept + ONE.encode() + b"\n")

    def test_what_a_line_keeps(self):
        """Without options and a comment in the manifest the line keeps its own."""
        line = ("%s %s mine\n" % (QUOTED, ONE)).encode()
        self.assertEqual(self.merged(line, key=ONE), line)
        self.assertEqual(self.merged(line, key=ONE + " hers"), line.replace(b"mine", b"hers"))
        self.assertEqual(self.merged(line, key=ONE, options=""), (ONE + " mine\n").encode())
        self.assertEqual(
            self.merged(line, key=ONE, options=["no-pty"]), ("no-pty %s mine\n" % ONE).encode()
        )

    def test_a_key_with_several_lines(self):
        """One key with two sets of options has two lines, and no third one."""
        both = "no-pty %s a\nrestrict %s b\n" % (ONE, ONE)
        self.assertEqual(self.merged(b"", key=both), both.encode())
        self.assertEqual(self.merged(both.encode(), key=ONE), both.encode())
        more = "%s x\n%s\n%s" % (ONE, OTHER, both)
        self.assertEqual(self.merged(more.encode(), key=both), (OTHER + "\n" + both).encode())

    def test_exclusive(self):
        """Only comments and empty lines stay beside the keys."""
        before = "# a\n\n#%s\n%s\nfoo\n  %s x\n" % (ONE, OTHER, ONE)
        after = "# a\n\n#%s\n  %s x\n" % (ONE, ONE)
        self.assertEqual(self.merged(before.encode(), True, key=ONE), after.encode())
        self.assertEqual(self.merged(after.encode(), True, key=[]).count(b"\n"), 3)

    def test_removal(self):
        """Every line of a key goes, whatever its options and comment are."""
        before = "no-pty %s a\n%s\n# %s\n%s b\n" % (ONE, OTHER, ONE, ONE)
        wanted = key_list.listed({"key": ONE}).keys
        left = key_list.data_of(key_list.file_of(before.encode()).without(wanted))
        self.assertEqual(left.decode(), "%s\n# %s\n" % (OTHER, ONE))

    def test_a_file_with_keys_of_many_resources(self):
        """It is parsed once for all of them, and again where it has changed."""
        lines = ["%s\n" % ONE, "%s\n" % OTHER]
        first = key_list.file_of("".join(lines).encode())
        self.assertIs(key_list.file_of("".join(lines).encode()), first)
        wanted = key_list.listed({"key": OTHER}).keys
        self.assertIs(first.merged(wanted, False), first.lines)
        self.assertEqual(len(first.records(wanted)), 1)
        self.assertEqual(key_list.file_of(lines[0].encode()).records(wanted), [])


class ConflictTest(unittest.TestCase):
    def test_conflicts(self):
        """Resources that undo each other are found by file, and no others."""
        one, other = {"user": "anna", "key": ONE}, {"user": "anna", "key": OTHER}
        for first, second, what in (
            (one, dict(one, ensure="absent"), "the key SHA256"),
            (dict(one, options="no-pty"), dict(one, options=""), "the key SHA256"),
            (dict(one, comment="a"), dict(one, comment="b"), "the key SHA256"),
            (dict(one, exclusive=True), other, "all keys of anna"),
            (other, dict(one, exclusive=True), "all keys of anna"),
        ):
            self.assertIn(what, find([("a", first), ("anna", second)])[0][2])
        both = dict(one, key=[ONE, OTHER], exclusive=True)
        for first, second in (
            (one, other),
            (one, dict(one, options="no-pty")),
            (both, other),
            (dict(one, exclusive=True), dict(other, user="carl")),
            (dict(one, exclusive=True), dict(other, path="/etc/keys")),
            (dict(one, exclusive=True), dict(other, ensure="absent")),
        ):
            self.assertEqual(find([("a", first), ("b", second)]), [])


if __name__ == "__main__":
    unittest.main()
