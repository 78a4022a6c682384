import unittest

from remote_runtime.resources.cron import jobs, schedules
from remote_runtime.resources.cron.jobs import Job
from remote_runtime.resources.cron.resource import Resource


class ScheduleTest(unittest.TestCase):
    def test_good_ones(self):
        """Fields with lists, ranges, steps and names, in any case, and the words of cron."""
        for schedule in (
            "* * * * *",
            "*/5 1-3,5 1 jan MON-fri",
            " 0  0-23/2 31 1,3,5 7 ",
            "0 0 29 2 *",
            "0 0 31 2 mon",
            *schedules.WORDS,
            "@Daily",
        ):
            self.assertEqual(schedules.problems({"schedule": schedule}), [], schedule)
        self.assertEqual(schedules.problems({"minute": 5, "hour": "1, 2"}), [])
        text = schedules.schedule_of({"minute": 5, "hour": "1, 2"})
        self.assertEqual(text, "5 1,2 * * *")

    def test_bad_ones(self):
        """Each mistake is told with its field."""
        for schedule, told in (
            ("* * * *", "found 4"),
            ("* * * * * root", "found 6"),
            ("60 * * * *", "minute: 60 is not between 0 and 59"),
            ("* 24 * * *", "hour: 24 is not between 0 and 23"),
            ("* * 0 * *", "day: 0 is not between 1 and 31"),
            ("* * * 13 *", "month: 13"),
            ("* * * foo *", "month: 'foo' is not a number"),
            ("* * * * 8", "weekday: 8"),
            ("*/0 * * * *", "at least 1"),
            ("5/10 * * * *", "needs * or a range"),
            ("30-10 * * * *", "ends before it begins"),
            ("1,, * * * *", "minute: '' is not a number"),
            ("0 0 30 2 *", "never runs"),
            ("0 0 31 4,6,9,11 *", "never runs"),
            ("@dayly", "'@dayly' is not @reboot"),
            ("every day", "found 2"),
        ):
            ((key, message),) = schedules.problems({"schedule": schedule})[:1]
            self.assertEqual(key, "schedule")
            self.assertIn(told, message)
        self.assertEqual(schedules.problems({"minute": 61})[0][0], "minute")
        both = schedules.problems({"minute": 1, "schedule": "@daily"})
        self.assertIn("mutually exclusive", both[0][1])


class CheckTest(unittest.TestCase):
    def test_what_is_refused(self):
        """Jobs that cron would not run as they are meant."""
        job = {"schedule": "@daily", "command": "true"}
        for change, key in (
            ({"command": "a\nb"}, "command"),
            ({"command": "  "}, "command"),
            ({"command": "x" * 999}, "command"),
            ({"environment": ["A"]}, "environment"),
            ({"environment": ["1A=x"]}, "environment"),
            ({"environment": ["A=x"], "crontab": True}, "environment"),
            ({"schedule": "@never"}, "schedule"),
        ):
            found = [one for one, _ in Resource.check("a", dict(job, **change))]
            self.assertEqual(found, [key])
        self.assertEqual(Resource.check("a", {"command": "x"})[0][0], "schedule")
        self.assertEqual(Resource.check("a", job), [])

    def test_names_that_cron_ignores(self):
        """The file gets another name, which is told; two jobs of one file are told, too."""
        self.assertEqual(jobs.file_name("of anna.sh"), "of-anna-sh")
        ((_, told, _),) = Resource.warnings("a.b", {})
        self.assertIn("/etc/cron.d/a-b", told)
        self.assertEqual(Resource.warnings("a.b", {"crontab": True}), [])
        self.assertEqual(Resource.conflicts([("a.b", {}), ("a-b", {})])[0][:2], (0, 1))
        self.assertEqual(Resource.managed_paths("a b", {}), [("/etc/cron.d/a-b", True)])


