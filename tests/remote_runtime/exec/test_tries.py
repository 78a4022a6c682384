import os
import threading
import unittest
from typing import Any, Dict, List

from remote_runtime.host.machine.commands import KEPT_TRIES
from remote_runtime.resources.exec.resource import Resource
from tests.remote_runtime.fakes import (
    BlobStore,
    DirectoryTest,
    blob,
    context,
    item,
    one,
    run_items,
)
from tests.texts import expect_text

# Fails until it has run so often; each run leaves a line.
COUNTING = "echo run >> runs; echo said $(wc -l < runs); test $(wc -l < runs) -ge %d"


class TriesTest(DirectoryTest):
    def shell(self, script: str, **properties: Any) -> Dict[str, Any]:
        options = {k: properties.pop(k) for k in ("noop", "shared", "secrets") if k in properties}
        fields = {k: properties.pop(k) for k in ("sensitive", "subscribe") if k in properties}
        properties = {"cwd": self.root, "try_sleep": "1ms", "command": script, **properties}
        resource = item("exec", "x", provider="shell", properties=properties, **fields)
        return one(run_items([resource], **options))

    def runs(self) -> int:
        return len(self.read("runs").splitlines())

    def test_it_succeeds_in_the_end(self) -> None:
        """A command that fails runs again; the event says how often, with what each printed."""
        event = self.shell(COUNTING % 3, tries=5)
        self.assertEqual((event["status"], event["tries"], self.runs()), ("changed", 3, 3))
        self.assertEqual(event["exit_code"], 0)
        self.assertEqual(event["output"].splitlines(), [
            "[try 1 of 5: exit code 1]", "said 1", "[try 2 of 5: exit code 1]", "said 2",
            "[try 3 of 5: exit code 0]", "said 3",
        ])  # fmt: skip

    def test_it_never_succeeds(self) -> None:
        """The last failure counts, and its error says how many tries there were."""
        event = self.shell("echo why >&2; exit 4", tries=3, returns=[0, 2])
        self.assertEqual((event["status"], event["tries"]), ("failed", 3))
        self.assertEqual(
            event["error"],
            ["desired state not achieved: exit code 4, expected 0 or 2 (3 tries)", "why"],
        )

    def test_at_once(self) -> None:
        """A first try that succeeds is the only one; without tries the event says nothing."""
        event = self.shell("echo a", tries=3)
        self.assertEqual((event["tries"], event["output"]), (1, "a\n"))
        self.assertNotIn("tries", self.shell("true"))
        self.assertNotIn("tries", self.shell("false"))

    def test_timeout_is_of_each_try(self) -> None:
        """A try that takes too long is killed, and there is another."""
        script = "echo run >> runs; test $(wc -l < runs) -ge 2 || sleep 60"
        event = self.shell(script, tries=2, timeout="500ms")
        self.assertEqual((event["status"], event["tries"]), ("changed", 2))
        expect_text(event["output"], self)

    def test_it_cannot_start(self) -> None:
        """What cannot be started is not tried again."""
        program = self.write("program", b"#!/nonexistent/interpreter\n", 0o755)
        begun: List[str] = []
        shared = context(on_progress=lambda index, action: begun.append(action))
        properties = {"command": program, "tries": 3, "try_sleep": "1ms"}
        event = one(run_items([item("exec", "x", properties=properties)], shared=shared))
        self.assertEqual((event["status"], len(begun)), ("failed", 1))

    def test_creates_that_appears(self) -> None:
        """Another process that makes it between two tries is success; so is a failed try."""
        later = "(sleep 0.2; touch made) & echo run >> runs; exit 3"
        event = self.shell(later, tries=3, try_sleep="1500ms", creates="made")
        self.assertEqual((event["status"], self.runs()), ("changed", 1), event)
        os.unlink(self.path("made"))
        event = self.shell("touch made; exit 3", tries=3, creates="made")
        self.assertEqual((event["status"], event["exit_code"], event["tries"]), ("changed", 3, 1))

    def test_killed_with_what_it_creates(self) -> None:
        """A try that is killed when its path is there fails at once: it must not run again."""
        script = "echo run >> runs; touch made; kill -9 $$"
        event = self.shell(script, tries=3, creates="made")
        self.assertEqual((event["status"], event["tries"], self.runs()), ("failed", 1, 1))

    def test_creates_that_was_there(self) -> None:
        """Where a subscription runs it all the same, what was there before means nothing."""
        self.write("made")
        run = {"command": COUNTING % 2, "creates": "made", "cwd": self.root, "tries": 3,
               "try_sleep": "1ms"}  # fmt: skip
        items = [
            self.file("changed", content=blob(b"new")),
            item("exec", "x", 1, provider="shell", properties=run,
                 subscribe=("file#" + self.path("changed"),)),
        ]  # fmt: skip
        event = run_items(items, store=BlobStore(b"new"))[1]
        self.assertEqual((event["status"], event["tries"], self.runs()), ("changed", 2, 2))

    def test_output_is_bounded_and_masked(self) -> None:
        """Each failed try keeps its last lines, the last few tries only, and no secret."""
        flood = "echo hunter22 run >> runs; seq -f line%g 1 9999; echo my hunter22; exit 1"
        event = self.shell(flood, tries=8, secrets=["hunter22"])
        text = event["output"]
        self.assertLessEqual(len(text), 17 << 10)
        self.assertNotIn("hunter22", text)
        event = self.shell("echo hunter22 $(head -c 5000 /dev/zero | tr '\\0' x); exit 1", tries=8,
                           secrets=["hunter22"])  # fmt: skip
        heads = [line for line in event["output"].splitlines() if line.startswith("[try ")]
        self.assertEqual(len(heads), 8)
        kept = event["output"].count("xxx\n[try ")
        self.assertEqual(kept, KEPT_TRIES)
        self.assertLess(len(event["output"]), 17 << 10)
        hidden = self.shell("echo hunter22; exit 1", tries=2, sensitive=True)
        self.assertNotIn("hunter22", str(hidden))

    def test_cancelled_while_it_waits(self) -> None:
        """A run that ends during the pause ends at once, with the event of the tries so far."""
        told: List[Dict[str, Any]] = []
        shared = context()
        shared._on_progress = lambda index, action: (
            threading.Timer(0.05, shared.cancellation.set, ["stop"]).start()
            if action.startswith("waiting")
            else None
        )
        from remote_runtime.cancellation import Cancelled
        from remote_runtime.registry import Registry
        from tests.remote_runtime.fakes import engine

        properties = {"command": "false", "tries": 3, "try_sleep": "1h"}
        runner = engine(shared, Registry(shared), told)
        with self.assertRaises(Cancelled):
            runner.run([item("exec", "x", properties=properties)])
        self.assertEqual((told[0]["status"], told[0]["tries"]), ("failed", 1))
        self.assertIn("interrupted", told[0]["error"][0])

    def test_noop(self) -> None:
        """A preview says the same with and without tries."""
        event = self.shell("true", tries=3, noop=True)
        expect_text(event["noop_message"], self)
        self.assertNotIn("tries", event)

    def test_rules(self) -> None:
        """A pattern in creates, ~ and a pause that is none are refused where they stand."""
        for properties, key in (
            ({"creates": "/opt/*/done"}, "creates"),
            ({"creates": "~/done"}, "creates"),
            ({"tries": 2, "try_sleep": "5"}, "try_sleep"),
        ):
            self.assertEqual([k for k, _ in Resource.check("x", properties)], [key])
        self.assertEqual(Resource.check("x", {"creates": "/usr/bin/["}), [])


if __name__ == "__main__":
    unittest.main()
