import os
import unittest
from typing import Any, List
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.host.lockout import require_access
from tests.remote_runtime.fakes import (
    ROOT,
    DirectoryTest,
    context,
    failure_of,
    item,
    one,
    run_items,
)
from tests.texts import expect_text

BOB = 61001


class EditTest(DirectoryTest):
    def events(self, path: str, **properties: Any) -> List[Any]:
        """The events of a preview and a push, which tell the same."""
        found = [
            one(run_items([item("edit", path, properties=properties)], noop=noop))
            for noop in (True, False)
        ]
        self.assertEqual(found[0]["error"], found[1]["error"])
        self.assertEqual(found[0]["changes"], found[1]["changes"])
        return found

    def test_several_edits_are_one_write(self) -> None:
        """The file is replaced once, with its attributes."""
        path = self.write("a", b"1\n2\n", 0o640)
        before = os.stat(path).st_ino
        edits = [{"line": "3"}, {"line": "1", "ensure": "absent"}, {"match": "2", "replace": "x"}]
        preview, push = self.events(path, edits=edits)
        expect_text(preview["noop_message"], self)
        self.assertEqual((len(push["changes"]), self.read("a")), (1, b"x\n3\n"))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
        self.assertNotEqual(os.stat(path).st_ino, before)

    def test_no_edits(self) -> None:
        """An empty list, as of a template, leaves the file as it is; it must be there."""
        path = self.write("a", b"1\n", 0o640)
        for event in self.events(path, edits=[]):
            self.assertEqual((event["changed"], event["failed"]), (False, False))
        self.assertEqual(self.read("a"), b"1\n")
        expect_text(self.events(path + "-b", edits=[])[1]["error"][0], self)

    def test_created(self) -> None:
        """Only with ``create``; its directory must be there."""
        path = self.path("a")
        preview, _ = self.events(path, line="x")
        expect_text(preview["error"][0], self)
        self.assertIn("parent", self.events(path + "/b", line="x", create=True)[0]["error"][0])
        preview, push = self.events(path, line="x", create=True)
        expect_text(preview["noop_message"], self)
        self.assertEqual((push["changes"][0]["to"], self.read("a")), ("present", b"x\n"))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o644)

    def test_absent(self) -> None:
        """The part goes, the file stays; what is not there is stable, and so is no file."""
        path = self.write("a", b"x\n")
        preview, push = self.events(path, line="x", ensure="absent")
        expect_text(preview["noop_message"], self)
        self.assertEqual((push["final_ensure"], self.read("a")), ("absent", b""))
        for name in ("a", "no"):
            properties = {"line": "x", "ensure": "absent"}
            event = one(run_items([item("edit", self.path(name), properties=properties)]))
            self.assertEqual((event["status"], event["final_ensure"]), ("stable", "absent"))

    def test_an_absent_part_leaves_the_file_to_later_ones(self) -> None:
        """A stable one says nothing of the file in a preview."""
        path = self.write("a", b"y\n")
        items = [
            item("file", self.path("b"), 0, properties=self.file("b", content="x").properties),
            item("edit", path, 1, properties={"line": "x", "ensure": "absent"}),
            item("edit", path, 2, properties={"line": "z"}),
        ]
        events = run_items(items, noop=True)
        self.assertEqual([event["status"] for event in events], ["changed", "stable", "changed"])
        expect_text(events[2]["noop_message"], self)

    def test_after_a_planned_file(self) -> None:
        """A file of the same run is edited as it will be, for certain, and without a warning."""
        path, notices = self.path("a"), []
        about = self.file("a").properties
        items = [
            item("file", path, 0, properties=about),
            item("edit", path, 1, properties={"line": "x"}),
            item("edit", path, 2, properties={"line": "y"}),
            item("edit", path, 3, properties={"line": "x"}),
        ]
        ctx = context(items, noop=True, on_notice=lambda *told: notices.append(told))
        events = run_items(items, shared=ctx)
        self.assertEqual({event["prediction"] for event in events}, {"certain"})
        self.assertEqual([e["status"] for e in events], ["changed", "changed", "changed", "stable"])
        self.assertIn("+y", events[2]["changes"][0]["diff"])
        self.assertEqual(notices, [])

    def test_against_a_whole_file(self) -> None:
        """A file with content and an edit of it undo each other, which the preview says."""
        path, notices = self.path("a"), []
        items = [self.file("a", content="x\n"), item("edit", path, 1, properties={"line": "y"})]
        ctx = context(items, noop=True, on_notice=lambda *told: notices.append(told))
        events = run_items(items, shared=ctx)
        self.assertEqual({event["prediction"] for event in events}, {"certain"})
        expect_text(notices[0][1], self)

    def test_what_is_refused(self) -> None:
        """Directories, pipes, large and binary files, with the same words in a preview."""
        os.mkdir(self.path("d"))
        os.mkfifo(self.path("p"))
        self.write("nul", b"a\0b")
        with open(self.path("large"), "wb") as file:
            file.truncate(5 << 20)
        for name, expected in (
            ("d", "is a directory, not a file"),
            ("p", "is a device, socket or pipe, not a file"),
            ("nul", "it is not a text file"),
            ("large", "has 5242880 bytes, but edit only changes files of up to 4194304"),
        ):
            self.assertIn(expected, self.events(self.path(name), line="x")[0]["error"][0])

    def test_edits_that_undo_each_other(self) -> None:
        """They are refused instead of changing the file in every run."""
        pairs = [
            (b"c\n", {"line": "a"}, {"match": "^a$", "replace": "b"}),
            (b"c\n", {"line": "a", "match": "^[ab]$"}, {"line": "b", "match": "^[ab]$"}),
            (b"c\nb\n", {"line": "a", "match": "^[ab]$"}, {"line": "b", "match": "^[ab]$"}),
            (b"c\n", {"line": "a"}, {"match": "^a$", "ensure": "absent"}),
        ]
        for before, *edits in pairs:
            event = self.events(self.write("f", before), edits=edits)[0]
            expect_text(event["error"][0], self)
            self.assertEqual(self.read("f"), before)

    def test_secrets(self) -> None:
        """A private file has no diff; what the resource hides is hidden."""
        for mode, fields in (
            (0o600, {}),
            (0o644, {"sensitive": True}),
            (0o644, {"secrets": ["line"]}),
        ):
            path = self.write("a", b"old-value\n", mode)
            properties = {"line": "new-value", "match": "value"}
            event = one(run_items([item("edit", path, properties=properties, **fields)]))
            self.assertNotIn("new-value", str(event["changes"]))
            self.assertNotIn("old-value", str(event["changes"]) if mode == 0o600 else "")
            self.assertEqual(self.read("a"), b"new-value\n")

    def test_drift(self) -> None:
        """Other lines of the file may change; the part may not."""
        from remote_runtime.registry import Registry

        path = self.write("a", b"x\ny\n")
        ctx = context()
        resource = Registry(ctx).create(item("edit", path, properties={"line": "x"}))
        before = resource.drift_state()
        self.write("a", b"x\nother\n")
        self.assertEqual(resource.drift_state(), before)
        self.write("a", b"y\n")
        self.assertNotEqual(resource.drift_state(), before)

    def test_what_a_turn_leaves(self) -> None:
        """What is remembered of a turn is the part that it found, without another look."""
        from remote_runtime.registry import Registry

        path = self.write("a", b"x\ny\n")
        resource = Registry(context()).create(item("edit", path, properties={"line": "x"}))
        before = resource.drift_state()
        resource.state_left = resource.observe()
        self.write("a", b"y\n")
        self.assertEqual(resource.drift_state(), before)

    def test_status(self) -> None:
        """With a name only, it tells whether the file is there."""
        for name, ensure in (("a", "present"), ("no", "absent")):
            self.write("a", b"x\n")
            event = one(run_items([item("edit", self.path(name))], status_only=True))
            self.assertEqual((event["error"], event["final_ensure"]), ([], ensure))

    def test_changed_meanwhile(self) -> None:
        """What another process writes between reading and writing is not lost."""
        from remote_runtime.base import Diff
        from remote_runtime.host.machine.machine_host import machine
        from remote_runtime.resources.edit.resource import Resource

        path = self.write("a", b"x\n")
        host = machine(context())
        edit = Resource(path, {"line": "y"})
        edit.read(host)
        self.write("a", b"x\nz\n")
        error = failure_of(lambda: edit.apply(host, Diff({}, {})))
        expect_text(error.message, self)
        self.assertEqual(self.read("a"), b"x\nz\n")


