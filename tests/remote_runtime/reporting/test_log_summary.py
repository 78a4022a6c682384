import os
import unittest

from remote_runtime.plans import plan
from remote_runtime.reporting import log_summary

FRAME = {"run_id": "R1", "user": "alice@desk top", "manifest": "infra/site.yaml", "resources": []}


class AccountTest(unittest.TestCase):
    def setUp(self) -> None:
        self.before = os.environ.pop("SSH_CONNECTION", None)

    def tearDown(self) -> None:
        os.environ.pop("SSH_CONNECTION", None)
        if self.before is not None:
            os.environ["SSH_CONNECTION"] = self.before

    def test_words(self) -> None:
        """Who, from where, what and how many, each a word that a program can take apart."""
        os.environ["SSH_CONNECTION"] = "192.0.2.7 50000 192.0.2.1 22"
        tally = {"changed": 2, "stable": 5, "refreshed": 1, "": 6}
        self.assertEqual(
            log_summary.line(plan.parse(FRAME), tally, "whole"),
            "run=R1 user=alice@desk_top from=192.0.2.7 manifest=infra/site.yaml changed=2 failed=0 "
            "skipped=0 stable=5 refreshed=1 end=whole",
        )

    def test_origin(self) -> None:
        """The commit, who is behind the run and the version of ccm, where the plan says them."""
        frame = {**FRAME, "origin": {"ccm": "1.2", "commit": "8c1f+", "actor": "deploy bot"}}
        told = log_summary.line(plan.parse(frame), {}, "whole")
        self.assertIn(" commit=8c1f+ actor=deploy_bot ccm=1.2 changed=", told)

    def test_what_is_not_known(self) -> None:
        """What nobody said is a dash."""
        line = log_summary.line(plan.parse({"run_id": "R1", "resources": []}), {}, "interrupted")
        self.assertIn("user=- from=- manifest=- changed=0", line)