class JobTest(unittest.TestCase):
    def test_percent_signs(self):
        """Each is escaped once."""
        self.assertEqual(jobs.escaped("date +%F \\%H"), "date +\\%F \\%H")

    def test_files(self):
        """What is written is read as the same job; settings belong to it."""
        job = Job("@daily", "root", "a  b \\% # c", ("A=x y", "B="))
        self.assertEqual(jobs.job_in_file(jobs.file_text("n", job)), job)
        self.assertEqual(
            jobs.job_in_file("\n# x\n 1 2\t3 4  5 \t anna \t run it\r\n"),
            Job("1 2 3 4 5", "anna", "run it"),
        )
        self.assertIsNone(jobs.job_in_file("@daily root a\n@daily root b\n"))
        self.assertIsNone(jobs.job_in_file(""))

    def test_blanks_around_settings(self):
        """They are not part of them, as in the file that is read back."""
        job = jobs.job_of(
            {"schedule": "@daily", "command": "x", "environment": ["MAILTO=a ", "\tB= c d\t", "C="]}
        )
        self.assertEqual(job.environment, ("MAILTO=a", "B= c d", 'C=""'))
        self.assertEqual(jobs.job_in_file(jobs.file_text("n", job)), job)

    def test_crontabs(self):
        """All other lines stay as they are, byte for byte."""
        mine = '# caf\udce9\n\nMAILTO="a b"\t\n@daily echo "100\\%"\r\n'
        job = Job("@weekly", "", "x")
        for before, after in (
            ("", "# ccm: n\n@weekly x\n"),
            (mine, mine + "# ccm: n\n@weekly x\n"),
            (mine + "* * * * * last", mine + "* * * * * last\n# ccm: n\n@weekly x\n"),
            ("# ccm: n\n@daily old\n" + mine, "# ccm: n\n@weekly x\n" + mine),
            (mine + "# ccm: n\n@daily old", mine + "# ccm: n\n@weekly x\n"),
            (mine + "# ccm: n\n", mine + "# ccm: n\n@weekly x\n"),
            ("# ccm: n\n# other\n", "# ccm: n\n@weekly x\n# other\n"),
            ("#Ansible: n\n@daily old\n" + mine, "#Ansible: n\n@weekly x\n" + mine),
            ("#Ansible: m\n@daily y\n", "#Ansible: m\n@daily y\n# ccm: n\n@weekly x\n"),
        ):
            self.assertEqual(jobs.with_job(before, "n", job), after)
            self.assertEqual(jobs.with_job(after, "n", job), after)
            self.assertEqual(jobs.job_in_crontab(after, "n"), job)
            self.assertNotIn(": n", jobs.without_job(after, "n"))
        both = "#Ansible: n\n@daily old\n# ccm: n\n@weekly x\n"
        self.assertEqual(jobs.job_in_crontab(both, "n"), job)
        self.assertEqual(jobs.without_job(mine + both, "n"), mine)
        text = mine + "# ccm: n\n@weekly x\n" + mine
        self.assertEqual(jobs.without_job(text, "n"), mine + mine)
        self.assertEqual(jobs.without_job(mine, "n"), mine)
        self.assertIsNone(jobs.job_in_crontab("# ccm: n\n# x\n", "n"))

    def test_comments(self):
        """A job may have a comment of its own; below another one that is known, it stays there."""
        job = Job("@daily", "root", "x", ("A=b",))
        self.assertEqual(jobs.file_text("n", job, "# mine"), "# mine\nA=b\n@daily root x\n")
        own = Job("@weekly", "", "x")
        for before, after in (
            ("", "# mine\n@weekly x\n"),
            ("# mine\n@daily y\n", "# mine\n@weekly x\n"),
            ("# ccm: n\n@daily y\n", "# ccm: n\n@weekly x\n"),
        ):
            self.assertEqual(jobs.with_job(before, "n", own, "# mine"), after)
            self.assertEqual(jobs.job_in_crontab(after, "n", "# mine"), own)
            self.assertEqual(jobs.without_job(after, "n", "# mine"), "")


if __name__ == "__main__":
    unittest.main()