@unittest.skipUnless(ROOT, "only root gives files away")
class LinksOfOthersTest(DirectoryTest):
    """``home`` and what is in it are Bob's; ``etc`` is root's."""

    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.root, 0o755)
        for name in ("home", "etc"):
            os.mkdir(self.path(name), 0o755)
        self.write("etc/passwd", b"root\n")
        self.write("home/mine", b"x\n")
        self.link("mine")
        for name in ("home", "home/mine"):
            os.chown(self.path(name), BOB, BOB)

    def link(self, target: str) -> None:
        """Have Bob's link lead there."""
        path = self.path("home/link")
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(target, path)
        os.chown(path, BOB, BOB, follow_symlinks=False)

    def test_one_that_turns_during_the_write(self) -> None:
        """Whenever it begins to lead to a file of root, that file stays as it is."""
        from remote_runtime.host.machine.machine_host import machine
        from remote_runtime.system.walk import Walker

        for moment in range(8):
            self.link("mine")
            with mock.patch.object(Walker, "place", self.turning(Walker.place, moment)):
                try:
                    machine(context()).files.rewrite(self.path("home/link"), b"evil\n")
                except ResourceError as error:
                    self.assertEqual(error.kind, "resource.file.link")
            found = os.stat(self.path("etc/passwd"))
            self.assertEqual((self.read("etc/passwd"), found.st_uid), (b"root\n", 0))

    def turning(self, place: Any, moment: int) -> Any:
        """The walk to a path; right before one of them, the link is turned."""
        looks: List[str] = []

        def found(walker: Any, path: str, follow: bool = False) -> Any:
            looks.append(path)
            if len(looks) == moment + 1:
                self.link(self.path("etc/passwd"))
            return place(walker, path, follow)

        return found

    def test_one_that_leads_nowhere(self) -> None:
        """Nothing is created behind it where its owner could create nothing."""
        self.link(self.path("etc/new"))
        path = self.path("home/link")
        for noop in (True, False):
            event = one(
                run_items([item("edit", path, properties={"line": "x", "create": True})], noop=noop)
            )
            self.assertIn("refusing to follow symlink %s" % path, event["error"][0])
        self.assertEqual(os.listdir(self.path("etc")), ["passwd"])

    def test_one_that_leads_to_nothing(self) -> None:
        """Root makes no file behind it, not even in its owner's directory; the same is predicted
        while the link is about to become his."""
        path = self.path("home/link")
        bob = {"owner": str(BOB), "group": str(BOB), "mode": "0755", "recurse": True}
        given = item("file", self.path("home"), properties=dict(bob, ensure="directory"))
        for target in ("none", self.path("etc/none"), self.path("gone/none")):
            self.link(target)
            errors = []
            for planned, noop in ((False, True), (True, True), (True, False), (False, False)):
                for name in ("home", "home/link") if planned else ():
                    os.chown(self.path(name), 0, 0, follow_symlinks=False)
                edit = item("edit", path, properties={"line": "x", "create": True})
                event = run_items([given, edit] if planned else [edit], noop=noop)[-1]
                errors.append((event["failed"], event["changes"], event["error"]))
            self.assertEqual(errors[1:], errors[:-1])
            self.assertTrue(errors[0][0])
        self.assertEqual(sorted(os.listdir(self.path("home"))), ["link", "mine"])


