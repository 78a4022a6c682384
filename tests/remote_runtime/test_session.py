import hashlib
import os
import signal
import struct
import sys
import threading
import time
from typing import Any, Dict, List

from tests.remote_runtime.controller import NONCE, RuntimeTest, alive, within
from tests.remote_runtime.fakes import GROUP, OWNER, blob
from tests.texts import expect_text

ATTRIBUTES = {"owner": OWNER, "group": GROUP, "mode": "0644"}


class SessionTest(RuntimeTest):
    def content(self, name: str, data: bytes) -> Dict[str, Any]:
        return {
            "type": "file",
            "name": self.path(name),
            "properties": dict(ATTRIBUTES, content=blob(data)),
        }

    def shell(self, script: str, name: str = "x", **fields: Any) -> Dict[str, Any]:
        return dict(
            type="exec", name=name, provider="shell", properties={"command": script}, **fields
        )

    def gate(self, name: str = "x") -> Dict[str, Any]:
        """A command that runs until the file ``open`` is there."""
        return self.shell("while [ ! -e %s ]; do sleep 0.05; done" % self.path("open"), name)

    def test_opening(self) -> None:
        """The runtime says ready with the nonce, then hello and facts unasked; bye ends it."""
        target = self.target(started=True)
        self.assertEqual(target.line, ("ccm1 %s ready \n" % NONCE).encode())
        target.until("facts")
        hello = target.frames[0]
        self.assertEqual(
            (hello["t"], hello["protocol"], hello["nonce"], hello["uid"], hello["pid"]),
            ("hello", "ccm1", NONCE, os.geteuid(), target.process.pid),
        )
        self.assertEqual(hello["python"], "%d.%d.%d" % sys.version_info[:3])
        self.assertIn("host", target.of("facts")[0]["facts"])
        target.send({"t": "bye"})
        self.assertEqual(target.until("done")["events"], 0)
        self.assertEqual(target.end(), 0)

    def test_push_and_push_again(self) -> None:
        """A plan's small blobs come in one request; the second push needs none and is stable."""
        contents = [b"content %d\n" % n for n in range(30)]
        plan = [self.content("f%d" % n, c) for n, c in enumerate(contents)]
        first = self.target(*contents)
        self.assertEqual({e["status"] for e in first.push(*plan)}, {"changed"})
        self.assertEqual(len(first.of("want")), 1)
        self.assertEqual([f["seq"] for f in first.of("event")], list(range(1, 31)))
        second = self.target(*contents)
        self.assertEqual({e["status"] for e in second.push(*plan)}, {"stable"})
        self.assertEqual(second.of("want"), [])
        self.assertEqual(second.of("event"), [])
        told = [len(f["rows"]) for f in second.of("stable")]
        self.assertEqual(sum(told), 30)
        self.assertEqual(second.of("done")[0]["events"], 30)

    def test_noop_takes_no_lock(self) -> None:
        """A noop run writes nothing at all, not even a lock."""
        events = self.target(b"x").push(self.content("a", b"x"), noop=True)
        expect_text(events[0]["noop_message"], self)
        self.assertEqual(os.listdir(self.root), [])

    def test_large_blob_is_streamed(self) -> None:
        """A large blob arrives whole in little memory."""
        data = os.urandom(1 << 20) * 48
        target = self.target(data, started=True)
        peaks: List[int] = []
        watch = threading.Thread(target=self.watch, args=(target.process.pid, peaks))
        watch.start()
        self.assertEqual(target.push(self.content("a", data))[0]["error"], [])
        watch.join()
        self.assertEqual(hashlib.sha256(self.read("a")).digest(), hashlib.sha256(data).digest())
        self.assertGreater(max(peaks), 1000)
        self.assertLess(max(peaks), 40000)

    def watch(self, pid: int, peaks: List[int]) -> None:
        """Note the peak memory of a process, in KiB, until it is gone (a zombie has none)."""
        while True:
            try:
                with open("/proc/%d/status" % pid) as file:
                    lines = [line for line in file if line.startswith("VmHWM")]
            except OSError:
                return
            if not lines:
                return
            peaks.append(int(lines[0].split()[1]))
            time.sleep(0.002)

    def test_failed_write_of_a_blob(self) -> None:
        """A blob that cannot be written to its end fails its file only; the next ones arrive."""
        import resource

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

        large, small = os.urandom(1 << 20) * 4, b"small\n"
        target = self.target(large, small, before=limit)
        events = target.push(self.content("large", large), self.content("small", small))
        self.assertEqual([e["status"] for e in events], ["failed", "changed"])
        self.assertEqual(sorted(os.listdir(self.root)), ["ccm.lock", "small"])

    def test_blob_without_a_size(self) -> None:
        """A controller that does not keep to the protocol is told so; that is no defect of ours."""
        for size in ("\x00", None, -1, 1.5):
            target = self.target()
            target.answer = lambda frame: None
            target.start(self.content("a", b"text"))
            sha = target.until("want")["shas"][0]
            target.send({"t": "blob", "sha": sha, "size": size})
            self.assertEqual(target.until("done")["error"]["kind"], "protocol.blob")
            target.end()

    def test_blob_that_is_gone(self) -> None:
        """A blob that the controller no longer has fails its file only."""
        target = self.target(b"here")
        events = target.push(self.content("a", b"gone"), self.content("b", b"here"))
        expect_text(events[0]["error"][0], self)
        self.assertEqual(events[1]["status"], "changed")

    def test_progress(self) -> None:
        """What takes long is told while it is at work, with the index of its resource."""
        target = self.target()
        target.start(self.shell("true"), self.shell("sleep 0.4", "y"))
        target.until("progress")
        target.until("done")
        told = [f["action"] for f in target.frames if f["t"] == "progress" and f["index"] == 1]
        self.assertEqual(told[:1], ["running sleep 0.4"])  # on a slow machine the first one, too
        self.assertEqual(target.frames[-1]["t"], "done")

    def test_events_come_as_they_happen(self) -> None:
        """An event is not held back while the next resource is at work."""
        target = self.target()
        target.start(self.shell("true"), self.gate("y"))
        target.until("event")
        self.write("open", b"")
        target.until("done")
        self.assertEqual([event["name"] for event in target.events], ["x", "y"])

    def test_cancel(self) -> None:
        """cancel ends the command with its group; the event and done say so."""
        target = self.target()
        target.start(
            self.shell("sleep 60 & echo $! > %s; wait" % self.path("pid")),
            self.shell("touch " + self.path("never"), "y"),
        )
        self.assertTrue(within(10, lambda: os.path.exists(self.path("pid")) and self.read("pid")))
        target.send({"t": "cancel"})
        done = target.until("done")
        self.assertEqual((done["cancelled"], done["events"]), (True, 1))
        self.assertIn("interrupted", target.events[0]["error"][0])
        self.assertEqual(target.end(), 1)
        pid = int(self.read("pid"))
        self.assertTrue(within(3, lambda: not alive(pid)))
        self.assertFalse(os.path.exists(self.path("never")))

    def assert_end_by(self, act: Any, silence: float = 3600.0) -> None:
        target = self.target(silence=silence)
        target.start(self.shell("sleep 3600 & echo $! > %s; wait" % self.path("pid")))
        self.assertTrue(within(10, lambda: os.path.exists(self.path("pid")) and self.read("pid")))
        act(target)
        target.process.stdout.read()
        self.assertEqual(target.process.wait(10), 1)
        pid = int(self.read("pid"))
        self.assertTrue(within(10, lambda: not alive(pid)))

    def test_end_of_input(self) -> None:
        """When the connection is lost the command in flight is ended and the runtime exits."""
        self.assert_end_by(lambda target: target.process.stdin.close())

    def test_silence(self) -> None:
        """A controller that is silent for too long is taken for dead."""
        self.assert_end_by(lambda target: None, silence=1.0)

    def test_signals(self) -> None:
        """SIGTERM and SIGHUP end the run like a lost connection."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            if os.path.exists(self.path("pid")):
                os.unlink(self.path("pid"))
            self.assert_end_by(lambda target, n=number: target.process.send_signal(n))

    def test_no_half_written_file(self) -> None:
        """A connection that is lost in the middle of a blob leaves the old file and no other."""
        self.write("a", b"old")
        data = b"x" * (4 << 20)
        target = self.target()
        target.start(self.content("a", data))
        target.on["want"] = lambda frame: None
        target.blobs = {}
        target.answer = lambda frame: None
        sha = target.until("want")["shas"][0]
        target.send({"t": "blob", "sha": sha, "size": len(data)})
        target.write(struct.pack(">IB", 1001, ord("B")) + b"x" * 1000)
        self.assertTrue(within(5, lambda: any(".ccm-" in n for n in os.listdir(self.root))))
        target.process.stdin.close()
        self.assertEqual(target.process.wait(10), 1)
        self.assertEqual(sorted(os.listdir(self.root)), ["a", "ccm.lock"])
        self.assertEqual(self.read("a"), b"old")

    def test_pings(self) -> None:
        """The runtime sends heartbeats while a command is at work."""
        target = self.target(ping=0.1)
        target.push(self.shell("sleep 1"))
        self.assertGreaterEqual(len(target.of("ping")), 3)

    def test_timeout(self) -> None:
        """The run ends at its own timeout, and says so."""
        target = self.target()
        events = target.push(self.shell("sleep 60"), timeout=0.5)
        self.assertIn("longer than 0.5 s (", events[0]["error"][0])

    def test_broken_plan(self) -> None:
        """A broken plan is told in done, names what is broken and changes nothing."""
        for resources in ([{"type": "file"}], ["x"], [dict(self.shell("x"), managed="yes")]):
            target = self.target()
            target.push(*resources)
            done = target.frames[-1]
            self.assertEqual((done["events"], done["error"]["kind"]), (0, "protocol.plan"))
            self.assertEqual(target.of("notice"), [])  # done says it

    def test_broken_frame(self) -> None:
        """Bytes that are no frame end the run with the reason."""
        target = self.target()
        target.until("facts")
        target.write(struct.pack(">IB", 5, ord("X")) + b"abcd")
        self.assertIn("unknown frame type", target.until("done")["error"]["message"])
        self.assertEqual(target.end(), 1)

    def test_lock(self) -> None:
        """A second push waits with a notice and fails with run, user and since when."""
        first = self.target()
        first.start(self.gate())
        self.assertTrue(within(10, lambda: os.path.exists(self.path("ccm.lock"))
                               and b"R1" in self.read("ccm.lock")))  # fmt: skip
        second = self.target()
        second.push(self.shell("touch " + self.path("never")), lock_timeout=0.3, run_id="R2")
        error = second.frames[-1]["error"]
        self.assertEqual(error["kind"], "host.locked")
        self.assertIn("run R1, started by alice@desk at 2", error["message"])
        self.assertIn("waiting for run R1", second.of("notice")[0]["text"])
        self.assertFalse(os.path.exists(self.path("never")))
        self.write("open", b"")
        first.until("done")

    def test_lock_is_waited_for(self) -> None:
        """A second push that waits long enough runs."""
        first = self.target()
        first.start(self.gate())
        self.assertTrue(within(10, lambda: os.path.exists(self.path("ccm.lock"))
                               and b"R1" in self.read("ccm.lock")))  # fmt: skip
        second = self.target()
        second.on["notice"] = lambda frame: self.write("open", b"") and None
        events = second.push(self.shell("true"), lock_timeout=120)
        self.assertEqual(events[0]["status"], "changed")
        self.assertIn("waiting for run R1", second.of("notice")[0]["text"])

    def test_killed_with_a_command_in_flight(self) -> None:
        """The command of a killed runtime is waited for by the next push, which then runs."""
        first = self.target()
        script = "echo $$ > %s; while [ ! -e %s ]; do sleep 0.05; done; touch %s"
        first.start(self.shell(script % (self.path("pid"), self.path("open"), self.path("end"))))
        self.assertTrue(within(10, lambda: os.path.exists(self.path("pid")) and self.read("pid")))
        first.process.kill()
        first.end()
        refused = self.target()
        refused.push(self.shell("true"), lock_timeout=0.2, run_id="R2")
        error = refused.frames[-1]["error"]
        self.assertEqual((error["kind"], refused.events), ("host.locked", []))
        process = "process %d (sh) of run R1, started by alice@desk at" % int(self.read("pid"))
        self.assertIn(process, error["message"])
        third = self.target()
        third.on["notice"] = lambda frame: self.write("open", b"") and None
        events = third.push(self.shell("test -e " + self.path("end")), lock_timeout=120)
        self.assertEqual(events[0]["status"], "changed")

    def test_killed_in_the_middle_of_a_file(self) -> None:
        """What a killed run left half-written is removed by the next one, which says so."""
        self.write("a", b"old")
        mine = self.write(".a.ccm-0123456789abcdef-0123456789ab", b"not of that run")
        data = b"x" * (4 << 20)
        first = self.target()
        first.answer = lambda frame: None
        first.start(self.content("a", data))
        sha = first.until("want")["shas"][0]
        first.send({"t": "blob", "sha": sha, "size": len(data)})
        first.write(struct.pack(">IB", 1001, ord("B")) + b"x" * 1000)
        self.assertTrue(within(5, lambda: len(os.listdir(self.root)) == 4))
        first.process.kill()
        first.end()
        left = set(os.listdir(self.root)) - {"a", "ccm.lock", os.path.basename(mine)}
        self.assertEqual((len(left), self.read("a")), (1, b"old"))
        second = self.target(data)
        second.push(self.content("a", data))
        self.assertIn(self.path(left.pop()), second.of("notice")[0]["text"])
        self.assertEqual(sorted(os.listdir(self.root)), [os.path.basename(mine), "a", "ccm.lock"])
        self.assertEqual(os.listdir(os.path.join(self.state, "unfinished")), [])

    def test_stdout_of_commands(self) -> None:
        """A command can neither read the controller's frames nor write between ours."""
        target = self.target()
        events = target.push(self.shell("cat; echo noise; echo noise >&2; echo x > /dev/fd/1"))
        self.assertEqual(events[0]["status"], "changed")

    def test_deferred(self) -> None:
        """A deferred template reads a file of the target over the channel at its turn."""
        target = self.target()

        def render(frame: Dict[str, Any]) -> None:
            target.send({"t": "read", "id": 7, "path": self.path("in"), "limit": 100})

        def content(frame: Dict[str, Any]) -> None:
            self.assertEqual((frame["id"], frame["size"]), (7, 4))
            target.send({"t": "rendered", "id": 1, "properties": {"content": "got it"}})

        target.on.update({"render": render, "content": content})
        resource = {"type": "file", "name": self.path("out"), "deferred_render": True,
                    "properties": dict(ATTRIBUTES)}  # fmt: skip
        events = target.push(self.shell("printf data > " + self.path("in")), resource)
        self.assertEqual((events[1]["error"], self.read("out")), ([], b"got it"))
        self.assertEqual(target.raw, [b"data"])

    def test_deferred_of_a_planned_file(self) -> None:
        """In noop a template reads what would be written first, as it would be written."""
        target = self.target(b"x")
        target.on["render"] = lambda f: target.send(
            {"t": "read", "id": 1, "path": self.path("in"), "limit": 9}
        )
        target.on["content"] = lambda f: target.send(
            {"t": "rendered", "id": f["id"], "properties": {"content": "y"}}
        )
        resource = {"type": "file", "name": self.path("out"), "deferred_render": True,
                    "properties": dict(ATTRIBUTES)}  # fmt: skip
        events = target.push(self.content("in", b"x"), resource, noop=True)
        self.assertEqual((target.raw, events[1]["prediction"]), ([b"x"], "certain"))

    def test_secrets(self) -> None:
        """A secret of the plan leaves the target in no frame."""
        target = self.target()
        target.push(
            self.shell("echo s3cr3t-value; echo s3cr3t-value >&2; exit 1", name="n"),
            {"type": "exec", "name": "l", "provider": "shell",
             "properties": {"command": "echo s3cr3t-value", "logoutput": True}},
            secrets=["s3cr3t-value"],
        )  # fmt: skip
        self.assertNotIn("s3cr3t", str(target.frames))

    def test_many_resources(self) -> None:
        """Thousands of resources run, and their events arrive complete and in order."""
        plan = [self.shell("true", "n%d" % n, managed=False) for n in range(5000)]
        events = self.target().push(*plan)
        self.assertEqual([e["name"] for e in events], ["n%d" % n for n in range(5000)])
