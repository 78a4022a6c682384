"""What this host asks of others, and tells them."""

import unittest

from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import channel, wire
from remote_runtime.protocol.package_sharing import Shared, fingerprint


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
        self.assertEqual(Shared(channel).known(["a", "b"]), ({"a": {}}, {"b": {}}, ["b"]))
        self.assertEqual(channel.sent, [{"t": "packages", "shas": ["a", "b"]}])
        self.assertEqual(Shared(channel).known([]), ({}, {}, []))
        with self.assertRaises(ProtocolError):
            Shared(Channel()).known(["a"])

    def test_what_is_too_large_stays_here(self):
        """Nothing that a frame does not hold is sent; the others look themselves."""
        channel = Channel()
        large = {"text": "x" * wire.MAX_FROM_TARGET}
        Shared(channel).tell({"a": {}, "b": large}, ["a", "b", "c"])
        self.assertEqual([m["contents"] for m in channel.sent], [{}, None, None])

    def test_what_came_is_told_by_its_fingerprint(self):
        """The order of paths does not matter, the text of a script does."""
        one = fingerprint(["/a", "/b"], {"postinst": "x"})
        self.assertEqual(fingerprint(["/b", "/a"], {"postinst": "x"}), one)
        self.assertNotEqual(fingerprint(["/a", "/b"], {"postinst": "y"}), one)
        channel = Channel()
        Shared(channel).confirm({})
        Shared(channel).confirm({"a": one})
        self.assertEqual(channel.sent, [{"t": "installed", "prints": {"a": one}}])

    def test_alone(self):
        """Without a controller nothing is known."""
        self.assertEqual(Shared().known(["a"]), ({}, {}, ["a"]))
        Shared().tell({"a": {}}, ["a"])
        Shared().confirm({"a": "b"})


if __name__ == "__main__":
    unittest.main()
