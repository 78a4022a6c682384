import json
import os
import shutil
import signal
import tempfile
import unittest
from typing import Any, Dict, List, Optional

from tests.remote_runtime.controller import Target, within
from tests.remote_runtime.fakes import GROUP, OWNER, ROOT, DirectoryTest, blob
from tests.texts import expect_text

MANIFEST = "infra/site.yaml"
ATTRIBUTES = {"owner": OWNER, "group": GROUP, "mode": "0644"}


class LedgerTest(DirectoryTest):
    """A file, what may come between, and a command that subscribes to the file."""

    def setUp(self) -> None:
        super().setUp()
        self.state = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, self.state, True)
        self.runs = 0
        self.prologue = ""

    def target(self, **options: Any) -> Target:
        target = Target(self.path("ccm.lock"), self.state, [b"1", b"2"], **options)
        self.addCleanup(self.stop, target)
        return target

    def stop(self, target: Target) -> None:
        if target.process.poll() is None:
            target.process.kill()
            target.end()

    def conf(self, content: bytes = b"1", **fields: Any) -> Dict[str, Any]:
        properties = dict(ATTRIBUTES, content=blob(content))
        return dict(type="file", name=self.path("conf"), properties=properties, **fields)

    def shell(self, name: str, script: str, **fields: Any) -> Dict[str, Any]:
        properties = {"command": script, "cwd": self.root}
        properties.update(fields.pop("properties", {}))
        return dict(type="exec", provider="shell", name=name, properties=properties, **fields)

    def follower(self, name: str = "follower", **fields: Any) -> Dict[str, Any]:
        fields.setdefault("subscribe", ["file#" + self.path("conf")])
        refreshing = {"refresh_only": True}
        return self.shell(name, "echo >> %s" % name, properties=refreshing, **fields)

    def gate(self) -> Dict[str, Any]:
        return self.shell("gate", "test -e good")

    def plan(self) -> List[Dict[str, Any]]:
        """``nginx -t`` between its configuration and its restart."""
        return [self.conf(), self.gate(), self.follower(require=["exec#gate"])]

    def push(self, *resources: Dict[str, Any], **settings: Any) -> Dict[str, Dict[str, Any]]:
        """The events of one more run, by name; its lines for people are in ``told``."""
        self.runs += 1
        target = self.target(prologue=self.prologue)
        settings.setdefault("manifest", MANIFEST)
        events = target.push(*resources, run_id="R%d" % self.runs, **settings)
        self.told = [(f["level"], f["text"]) for f in target.of("notice")]
        self.assertNotIn("error", target.frames[-1])
        return {event["name"]: event for event in events}

    def refreshed(self, name: str = "follower") -> int:
        """How often the subscriber ran."""
        return len(self.read(name).splitlines()) if os.path.exists(self.path(name)) else 0

    def records(self) -> List[str]:
        """What the host has on record."""
        directory = os.path.join(self.state, "refreshes")
        return os.listdir(directory) if os.path.exists(directory) else []

    def record(self) -> str:
        (name,) = self.records()
        return os.path.join(self.state, "refreshes", name)


