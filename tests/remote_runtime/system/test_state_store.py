import json
import os
import stat
import unittest
from typing import Any, Callable, List

from remote_runtime.system.machine_id import machine_id
from remote_runtime.system.state_store import StateError, StateStore
from tests.remote_runtime.fakes import ROOT, DirectoryTest
from tests.texts import expect_text

RECORD = {"manifest": "site/site.yaml", "due": {"a": [1, 2]}}


class MemoryTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.state = self.path("state", "ccm")
        self.memory = StateStore(self.state, "this machine")

    def again(self, machine: str = "this machine") -> StateStore:
        return StateStore(self.state, machine)

    def kept(self, name: str = "n") -> str:
        return os.path.join(self.state, "kind", name)

    def refusal(self, call: Any, *arguments: Any) -> StateError:
        with self.assertRaises(StateError) as raised:
            call(*arguments)
        return raised.exception

    def test_a_record_is_there_again(self) -> None:
        """What was written is read by the next run, in directories that are this user's alone."""
        self.assertIsNone(self.memory.read("kind", "n"))
        self.assertFalse(os.path.exists(self.state))
        self.memory.write("kind", "n", RECORD)
        found = self.again().read("kind", "n") or {}
        self.assertEqual({key: found[key] for key in RECORD}, RECORD)
        self.assertIsNone(self.again().read("kind", "m"))
        modes = {"": 0o700, "kind": 0o700, "kind/n": 0o600, "key": 0o600}
        for name, mode in modes.items():
            path = os.path.join(self.state, name)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), mode, path)

    def test_forgetting(self) -> None:
        """A record that was removed is not there, and one that never was is no mistake."""
        self.memory.forget("kind", "n")
        self.memory.write("kind", "n", RECORD)
        self.memory.forget("kind", "n")
        self.assertIsNone(self.again().read("kind", "n"))
        self.assertEqual(os.listdir(os.path.dirname(self.kept())), [])

    def test_the_names_of_a_kind(self) -> None:
        """Those of its records, without their marks and what a kill has left half-written."""
        self.assertEqual(self.memory.names("kind"), [])
        for name in ("n", "m"):
            self.memory.write("kind", name, RECORD)
        self.memory.mark("kind", "n", "one")
        with open(os.path.join(self.state, "kind", ".o.new"), "w"):
            pass
        self.assertEqual(sorted(self.again().names("kind")), ["m", "n"])

    def test_marks(self) -> None:
        """A record has one mark at a time, and a write leaves that alone."""
        self.memory.unmark("kind", "n")
        self.memory.mark("kind", "n", "one")
        self.memory.mark("kind", "other", "one")
        self.memory.mark("kind", "n", "two")
        self.memory.write("kind", "n", RECORD)
        directory = os.path.dirname(self.kept())
        self.assertEqual(sorted(os.listdir(directory)), ["n", "n.two", "other.one"])
        self.memory.unmark("kind", "n")
        self.assertEqual(sorted(os.listdir(directory)), ["n", "other.one"])

    def test_digests_are_keyed(self) -> None:
        """A text has one digest on a machine, run after run, and another one on any other."""
        digest = self.memory.digest("text")
        self.assertEqual(self.again().digest("text"), digest)
        self.assertNotEqual(self.memory.digest("texts"), digest)
        other = StateStore(self.path("other"), "this machine")
        self.assertNotEqual(other.digest("text"), digest)

    def test_a_clone_believes_nothing(self) -> None:
        """What was copied from another machine is refused by name, and may be replaced."""
        self.memory.write("kind", "n", RECORD)
        clone = self.again("a clone")
        error = self.refusal(clone.read, "kind", "n")
        self.assertTrue(error.damaged)
        expect_text(str(error), self)
        clone.write("kind", "n", RECORD)
        self.assertIsNotNone(self.again("a clone").read("kind", "n"))
        self.assertTrue(self.refusal(self.again().read, "kind", "n").damaged)

    def test_a_lost_key(self) -> None:
        """Without its key a record means nothing, and says so."""
        self.memory.write("kind", "n", RECORD)
        for text in ("", "{}", '{"format": 1, "secret": "xyz"}', '{"format": 1, "secret": 3}'):
            with open(os.path.join(self.state, "key"), "w") as key:
                key.write(text)
            self.assertIn("key", str(self.refusal(self.again().read, "kind", "n")))

    def test_damage(self) -> None:
        """A record that is no record is refused by name, and may be replaced."""
        self.memory.write("kind", "n", RECORD)
        whole = self.read("state/ccm/kind/n")
        for text in (b"", whole[:-5], b"[]", b"\xff", b"{}", b'{"format": "1"}', b"[" * 100000):
            with open(self.kept(), "wb") as out:
                out.write(text)
            error = self.refusal(self.again().read, "kind", "n")
            self.assertIn("%s: it is corrupt" % self.kept(), str(error))
            self.assertTrue(error.damaged)
        self.again().write("kind", "n", RECORD)
        self.assertIsNotNone(self.again().read("kind", "n"))

    def test_a_newer_version(self) -> None:
        """What a newer ccm wrote is neither read nor written over."""
        self.memory.write("kind", "n", RECORD)
        for name in ("kind/n", "key"):
            path = os.path.join(self.state, name)
            with open(path) as file:
                newer = dict(json.load(file), format=2)
            with open(path, "w") as out:
                json.dump(newer, out)
            steps: List[Callable[[], object]] = [lambda: self.again().write("kind", "n", RECORD)]
            if name != "key":
                steps.append(lambda: self.again().read("kind", "n"))
            for step in steps:
                error = self.refusal(step)
                expect_text(str(error), self)
                self.assertFalse(error.damaged)
            with open(path) as file:
                self.assertEqual(json.load(file), newer)
            os.unlink(path)

    def test_what_others_can_write_to(self) -> None:
        """Directories and files that others may have changed are not believed, and left as they
        are.
        """
        self.memory.write("kind", "n", RECORD)
        for path, mode in ((self.state, 0o700), (os.path.dirname(self.kept()), 0o700),
                           (self.kept(), 0o600)):  # fmt: skip
            os.chmod(path, mode | stat.S_IWOTH)
            error = self.refusal(self.again().read, "kind", "n")
            self.assertIn("%s: other users can write to it" % path, str(error))
            self.refusal(self.again().write, "kind", "n", RECORD)
            os.chmod(path, mode)

    @unittest.skipUnless(ROOT, "only root can give files away")
    def test_squatters(self) -> None:
        """What belongs to another user is neither read nor written, and the user is named."""
        self.memory.write("kind", "n", RECORD)
        for path in (self.state, os.path.dirname(self.kept()), self.kept()):
            os.chown(path, 12345, 12345)
            for step in (
                lambda: self.again().read("kind", "n"),
                lambda: self.again().write("kind", "n", RECORD),
            ):
                error = self.refusal(step)
                self.assertIn("%s: it belongs to user 12345" % path, str(error))
                self.assertFalse(error.damaged)
            os.chown(path, 0, 0)

    def test_links_and_pipes(self) -> None:
        """What leads elsewhere or is no file is refused, without a wait."""
        self.memory.write("kind", "n", RECORD)
        os.rename(self.kept(), self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.kept())
        self.refusal(self.again().read, "kind", "n")
        os.unlink(self.kept())
        os.mkfifo(self.kept(), 0o600)
        self.assertIn("regular file", str(self.refusal(self.again().read, "kind", "n")))
        self.refusal(self.again().write, "kind", "n", RECORD)
        os.unlink(self.kept())
        os.rename(os.path.dirname(self.kept()), self.path("moved"))
        os.symlink(self.path("moved"), os.path.dirname(self.kept()))
        self.refusal(self.again().read, "kind", "n")

    def test_the_state_directory_may_be_a_link_of_its_user(self) -> None:
        """It is read and written where it leads, unless others can write beside it or there."""
        self.memory.write("kind", "n", RECORD)
        os.mkdir(self.path("disk"), 0o755)
        os.rename(self.state, self.path("disk", "ccm"))
        os.symlink(self.path("disk", "ccm"), self.state)
        memory = self.again()
        self.assertIsNotNone(memory.read("kind", "n"))
        memory.write("other", "n", RECORD)
        self.assertEqual(sorted(os.listdir(self.path("disk", "ccm"))), ["key", "kind", "other"])
        for place in (self.path("disk"), os.path.dirname(self.state), self.path("disk", "ccm")):
            os.chmod(place, 0o777)
            self.refusal(self.again().read, "kind", "n")
            self.refusal(self.again().write, "kind", "n", RECORD)
            os.chmod(place, 0o700)
        self.assertIsNotNone(self.again().read("kind", "n"))
        if ROOT:
            os.lchown(self.state, 12345, 12345)
            self.assertIn("a symlink", str(self.refusal(self.again().read, "kind", "n")))

    def test_a_place_that_cannot_be_written(self) -> None:
        """The error names the place and why."""
        with open(self.path("state"), "w"):
            pass
        error = self.refusal(self.memory.write, "kind", "n", RECORD)
        self.assertIn(self.state, str(error))
        self.assertFalse(error.damaged)
        self.refusal(self.memory.digest, "x")

    def test_a_name_left_by_a_kill(self) -> None:
        """What a write that was killed has left is in nobody's way."""
        self.memory.write("kind", "n", RECORD)
        with open(os.path.join(os.path.dirname(self.kept()), ".n.new"), "w") as left:
            left.write("half a reco")
        self.again().write("kind", "n", {"due": {}})
        self.assertEqual((self.again().read("kind", "n") or {})["due"], {})
        self.assertEqual(os.listdir(os.path.dirname(self.kept())), ["n"])

    def test_the_machine(self) -> None:
        """A machine's number is read without its newline; a system may have none."""
        self.assertEqual(machine_id(), machine_id().strip())
