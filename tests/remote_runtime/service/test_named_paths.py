"""The paths that a unit's programs may write."""

import os
import tempfile
import unittest

from remote_runtime.units.named_paths import STARTING, STOPPING, of_unit

from ..fakes import context
from .fake_units import FakeUnits


class NamedPathsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = os.path.realpath(directory.name)

    def named(self, text, keys=STARTING):
        unit = FakeUnits({"x.service": "[Service]\n" + text}).definition("x.service")
        return of_unit(unit, context(noop=True), keys)

    def script(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def test_words_of_command_lines(self):
        """A path with what is below it and the directories above; no program, no device, no
        directory of a PATH.
        """
        named = self.named(
            "ExecStartPre=-/bin/sh -c 'PATH=/usr/bin:/bin; echo 1 >/srv/x/out 2>/dev/null'\n"
            "ExecStart=/bin/sh --data=/srv/y\n"
        )
        self.assertEqual(named.whole, ("/srv/x/out", "/srv/y"))
        for path, there, covered in (
            ("/srv/x/out", True, True),
            ("/srv/y/deep", False, True),
            ("/srv/x", False, True),
            ("/srv/x", True, False),
            ("/srv/z", False, False),
        ):
            self.assertEqual(named.covers(path, there), covered, path)

    def test_what_is_filled_in_later(self):
        """Of a pattern or a variable counts what stands before it; specifiers are resolved."""
        named = self.named(
            "ExecStart=/bin/sh -c 'rm /srv/a-*.log; touch /run/%n $OUT'\nEnvironment=OUT=/srv/env\n"
        )
        self.assertEqual(named.begun, ("/srv/a-",))
        self.assertEqual(named.whole, ("/run/x.service", "/srv/env"))
        self.assertTrue(named.covers("/srv/a-1.log", True))

    def test_scripts_without_end(self):
        """A user who writes the script of a unit may have it name any number of others."""
        inner = [self.script("inner%d" % n, "#!/bin/sh\ntouch /srv/%d\n" % n) for n in range(300)]
        outer = self.script("outer", "#!/bin/sh\n" + "\n".join(inner))
        found = [path for path in self.named("ExecStart=%s" % outer).whole if path[:5] == "/srv/"]
        self.assertTrue(100 < len(found) < 200, len(found))

    def test_scripts_are_read(self):
        """Those that it starts, and those that these start in turn."""
        inner = self.script("inner", "#!/bin/sh\ntouch /srv/inner\n")
        outer = self.script("outer", "#!/bin/sh\ntouch /srv/outer\n%s && exec sleep 1\n" % inner)
        self.assertEqual(self.named("ExecStart=%s\n" % outer).whole, ("/srv/inner", "/srv/outer"))
        self.assertEqual(
            self.named("ExecStart=/bin/sh -e %s\n" % outer).whole, ("/srv/inner", "/srv/outer")
        )

    def test_relative_words(self):
        """They lie in the working directory."""
        named = self.named("WorkingDirectory=/srv/w\nExecStart=/bin/touch marker\n")
        self.assertTrue(named.covers("/srv/w/marker", False))
        self.assertFalse(named.covers("/srv/w/other", False))

    def test_programs_that_write_nothing(self):
        """A mere sleep leaves nothing, unless its output goes somewhere."""
        self.assertTrue(self.named("ExecStart=/bin/sleep 1\nExecStop=/bin/x\n").harmless)
        self.assertFalse(self.named("ExecStop=/bin/x\n", STOPPING).harmless)
        self.assertFalse(self.named("ExecStart=/bin/sh -c 'true > /srv/a'\n").harmless)


if __name__ == "__main__":
    unittest.main()