class FailureTest(LedgerTest):
    def test_after_a_failure(self) -> None:
        """A refresh that a failure kept from happening comes with the next push, once."""
        events = self.push(*self.plan())
        self.assertEqual(events["follower"]["unmet_requirements"], ["exec#gate"])
        self.assertEqual(events["follower"]["due_since"], "R1")
        level, text = self.told[-1]
        self.assertEqual(level, "warning")
        expect_text(text, self)
        self.assertIn("file#" + self.path("conf"), text)
        self.write("good")
        events = self.push(*self.plan())
        self.assertEqual(events[self.path("conf")]["status"], "stable")
        follower = events["follower"]
        self.assertEqual((follower["refreshed"], follower["due_since"]), (True, "R1"))
        self.assertEqual((self.refreshed(), self.records(), self.told), (1, [], []))
        events = self.push(*self.plan())
        self.assertEqual((events["follower"]["status"], self.refreshed()), ("stable", 1))
        self.assertNotIn("due_since", events["follower"])

    def test_without_a_manifest(self) -> None:
        """Where no manifest is behind the run, nothing is kept and nothing is fired."""
        self.push(*self.plan(), manifest="")
        self.write("good")
        events = self.push(*self.plan(), manifest="")
        self.assertEqual(events["follower"]["status"], "stable")
        self.assertEqual(self.records(), [])

    def test_of_a_part(self) -> None:
        """What a push of a part leaves out is due still, and fired by the next whole push."""
        self.write("good")
        whole = self.plan()
        self.push(*whole)
        self.push(*whole)  # which leaves the mark of a converged run
        part = [self.conf(b"2"), self.gate(), dict(self.follower(), left_out="only")]
        events = self.push(*part)
        self.assertEqual(events[self.path("conf")]["status"], "changed")
        follower = events["follower"]
        self.assertEqual((follower["left_out"], follower["due_since"]), ("only", "R3"))
        expect_text(self.told[-1][1], self)
        events = self.push(*part)
        self.assertEqual(events["follower"]["due_since"], "R3")
        events = self.push(self.conf(b"2"), *whole[1:])
        follower = events["follower"]
        self.assertEqual((follower["refreshed"], follower["due_since"]), (True, "R3"))
        self.assertEqual((self.refreshed(), self.records()), (2, []))

    def test_within_an_apply_of_a_part(self) -> None:
        """The subscribers of a child that is left out are due still, too."""
        child = {"type": "apply", "name": "c.yaml", "properties": {}, "applies": "c.yaml"}
        part = dict(child, left_out="tags", children=[dict(self.follower(), left_out="tags")])
        events = self.push(self.conf(), part)
        self.assertNotIn("follower", events)
        expect_text(self.told[-1][1], self)
        events = self.push(self.conf(), dict(child, children=[self.follower()]))
        self.assertEqual((events["follower"]["due_since"], self.refreshed()), ("R1", 1))

    def test_of_another_manifest(self) -> None:
        """What one manifest has left is none of another's business."""
        self.push(*self.plan())
        self.write("good")
        events = self.push(*self.plan(), manifest="infra/other.yaml")
        self.assertEqual(events["follower"]["status"], "stable")
        self.assertTrue(self.push(*self.plan())["follower"]["refreshed"])

    def test_preview(self) -> None:
        """A preview says what is due and since when, and writes nothing."""
        self.push(*self.plan())
        before = os.stat(self.record())
        events = self.push(*self.plan(), noop=True)
        follower = events["follower"]
        expect_text(follower["noop_message"], self)
        self.assertEqual((follower["refreshed"], follower["due_since"]), (True, "R1"))
        after = os.stat(self.record())
        self.assertEqual((before.st_mtime_ns, before.st_ino), (after.st_mtime_ns, after.st_ino))

    def test_fail_on_error(self) -> None:
        """A subscriber that had no turn at all is named, and has its turn the next time."""
        plan = [self.conf(), self.gate(), self.follower()]
        self.assertNotIn("follower", self.push(*plan, fail_on_error=True))
        expect_text(self.told[-1][1], self)
        self.write("good")
        self.assertEqual(self.push(*plan)["follower"]["due_since"], "R1")

    def test_a_subscriber_that_fails(self) -> None:
        """One that fails is due again, until it succeeds."""
        failing = self.shell("follower", "test -e good && echo >> follower",
                             subscribe=["file#" + self.path("conf")],
                             properties={"refresh_only": True})  # fmt: skip
        for expected in ("R1", "R1"):
            event = self.push(self.conf(), failing)["follower"]
            self.assertEqual((event["failed"], event["due_since"]), (True, expected))
        self.write("good")
        self.assertEqual(self.push(self.conf(), failing)["follower"]["status"], "changed")
        self.assertEqual(self.push(self.conf(), failing)["follower"]["status"], "stable")

    def test_a_health_check_that_fails(self) -> None:
        """A refresh is done when its action succeeded, whatever a health check says then."""
        sick = self.follower(health_checks=[{"command": "sh -c 'exit 2'", "name": "up"}])
        event = self.push(self.conf(), sick)["follower"]
        self.assertEqual((event["failed"], event["refreshed"]), (True, True))
        self.assertNotIn("due_since", event)
        self.assertEqual((self.told, self.records()), ([], []))
        event = self.push(self.conf(), sick)["follower"]
        self.assertEqual((event["failed"], event["refreshed"]), (True, False))
        self.assertEqual(self.refreshed(), 1)

    def test_control(self) -> None:
        """A subscriber that control leaves out is no longer due, nor is what is below it."""
        left_out = self.follower(require=["exec#gate"], managed=False)
        child = {"type": "apply", "name": "c.yaml", "applies": "c.yaml", "managed": False,
                 "children": [self.follower(require=["exec#gate"])]}  # fmt: skip
        for skipped in (left_out, child):
            self.push(self.conf(), *self.plan()[1:])
            self.assertEqual(len(self.records()), 1)
            self.push(self.conf(), self.gate(), skipped)
            self.assertEqual((self.records(), self.told), ([], []))
            os.unlink(self.path("conf"))

    def test_a_pair_that_is_gone(self) -> None:
        """A pair that the manifest no longer holds is told once and dropped."""
        self.push(*self.plan())
        self.write("good")
        for settings in ({"noop": True}, {}, {}):  # type: Dict[str, Any]
            self.push(self.conf(), self.follower(subscribe=[]), **settings)
            texts = [text for _, text in self.told]
            if self.runs == 3:
                expect_text(texts[0], self)
            else:
                self.assertEqual(texts, [])
        self.assertEqual((self.records(), self.refreshed()), ([], 0))

    def test_a_child_that_is_broken(self) -> None:
        """What is due in a child manifest that cannot be read just now stays due."""
        child = {"type": "apply", "name": "c.yaml", "applies": "c.yaml"}
        self.push(
            self.conf(), self.gate(), dict(child, children=[self.follower(require=["exec#gate"])])
        )
        self.write("good")
        self.push(self.conf(), dict(child, deferred_error="c.yaml: no such file"))
        events = self.push(
            self.conf(),
            self.gate(),
            dict(child, children=[self.follower(require=["exec#gate"])]),
        )
        self.assertTrue(events["follower"]["refreshed"])

    def test_subscribers_of_an_apply(self) -> None:
        """What a child changed is not lost to who subscribes to the apply, which failed."""
        child = {"type": "apply", "name": "c.yaml", "applies": "c.yaml", "alias": "c",
                 "children": [self.conf(), self.gate()]}  # fmt: skip
        plan = [child, self.follower(subscribe=["apply#c"])]
        self.assertEqual(self.push(*plan)["follower"]["status"], "stable")
        self.write("good")
        self.assertEqual(self.push(*plan)["follower"]["due_since"], "R1")

    def test_names_of_several_children(self) -> None:
        """A change in a child is not due to the subscriber of the same name in one before it."""
        plan = [
            {"type": "apply", "name": name, "applies": "c.yaml",
             "children": [dict(self.conf(), name=self.path(name), alias="c"),
                          self.follower("of-" + name, subscribe=["file#c"])]}
            for name in ("one", "two")
        ]  # fmt: skip
        self.push(*plan)
        self.assertEqual((self.refreshed("of-one"), self.refreshed("of-two")), (1, 1))
        self.assertEqual(self.records(), [])
        self.push(*plan)
        self.assertEqual((self.refreshed("of-one"), self.refreshed("of-two")), (1, 1))

    def test_nothing_changed(self) -> None:
        """A change that failed and brought nothing about leaves nothing due."""
        broken = self.conf()
        broken["properties"]["validate"] = "false {}"
        self.assertEqual(self.push(broken, self.follower())[self.path("conf")]["status"], "failed")
        self.assertEqual((self.records(), self.told), ([], []))

    def test_monitoring(self) -> None:
        """A run that only looks at health neither makes up for anything nor forgets it."""
        self.push(*self.plan())
        self.push(*self.plan(), monitor_only=True)
        self.assertEqual(len(self.records()), 1)

    def test_a_converged_run(self) -> None:
        """A run that changes nothing leaves nothing due."""
        self.write("good")
        self.push(*self.plan())
        self.assertEqual(self.records(), [])
        self.push(self.conf(), self.follower())
        self.assertEqual((self.records(), self.told), ([], []))


