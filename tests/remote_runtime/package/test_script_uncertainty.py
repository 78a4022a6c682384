"""The uncertainty that scripts leave."""

import unittest

from remote_runtime.packages.maintainer_scripts.effects import Open
from remote_runtime.packages.maintainer_scripts.known_commands import KNOWN, ROWS
from remote_runtime.packages.maintainer_scripts.uncertainty import unknown_effect


class Left(unittest.TestCase):
    def covered(self, calls, path, present=True):
        return any(
            one.covers("path", path, present) for one in unknown_effect("p", calls, ["/usr/bin/p"])
        )

    def test_named_paths(self):
        """What a call names may change, with all below, a pattern, and what it begins with."""
        calls = [Open("chown", ["/srv/a"]), Open("a", ["/etc/rc?.d/*"]), Open("b", ["/var/x\0"])]
        for path in ("/srv/a", "/srv/a/b", "/etc/rc2.d/S01x", "/var/xy/z"):
            self.assertTrue(self.covered(calls, path), path)
        for path in ("/srv", "/srv/ab", "/etc/rc.d/x", "/var/y", "/usr/bin/p"):
            self.assertFalse(self.covered(calls, path), path)
        self.assertTrue(self.covered([Open("mkdir", ["/srv/a/b"])], "/srv/a", present=False))

    def test_anything(self):
        """An unknown call may change what packages write to, and the package's own paths; its name
        is the reason."""
        (one,) = unknown_effect(
            "p", [Open("make-it", None, "make-it all for alice")], ["/usr/bin/p"]
        )
        self.assertIn("the package p run make-it, which", one.uncertainty.reason)
        for path in ("/etc/x", "/var/lib/x", "/srv/x", "/run/x", "/usr/bin/p"):
            self.assertTrue(one.covers("path", path, True), path)
        for path in ("/etc", "/opt/x", "/home/x", "/usr/bin/q"):
            self.assertFalse(one.covers("path", path, True), path)
        self.assertTrue(one.covers("user", "alice", False))
        self.assertFalse(one.covers("user", "bob", False))

    def test_a_path_of_which_too_little_is_known(self):
        """It may be anywhere."""
        self.assertTrue(self.covered([Open("rm", ["\0"])], "/etc/x"))
        self.assertTrue(self.covered([Open("rm", ["/\0"])], "/etc/x"))

    def test_the_list(self):
        """Each command of the list stands in it once, with its reason."""
        names = [name for row in ROWS for name in row.names.split()]
        self.assertEqual(len(names), len(KNOWN))
        self.assertTrue(all(row.reason for row in ROWS))


if __name__ == "__main__":
    unittest.main()
