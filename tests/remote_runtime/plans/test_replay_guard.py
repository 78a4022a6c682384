import os
import shutil
import tempfile
import unittest

from remote_runtime.errors import HostError
from remote_runtime.plans.plan_file_check import Binding
from remote_runtime.plans.replay_guard import mark_used
from remote_runtime.system.state_store import StateStore

SERIAL = "0123456789abcdef" * 2
DAY = 86_400
NOW = 1_795_000_000


class UsedPlansTest(unittest.TestCase):
    def setUp(self) -> None:
        top = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, top)
        self.state = os.path.join(top, "state")
        self.directory = os.path.join(self.state, "plans")

    def use(self, serial: str = SERIAL, machine: str = "m1", **given: int) -> None:
        """Use a plan that was made now and is valid for a day."""
        created = given.get("created", NOW)
        binding = Binding(
            serial=serial, created=created, expires=given.get("expires", created + DAY)
        )
        now = given.get("now", created)
        mark_used(StateStore(self.state, machine), binding, run_id="R1", user="alice@desk", now=now)

    def kind(self, serial: str = SERIAL, machine: str = "m1") -> str:
        with self.assertRaises(HostError) as caught:
            self.use(serial, machine)
        return caught.exception.kind

    def test_once(self) -> None:
        """A plan is noted once, with who used it; the second time says who that was."""
        self.use()
        self.assertEqual(os.stat(os.path.join(self.directory, SERIAL)).st_mode & 0o777, 0o600)
        with self.assertRaisesRegex(HostError, "run R1, started by alice@desk at 2") as caught:
            self.use()
        self.assertEqual(caught.exception.kind, "plan.refused.used")
        self.use(SERIAL[::-1])

    def test_notes_on_plans_that_have_long_expired(self) -> None:
        """They go with the next plan, but not those on plans that may wait for a lock somewhere."""
        for serial, expires in (("a" * 32, 1), ("b" * 32, 29), ("c" * 32, 400)):
            self.use(serial, expires=NOW + expires * DAY)
        self.use("d" * 32, created=NOW + 30 * DAY)
        self.assertEqual(sorted(os.listdir(self.directory)), [one * 32 for one in "bcd"])

    def test_a_clock_that_jumps_ahead_makes_no_plan_usable_again(self) -> None:
        """Neither that of the host nor that of who plans drops a note while the other is right."""
        self.use()
        self.use("a" * 32, now=NOW + 999 * DAY)
        self.use("b" * 32, created=NOW + 999 * DAY, now=NOW)
        self.assertEqual(self.kind(), "plan.refused.used")

    def test_notes_that_cannot_be_read_keep_no_plan_from_being_used(self) -> None:
        """They stay, and refuse only the plan that they are of."""
        self.use()
        with open(os.path.join(self.directory, SERIAL), "w") as file:
            file.write("[")
        self.use("d" * 32, created=NOW + 30 * DAY)
        self.assertEqual(self.kind(), "plan.refused.unrecorded")

    def test_a_note_that_cannot_be_believed_refuses(self) -> None:
        """A damaged note, another thing in its place and one of the machine this is cloned of."""
        os.makedirs(self.directory, 0o700)
        os.symlink("/nowhere", os.path.join(self.directory, SERIAL))
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
        with open(os.path.join(self.directory, SERIAL[::-1]), "w") as file:
            file.write("[")
        self.assertEqual(self.kind(SERIAL[::-1]), "plan.refused.unrecorded")
        self.use("ef" * 16)
        self.assertEqual(self.kind("ef" * 16, "m2"), "plan.refused.unrecorded")

    def test_a_state_that_cannot_be_written_refuses(self) -> None:
        """A file instead of the directory, a link to that of others and an odd ID are refused."""
        os.makedirs(self.state, 0o700)
        with open(self.directory, "w"):
            pass
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
        os.unlink(self.directory)
        os.symlink(tempfile.gettempdir(), self.directory)
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
        self.assertEqual(self.kind("../../etc/passwd"), "plan.refused.unrecorded")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder away")
    def test_a_directory_of_another_user_refuses(self) -> None:
        """Who squats the directory decides nothing."""
        os.makedirs(self.directory, 0o700)
        os.chown(self.directory, 12345, 12345)
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
