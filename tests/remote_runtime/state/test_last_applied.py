import json
import os
import sys
import unittest
from typing import Any, Dict, List, Tuple

from remote_runtime.plans.observed_state import provenance_of
from remote_runtime.registry import Registry
from tests.remote_runtime.controller import ROOT as ROOT_DIRECTORY
from tests.remote_runtime.controller import within
from tests.remote_runtime.fakes import OWNER, ROOT, blob, context, item
from tests.remote_runtime.state.test_pending_refreshes import MANIFEST, LedgerTest

WATCH = """\
import sys
def watch(event, arguments, out=open({trace!r}, "w")):
    if event in ("open", "os.listdir", "os.rename", "os.remove", "os.mkdir"):
        out.write("%s %s\\n" % (event, arguments[0]))
        out.flush()
sys.addaudithook(watch)
"""


BROKEN = """\
import sys
sys.path.insert(0, %r)
from remote_runtime.cancellation import Cancelled
from remote_runtime.managed_resources.task_resource import PathTaskResource
def drift_state(self):
    raise %s
PathTaskResource.drift_state = drift_state
"""


class AppliedTest(LedgerTest):
    """Runs of one plan with a file and a command; ``digest`` stands for the plan."""

    def run_of(self, content: bytes = b"1", digest: str = "d1", **options: Any) -> Dict[str, Any]:
        plan = [self.conf(content), self.follower(), self.made()]
        return self.push(*plan, digest=digest, **options)

    def made(self) -> Dict[str, Any]:
        return self.shell("maker", "touch made", properties={"creates": self.path("made")})

    def drift(self, content: bytes = b"1") -> Dict[str, str]:
        """Who made what differ, by the beginning of the name."""
        events = self.run_of(content, noop=True, drift=True)
        found = {os.path.basename(name): e.get("drift") for name, e in events.items()}
        self.drifts = {name: told for name, told in found.items() if told}
        return {name: told["by"] for name, told in self.drifts.items()}

    def applied(self) -> Tuple[str, List[str]]:
        """The record, and the marks beside it."""
        directory = os.path.join(self.state, "applied")
        names = sorted(os.listdir(directory))
        return os.path.join(directory, names[0]), names[1:]


