import json
from typing import Any, Dict

from tests.remote_runtime.fakes import DirectoryTest, item, one, run_items
from tests.texts import expect_text


class HealthTest(DirectoryTest):
    def event(self, *checks: Dict[str, Any], **options: Any) -> Dict[str, Any]:
        resource = item("exec", "/bin/true", health_checks=checks)
        return one(run_items([resource], **options))

    def script(self, text: str) -> str:
        return self.write("check.sh", ("#!/bin/sh\n" + text).encode(), 0o755)

    def test_statuses(self) -> None:
        """0 and 1 keep the resource good, 2, 3 and any other code fail it; its change is kept."""
        check = self.script("echo status $1; exit $1\n")
        for code, status, failed in (
            (0, "OK", False), (1, "WARNING", False), (2, "CRITICAL", True), (3, "UNKNOWN", True),
            (42, "UNKNOWN", True),
        ):  # fmt: skip
            event = self.event({"command": "%s %d" % (check, code), "name": "n"})
            self.assertEqual(
                event["health_check"],
                [{"name": "n", "status": status, "tries": 1, "output": "status %d" % code}],
            )
            self.assertEqual((event["failed"], event["changed"]), (failed, True))
            self.assertEqual(any(status in e for e in event["error"]), failed)

    def test_secret_at_the_cut(self) -> None:
        """A secret that stands where the output is cut is masked before that."""
        for before in range(4080, 4097):
            check = self.script("head -c %d /dev/zero | tr '\\0' x; echo s3cret-value\n" % before)
            event = self.event({"command": check}, secrets=["s3cret-value"])
            self.assertNotIn("s3c", event["health_check"][0]["output"])

    def test_sensitive(self) -> None:
        """Of a sensitive resource the checks' commands and outputs stand nowhere in its event."""
        check = self.script("echo quiet output; exit 2\n")
        resource = item("exec", "/bin/true", sensitive=True,
                        health_checks=({"command": check + " quiet-argument"},))  # fmt: skip
        event = one(run_items([resource]))
        self.assertEqual(event["health_check"][0]["name"], "check 1")
        self.assertNotIn("quiet", json.dumps(event))

    def test_goss(self) -> None:
        """Goss rules decide as a command does, within the timeout, and are called goss."""
        there = {"file": {self.root: {"exists": True}}}
        event = self.event(
            {"goss_rules": there}, {"goss_rules": {"file": {"/none": {"exists": True}}}}
        )
        self.assertEqual([c["status"] for c in event["health_check"]], ["OK", "CRITICAL"])
        self.assertEqual(event["health_check"][0]["name"], "goss")
        expect_text(event["error"][0], self)
        slow = {"goss_rules": {"command": {"sleep 30": {"exit-status": 0}}}, "timeout": "100ms"}
        self.assertEqual(self.event(slow)["health_check"][0]["status"], "CRITICAL")

    def test_a_password_in_rules(self) -> None:
        """A password of a rule stands nowhere, even where something repeats it."""
        rules = {
            "http": {"http://127.0.0.1:1/": {"status": 200, "username": "a", "password": "s3cr3t",
                                             "request-headers": ["X-Token: t0ken", "Host: a"]}},
            "matching": {"x": {"content": "is s3cr3t", "matches": "y"},
                         "t": {"content": "is t0ken", "matches": "y"}},
        }  # fmt: skip
        event = self.event({"goss_rules": rules})
        self.assertNotIn("s3cr3t", json.dumps(event["health_check"]))
        self.assertNotIn("t0ken", json.dumps(event["health_check"]))
        self.assertIn("3 of 3 failed", event["health_check"][0]["output"])

    def test_names(self) -> None:
        """A check without a name is called by its program."""
        event = self.event({"command": "/bin/true with words"})
        self.assertEqual(event["health_check"][0]["name"], "true")

    def test_cannot_start(self) -> None:
        """A check that cannot start is UNKNOWN."""
        event = self.event({"command": "/nonexistent/check"})
        self.assertEqual(event["health_check"][0]["status"], "UNKNOWN")

    def test_tries(self) -> None:
        """A check is tried until it is OK, and the result says how often."""
        check = self.script(
            "echo x >> %s; test $(wc -l < %s) -ge 3 || exit 2\n" % (self.path("n"), self.path("n"))
        )
        event = self.event({"command": check, "tries": 5, "try_sleep": "10ms"})
        result = event["health_check"][0]
        self.assertEqual((result["status"], result["tries"]), ("OK", 3))

    def test_timeout(self) -> None:
        """A check that does not end in time is CRITICAL."""
        event = self.event({"command": "sleep 30", "timeout": "100ms"})
        self.assertEqual(event["health_check"][0]["status"], "CRITICAL")

    def test_not_in_noop(self) -> None:
        """Checks are not run in noop."""
        event = self.event({"command": "touch " + self.path("ran")}, noop=True)
        self.assertNotIn("health_check", event)
        self.assertRaises(OSError, self.read, "ran")

    def test_monitor_only(self) -> None:
        """With monitor_only only the checks are run."""
        resource = item("exec", "touch " + self.path("ran"), health_checks=({"command": "true"},))
        event = one(run_items([resource], monitor_only=True))
        self.assertEqual((event["health_check_only"], event["changed"]), (True, False))
        self.assertEqual(event["health_check"][0]["status"], "OK")
        self.assertRaises(OSError, self.read, "ran")