class StateTest(LedgerTest):
    """A state directory that is not as it should be: the run goes on and says so."""

    def warning(self) -> str:
        level, text = self.told[0]
        self.assertEqual(level, "warning")
        return str(text)

    def test_it_cannot_be_written(self) -> None:
        """That is a warning, not a failure."""
        self.state = self.write("no-folder")
        events = self.push(*self.plan())
        self.assertEqual(events[self.path("conf")]["status"], "changed")
        self.assertIn("could not", self.warning())
        expect_text(self.told[-1][1], self)

    def test_damage(self) -> None:
        """A record that is damaged is told, once, and begun anew."""
        self.push(*self.plan())
        for text in ("", "{", "[]", '{"format": 1, "due": 7}'):
            with open(self.record(), "w") as out:
                out.write(text)
            self.push(self.conf(), self.follower())
            self.assertIn("are not known", self.warning())
            self.push(self.conf(), self.follower())
            self.assertEqual(self.told, [])
            os.unlink(self.path("conf"))
            self.push(*self.plan())

    def test_entries_that_are_damaged(self) -> None:
        """An entry that is none counts for nothing."""
        self.push(*self.plan())
        with open(self.record()) as file:
            kept = json.load(file)
        kept["due"] = {"x": 3, "y": {"run": []}}
        with open(self.record(), "w") as out:
            json.dump(kept, out)
        self.assertEqual(self.push(self.conf(), self.follower())["follower"]["status"], "stable")

    def test_a_newer_version(self) -> None:
        """What a newer ccm has left is left to it."""
        self.push(*self.plan())
        with open(self.record()) as file:
            newer = dict(json.load(file), format=99)
        with open(self.record(), "w") as out:
            json.dump(newer, out)
        self.push(*self.plan())
        self.assertIn("a newer ccm wrote it", self.warning())
        with open(self.record()) as file:
            self.assertEqual(json.load(file), newer)

    @unittest.skipUnless(ROOT, "only root can give files away")
    def test_squatters(self) -> None:
        """What another user has put there fires nothing, and is told with the user."""
        self.push(*self.plan())
        self.write("good")
        os.chown(self.record(), 12345, 12345)
        self.assertEqual(self.push(*self.plan())["follower"]["status"], "stable")
        self.assertIn("it belongs to user 12345", self.warning())

    def test_a_clone(self) -> None:
        """A copy belongs to another machine does not make up for what that one left undone."""
        self.push(*self.plan())
        self.write("good")
        key = os.path.join(self.state, "key")
        with open(key) as file:
            other = dict(json.load(file), machine="another")
        with open(key, "w") as out:
            json.dump(other, out)
        self.assertEqual(self.push(*self.plan())["follower"]["status"], "stable")
        self.assertIn("belongs to another machine", self.warning())
        self.push(*self.plan())
        self.assertEqual(self.told, [])

    def test_a_clock_that_jumps(self) -> None:
        """What a run of the future has left is due all the same."""
        self.push(*self.plan())
        self.write("good")
        with open(self.record()) as file:
            kept = json.load(file)
        for entry in kept["due"].values():
            entry.update(run="R9", at=entry["at"] + 10**9)
        with open(self.record(), "w") as out:
            json.dump(kept, out)
        self.assertEqual(self.push(*self.plan())["follower"]["due_since"], "R9")
        self.assertEqual(self.records(), [])

    def test_secrets(self) -> None:
        """No secret and no content is in the state directory."""
        secret = "s3cr3t-value"
        last = self.follower("x" + secret, subscribe=["exec#" + secret], require=["exec#gate"])
        plan = [self.shell(secret, "true"), self.gate(), last]
        self.push(*plan, secrets=[secret])
        found = b"".join(self.whole(self.state))
        self.assertIn(b"[masked]", found)
        self.assertNotIn(secret.encode(), found)
        self.write("good")
        self.assertTrue(self.push(*plan, secrets=[secret])["x[masked]"]["refreshed"])

    def whole(self, directory: str) -> List[bytes]:
        found = []
        for top, _, names in os.walk(directory):
            for name in names:
                found.append(name.encode())
                with open(os.path.join(top, name), "rb") as file:
                    found.append(file.read())
        return found


