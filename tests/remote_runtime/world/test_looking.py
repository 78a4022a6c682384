"""Which commands look at files and at nothing else."""

import unittest

from remote_runtime.world.looking import looks_at_files_only


class LookingTest(unittest.TestCase):
    def test_programs(self) -> None:
        """Those that are known for it, unless they look where running things show."""
        rows = [
            (["test", "-f", "/etc/app.conf"], True),
            (["/usr/bin/grep", "-q", "x", "/etc/app.conf"], True),
            (["test", "-e", "/proc/1"], False),
            (["test", "-S", "/var/run/app.sock"], False),
            (["systemctl", "is-active", "app"], False),
            (["id", "app"], False),
            (["/opt/check", "-f"], False),
        ]
        for argv, expected in rows:
            self.assertIs(looks_at_files_only(argv), expected, argv)

    def test_scripts(self) -> None:
        """A script of such commands alone is one, whatever holds them together."""
        rows = [
            ("test -f /a && ! grep -q x /b 2>&1 >/dev/null", True),
            ("[ -e /a ] || [ -e /b ]; true", True),
            ("if test -d /a; then exit 0; else exit 1; fi", True),
            ("A=1 test -n x | wc -l", True),
            ("test $(cat /a | wc -l) = 3", True),
            ("test $(id -u app) = 3", False),
            ("A=$(cat /a) id", False),
            ("(test -f /a); id", False),
            ("test -f `which app`", False),
            ("test -f /a && dpkg -s app", False),
            ("test -f /run/app.pid", False),
            ("A=1", True),
        ]
        for text, expected in rows:
            self.assertIs(looks_at_files_only(["/bin/sh", "-c", text]), expected, text)
        self.assertFalse(looks_at_files_only(["sh", "/opt/check.sh"]))
