"""How the text of a unit file is read, as systemd.syntax(7) has it."""

import unittest

from remote_runtime.units.unit_text import Program, UnitText


def text(*files, **options):
    unit = UnitText(options.get("name", "app@blue-2.service"))
    for file in files:
        unit.add(file)
    return unit


class Reading(unittest.TestCase):
    def test_lists_grow_and_an_empty_assignment_resets(self):
        """What a drop-in assigns is added to a list, and an empty value forgets what was before."""
        base = "[Unit]\nRequires=a.service b.service\n"
        self.assertEqual(
            text(base, "[Unit]\nRequires = c.service\n").words("Unit", "Requires"),
            ["a.service", "b.service", "c.service"],
        )
        self.assertEqual(text(base, "[Unit]\nRequires=\n").words("Unit", "Requires"), [])
        again = text(base, "[Unit]\nRequires=\nRequires=z.service\n")
        self.assertEqual(again.words("Unit", "Requires"), ["z.service"])

    def test_escapes_of_names_stay(self):
        """A backslash in the name of a unit is a part of it; in a path it is taken off."""
        listed = r"BindsTo=dev-my\x2ddisk.device 'b\x2d1.service'"
        unit = text("[Unit]\n" + listed + "\nRequiresMountsFor=/a\\ b\n")
        names = ["dev-my\\x2ddisk.device", "b\\x2d1.service"]
        self.assertEqual(unit.words("Unit", "BindsTo"), names)
        self.assertEqual(unit.words("Unit", "RequiresMountsFor"), ["/a b"])
        odd = text("[Unit]\nWants='a\\x2d.service\n")
        self.assertEqual(odd.words("Unit", "Wants"), ["'a\\x2d.service"])

    def test_the_last_of_a_setting_counts(self):
        """A setting with one value has the one that was assigned last, in its own section."""
        unit = text("[Service]\nType=simple\n[X]\nType=exec\n", "[Service]\nType=oneshot\n")
        self.assertEqual(unit.last("Service", "Type"), "oneshot")
        self.assertEqual(text("[Service]\nType=exec\nType=\n").last("Service", "Type"), "")

    def test_comments_and_lines_that_go_on(self):
        """A backslash joins lines, comments and blanks between are left out."""
        unit = text(
            "# c\n[Service]\n; c\nExecStart=/bin/a \\\n# in between\n  one \\\n  two\n\nUser=x"
        )
        self.assertEqual(unit.last("Service", "ExecStart").split(), ["/bin/a", "one", "two"])
        self.assertEqual(unit.last("Service", "User"), "x")

    def test_flags(self):
        """systemd's words for true, everything else is false."""
        for word, expected in (
            ("yes", True),
            ("1", True),
            ("on", True),
            ("no", False),
            ("", False),
        ):
            unit = text("[Service]\nRemainAfterExit=%s\n" % word)
            self.assertIs(unit.flag("Service", "RemainAfterExit"), expected, word)

    def test_programs(self):
        """Prefixes are taken off, a lone semicolon begins another command, quotes are taken off."""
        unit = text('[Service]\nExecStart=-@/bin/a x ; /bin/b\nExecStart="/opt/a b" c\n')
        self.assertEqual(
            unit.programs("ExecStart"),
            [Program("/bin/a", True), Program("/bin/b", False), Program("/opt/a b", False)],
        )

    def test_programs_that_none_may_name(self):
        """A whole path or a mere name; others are left out, or refused but for a dash."""
        for line, names, refused in (
            ("/bin/a", 1, False),
            ("a", 1, False),
            ("bin/a", 0, True),
            ("-bin/a", 0, False),
            ("/bin/", 0, True),
            ("@", 0, True),
            ("-", 0, False),
            ("%H/a", 0, True),
        ):
            unit = text("[Service]\nExecStart=%s\n" % line)
            self.assertEqual(len(unit.programs("ExecStart")), names, line)
            self.assertIs(unit.misnames, refused, line)
        self.assertIs(text("[Service]\nExecStart=/bin/a\nExecStop=b/c\n").misnames, True)

    def test_specifiers(self):
        """Those that the name answers are resolved; a value with another one is not known."""
        rows = [
            ("/srv/%i/%p", "/srv/blue-2/app"),
            ("%n %N %j", "app@blue-2.service app@blue-2 app"),
            ("%I", "blue/2"),
            ("100%%", "100%"),
            ("%t/x", "/run/x"),
            ("%m", None),
        ]
        for value, expected in rows:
            self.assertEqual(text("").expand(value), expected, value)

    def test_very_many_specifiers(self):
        """A value that becomes far too long for a path is unknown."""
        for value, expected in (
            ("%n" * 60_000, None),
            ("%%" * 60_000, "%" * 60_000),
            ("/a%", None),
            ("x" * 100_000 + "%N", "x" * 100_000 + "app@blue-2"),
        ):
            self.assertEqual(text("").expand(value), expected, value[-9:])


if __name__ == "__main__":
    unittest.main()