_KILLING = """\
import os, sys
CALLS = set('open write fsync rename unlink fchmod posix_spawn fork_exec'.split())
trace = os.open({trace!r}, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
left = [{at}]
def count(frame, event, called, write=os.write, end=os.kill, own=os.getpid()):
    if event == "c_call" and called.__name__ in CALLS and called.__module__ != "_io":
        place = frame.f_code.co_filename.rpartition("/")[2][:-3], frame.f_code.co_name
        if place == ("pending_fsyncs", "_sync"):
            return  # on this thread or on the one that beats: whichever comes first
        write(trace, (" ".join(place + (called.__name__,)) + "\\n").encode())
        left[0] -= 1
        if left[0] == 0:
            end(own, 9)
sys.setprofile(count)
"""


class CutShortTest(LedgerTest):
    """Runs that do not come to their end."""

    def again(self) -> None:
        """The next push brings everything about, exactly once more; the one after is stable."""
        before = self.refreshed()
        events = self.push(*self.plan_of_kills(), digest="d")
        self.assertEqual([e["error"] for e in events.values()], [[], [], []])
        self.assertGreaterEqual(self.refreshed(), 1)
        self.assertLessEqual(self.refreshed(), before + 1)
        events = self.push(*self.plan_of_kills(), digest="d")
        self.assertEqual({e["status"] for e in events.values()}, {"stable"})
        self.assertEqual(self.records(), [])

    def plan_of_kills(self) -> List[Dict[str, Any]]:
        between = self.shell("between", "touch was-here", properties={"creates": "was-here"})
        return [self.conf(), between, self.follower()]

    def killed_at(self, at: int) -> Optional[List[str]]:
        """The places of a run's calls; None where it came to its end."""
        prologue = _KILLING.format(trace=self.path("trace"), at=at)
        target = self.target(prologue=prologue)
        try:
            target.push(*self.plan_of_kills(), run_id="R", manifest=MANIFEST, digest="d")
        except (AssertionError, BrokenPipeError, ConnectionResetError):
            self.assertEqual(target.process.wait(20), -signal.SIGKILL)
            return None
        return self.read("trace").decode().splitlines()

    def anew(self) -> None:
        self.undo()
        shutil.rmtree(self.state)
        os.mkdir(self.state, 0o700)

    def undo(self) -> None:
        for name in ("conf", "was-here", "follower"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))

    @staticmethod
    def counts(call: str) -> bool:
        """Whether the disk or a process may be another one behind it."""
        return call.rpartition(" ")[2] in ("rename", "fsync", "unlink", "fork_exec")

    @unittest.skipIf("CCM_TEST_EVERY_PYTHON" in os.environ, "dear, and alike under every Python")
    def test_kills(self) -> None:
        """Killed before any call that writes, from the note to the end, no refresh is lost."""
        calls = self.killed_at(0) or []
        self.assertIn("state_store _write rename", calls)
        self.assertLess(
            calls.index("state_store _write rename"), calls.index("temporary_file commit rename")
        )
        first = calls.index("state_store _write open")
        self.assertIn("state_store forget unlink", calls)
        tried = 0
        for at in range(first, len(calls)):
            if not self.counts(calls[at]):
                continue
            self.anew()
            with self.subTest(killed_before=calls[at], number=at):
                self.assertIsNone(self.killed_at(at + 1))
                self.again()
            tried += 1
        self.assertGreater(tried, 12)

    @unittest.skipIf("CCM_TEST_EVERY_PYTHON" in os.environ, "dear, and alike under every Python")
    def test_kills_after_a_converged_run(self) -> None:
        """Nor is one of a plan that was applied whole before: its mark goes before the change."""
        self.push(*self.plan_of_kills(), digest="d")
        self.undo()
        calls = self.killed_at(0) or []
        change = calls.index("temporary_file commit rename")
        self.assertLess(calls.index("state_store unmark unlink"), change)
        for at in range(calls.index("state_store unmark unlink"), change + 3):
            if not self.counts(calls[at]):
                continue
            self.anew()
            self.push(*self.plan_of_kills(), digest="d")
            self.undo()
            with self.subTest(killed_before=calls[at], number=at):
                self.assertIsNone(self.killed_at(at + 1))
                self.again()

    def test_a_lost_connection(self) -> None:
        """A refresh that the end of the connection kept from happening is not lost."""
        self.assert_refresh_after(lambda target: target.process.stdin.close())

    def test_an_interruption(self) -> None:
        """Nor one that the user's Ctrl-C did."""
        self.assert_refresh_after(lambda target: target.send({"t": "cancel"}))

    def test_a_kill(self) -> None:
        """Nor one that died with the runtime."""
        self.assert_refresh_after(lambda target: target.process.kill())

    def assert_refresh_after(self, end: Any) -> None:
        script = "touch begun; while [ ! -e good ]; do sleep 0.05; done"
        plan = [self.conf(), self.shell("slow", script), self.follower()]
        target = self.target()
        target.start(*plan, run_id="R", manifest=MANIFEST)
        target.until("event")
        self.assertTrue(within(20, lambda: os.path.exists(self.path("begun"))))
        end(target)
        target.process.stdout.read()
        target.process.wait(20)
        self.assertEqual(self.refreshed(), 0)
        self.write("good")
        plan[1] = self.shell("slow", "true")
        events = self.push(*plan, lock_timeout=90)
        self.assertEqual((events["follower"]["due_since"], self.refreshed()), ("R", 1))
