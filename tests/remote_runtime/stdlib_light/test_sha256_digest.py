"""SHA-256 of small and large contents."""

import hashlib
import unittest

from remote_runtime.stdlib_light import sha256_digest


class TestDigest(unittest.TestCase):
    def test_is_that_of_hashlib(self) -> None:
        """The hash does not depend on how much is announced or on how it is cut."""
        data = b"0123456789" * 1000
        for size in (0, len(data), 1 << 30):
            found = sha256_digest.sha256(data[:10], size=size)
            found.update(data[10:])
            self.assertEqual(found.hexdigest(), hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    unittest.main()
