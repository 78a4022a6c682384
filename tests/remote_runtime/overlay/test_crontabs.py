import os
from typing import Any, List
from unittest import mock

from remote_runtime.changes import Unknowable
from remote_runtime.effects import AccountEffect
from remote_runtime.overlay import crontabs
from remote_runtime.overlay.accounts import OverlayAccounts
from remote_runtime.overlay.crontabs import OverlayCrontabs
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.account_files import User
from remote_runtime.system.accounts import Accounts
from remote_runtime.system.files import Files
from remote_runtime.system.process.commands import Commands, Result
from remote_runtime.system.process.crontabs import Crontabs
from tests.remote_runtime.fakes import DirectoryTest, context


class NewUsersTest(DirectoryTest):
    """Crontabs of users, of whom the host may not have some yet."""

    def setUp(self) -> None:
        super().setUp()
        self.asked: List[str] = []
        reads = mock.patch.object(Crontabs, "text", lambda adapter, user: self.asked.append(user))
        spool = mock.patch.object(crontabs, "spool", return_value=self.root)
        for patch in (reads, spool):
            patch.start()
            self.addCleanup(patch.stop)
        layer = FileOverlay(Files())
        unknown_regions = UnknownRegions(lambda uncertainties, text: None, layer.others)
        accounts = OverlayAccounts(Accounts(), unknown_regions)
        for name in ("ccm-new", "root"):
            user = User(name, 4321, 4321)
            accounts.planned["user", name] = (AccountEffect("user", name, 4321, entry=user), 1)
        commands: Any = None
        host = Crontabs(commands, lambda: 0)
        self.crontabs = OverlayCrontabs(lambda: host, layer, unknown_regions, accounts)

    def test_one_that_is_planned(self) -> None:
        """It has none, and the program, which does not know the user, is not asked."""
        self.assertIsNone(self.crontabs.text("ccm-new"))
        self.assertEqual(self.asked, [])
        self.crontabs.text("root")
        self.assertEqual(self.asked, ["root"])

    def test_one_whose_name_has_a_crontab(self) -> None:
        """That of an earlier user stays: what the program makes of it is not known."""
        self.write("ccm-new", b"# old\n")
        self.assertTrue(os.path.exists(self.path("ccm-new")))
        with self.assertRaises(Unknowable):
            self.crontabs.text("ccm-new")
        self.assertEqual(self.asked, [])


class OneReadTest(DirectoryTest):
    """A preview of several jobs of one crontab."""

    def test_read_once(self) -> None:
        """It is read once for all of them, while nothing is planned yet."""
        ran: List[Any] = []

        class Listing(Commands):
            def find(self, program: str, *more: Any, **options: Any) -> str:
                return "/usr/bin/" + program

            def run(self, argv: Any, *more: Any, **options: Any) -> Any:
                ran.append(argv)
                return Result(0, "61 0a", "")

        ctx = context(commands=Listing, noop=True)
        with mock.patch.object(crontabs, "spool", return_value=self.root):
            found = [ctx.planned().crontabs.text("anna") for _ in range(3)]
        self.assertEqual(found, ["a\n"] * 3)
        self.assertEqual(len(ran), 1)
