import os
import shutil
import tempfile
import unittest

from remote_runtime.errors import HostError
from remote_runtime.system.memory import Memory
from remote_runtime.used_plans import use_up

SERIAL = "0123456789abcdef" * 2
BY = {"run_id": "R1", "user": "alice@desk"}


class UsedPlansTest(unittest.TestCase):
    def setUp(self) -> None:
        top = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, top)
        self.state = os.path.join(top, "state")
        self.folder = os.path.join(self.state, "plans")

    def kind(self, serial: str = SERIAL, machine: str = "m1") -> str:
        with self.assertRaises(HostError) as caught:
            use_up(Memory(self.state, machine), serial, **BY)
        return caught.exception.kind

    def test_once(self) -> None:
        """A plan is noted once, with who used it; the second time says who that was."""
        use_up(Memory(self.state, "m1"), SERIAL, **BY)
        self.assertEqual(os.stat(os.path.join(self.folder, SERIAL)).st_mode & 0o777, 0o600)
        with self.assertRaisesRegex(HostError, "run R1 of alice@desk, at 2") as caught:
            use_up(Memory(self.state, "m1"), SERIAL, run_id="R2", user="bob@desk")
        self.assertEqual(caught.exception.kind, "plan.refused.used")
        use_up(Memory(self.state, "m1"), SERIAL[::-1], **BY)

    def test_a_note_that_cannot_be_believed_refuses(self) -> None:
        """A damaged note, another thing in its place and one of the machine this is cloned of."""
        os.makedirs(self.folder, 0o700)
        os.symlink("/nowhere", os.path.join(self.folder, SERIAL))
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
        with open(os.path.join(self.folder, SERIAL[::-1]), "w") as file:
            file.write("[")
        self.assertEqual(self.kind(SERIAL[::-1]), "plan.refused.unrecorded")
        use_up(Memory(self.state, "m1"), "ef" * 16, **BY)
        self.assertEqual(self.kind("ef" * 16, "m2"), "plan.refused.unrecorded")

    def test_a_state_that_cannot_be_written_refuses(self) -> None:
        """A file in the folder's place, a link to one of others and an odd serial are refused."""
        os.makedirs(self.state, 0o700)
        with open(self.folder, "w"):
            pass
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
        os.unlink(self.folder)
        os.symlink(tempfile.gettempdir(), self.folder)
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
        self.assertEqual(self.kind("../../etc/passwd"), "plan.refused.unrecorded")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder away")
    def test_a_folder_of_another_user_refuses(self) -> None:
        """Who squats the folder decides nothing."""
        os.makedirs(self.folder, 0o700)
        os.chown(self.folder, 12345, 12345)
        self.assertEqual(self.kind(), "plan.refused.unrecorded")
