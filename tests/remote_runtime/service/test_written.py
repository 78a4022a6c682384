"""What a started service may have written counts in a preview."""

import unittest

from remote_runtime.effects import PathEffect
from remote_runtime.uncertainty import ASSUMED, UNKNOWN
from remote_runtime.units import written_paths

from ..fakes import FakeAccounts, context
from .fake_units import FakeUnits


class WrittenTest(unittest.TestCase):
    def effects(self, text, *, starts=True, stops=False):
        unit = FakeUnits({"x.service": "[Service]\n" + text}).definition("x.service")
        ctx = context(noop=True, accounts=FakeAccounts({"ccm-app": 4711}))
        return written_paths.effects(unit, ctx, starts=starts, stops=stops)

    def test_fog_at_what_is_named_and_in_own_directories(self):
        """There a prediction is assumed, with the unit's name; elsewhere it stays certain."""
        (fog,) = self.effects("StateDirectory=x\nExecStart=/bin/sh -c 'touch /srv/a'\n")
        self.assertEqual(fog.uncertainty.level, ASSUMED)
        self.assertEqual(fog.uncertainty.reason, "x.service may change this when it starts")
        for kind, value, there, covered in (
            ("path", "/srv/a", True, True),
            ("path", "/var/lib/x/db", False, True),
            ("path", "/var/lib/x", True, False),
            ("path", "/srv/b", False, False),
            ("creates", "/srv/anything", False, True),
            ("creates", "/srv/anything", True, False),
            ("text", "python3 check.py --in /srv/a", True, True),
            ("text", "python3 check.py", True, False),
            ("host", "", True, False),
            ("unit", "y.service", True, False),
        ):
            self.assertEqual(fog.covers(kind, value, there), covered, (kind, value, there))

    def test_a_stop_runs_its_own_commands(self):
        """What is named for the start does not count then, nor what later resources create."""
        text = "ExecStart=/bin/sh -c 'touch /srv/a'\nExecStopPost=/bin/rm -f /srv/b\n"
        (fog,) = self.effects(text, starts=False, stops=True)
        self.assertTrue(fog.covers("path", "/srv/b", True))
        self.assertFalse(fog.covers("path", "/srv/a", True))
        self.assertFalse(fog.covers("creates", "/srv/c", False))

    def test_a_program_that_writes_nothing_leaves_no_fog(self):
        """What systemd opens for its output is there all the same."""
        found = self.effects("ExecStart=/bin/sleep 9\nStandardOutput=append:/srv/log\n")
        self.assertEqual(found, [PathEffect("/srv/log", "something")])

    def test_a_directory_that_is_given_away(self):
        """Whose things in it are, is not known before; a directory that is not there holds none."""
        self.assertEqual(self.effects("StateDirectory=no-such\nExecStart=/bin/sleep 9\n"), [])
        fog = self.effects("User=ccm-app\nLogsDirectory=../lib\nExecStart=/bin/sleep 9\n")[-1]
        self.assertEqual(fog.uncertainty.level, UNKNOWN)
        self.assertTrue(fog.covers("attributes", "/var/log/../lib/x", True))
        self.assertFalse(fog.covers("path", "/var/log/../lib/x", True))


if __name__ == "__main__":
    unittest.main()