class RecordTest(AppliedTest):
    def test_three_ways(self) -> None:
        """Who did it follows from what was desired and found, then and now."""
        self.assertEqual(self.drift(), {"conf": "new", "maker": "new"})
        self.run_of()
        self.assertEqual(self.drift(), {})
        self.assertEqual(self.drift(b"2"), {"conf": "you"})
        os.unlink(self.path("made"))
        self.write("conf", b"other")
        self.assertEqual(self.drift(), {"conf": "someone", "maker": "someone"})
        told = self.drifts["conf"]
        self.assertEqual((told["run"], told["user"], told["owner"]), ("R2", "alice@desk", OWNER))
        self.assertRegex(told["at"] + told["changed"], "^(20..-..-..T..:..:..Z){2}$")
        self.assertEqual(self.drift(b"2"), {"conf": "both", "maker": "someone"})
        self.run_of()
        self.assertEqual(self.drift(), {})

    @unittest.skipUnless(hasattr(sys, "addaudithook"), "newer than what 3.6 and 3.7 offer")
    def test_a_converged_run_of_the_same_plan(self) -> None:
        """It opens no record, and writes nothing; that of another plan records what it finds."""
        self.run_of()
        _, marks = self.applied()
        self.assertEqual(len(marks), 1)
        before = self.everything()
        self.prologue = WATCH.format(trace=self.path("trace"))
        self.run_of()
        self.assertEqual(self.everything(), before)
        touched = [line for line in self.read("trace").decode().splitlines() if self.state in line]
        unfinished = os.path.join(self.state, "unfinished")
        self.assertEqual([line for line in touched if unfinished not in line], [])
        self.run_of(digest="d2")
        self.assertNotEqual(self.applied()[1], marks)
        self.assertEqual(len(self.applied()[1]), 1)

    def test_what_a_check_leaves(self) -> None:
        """A check has its say behind the turn: who meddles later meddles with what it left."""
        conf = self.conf(health_checks=[{"command": "chmod 0600 %s" % self.path("conf")}])

        def run(**options: Any) -> Any:
            return self.push(conf, digest="d1", **options)[conf["name"]]

        run()
        told = run(noop=True, drift=True)
        self.assertEqual(told["changes"][0]["what"], "mode")
        self.assertNotIn("drift", told)  # it does so whatever anybody does
        os.chmod(self.path("conf"), 0o640)
        self.assertEqual(run(noop=True, drift=True)["drift"]["by"], "someone")

    def everything(self) -> List[Tuple[str, int, int]]:
        found = []
        for top, directories, names in os.walk(self.state):
            for name in directories + names:
                status = os.stat(os.path.join(top, name))
                found.append((os.path.join(top, name), status.st_mtime_ns, status.st_ino))
        return sorted(found)

    def test_guards(self) -> None:
        """A command has drifted when a guard lets it run that did not before."""
        guarded = self.shell("guarded", "touch there", properties={"unless": "test -e there"})
        always = self.shell("always", "true", properties={"onlyif": "true"})
        free = self.shell("free", "true")

        def drift() -> Dict[str, Any]:
            events = self.push(guarded, always, free, noop=True, drift=True, digest="d")
            return {name: e["drift"]["by"] for name, e in events.items() if "drift" in e}

        for _ in range(2):
            self.push(guarded, always, free, digest="d")
            self.assertEqual(drift(), {})
        os.unlink(self.path("there"))
        self.assertEqual(drift(), {"guarded": "someone"})
        self.push(guarded, free, digest="d3")
        self.assertEqual(self.applied()[1], [])
        self.push(guarded, free, digest="d3")
        self.assertEqual(len(self.applied()[1]), 1)

    def test_what_is_never_applied(self) -> None:
        """What is in noop by itself does not drift."""
        self.push(dict(self.conf(), noop=True))
        events = self.push(dict(self.conf(), noop=True), noop=True, drift=True)
        self.assertEqual(events[self.path("conf")]["status"], "changed")
        self.assertNotIn("drift", events[self.path("conf")])

    def test_a_failure_leaves_no_mark(self) -> None:
        """What was not applied whole is looked at again by the next run."""
        self.push(*self.plan(), digest="d1")
        self.assertEqual(self.applied()[1], [])
        self.write("good")
        self.push(*self.plan(), digest="d1")
        self.assertEqual(len(self.applied()[1]), 1)

    def test_a_refresh_that_is_due_leaves_no_mark(self) -> None:
        """A run that changes something after the mark takes it away before it does."""
        failing = self.shell("last", "test -e good", subscribe=["file#" + self.path("conf")],
                             properties={"refresh_only": True})  # fmt: skip
        self.write("good")
        self.push(self.conf(), failing, digest="d1")
        self.assertEqual(len(self.applied()[1]), 1)
        os.unlink(self.path("good"))
        self.write("conf", b"other")
        self.push(self.conf(), failing, digest="d1")
        self.assertEqual(self.applied()[1], [])
        self.write("good")
        self.assertTrue(self.push(self.conf(), failing, digest="d1")["last"]["refreshed"])
        self.assertEqual(len(self.applied()[1]), 1)

    def test_a_run_of_another_plan_that_is_killed(self) -> None:
        """What it leaves due is found by a push of the plan that was applied before it."""
        slow = self.shell("slow", "touch begun; while [ ! -e good ]; do sleep 0.05; done")
        self.write("good")
        self.push(self.conf(), slow, self.follower(), digest="d1")
        os.unlink(self.path("good"))
        os.unlink(self.path("begun"))
        target = self.target()
        plan = [self.conf(b"2"), slow, self.follower()]
        target.start(*plan, run_id="R", manifest=MANIFEST, digest="d2")
        target.until("event")
        self.assertTrue(within(20, lambda: os.path.exists(self.path("begun"))))
        target.process.kill()
        target.end()
        self.write("good")
        self.write("conf", b"1")
        events = self.push(self.conf(), slow, self.follower(), digest="d1")
        self.assertEqual(events["follower"]["due_since"], "R")

    def test_previews_write_nothing(self) -> None:
        """Neither a preview nor a look at drift leaves anything."""
        self.run_of(noop=True)
        self.drift()
        self.assertEqual(self.everything(), [])

    def test_a_resource_that_is_gone(self) -> None:
        """The record of what the manifest no longer holds goes with the next plan."""
        self.run_of()
        self.push(self.conf(), digest="d2")
        with open(self.applied()[0]) as file:
            self.assertEqual(len(json.load(file)["resources"]), 1)

    def test_no_secret_and_no_content(self) -> None:
        """Nothing in the record can be guessed without the key."""
        self.run_of()
        with open(self.applied()[0]) as file:
            text = file.read()
        self.assertNotIn(self.root, text)
        self.assertNotIn(str(blob(b"1")["$blob"])[:12], text)