class _Accounts(object):
    def __init__(self, **users: int) -> None:
        self._users = users

    def logins(self) -> List[str]:
        return list(self._users)

    def uid(self, user: str) -> int:
        return self._users[user]


class RootLoginTest(unittest.TestCase):
    def refused(self, before: bytes, after: bytes, path: str = "", **users: int) -> str:
        host: Any = type("Host", (), {"accounts": _Accounts(root=0, **users)})()
        try:
            require_access(host, path or "/etc/ssh/sshd_config", before, after)
        except ResourceError as error:
            return str(error)
        return ""

    def test_root_alone(self) -> None:
        """Root may not lock itself out; the hint names ``validate``."""
        for before, after in (
            (b"", b"PermitRootLogin no\n"),
            (b"PermitRootLogin yes\n", b"permitrootlogin=no\nPermitRootLogin yes\n"),
            (b"", b'  PermitRootLogin "no"\nMatch all\nX y\n'),
        ):
            told = self.refused(before, after)
            self.assertIn("could lock out root, whose login this run needs", told)
            self.assertIn("connect as another user", told)
            self.assertIn("validate", told)
        self.assertTrue(self.refused(b"", b"PermitRootLogin no", "/etc/ssh/sshd_config.d/a.conf"))

    def test_what_is_harmless(self) -> None:
        """Another user is logged in, root was not let in before, or is somewhere."""
        no = b"PermitRootLogin no\n"
        for told in (
            self.refused(b"", no, deploy=1000),
            self.refused(no, no + b"X y\n"),
            self.refused(b"", b"#" + no),
            self.refused(b"", b"PermitRootLogin prohibit-password\n"),
            self.refused(b"", no + b"Match Address 10.0.0.0/8\nPermitRootLogin yes\n"),
            self.refused(b"", b"Match User x\n" + no.replace(b"no", b"yes") + no),
            self.refused(b"", no, "/etc/ssh/ssh_config"),
        ):
            self.assertEqual(told, "")


if __name__ == "__main__":
    unittest.main()
