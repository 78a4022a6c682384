import os
import stat
import unittest
from unittest import mock

from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.resources.authorized_key.key_file import path_of
from remote_runtime.resources.authorized_key.resource import Resource
from remote_runtime.system.account_files import User
from tests.remote_runtime.authorized_key.test_keys import OTHER
from tests.remote_runtime.fakes import DirectoryTest, context, item, one, run_items
from tests.remote_runtime.host.kinds import Kinds
from tests.remote_runtime.text.test_authorized_keys import ONE
from tests.texts import expect_text

PRINT = "SHA256:"


class ResourceTest(DirectoryTest):
    """A user whose home is a directory of the test."""

    def setUp(self):
        super().setUp()
        self.home = self.path("home")
        os.mkdir(self.home)
        self.anna = User("anna", os.geteuid(), os.getegid(), home=self.home)
        users = {"anna": self.anna}
        adapter = mock.patch("remote_runtime.system.accounts.Accounts.user", side_effect=users.get)
        logins = mock.patch(
            "remote_runtime.host.account_reader.AccountReader.logins",
            return_value=["anna"],
        )
        uid = mock.patch(
            "remote_runtime.host.account_reader.AccountReader.uid",
            return_value=os.geteuid(),
        )
        for patch in (adapter, logins, uid):
            patch.start()
            self.addCleanup(patch.stop)
        self.keys = os.path.join(self.home, ".ssh/authorized_keys")

    def put(self, text, mode=0o600, directory=0o700):
        os.mkdir(os.path.dirname(self.keys))
        os.chmod(os.path.dirname(self.keys), directory)
        with open(self.keys, "w") as file:
            file.write(text)
        os.chmod(self.keys, mode)

    def run_one(self, login=(), noop=False, **properties):
        wanted = item("authorized_key", "anna", properties=dict({"key": ONE}, **properties))
        ctx = context([wanted], noop=noop)
        ctx.accounts.login_keys = login
        return one(run_items([wanted], Kinds(ctx, Resource), shared=ctx))

    def refused(self, **properties):
        """The error, the same in a preview and in a push."""
        events = [self.run_one(noop=noop, **properties) for noop in (True, False)]
        self.assertEqual(events[0]["error"], events[1]["error"])
        self.assertTrue(events[0]["failed"])
        return events[0]["error"][0]

    def mode(self, path):
        return stat.S_IMODE(os.stat(path).st_mode)

    def test_a_preview_plans_each_effect_once(self):
        """Others may manage other lines of the file; its dry run already says so."""
        with mock.patch.object(
            FileOverlay, "put", autospec=True, side_effect=FileOverlay.put
        ) as put:
            self.run_one(noop=True)
        effects = [call[0][1] for call in put.call_args_list]
        self.assertEqual(
            [effect.path for effect in effects], [os.path.dirname(self.keys), self.keys]
        )
        self.assertTrue(all(effect.once for effect in effects))

    def test_all_is_made(self):
        """The file and its directory get the modes that sshd wants, whatever the umask is."""
        self.assertEqual(self.run_one()["status"], "changed")
        self.assertEqual(self.mode(self.keys), 0o600)
        self.assertEqual(self.mode(os.path.dirname(self.keys)), 0o700)
        self.assertEqual(self.run_one()["status"], "stable")

    def test_attributes_that_sshd_accepts_stay(self):
        """Only what sshd would refuse is changed, and the record says why."""
        self.put(ONE + "\n", mode=0o644, directory=0o755)
        self.assertEqual(self.run_one()["status"], "stable")
        os.chmod(self.keys, 0o664)
        (change,) = self.run_one()["changes"]
        expect_text(change["from"], self)
        self.assertEqual(self.mode(self.keys), 0o600)
        os.chmod(os.path.dirname(self.keys), 0o770)
        self.assertEqual(self.run_one()["status"], "changed")
        self.assertEqual(self.mode(os.path.dirname(self.keys)), 0o700)

    @unittest.skipIf(os.geteuid(), "only root can give files away")
    def test_a_hidden_file_of_another_user(self):
        """It is given to the user if it has keys only: others may hold what is not for the user."""
        self.put("a secret\n")
        os.chown(self.keys, 12345, 0)
        expect_text(self.refused(), self)
        with open(self.keys) as file:
            self.assertEqual((file.read(), os.stat(self.keys).st_uid), ("a secret\n", 12345))
        with open(self.keys, "w") as file:
            file.write("# by hand\n%s\n" % OTHER)
        self.assertEqual(self.run_one()["status"], "changed")
        self.assertEqual(os.stat(self.keys).st_uid, os.geteuid())

    @unittest.skipIf(os.geteuid(), "only root can give files away")
    def test_a_directory_that_a_user_moves_there(self):
        """A directory of somebody else becomes the user's, as sshd requires; its files do not."""
        private = os.path.join(self.home, "private")
        os.mkdir(private, 0o700)
        with open(os.path.join(private, "secret"), "w"):
            pass
        for path in (private, os.path.join(private, "secret")):
            os.chown(path, 12345, 12345)
        os.rename(private, os.path.dirname(self.keys))
        self.assertEqual(self.run_one()["status"], "changed")
        self.assertEqual(os.stat(os.path.dirname(self.keys)).st_uid, os.geteuid())
        self.assertEqual(os.stat(os.path.join(self.home, ".ssh/secret")).st_uid, 12345)

    def test_records_have_fingerprints(self):
        """Records name keys as ssh-keygen does, with options and comment, and no data."""
        self.put("no-pty %s old\n" % ONE)
        event = self.run_one(options="", comment="new", noop=True)
        (change,) = event["changes"]
        self.assertRegex(change["from"][0], "^no-pty ssh-ed25519 SHA256:[^ ]+ old$")
        self.assertRegex(change["to"][0], "^ssh-ed25519 SHA256:[^ ]+ new$")
        expect_text(event["noop_message"], self)

    def test_links_and_other_things(self):
        """What is no file in a directory is refused, and nothing is written through it."""
        os.mkdir(self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), os.path.dirname(self.keys))
        expect_text(self.refused(), self)
        os.remove(os.path.dirname(self.keys))
        os.mkdir(os.path.dirname(self.keys), 0o700)
        os.symlink("/etc/passwd", self.keys)
        expect_text(self.refused(), self)
        expect_text(self.refused(ensure="absent"), self)
        os.remove(self.keys)
        os.mkdir(self.keys)
        self.assertIn("is a directory", self.refused())
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_no_home_and_no_user(self):
        """What is missing is named; what has to go needs nothing."""
        os.rmdir(self.home)
        self.assertIn("the home directory %s" % self.home, self.refused())
        self.assertEqual(self.run_one(ensure="absent")["status"], "stable")
        expect_text(self.refused(user="bob"), self)
        self.assertEqual(self.run_one(ensure="absent", user="bob")["status"], "stable")

    def test_the_key_of_the_login(self):
        """It cannot be removed, excluded or restricted without force."""
        line = "%s x\n%s y\n" % (ONE, OTHER)
        self.put(line)
        (change,) = self.run_one(noop=True, comment="z")["changes"]
        used = [word for word in change["from"][0].split() if word.startswith(PRINT)]
        for properties in (
            {"ensure": "absent"},
            {"key": OTHER, "exclusive": True},
            {"key": [], "exclusive": True},
            {"options": 'from="192.0.2.1"'},
        ):
            for noop in (True, False):
                event = self.run_one(used, noop, **properties)
                self.assertIn("could lock out anna", event["error"][0])
        with open(self.keys) as file:
            self.assertEqual(file.read(), line)
        for properties in ({"options": "no-pty"}, {"key": OTHER, "ensure": "absent"}):
            self.assertEqual(self.run_one(used, **properties)["status"], "changed")
        self.assertEqual(self.run_one(used, ensure="absent", force=True)["status"], "changed")

    def test_the_key_of_the_login_twice(self):
        """Its line without options cannot be removed without force where another one stays."""
        line = 'command="true" %s x' % ONE
        self.put("%s x\n%s\n" % (ONE, line))
        (change,) = self.run_one(noop=True, options="no-pty")["changes"]
        used = [word for word in change["from"][0].split() if word.startswith(PRINT)]
        wanted = {"options": 'command="true"', "comment": "x"}
        for noop in (True, False):
            event = self.run_one(used, noop, **wanted)
            self.assertIn("could lock out anna", event["error"][0])
        self.assertEqual(self.run_one(used, force=True, **wanted)["status"], "changed")
        with open(self.keys) as file:
            self.assertEqual(file.read(), line + "\n")
        self.assertEqual(self.run_one(used, **wanted)["status"], "stable")

    def test_paths(self):
        """A path is read as sshd reads AuthorizedKeysFile."""
        anna = self.anna._replace(home="/home/anna/")
        for template, path in (
            ("/etc/ssh/%u/keys%%", "/etc/ssh/anna/keys%"),
            ("%h/keys", "/home/anna/keys"),
            (".ssh/keys2", "/home/anna/.ssh/keys2"),
        ):
            self.assertEqual(path_of(template, anna), path)