class TroubleTest(AppliedTest):
    def test_damage(self) -> None:
        """A record that is damaged is told, and written anew by the next push."""
        self.run_of()
        for text in ("", "{", '{"format": 1}'):
            with open(self.applied()[0], "w") as out:
                out.write(text)
            self.assertEqual(self.drift(b"2"), {"conf": "new"})
            self.assertIn("the last applied state is not known", self.told[0][1])
            self.run_of(digest="d" + text)
            self.assertEqual(self.drift(b"2"), {"conf": "you"})

    def test_entries_that_are_damaged(self) -> None:
        """What is no entry counts for nothing; a time that is none is not told."""
        self.run_of()
        with open(self.applied()[0]) as file:
            kept = json.load(file)
        for run in kept["runs"].values():
            run[1] = 10**40
        kept["resources"].update(x=1, y=["a"])
        with open(self.applied()[0], "w") as out:
            json.dump(kept, out)
        self.assertEqual(self.drift(b"2"), {"conf": "you"})
        self.assertEqual(self.drifts["conf"]["at"], "")

    def test_a_clone(self) -> None:
        """What a clone was cloned with is not its own."""
        self.run_of()
        key = os.path.join(self.state, "key")
        with open(key) as file:
            other = dict(json.load(file), machine="another")
        with open(key, "w") as out:
            json.dump(other, out)
        self.assertEqual(self.drift(b"2"), {"conf": "new"})
        self.assertIn("belongs to another machine", self.told[0][1])

    @unittest.skipUnless(ROOT, "only root can give files away")
    def test_squatters(self) -> None:
        """A record of another user is neither believed nor written over."""
        self.run_of()
        os.chown(self.applied()[0], 12345, 12345)
        self.assertEqual(self.drift(b"2"), {"conf": "new"})
        self.run_of(b"2", digest="d2")
        self.assertIn("is not recorded for ccm drift", self.told[-1][1])
        self.assertEqual(os.stat(self.applied()[0]).st_uid, 12345)

    def test_a_newer_version(self) -> None:
        """What a newer ccm has left is left to it."""
        self.run_of()
        with open(self.applied()[0]) as file:
            newer = dict(json.load(file), format=99)
        with open(self.applied()[0], "w") as out:
            json.dump(newer, out)
        self.assertEqual(self.drift(b"2"), {"conf": "new"})
        self.assertIn("a newer ccm wrote it", self.told[0][1])
        self.assertEqual(self.run_of(b"2", digest="d2")[self.path("conf")]["status"], "changed")
        self.assertIn("is not recorded for ccm drift", self.told[-1][1])
        with open(self.applied()[0]) as file:
            self.assertEqual(json.load(file), newer)

    def test_it_cannot_be_written(self) -> None:
        """That is told once, and the run goes on; a look at drift has nothing to go by."""
        self.state = self.write("no-folder")
        self.assertEqual(self.run_of()[self.path("conf")]["status"], "changed")
        told = [text for _, text in self.told if "for ccm drift" in text]
        self.assertEqual(len(told), 1)
        self.assertEqual(self.drift(b"2"), {"conf": "new"})

    def test_a_clock_that_jumps(self) -> None:
        """A push of the future is what was applied last, however late it is now."""
        self.prologue = "import time\nreal = time.time\ntime.time = lambda: real() + 10**9\n"
        self.run_of()
        self.prologue = ""
        self.assertEqual(self.drift(b"2"), {"conf": "you"})
        self.assertGreater(self.drifts["conf"]["at"], "2050")
        self.run_of(b"2", digest="d2")
        self.assertEqual(self.drift(b"2"), {})

    def test_a_type_that_cannot_look_again(self) -> None:
        """A bug in how a type is remembered is none of the run, nor is the end of the run."""
        for error in ("ValueError('a bug')", "Cancelled('the end')"):
            self.prologue = BROKEN % (ROOT_DIRECTORY, error)
            events = self.run_of(digest="d" + error)
            self.assertEqual([e["failed"] for e in events.values()], [False] * 3)
        self.prologue = ""
        self.assertEqual(self.drift(b"2"), {"conf": "both"})


class StateOfTypesTest(LedgerTest):
    """What each type is remembered by."""

    def of(self, kind: str, name: str, **properties: Any) -> Any:
        one = item(kind, name, properties=properties)
        ctx = context([one])
        return Registry(ctx).create(one).drift_state()

    def test_files(self) -> None:
        """A content counts where the file has one, the time of a change never."""
        path = self.write("a", b"x")
        with_content = self.of("file", path, content=blob(b"x"))
        self.assertIn("checksum", with_content)
        self.assertNotIn("checksum", self.of("file", path))
        os.utime(path, (0, 0))
        self.assertEqual(self.of("file", path, content=blob(b"x")), with_content)

    def test_commands(self) -> None:
        """A command has what it creates, one with guards whether there was anything to do."""
        self.assertEqual(self.of("exec", "true"), {})
        self.assertIsNone(self.of("exec", "true", unless="true"))
        self.assertEqual(self.of("exec", "true", unless="true", refresh_only=True), {})
        self.assertEqual(self.of("exec", "true", creates="/"), {"created": True})

    def test_directories_of_files(self) -> None:
        """A scaffold has its files, and one that purges whatever else there is."""
        os.mkdir(self.path("s"))
        tree = {"$tree": "t", "files": [dict(blob(b"x"), path="f")], "directories": []}
        found = [
            self.of("scaffold", self.path("s"), source=tree, purge=purge) for purge in (False, True)
        ]
        self.write("s/f", b"x")
        self.assertNotEqual(self.of("scaffold", self.path("s"), source=tree), found[0])
        os.unlink(self.path("s", "f"))
        self.write("s/other", b"x")
        again = [
            self.of("scaffold", self.path("s"), source=tree, purge=purge) for purge in (False, True)
        ]
        self.assertEqual(again[0], found[0])
        self.assertNotEqual(again[1], found[1])

    def test_traces(self) -> None:
        """Of a path its owner and the time are told; of none nothing."""
        ctx = context()
        self.assertEqual(provenance_of(ctx, self.path("nothing")), {})
        found = provenance_of(ctx, self.write("a", b"x"))
        self.assertEqual((found["owner"], sorted(found)), (OWNER, ["changed", "owner"]))
