"""Which paths a pattern of systemd's matches."""

import os

from remote_runtime.units.preview import path_globs

from ..fakes import DirectoryTest, context


class Globbing(DirectoryTest):
    def test_each_level_may_be_a_pattern(self):
        """Hidden names only match a pattern that begins with a dot; dangling links are there."""
        for name in ("a/x.conf", "b/y.conf", "b/.z.conf", "b/n"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, b"")
        os.symlink("/nowhere", self.path("b/link.conf"))
        files = context().files

        def found(pattern):
            return sorted(
                os.path.relpath(path, self.root)
                for path in path_globs.matches(files, self.path(pattern))
            )

        self.assertEqual(found("?/*.conf"), ["a/x.conf", "b/link.conf", "b/y.conf"])
        self.assertEqual(found("b/.*.conf"), ["b/.z.conf"])
        self.assertEqual(found("b/n"), ["b/n"])
        self.assertEqual(found("c/*"), [])
