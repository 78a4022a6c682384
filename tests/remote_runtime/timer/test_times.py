import unittest

from remote_runtime.resources.timer import schedules
from remote_runtime.resources.timer.resource import Resource

# As systemd 252 has it.
READ = (
    "daily", "Daily", "hourly UTC", "weekly Europe/Berlin", "semi-annually", "10:00", "10:5",
    "*:0/15", "*:*", "*-*~1", "*-*~07/1", "2020-01-01", "99-1-1", "Mon-Fri 10:00", "Monday",
    "Mon,Tue,", "wed..Sunday 1..5:00,30", "13:37 CET", "@1700000000", "12:00:00.5",
    "12:00:0.5/2.25", "*-*-1/2", "05-1..7", "Sat,Sun 20:00/5", "2012-11..12-10", "*-02-29",
    "Mon..Fri *-*-* 9..17:00 Europe/Berlin", "2026-11-29T10:00", "*-2,3-30",
)  # fmt: skip
REFUSED = {
    "": "it is empty",
    "10": "'10' is not a calendar expression such as daily",
    "25:00": "hour 25 is not between 0 and 23",
    "24:00": "hour 24 is not between 0 and 23",
    "00:60": "minute 60 is not between 0 and 59",
    "00:00:60": "second 60 is not between 0 and 59",
    "1:2:3:4": "expected hour:minute:second, found 1:2:3:4",
    "Mon *-13-01": "month 13 is not between 1 and 12",
    "*-*-32": "day 32 is not between 1 and 31",
    "*-*-0": "day 0 is not between 1 and 31",
    "*-*-* *": "expected a time zone or nothing, found *",
    "*-*-*-1": "expected year-month-day or month-day, found *-*-*-1",
    "5 * * * *": "'5 * * * *' is not a calendar expression",
    "@daily": "'@daily' is not a calendar expression",
    "reboot": "'reboot' is not a calendar expression",
    "Mo 10:00": "'Mo 10:00' is not a calendar expression",
    "*-*-* 03:30:00;": "second '00;' is not a number, range or step",
    "10..9:00": "hour '10..9' ends before it begins",
    "*:0/0": "minute '0/0' has no step",
    "*-02-30": "no such day exists in the given months",
    "Mon *-02-30": "no such day exists in the given months",
    "*-4,6-31": "no such day exists in the given months",
    "daily at 5": "expected a time zone or nothing, found at 5",
    "10:00 # x": "expected a time zone or nothing, found # x",
}


class CalendarTest(unittest.TestCase):
    def test_expressions(self):
        """What systemd reads passes, in any case and with a time zone; the rest is told."""
        for expression in READ:
            self.assertEqual(schedules.calendar_problem(expression), "", expression)
        for expression, told in REFUSED.items():
            self.assertIn(told, schedules.calendar_problem(expression), expression)

    def test_spans(self):
        """Time spans with and without units and blanks; a number is seconds."""
        for span in (0, 90, "90", "15min", "1h 30min", "1h30m", " 2 days ", "1.5h", "1w 2d", "1M"):
            self.assertTrue(schedules.is_span(span), span)
        for span in ("", "soon", "1 fortnight", "-5", "5,5", "1h later", "10:00", "infinity", "h"):
            self.assertFalse(schedules.is_span(span), span)


class RulesTest(unittest.TestCase):
    def told(self, name="job", **properties):
        given = dict({"command": "true", "schedule": "daily"}, **properties)
        given = {key: value for key, value in given.items() if value is not None}
        return Resource.check(name, given)

    def test_bad_ones(self):
        """Each mistake is told with its property."""
        for properties, key, told in (
            ({"schedule": ["daily", "25:00"]}, "schedule", "hour 25"),
            ({"schedule": []}, "schedule", "the list is empty"),
            ({"schedule": "@daily"}, "schedule", "is not a calendar expression"),
            ({"on_boot": "soon"}, "on_boot", "is not a time span such as 15min"),
            ({"on_active": "1x"}, "on_active", "is not a time span"),
            ({"randomized_delay": "some"}, "randomized_delay", "is not a time span"),
            ({"schedule": None}, "", "set schedule, on_boot or on_active"),
            ({"schedule": None, "on_unit_active": 5}, "on_unit_active", "add on_boot"),
            ({"schedule": None, "on_unit_inactive": 5}, "on_unit_inactive", "nothing starts"),
            (
                {"schedule": None, "on_boot": 5, "persistent": True},
                "persistent",
                "only with schedule",
            ),
            ({"command": " "}, "command", "the command is empty"),
            ({"command": "a\0b"}, "command", "control character"),
            ({"command": "a\x1bb"}, "command", "control character"),
            ({"description": "a\nb"}, "description", "must be one line"),
            ({"description": "a\\"}, "description", "backslash"),
            ({"environment": ["A"]}, "environment", "NAME=value"),
            ({"environment": ["A=1\nB=2"]}, "environment", "on one line"),
            ({"settings": {"Timer": {"OnCalendar": "daily"}}}, "settings", "`schedule` instead"),
            ({"settings": {"Service": {"User": "x"}}}, "settings", "`user` instead"),
            ({"settings": {"Install": {"WantedBy": "x"}}}, "settings", "omit Install"),
            ({"settings": {"Timer": {"Unit": "x"}}}, "settings", "omit Unit"),
            ({"settings": {"Socket": {"A": "x"}}}, "settings", "Unit, Service and Timer"),
            ({"settings": {"Service": {"Nice": {}}}}, "settings", "must be text"),
            ({"settings": {"Service": {"A": "x\ny"}}}, "settings", "several lines"),
            ({"name": "job.timer"}, "name", "write it without .timer"),
            ({"name": "a.service"}, "name", "write it without .service"),
            ({"name": "a" * 248}, "name", "at most 247 characters"),
        ):
            found = self.told(**properties)
            self.assertEqual([each for each, _ in found], [key], properties)
            self.assertIn(told, found[0][1], properties)

    def test_good_ones(self):
        """Combinations that have a job run."""
        self.assertEqual(self.told(), [])
        self.assertEqual(self.told(schedule=None, on_boot=1, on_unit_active="1h"), [])
        self.assertEqual(self.told(schedule=None, settings={"Timer": {"OnStartupSec": 5}}), [])
        self.assertEqual(self.told(settings={"Timer": {"AccuracySec": 1}, "Unit": {"A": ""}}), [])
        self.assertEqual(Resource.check("a", {"ensure": "absent"}), [])
        self.assertEqual(Resource.check("a", {}), [])
        paths = [("/etc/systemd/system/a.timer", False), ("/etc/systemd/system/a.service", False)]
        self.assertEqual(Resource.managed_paths("a", {"ensure": "absent"}), paths)


if __name__ == "__main__":
    unittest.main()
