"""Round trips of files of 12 packages in cron.d, and of 44 crontabs as users write them."""

import os
import unittest
from typing import List, Tuple

from remote_runtime.resources.cron import jobs
from remote_runtime.resources.cron.jobs import Job

_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "crontabs.txt")
_NEW = Job("@daily", "", "/bin/true \\% x")


def tables() -> List[Tuple[str, str]]:
    """The name and the text of each."""
    with open(_DATA, encoding="utf-8") as file:
        parts = file.read().split("=== ")[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]


def job_lines(text: str) -> List[str]:
    """The lines that are jobs."""
    lines = [line for line in text.split("\n") if line.strip() and line.strip()[0] != "#"]
    return [line for line in lines if line.strip()[0] in "@*0123456789"]


class CrontabsTest(unittest.TestCase):
    def test_what_comes_and_goes(self):
        """A job is two lines at the end, changes in its place, and leaves no byte behind."""
        self.assertGreaterEqual(len(tables()), 50)
        for name, text in tables():
            longer = jobs.with_job(text, "new", _NEW)
            self.assertTrue(longer.startswith(text), name)
            self.assertEqual(jobs.job_in_crontab(longer, "new"), _NEW)
            self.assertEqual(jobs.with_job(longer, "new", _NEW), longer)
            other = jobs.with_job(longer, "new", _NEW._replace(schedule="1 2 3 4 5"))
            self.assertEqual(jobs.with_job(other, "new", _NEW), longer)
            self.assertEqual(jobs.without_job(other, "new"), text)
            self.assertEqual(jobs.without_job(text, "new"), text)

    def test_a_job_of_each_line(self):
        """A job that is marked is found as it is, and its line alone changes."""
        for name, text in tables():
            for line in job_lines(text):
                marked = text.replace(line + "\n", jobs.MARK + "one\n" + line + "\n", 1)
                found = jobs.job_in_crontab(marked, "one")
                assert found is not None, line
                self.assertEqual(line.split(), ("%s %s" % (found.schedule, found.command)).split())
                changed = jobs.with_job(marked, "one", _NEW)
                own = "%s %s" % (_NEW.schedule, _NEW.command)
                self.assertEqual(changed, marked.replace("one\n" + line, "one\n" + own, 1), name)

    def test_jobs_of_packages(self):
        """The only job of a file is read with its user and the settings above it."""
        for name, text in tables():
            lines = job_lines(text)
            job = jobs.job_in_file(text)
            self.assertEqual(job is not None, len(lines) == 1, name)
            if job is not None and not name.startswith("crontab"):
                words = [*job.schedule.split(), job.user, *job.command.split()]
                self.assertEqual(words, lines[0].split())
                self.assertEqual(jobs.job_in_file(jobs.file_text(name, job)), job)


if __name__ == "__main__":
    unittest.main()
