import errno
import os
import shutil
import signal
import tempfile
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.plan_item import Item
from remote_runtime.reporting.events import EventMaker, Outcome
from remote_runtime.reporting.masking import Mask
from remote_runtime.state import run_record
from remote_runtime.system.state_store import StateStore
from tests.remote_runtime.controller import Target
from tests.remote_runtime.fakes import GROUP, OWNER, DirectoryTest, blob

RECEIPT = "0123456789abcdef" * 2
MANIFEST = "infra/site.yaml"


class RunRecordTest(DirectoryTest):
    """A file, a command that subscribes to it, and another file."""

    def setUp(self) -> None:
        super().setUp()
        self.state = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, self.state, True)
        confirmed, run_record.CONFIRMED_WITHIN = run_record.CONFIRMED_WITHIN, 0.2
        self.addCleanup(setattr, run_record, "CONFIRMED_WITHIN", confirmed)

    def target(self) -> Target:
        target = Target(self.path("ccm.lock"), self.state, [b"1"])
        self.addCleanup(self.stop, target)
        return target

    def stop(self, target: Target) -> None:
        if target.process.poll() is None:
            target.process.kill()
            target.end()

    def plan(self, script: str = "true") -> List[Dict[str, Any]]:
        shell = {"command": script, "cwd": self.root}
        return [
            self.owned("a"),
            {"type": "exec", "provider": "shell", "name": "run", "properties": shell},
            self.owned("b"),
        ]

    def owned(self, name: str, **fields: Any) -> Dict[str, Any]:
        properties = {"owner": OWNER, "group": GROUP, "mode": "0644", "content": blob(b"1")}
        return {"type": "file", "name": self.path(name), "properties": properties, **fields}

    def lose(self, *resources: Dict[str, Any], at: str = "done", **settings: Any) -> None:
        """Run a plan, and lose the controller at the first message of that kind."""
        target = self.target()
        target.start(*resources, receipt=RECEIPT, manifest=MANIFEST, **settings)
        target.until(at)
        target.process.stdin.close()
        target.end()

    def told(self, receipt: str = RECEIPT) -> List[Dict[str, Any]]:
        """What the host says of it to another controller."""
        target = self.target()
        target.until("facts")
        target.send({"t": "bye", "recall": [receipt]})
        target.until("done")
        target.end()
        return target.of("past")

    def results(self) -> Dict[int, Dict[str, Any]]:
        return {step["index"]: step for message in self.told() for step in message["results"]}

    def records(self) -> List[str]:
        directory = os.path.join(self.state, "runs")
        return os.listdir(directory) if os.path.exists(directory) else []

    def test_a_converged_run(self) -> None:
        """A run that changes nothing and whose end is confirmed writes nothing."""
        self.target().push(*self.plan()[::2])
        before = sorted(os.walk(self.state))
        target = self.target()
        target.start(*self.plan()[::2], receipt=RECEIPT)
        target.until("done")
        target.send({"t": "bye"})
        self.assertEqual(target.end(), 0)
        self.assertEqual(sorted(os.walk(self.state)), before)

    def test_one_that_is_not_confirmed(self) -> None:
        """The outcomes of one that changed nothing are kept when nobody confirms its end."""
        self.target().push(*self.plan()[::2])
        self.lose(*self.plan()[::2])
        self.assertEqual(self.told()[-1]["state"], "ended")
        self.assertEqual({step["status"] for step in self.results().values()}, {"stable"})

    def test_a_changed_one(self) -> None:
        """Each turn is told with its status, and whether a subscription fired it."""
        self.lose(*self.plan("exit 4"))
        results = self.results()
        self.assertEqual(
            [results[at]["status"] for at in range(3)], ["changed", "failed", "changed"]
        )
        self.assertEqual(results[1]["exit_code"], 4)
        self.assertIn("exit code 4", results[1]["error"])

    def test_a_controller_that_goes_away(self) -> None:
        """What the run came to behind the loss is on record, and that it is over."""
        self.lose(*self.plan("sleep 30"), at="event")
        (last,) = [message for message in self.told() if message["state"]]
        self.assertEqual(last["state"], "ended")
        self.assertEqual(self.results()[1]["status"], "failed")
        self.assertNotIn(2, self.results())

    def test_a_kill_of_the_runtime(self) -> None:
        """A resource that was at work then is named, and nothing says that the run ended."""
        target = self.target()
        target.start(*self.plan("sleep 0.5; kill -9 $PPID"), receipt=RECEIPT)
        target.until("event")
        self.assertNotEqual(target.end(), 0)
        last = self.told()[-1]
        self.assertEqual((last["state"], last["started"]), ("cut", [1]))
        self.assertEqual(list(self.results()), [0])

    def test_one_that_is_at_work(self) -> None:
        """It is said to be running, with what it came to so far."""
        target = self.target()
        target.start(*self.plan("sleep 30"), receipt=RECEIPT)
        target.until("event")
        self.assertEqual(self.told()[-1]["state"], "running")
        self.assertEqual(list(self.results()), [0])
        target.process.send_signal(signal.SIGKILL)

    def test_none(self) -> None:
        """A run that never came here has no record; nor has what is no receipt."""
        self.assertEqual([message["state"] for message in self.told()], ["none"])
        self.assertEqual(self.told("../applied/x"), [])

    def test_secrets(self) -> None:
        """No content and no secret is in a record, of a sensitive resource not even the reason."""
        secret = self.owned("c", sensitive=True)
        secret["properties"].update(content="top-secret", owner="nobody-of-that-name")
        failing = self.plan("echo hunter2 >&2; exit 1")
        self.lose(*failing, secret, secrets=["hunter2"])
        (name,) = self.records()
        with open(os.path.join(self.state, "runs", name)) as source:
            text = source.read()
        for word in ("hunter2", "top-secret", "nobody-of-that-name", self.root):
            self.assertNotIn(word, text)
        self.assertEqual(self.results()[3]["error"], "")

    def test_another_machine(self) -> None:
        """A clone believes no record, and says that it cannot tell."""
        self.lose(*self.plan())
        os.unlink(os.path.join(self.state, "key"))
        self.assertEqual([message["state"] for message in self.told()], ["unusable"])

    def test_half_a_line(self) -> None:
        """A power cut may spoil the end of a record; the whole lines before it hold."""
        self.lose(*self.plan())
        path = os.path.join(self.state, "runs", RECEIPT)
        with open(path) as source:
            lines = source.read().splitlines()
        at = next(
            at for at, line in enumerate(lines) if '"index": 1' in line or '"index":1' in line
        )
        with open(path, "w") as out:
            out.write("\n".join(lines[:at]) + "\n" + lines[at][:10])
        self.assertEqual(list(self.results()), [0])
        self.assertEqual(self.told()[-1]["state"], "cut")

    def test_bounds(self) -> None:
        """There are only so many records; of an older one the host says that it cannot tell."""
        memory = StateStore(self.state)
        for number in range(run_record.MAX_RECORDS + 3):
            memory.prune("runs", run_record.MAX_RECORDS - 1, "")
            name = "%032x" % number
            os.close(memory.open_log("runs", name)[0])
            os.utime(os.path.join(self.state, "runs", name), (number, number))
        sizes = [os.path.getsize(os.path.join(self.state, "runs", name)) for name in self.records()]
        self.assertEqual(sum(1 for size in sizes if size), run_record.MAX_RECORDS)
        self.assertEqual(self.told("%032x" % 2)[-1]["state"], "unusable")
        self.assertEqual(self.told("%032x" % 3)[-1]["state"], "cut")

    def record(self, last: int = 40) -> run_record.RunRecord:
        """A record that is written without a run."""
        return run_record.RunRecord(self.state, RECEIPT, last, EventMaker(Mask()))

    def item(self, index: int) -> Item:
        return Item(index, "file", str(index), {})

    def test_a_power_cut(self) -> None:
        """Lines that were not synced may be lost with the power: all resources up to the next sync
        count as interrupted, and one sync is enough for several."""
        record = self.record()
        record.begin([self.item(3)])
        syncs: List[int] = []
        with mock.patch.object(os, "fsync", syncs.append):
            record.ended(Outcome(self.item(3)), False, 0.1)
            record.begin([self.item(4)])
            self.assertEqual(len(syncs), 0)
        self.assertEqual(self.told()[-1]["started"], [4])
        with mock.patch.object(run_record, "boot", return_value="another"):
            (*_, last) = run_record.past_messages(StateStore(self.state), RECEIPT, False)
        self.assertEqual(last["started"], list(range(4, 19)))

    def test_a_power_cut_near_the_end(self) -> None:
        """No resource that the plan does not have is said to be interrupted."""
        self.record(last=5).begin([self.item(4)])
        with mock.patch.object(run_record, "boot", return_value="another"):
            (*_, last) = run_record.past_messages(StateStore(self.state), RECEIPT, False)
        self.assertEqual(last["started"], [4, 5])

    def test_several_at_once(self) -> None:
        """All resources that are changed together are on record before."""
        self.record().begin([self.item(1), self.item(2)])
        self.assertEqual(self.told()[-1]["started"], [1, 2])

    def test_a_full_disk(self) -> None:
        """What cannot be written is marked, so the host says what it knows and that it lacks some;
        on a disk without any room left it says that it cannot tell."""
        real = os.write

        def full(descriptor: int, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "full")

        def almost_full(descriptor: int, data: bytes) -> int:
            return real(descriptor, data) if b"gap" in data else full(descriptor, data)

        for write, known in ((almost_full, [0]), (full, [])):
            record = self.record()
            record.begin([self.item(0)])
            record.ended(Outcome(self.item(0)), False, 0.1)
            with mock.patch.object(os, "write", write):
                record.begin([self.item(1)])
            record.ended(Outcome(self.item(1)), False, 0.1)
            record.close()
            self.assertEqual(self.told()[-1]["state"], "unusable")
            self.assertEqual(list(self.results()), known)

    def test_too_large(self) -> None:
        """A record ends at its bound, and says so."""
        with mock.patch.object(run_record, "LARGEST", 300):
            record = self.record()
            for number in range(20):
                record.begin([self.item(number)])
            self.assertEqual(self.told()[-1]["state"], "unusable")

    def test_a_directory_that_cannot_be_written(self) -> None:
        """The absence of a record means nothing there."""
        memory = StateStore(self.state)
        with mock.patch.object(memory, "is_writable", return_value=False):
            (told,) = run_record.past_messages(memory, RECEIPT, False)
        self.assertEqual(told["state"], "unusable")
