import os
import unittest
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.base import Diff
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host import lockout
from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.login_defs import LoginRules
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.resources.user.resource import Resource
from remote_runtime.system import account_files
from remote_runtime.system.accounts import Accounts
from remote_runtime.system.files import Files
from tests.remote_runtime.fakes import ROOT, DirectoryTest, context, item, one, run_items
from tests.remote_runtime.host.kinds import run
from tests.texts import expect_text

OWN = os.getuid()
SHADOW = """\
root:$6$root$hash:20000:0:99999:7:::
anna:$6$a$hash:20000:0:99999:7:::
carl:!!$6$c$hash:20000:0:99999:7::22279:
dora:!:20000:0:99999:7:::
"""
GROUP = "root:x:0:\nanna:x:1000:\nadm:x:4:anna,carl\nsudo:x:27:deploy\nteam:x:4100:anna\n"


class UserTest(DirectoryTest):
    """A host of files of accounts, on which nothing is run."""

    def setUp(self) -> None:
        super().setUp()
        home = self.mkdir("home")
        users = (
            "root:x:0:0:root:/root:/bin/sh",
            "anna:x:1000:1000:Anna:%s:/bin/sh" % home,
            "carl:x:1001:1000::%s:/bin/sh" % home,
            "dora:x:1002:5000::%s/none:/bin/sh" % home,
            "deploy:x:1003:27::%s:/bin/sh" % home,
        )
        self.write("passwd", "\n".join(users).encode() + b"\n")
        self.write("shadow", SHADOW.encode())
        self.write("group", GROUP.encode())
        tables: Dict[str, Dict[str, int]] = {
            "user": {
                "root": 0,
                "anna": 1000,
                "carl": 1001,
                "dora": 1002,
                "deploy": 1003,
                "nss": 5000,
            },
            "group": {"root": 0, "anna": 1000, "adm": 4, "sudo": 27, "team": 4100, "nss": 5000},
        }

        self.users = tables["user"]

        def number(kind: str, key: Any) -> Any:
            table = tables[kind]
            names = {number: name for name, number in table.items()}
            name = key if isinstance(key, str) else names[key]
            return name, "x", table[name], table[name], "", "/", "/bin/sh"

        patches: List[Any] = [
            mock.patch("pwd.getpwnam", lambda name: number("user", name)),
            mock.patch("pwd.getpwuid", lambda uid: number("user", uid)),
            mock.patch("grp.getgrnam", lambda name: number("group", name)),
            mock.patch("grp.getgrgid", lambda gid: number("group", gid)),
            mock.patch("os.geteuid", return_value=0),
            mock.patch("remote_runtime.host.command_ports.CommandReader.require"),
            mock.patch("remote_runtime.host.machine.accounts.processes", return_value=[]),
            mock.patch(
                "remote_runtime.host.machine.accounts.Accounts._run", staticmethod(self.program)
            ),
            mock.patch.dict(os.environ, {"SUDO_UID": "1003"}),
            mock.patch.object(account_files, "ETC", self.root),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    @staticmethod
    def program(argv: List[str], secret: str = "") -> None:
        """What stands for every program, so that none changes this machine."""
        if argv[0] != "mv":
            raise AssertionError("would have run %s" % " ".join(argv))
        os.rename(argv[2], argv[3])

    def mkdir(self, name: str) -> str:
        path = self.path(name)
        os.mkdir(path)
        return path

    def preview(self, name: str, **properties: Any) -> Dict[str, Any]:
        user = item("user", name, properties=properties)
        event: Dict[str, Any] = one(run(Resource, user, noop=True))
        return event

    def refused(self, name: str, **properties: Any) -> str:
        """The error, the same in a preview and in a push."""
        user = item("user", name, properties=properties)
        events = [one(run(Resource, user, noop=noop)) for noop in (True, False)]
        self.assertEqual(events[0]["error"], events[1]["error"])
        return str(events[0]["error"][0])


class StateTest(UserTest):
    def test_as_desired(self) -> None:
        """What is there needs nothing, in whatever way it is said."""
        anna = {"uid": 1000, "group": "anna", "groups": ["team", "adm", "adm"], "comment": "Anna"}
        for name, properties in (
            ("anna", anna),
            ("anna", {"group": "1000", "groups": ["team"], "append": True}),
            ("anna", {"password": "$6$a$hash", "locked": False, "expires": "never"}),
            ("carl", {"password": "$6$c$hash", "locked": True, "expires": "2030-12-31"}),
            ("carl", {"groups": ["adm"]}),
            ("dora", {"locked": True, "create_home": False, "group": "5000"}),
            ("never", {"ensure": "absent"}),
        ):
            event = self.preview(name, **properties)
            self.assertEqual((event["status"], event["error"]), ("stable", []))

    def test_changes(self) -> None:
        """Each difference is told, but no hash."""
        event = self.preview("carl", groups=[], password="$6$new", expires="never", comment="C")
        expect_text(event["noop_message"], self)
        changes = {change["what"]: (change["from"], change["to"]) for change in event["changes"]}
        self.assertEqual(changes["groups"], (["adm"], []))
        self.assertEqual(changes["expires"], ("2030-12-31", "never"))
        self.assertEqual(set(changes), {"groups", "expires", "comment", "password"})
        self.assertNotIn("$6$", str(event["changes"]))

    def test_exact_and_appended_groups(self) -> None:
        """Groups that are not listed are left, or kept."""
        event = self.preview("anna", groups=["team"])
        self.assertEqual(event["changes"][0]["from"], ["adm", "team"])
        none = {"groups": [], "append": True}
        self.assertEqual(Resource.check("anna", none), [])
        self.assertEqual(self.preview("anna", **none)["status"], "stable")
        event = self.preview("anna", groups=["sudo"], append=True)
        self.assertEqual((event["changes"][0]["from"], event["changes"][0]["to"]), ([], ["sudo"]))

    def test_users_without_a_home(self) -> None:
        """Users of the system that exist get no home directory, unless the manifest says so."""
        with open(self.path("passwd"), "a") as file:
            file.write("nobody:x:65534:65534::/nonexistent:/bin/sh\n")
            file.write("daemon:x:2:2::%s:/bin/sh\n" % self.path("daemon"))
            file.write("gone:x:1009:2::/nonexistent:/bin/sh\n")
        self.users.update(nobody=65534, daemon=2, gone=1009)
        for name in ("nobody", "daemon", "gone"):
            self.assertEqual(self.preview(name)["status"], "stable", name)
        self.assertEqual(self.preview("daemon", create_home=True)["changes"][0]["to"], True)
        for name, wanted in (("gone", {"home": self.path("x")}), ("daemon", {"uid": 1777})):
            changes = self.preview(name, **wanted)["changes"]
            self.assertIn("create_home", [change["what"] for change in changes], name)
        changes = self.preview("anna", home=self.path("x"), move_home=True)["changes"]
        self.assertNotIn("create_home", [change["what"] for change in changes])
        changes = self.preview("dora")["changes"]
        self.assertEqual([change["what"] for change in changes], ["create_home"])
        with mock.patch("pwd.getpwall", return_value=[]):
            changes = self.preview("new", home="/nonexistent", uid=4711, group="adm")["changes"]
        self.assertEqual([c["what"] for c in changes if c["what"] == "create_home"], [])


class ProgramsTest(UserTest):
    """What is given to the programs of the host, which are not run."""

    def ran(self, name: str, **properties: Any) -> List[List[str]]:
        ran: List[List[str]] = []

        def note(_: Any, argv: Any, outcome: Any, secret: str = "") -> None:
            ran.append(list(argv))

        with mock.patch("remote_runtime.host.machine.accounts.Accounts._perform", note):
            run(Resource, item("user", name, properties=properties))
        return ran

    def test_expiry(self) -> None:
        """Days are numbers, as dates are read in local time; useradd always gets one."""
        new = {"uid": 4711, "group": "adm", "create_home": False}
        words = self.ran("new", expires="2030-12-31", **new)
        self.assertEqual(len(words), 1)
        self.assertEqual(words[0][words[0].index("-e") + 1], "22279")
        words = self.ran("new", **new)
        self.assertEqual(words[0][words[0].index("-e") + 1], "")
        made, expired = self.ran("new", expires="2030-12-31", system=True, **new)
        self.assertEqual(made[made.index("-e") + 1], "")  # useradd ignores it for a system user
        self.assertEqual(expired, ["usermod", "-e", "22279", "new"])
        self.assertEqual(
            self.ran("anna", expires="2030-12-31"), [["usermod", "-e", "22279", "anna"]]
        )
        self.assertEqual(self.ran("carl", expires="never"), [["usermod", "-e", "", "carl"]])

    def test_locks(self) -> None:
        """A lock alone keeps the day on which the password was changed."""
        self.assertEqual(self.ran("anna", locked=True), [["usermod", "-L", "anna"]])
        self.assertEqual(self.ran("carl", locked=False), [["chpasswd", "-e"]])  # it has two locks
        self.write("shadow", SHADOW.replace("!!", "!").encode())
        self.assertEqual(self.ran("carl", locked=False), [["usermod", "-U", "carl"]])
        self.assertEqual(self.ran("carl", password="$6$x"), [["chpasswd", "-e"]])

    def test_numbers_of_databases_that_are_not_listed(self) -> None:
        """The next number is one that nobody has."""
        self.users.update(ldap=1004, other=1005)
        words = self.ran("new", group="adm", create_home=False)[0]
        self.assertEqual(words[words.index("-u") + 1], "1006")

    def test_labels(self) -> None:
        """A home directory that was moved gets the labels of its new place."""
        files = "remote_runtime.host.machine.files.Files.relabel"
        with open(self.path("passwd"), "a") as file:
            file.write("eva:x:%d:1000::%s:/bin/sh\n" % (OWN, self.mkdir("eva")))
        self.users["eva"] = OWN
        with mock.patch(files) as relabel:
            self.ran("eva", home=self.path("new"), move_home=True)
        relabel.assert_called_once_with(self.path("new"))

    def test_digits(self) -> None:
        """Only the digits 0 to 9 make the number of a group."""
        for group, count in (("4711", 0), ("\u00b2", 1), ("\u0663", 1), ("a\u00b2", 0)):
            self.assertEqual(len(Resource.check("x", {"group": group})), count, group)
        for group in ("\u00b2", "\u0663"):
            with mock.patch("grp.getgrnam", side_effect=KeyError(group)):
                self.assertIsNone(Accounts().number("group", group))

    def test_settings(self) -> None:
        """Numbers are read as shadow reads them; what is none has the usual value."""
        for text, number in (
            ("1000 # text", 1000),
            ("0x3e8", 1000),
            ("01750", 1000),
            ("09", 1000),
            ("-1", 1000),
            ('"500"', 500),
            ("0", 0),
            ("= 500", 1000),
        ):
            path = self.write("login.defs", b"UID_MIN\t%s\nHOME_MODE 0700\n" % text.encode())
            with mock.patch("remote_runtime.host.login_defs._LOGIN", path):
                rules = LoginRules(FileReader(Files()))
                self.assertIn(number, rules.regular("UID"), text)
                self.assertNotIn(number - 1, rules.regular("UID"), text)
                self.assertEqual(rules.home_mode, 0o700)

    def test_signs_of_equality(self) -> None:
        """They end a key in the defaults of useradd, and are a part of it in login.defs."""
        path = self.write("settings", b"UID_MIN=500\nSKEL=/etc/a b\n")

        with mock.patch("remote_runtime.host.login_defs._LOGIN", path):
            self.assertNotIn(500, LoginRules(FileReader(Files())).regular("UID"))
        with mock.patch("remote_runtime.host.login_defs._USERADD", path):
            self.assertEqual(LoginRules(FileReader(Files())).get("SKEL"), "/etc/a b")

    def test_settings_of_others(self) -> None:
        """The range of users is not asked of the defaults of useradd."""
        path = self.write("settings", b"UID_MIN=500\nUID_MAX=501\n")
        with mock.patch("remote_runtime.host.login_defs._USERADD", path):
            self.assertNotIn(500, LoginRules(FileReader(Files())).regular("UID"))

    def test_the_first_day(self) -> None:
        """Day 0 is not clear to the programs, and is no day that locks nobody out."""
        for date in ("1970-01-01", "1969-12-31", "2030-02-30"):
            self.assertEqual(len(Resource.check("x", {"expires": date})), 1, date)
        for date in ("1970-01-02", "never"):
            self.assertEqual(Resource.check("x", {"expires": date}), [])
        expect_text(lockout.risk_of(mock.Mock(), {}, {"expires": 0}), self)


class GivenTest(UserTest):
    """What usermod gives a user of another number, in a preview."""

    def given(self, home_uid: int, **properties: Any) -> Dict[str, Any]:
        """The owner and group of the paths that change."""
        mail = {"MAIL_DIR": self.mkdir("mail")}
        rules = "remote_runtime.host.login_defs"
        for path in ("mail/anna", "home/file"):
            self.write(path, b"x")
            os.chown(self.path(path), 1000, 1000)
        os.chown(self.path("home"), home_uid, 0)
        none = mock.patch.multiple(rules, _LOGIN="/nonexistent/a", _USERADD="/nonexistent/a")
        with none, mock.patch.dict(rules + "._USUAL", mail):
            overlay = Overlay(context(noop=True).overlay_with([]), "user#anna")
            overlay.accounts.change_user("anna", properties)
        effects = [e for e in overlay.record.effects if isinstance(e, PathEffect)]
        return {os.path.relpath(e.path, self.root): (e.uid, e.gid) for e in effects}

    @unittest.skipUnless(ROOT, "needs root")
    def test_homes(self) -> None:
        """The home directory of the user, with what is the user's there; the mail has its group."""
        self.assertEqual(
            self.given(1000, uid=4711, group="adm"),
            {"home": (4711, 0), "home/file": (4711, 4), "mail/anna": (4711, 1000)},
        )

    @unittest.skipUnless(ROOT, "needs root")
    def test_a_home_of_others(self) -> None:
        """Only the mail is given away."""
        self.assertEqual(self.given(0, uid=4711), {"mail/anna": (4711, 1000)})

    @unittest.skipUnless(ROOT, "needs root")
    def test_another_group(self) -> None:
        """The mail stays as it is."""
        self.assertEqual(self.given(1000, group="adm"), {"home/file": (1000, 4)})


class RefusalTest(UserTest):
    def test_numbers_and_groups(self) -> None:
        """A number belongs to one user, and groups have to be there."""
        self.assertIn("uid 0 belongs to the user root", self.refused("new", uid=0))
        expect_text(self.refused("carl", uid=1000), self)
        expect_text(self.refused("anna", groups=["no"], append=True), self)
        expect_text(self.refused("new", group="no"), self)
        expect_text(self.refused("new", group="4711"), self)
        expect_text(self.refused("anna", group="4711"), self)

    def test_another_database(self) -> None:
        """Accounts that are not in the host's files are not changed."""
        expect_text(self.refused("anna", groups=["nss"]), self)
        with mock.patch("pwd.getpwall", return_value=[]):
            expect_text(self.refused("new", groups=["nss"]), self)

    def test_only_root(self) -> None:
        """Nobody else may."""
        with mock.patch("os.geteuid", return_value=1000):
            self.assertIn("only root may change users", self.refused("new"))
            self.assertIn("only root may change users", self.refused("anna", comment="x"))

    def test_in_use(self) -> None:
        """A user that runs something keeps its number and stays."""
        processes = "remote_runtime.host.machine.accounts.processes"
        with mock.patch(processes, return_value=[4711]):
            expect_text(self.refused("anna", ensure="absent"), self)
            expect_text(self.refused("anna", uid=4711), self)
            event = self.preview("anna", ensure="absent", kill_processes=True)
            expect_text(event["noop_message"], self)

    def test_processes_of_others(self) -> None:
        """What runs by a number of several users, or of root, is not ended."""
        gone = {"ensure": "absent", "kill_processes": True, "force": True}
        self.assertIn("the processes of root keep", self.refused("root", **gone))
        with open(self.path("passwd"), "a") as file:
            file.write("toor:x:0:0::/:/bin/sh\ntwin:x:1000:1000::/:/bin/sh\n")
        self.users.update(toor=0, twin=1000)
        self.assertIn("toor and root cannot be distinguished", self.refused("toor", **gone))
        self.assertIn("twin and anna cannot be distinguished", self.refused("twin", **gone))

    def test_lockout(self) -> None:
        """Root and who logged in keep their way in, but for force."""
        for name in ("root", "deploy"):
            for properties in (
                {"ensure": "absent"},
                {"shell": "/usr/sbin/nologin"},
                {"shell": "/no/such/shell"},
                {"shell": "/bin/true"},
                {"expires": "2001-01-01"},
                {"home": self.path("other")},
            ):
                error = self.refused(name, create_home=False, **properties)
                self.assertIn("could lock out %s" % name, error)
        expect_text(self.refused("deploy", groups=["adm"]), self)
        self.assertIn("locking the password", self.refused("root", locked=True))
        expect_text(self.refused("deploy", group="adm"), self)
        for shell in (self.path("home"), self.path("passwd")):
            self.assertIn("the shell %s" % shell, self.refused("root", shell=shell))
        with open(self.path("group"), "a") as file:
            file.write("ssh-users:x:4200:deploy\n")
        error = self.refused("deploy", groups=["sudo"])
        expect_text(error, self)
        event = self.preview("deploy", groups=["adm"], force=True)
        expect_text(event["noop_message"], self)

    def add(self, name: str, home: str, uid: int) -> None:
        """A user of this home directory."""
        with open(self.path("passwd"), "a") as file:
            file.write("%s:x:%d:1000::%s:/bin/sh\n" % (name, uid, home))
        self.users[name] = uid

    def test_contents_of_a_moved_home(self) -> None:
        """A preview knows them at their new paths."""
        home, new = self.mkdir("eva"), self.path("new")
        self.mkdir("eva/d")
        self.write("eva/d/f", b"x\n")
        os.symlink("d", self.path("eva/l"))
        self.add("eva", home, OWN)
        own = {"owner": str(OWN), "group": str(os.getgid()), "mode": "0644"}
        events = run_items(
            [
                item("user", "eva", properties={"home": new, "move_home": True, "force": True}),
                item("file", new + "/d/f", 1, properties={"content": "x\n", **own}),
                item("link", new + "/l", 2, properties={"target": "d"}),
                item("file", new + "/d/g", 3, properties={"content": "x\n", **own}),
                item("file", home, 4, properties={"ensure": "absent"}),
            ],
            noop=True,
        )
        self.assertEqual(
            [(event["status"], event["prediction"]) for event in events],
            [
                (status, "certain")
                for status in ("changed", "stable", "stable", "changed", "stable")
            ],
        )

    def test_homes_of_others(self) -> None:
        """Only a directory of the user, with nobody else's home in it, is moved or removed."""
        shared, new = self.mkdir("shared"), self.path("new")
        self.add("eva", shared, os.getuid() + 1)
        moved = {"home": new, "move_home": True, "force": True}
        self.assertIn("the home directory %s belongs to" % shared, self.refused("eva", **moved))
        self.add("fay", self.mkdir("fay"), OWN)
        self.add("gus", self.path("fay", "gus"), 4711)
        inside = "the home directory %s of the user gus is in" % self.path("fay", "gus")
        self.assertIn(inside, self.refused("fay", **moved))
        gone = {"ensure": "absent", "remove_home": True, "force": True}
        self.assertIn(inside, self.refused("fay", **gone))
        os.symlink(self.mkdir("data"), self.path("link"))
        self.mkdir("data/ida")
        self.add("ida", self.path("link", "ida"), OWN)
        self.add("jon", self.path("data", "ida", "jon"), 4713)
        for properties in (moved, gone):
            expect_text(self.refused("ida", **properties), self)
        for name, home in (("sys", "/"), ("mon", "/nonexistent")):
            self.add(name, home, 4712)
            self.assertEqual(self.preview(name, **gone)["error"], [])

    def test_homes(self) -> None:
        """A home directory needs its parent, and is no file; one of others stays."""
        where = self.path("no", "home")
        error = self.refused("new", home=where)
        self.assertIn("the parent directory %s does not exist" % self.path("no"), error)
        self.assertIn("is a file", self.refused("new", home=self.path("passwd")))
        moved = self.refused("anna", home=self.mkdir("there"), move_home=True)
        self.assertIn("which already exists", moved)

    def test_moves(self) -> None:
        """A directory that cannot be moved is refused before anything is."""
        mounted = "remote_runtime.system.preconditions.mounted_in"
        self.add("eva", self.mkdir("eva"), OWN)
        with mock.patch(mounted, side_effect=ResourceError("something is mounted there")):
            new = self.path("new")
            moved = self.refused("eva", home=new, move_home=True, force=True)
        expect_text(moved, self)

    def test_no_generator(self) -> None:
        """Without ssh-keygen the error says what to install."""
        host = mock.Mock()
        host.commands.find.return_value = ""
        with self.assertRaises(ResourceError) as caught:
            Resource("anna", {"generate_ssh_key": True}).apply(
                host, Diff({}, {"generate_ssh_key": True})
            )
        expect_text(caught.exception, self)

    def test_no_password(self) -> None:
        """A user without a password cannot be unlocked."""
        expect_text(self.refused("dora", locked=False, create_home=False), self)
