"""What this host asks of others, and tells them."""

import unittest

from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import channel, wire
from remote_runtime.protocol.package_sharing import PackageSharing, fingerprint


class Channel(channel.Channel):
    """Answers with what a test says."""

    def __init__(self, known=None, alone=None, left=()):
        self.sent = []
        self.answer = {"known": known, "alone": alone or {}, "left": list(left)}

    def send(self, message, now=False):
        self.sent.append(message)

    def expect(self, *types):
        return dict(self.answer, t=types[0])


class Asking(unittest.TestCase):
    def test_only_what_was_asked_for_counts(self):
        """An answer may leave things out, and adds nothing."""
        channel = Channel({"a": {}, "c": {}}, {"b": {}, "d": {}}, "be")
        self.assertEqual(PackageSharing(channel).known(["a", "b"]), ({"a": {}}, {"b": {}}, ["b"]))
        self.assertEqual(channel.sent, [{"t": "packages", "shas": ["a", "b"]}])
        self.assertEqual(PackageSharing(channel).known([]), ({}, {}, []))
        with self.assertRaises(ProtocolError):
            PackageSharing(Channel()).known(["a"])

    def test_what_is_too_large_stays_here(self):
        """Nothing that a frame does not hold is sent; the others look themselves."""
        channel = Channel()
        large = {"text": "x" * wire.MAX_FROM_TARGET}
        PackageSharing(channel).tell({"a": {}, "b": large}, ["a", "b", "c"])
        self.assertEqual([m["contents"] for m in channel.sent], [{}, None, None])

    def test_what_came_is_told_by_its_fingerprint(self):
        """The order of paths does not matter, the text of a script does."""
        one = fingerprint(["/a", "/b"], {"postinst": "x"})
        self.assertEqual(fingerprint(["/b", "/a"], {"postinst": "x"}), one)
        self.assertNotEqual(fingerprint(["/a", "/b"], {"postinst": "y"}), one)
        channel = Channel()
        PackageSharing(channel).confirm({})
        PackageSharing(channel).confirm({"a": one})
        self.assertEqual(channel.sent, [{"t": "installed", "prints": {"a": one}}])

    def test_alone(self):
        """Without a controller nothing is known."""
        self.assertEqual(PackageSharing().known(["a"]), ({}, {}, ["a"]))
        PackageSharing().tell({"a": {}}, ["a"])
        PackageSharing().confirm({"a": "b"})


if __name__ == "__main__":
    unittest.main()
