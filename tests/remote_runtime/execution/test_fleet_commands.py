import os
import pwd
import signal
import time
from typing import Any, Dict

from remote_runtime.execution.fleet_commands import KEPT, MAX_OUTPUT_LENGTH
from remote_runtime.system.push_lock import Lock
from tests.remote_runtime.controller import RuntimeTest, alive
from tests.remote_runtime.fakes import blob
from tests.texts import expect_text


class AdhocTest(RuntimeTest):
    def command(self, *argv: str, **properties: Any) -> Dict[str, Any]:
        return {"type": "exec", "name": "x", "properties": dict(properties, argv=argv)}

    def run_command(self, *argv: str, **properties: Any) -> Dict[str, Any]:
        target = self.target()
        (event,) = target.push(self.command(*argv, **properties), adhoc=True)
        return event

    def test_a_command(self) -> None:
        """Its exit code and all it printed are told, the end of it as why it failed; it begins at
        home and reads nothing."""
        event = self.run_command("sh", "-c", "pwd; cat; echo no >&2; exit 3")
        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
        self.assertEqual(event["output"], "%s\nno\n" % home)
        self.assertEqual((event["exit_code"], event["error"]), (3, ["exit code 3", "no"]))
        self.assertEqual((event["status"], event["changed"]), ("failed", False))
        good = self.run_command("true")
        self.assertEqual((good["status"], good["exit_code"]), ("changed", 0))
        self.assertNotIn("output", good)

    def test_nothing_is_expanded(self) -> None:
        """Each word reaches the program as it was written."""
        words = ["a b", "$HOME", "*", "'", "{{ x }}", ""]
        event = self.run_command("printf", "<%s>", *words)
        self.assertEqual(event["output"], "".join("<%s>" % word for word in words))

    def test_what_keeps_it_from_starting(self) -> None:
        """A program that is not there fails the command, and nothing else."""
        event = self.run_command("no-such-program")
        expect_text(event["error"][0], self)
        self.assertNotIn("exit_code", event)

    def test_a_timeout_ends_all_of_it(self) -> None:
        """What the command had started is killed with it, and what it printed is kept."""
        path = self.path("pid")
        script = "echo begun; sleep 300 & echo $! > %s; wait" % path
        event = self.run_command("sh", "-c", script, timeout="1s")
        expect_text(event["error"][0], self)
        self.assertEqual(event["output"], "begun\n")
        with open(path) as file:
            self.assertFalse(alive(int(file.read())))

    def test_it_waits_for_no_push(self) -> None:
        """A command runs while a push holds the host, and leaves its lock alone."""
        from remote_runtime.cancellation import Cancellation

        held = Lock(self.path("ccm.lock"), Cancellation())
        held.acquire({"run_id": "R0", "user": "bob", "since": "now"}, 1.0, lambda text: None)
        self.addCleanup(held.release)
        self.assertEqual(self.run_command("true")["status"], "changed")

    def test_nothing_is_remembered(self) -> None:
        """The host keeps nothing of it but the notes on what is unfinished."""
        self.run_command("true")
        self.assertEqual(os.listdir(self.state), [])

    def test_a_flood(self) -> None:
        """Of a flood the beginning and the end are kept, and how much was left out is said."""
        event = self.run_command("sh", "-c", "seq 100000; seq 100000 >&2; echo last")
        lines = event["output"].splitlines()
        self.assertEqual((lines[0], lines[-1]), ("1", "100000"))
        self.assertEqual(len([line for line in lines if "bytes omitted" in line]), 2)
        self.assertIn("last", lines)
        self.assertLessEqual(len(event["output"]), 2 * KEPT + 200)

    def test_a_binary_flood_fits_a_frame(self) -> None:
        """Bytes that are no text are told in a frame that the controller takes."""
        event = self.run_command(
            "sh", "-c", "head -c 500000 /dev/zero; head -c 500000 /dev/zero >&2"
        )
        self.assertLessEqual(len(event["output"]), MAX_OUTPUT_LENGTH + 100)

    def script(self, content: bytes, *argv: str, **options: Any) -> Dict[str, Any]:
        target = self.target(content, **options)
        given = self.command(*argv, script=blob(content), file="s.sh", arguments=["a b", "-x"])
        (event,) = target.push(given, adhoc=True)
        return event

    def test_a_script(self) -> None:
        """It runs from a file of its own name that nobody else may read, and is gone after."""
        content = b'echo $#; echo "$1"; ls -l $0; echo $0; ' + b"#" * (2 << 20)
        lines = self.script(content, "sh")["output"].splitlines()
        self.assertEqual(lines[:2], ["2", "a b"])
        self.assertTrue(lines[2].startswith("-rw-------"), lines[2])
        self.assertEqual(os.path.basename(lines[3]), "s.sh")
        self.assertFalse(os.path.exists(os.path.dirname(lines[3])))

    def test_a_script_that_fails_is_gone_as_well(self) -> None:
        """A script that cannot be started leaves no file."""
        event = self.script(b"x", "no-such-program")
        self.assertEqual(event["status"], "failed")
        event = self.script(b"echo $0; exit 9", "sh")
        self.assertEqual(event["exit_code"], 9)
        self.assertFalse(os.path.exists(event["output"].strip()))

    def test_a_controller_that_goes_ends_it(self) -> None:
        """When the connection ends, so does the command with all that it had started."""
        path = self.path("pid")
        target = self.target()
        argv = ["sh", "-c", "sleep 300 & echo $! > %s.new; mv %s.new %s; wait" % (path, path, path)]
        target.start(self.command(*argv), adhoc=True)
        deadline = time.monotonic() + 20
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        target.process.stdin.close()
        target.process.wait(20)
        with open(path) as file:
            self.assertFalse(alive(int(file.read())))

    def test_a_cancel_is_told(self) -> None:
        """A command that is cancelled is told as interrupted."""
        target = self.target()
        target.start(self.command("sleep", "300"), adhoc=True)
        target.until("progress")
        target.send({"t": "cancel"})
        self.assertTrue(target.until("done")["cancelled"])
        target.end()
        self.assertIn("interrupted", target.events[0]["error"][0])

    def test_a_login_is_masked(self) -> None:
        """A login in an argument stands nowhere in its event, nor where the command prints it."""
        event = self.run_command("echo", "http://user:url-password@127.0.0.1/")
        self.assertNotIn("url-password", str(event))
        self.assertEqual(event["output"], "http://[masked]@127.0.0.1/\n")

    def test_a_signal(self) -> None:
        """A command that a signal ends has failed, and the signal is named."""
        event = self.run_command("sh", "-c", "kill -9 $$")
        self.assertEqual(event["error"], ["killed by signal %d" % signal.SIGKILL])
