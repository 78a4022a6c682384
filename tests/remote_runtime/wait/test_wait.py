import os
import socket
import threading
from typing import Any, Dict, List

from remote_runtime.cancellation import Cancelled
from tests.remote_runtime.archive.server import Web, content
from tests.remote_runtime.fakes import DirectoryTest, close, context, item, one, run_items
from tests.texts import expect_text


def wait(name: str = "it", index: int = 0, **properties: Any) -> Any:
    """A wait that looks often."""
    fields = {key: properties.pop(key) for key in ("require", "provider") if key in properties}
    return item(
        "wait",
        name,
        index,
        properties={"interval": "100ms", "timeout": "20s", **properties},
        **fields,
    )


class WaitTest(DirectoryTest):
    def run_one(self, **properties: Any) -> Dict[str, Any]:
        """The event of one wait that is not given much time."""
        properties.setdefault("timeout", "300ms")
        return one(run_items([wait(**properties)]))

    def test_it_is_so(self) -> None:
        """What is so already is not waited for, and nothing is changed."""
        event = self.run_one(file=self.write("there"))
        self.assertEqual((event["status"], event["final_ensure"]), ("stable", "present"))

    def test_it_comes(self) -> None:
        """The run goes on as soon as it is so; that is no change, nor does it fire anybody."""
        path, told = self.path("late"), []  # type: str, List[str]

        def progress(index: int, action: str) -> None:
            told.append(action)
            self.write("late")

        fired = item(
            "exec",
            "true",
            1,
            properties={"refresh_only": True, "subscribe": ["wait#it"]},
            subscribe=("wait#it",),
        )
        events = run_items([wait(file=path), fired], on_progress=progress)
        self.assertEqual([event["status"] for event in events], ["stable", "stable"])
        expect_text(told[0], self)

    def test_the_time_is_up(self) -> None:
        """A wait that is over fails with what it saw last."""
        event = self.run_one(command="sh -c 'echo migrating >&2; exit 3'")
        self.assertTrue(event["failed"])
        self.assertIn(
            "waiting for \"sh -c 'echo migrating >&2; exit 3'\" to exit with 0; "
            "last result: exit code 3 (raise timeout",
            event["error"][0],
        )
        self.assertEqual(event["error"][1], "migrating")
        self.assertFalse(event["changed"])

    def test_a_command_that_hangs(self) -> None:
        """A look is no longer than the time that is left."""
        event = self.run_one(command="sleep 60")
        expect_text(event["error"][0], self)

    def test_a_program_that_is_not_there(self) -> None:
        """A command that cannot start fails at once."""
        event = self.run_one(command="/nowhere/ready", timeout="1h")
        expect_text(event["error"][0], self)

    def test_ports(self) -> None:
        """A port that nobody listens on is told with why."""
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            port = bound.getsockname()[1]
            event = self.run_one(port=port)
            self.assertIn(
                "for port %d on 127.0.0.1 to accept connections; last result: Connection refused"
                % port,
                event["error"][0],
            )
            self.assertFalse(self.run_one(ensure="absent", port=port, timeout="1m")["failed"])
            bound.listen(1)
            self.assertFalse(self.run_one(port=port, timeout="1m")["failed"])

    def test_an_unknown_host(self) -> None:
        """A name that leads nowhere may come to; it is told in the end."""
        event = self.run_one(port=80, host="nowhere.invalid")
        self.assertTrue(event["failed"])
        expect_text(event["error"][0], self)

    def test_urls(self) -> None:
        """A URL has to respond with one of the statuses; credentials in it are not shown."""
        web = Web()
        self.addCleanup(web.close)
        web.answers["/health"] = content(b"fine")
        self.assertFalse(self.run_one(url=web.url("/health"), timeout="1m")["failed"])
        self.assertFalse(
            self.run_one(url=web.url("/missing"), status=[404, 410], timeout="1m")["failed"]
        )
        secret = web.url("/missing").replace("://", "://me:open-sesame@")
        event = self.run_one(url=secret, timeout="5s")
        self.assertIn("to respond with 200; last result: it returned status 404", event["error"][0])
        self.assertNotIn("open-sesame", str(event))

    def test_a_cancelled_run(self) -> None:
        """A run that is to end does not wait for anything any more."""
        cases: List[Dict[str, Any]] = [
            {"file": self.path("never")},
            {"command": "sleep 600"},
            {"url": self.silent()},
        ]
        for properties in cases:
            waiting = wait(timeout="1h", interval="1h", **properties)
            ctx = context([waiting])
            timer = threading.Timer(0.3, ctx.cancellation.set, ["cancelled"])
            timer.start()
            with self.assertRaises(Cancelled):
                run_items([waiting], shared=ctx)
            close(ctx)

    def silent(self) -> str:
        """The URL of a server that takes connections and never answers."""
        listening = socket.socket()
        self.addCleanup(listening.close)
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        return "http://127.0.0.1:%d/" % listening.getsockname()[1]


class PreviewTest(DirectoryTest):
    def preview(self, *items: Any) -> List[Dict[str, Any]]:
        return run_items(items, noop=True)

    def test_what_is_so(self) -> None:
        """What is so, and nothing before it may change, is certain."""
        event = one(self.preview(wait(file=self.write("there"))))
        self.assertEqual((event["status"], event["prediction"]), ("stable", "certain"))
        self.assertNotIn("noop_message", event)

    def test_what_is_not_so(self) -> None:
        """A preview does not wait; it says that the push would, and what it sees now."""
        event = one(self.preview(wait(file=self.path("late"), timeout="1h")))
        self.assertEqual((event["status"], event["changed"]), ("stable", False))
        self.assertEqual(event["prediction"], "assumed")
        expect_text(event["prediction_reason"], self)
        message = "Would have waited for %s to exist" % self.path("late")
        self.assertEqual(event["noop_message"], message)

    def test_what_an_earlier_change_makes(self) -> None:
        """A file that an earlier resource would make is there."""
        made = self.file("made", content="x")
        _, event = self.preview(made, wait(index=1, file=self.path("made")))
        self.assertEqual((event["status"], event["prediction"]), ("stable", "certain"))
        self.assertNotIn("noop_message", event)

    def test_behind_a_command(self) -> None:
        """Behind a command that would run, what is so is assumed to stay."""
        run = item("exec", "true", 0)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(1)
            _, event = self.preview(run, wait(index=1, port=listening.getsockname()[1]))
        self.assertEqual((event["status"], event["prediction"]), ("stable", "assumed"))
        expect_text(event["prediction_reason"], self)

    def test_a_program_that_may_come(self) -> None:
        """A program that an earlier command may bring is no failure."""
        run = item("exec", "true", 0)
        _, event = self.preview(run, wait(index=1, command=os.path.join(self.root, "ready")))
        self.assertEqual((event["failed"], event["prediction"]), (False, "unknown"))

    def test_who_requires_it(self) -> None:
        """What requires a wait that may fail is assumed."""
        after = self.file("after", 1, content="x", require=("wait#it",))
        _, event = self.preview(wait(file=self.path("late")), after)
        self.assertEqual((event["status"], event["prediction"]), ("changed", "assumed"))
        expect_text(event["prediction_reason"], self)

    def test_what_it_waited_for(self) -> None:
        """Behind the wait the file is there, and nobody can tell what is in it."""
        late = wait(file=self.path("late"))
        _, event = self.preview(late, self.file("late", 1, content="x"))
        self.assertEqual(event["prediction"], "unknown")
