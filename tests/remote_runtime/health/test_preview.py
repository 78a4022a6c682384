"""What a preview says of health checks, none of which it runs."""

from typing import Any, Dict, List

from tests.remote_runtime.fakes import DirectoryTest, item, run_items


class ForeseeingTest(DirectoryTest):
    def previews(self, *resources: Any, **options: Any) -> List[Dict[str, Any]]:
        return run_items(list(resources), noop=True, **options)

    def checked(self, command: str, index: int = 0, **fields: Any) -> Any:
        wanted = self.file("f", index, mode="0644")
        return wanted._replace(health_checks=({"command": command},), **fields)

    def test_a_program_that_is_not_there(self) -> None:
        """The check cannot be started, which fails its resource and keeps what requires it."""
        plain = self.write("plain", b"#!/bin/sh\n")
        for command, why in (
            (
                "/nowhere/check_x -w 1",
                "health check 'check_x' would be UNKNOWN: program /nowhere/check_x not found",
            ),
            (plain, "is not an executable file"),
            ("check 'x", "quot"),
        ):
            first = self.checked(command)
            event, then = self.previews(first, item("exec", "true", 1, require=(first.id,)))
            self.assertTrue(event["failed"])
            self.assertEqual(event["prediction"], "certain")
            self.assertIn(why, event["error"][0])
            self.assertTrue(event["changes"])
            self.assertEqual(then["status"], "skipped")

    def test_a_program_that_is_there(self) -> None:
        """What the check says nobody knows: what requires its resource is assumed."""
        first = self.checked("/bin/true")
        for how, prediction in (("require", "assumed"), ("subscribe", "certain")):
            event, then = self.previews(first, item("exec", "true", 1, **{how: (first.id,)}))
            self.assertEqual((event["status"], event["prediction"]), ("changed", "certain"))
            self.assertEqual(then["prediction"], prediction)

    def test_a_program_that_may_come(self) -> None:
        """Behind a command that may bring it, nobody knows."""
        for affects, failed, prediction in (
            (["/nowhere"], False, "unknown"),
            ([], True, "certain"),
        ):
            before = item("exec", "true", properties={"affects": affects})
            event = self.previews(before, self.checked("/nowhere/check_x", 1))[1]
            self.assertEqual((event["failed"], event["prediction"]), (failed, prediction))

    def test_sensitive(self) -> None:
        """Of a sensitive resource nothing of the command is told."""
        (event,) = self.previews(self.checked("/nowhere/quiet", sensitive=True))
        text = "health check 'check 1' would be UNKNOWN: it cannot be started"
        self.assertEqual(event["error"], [text])
