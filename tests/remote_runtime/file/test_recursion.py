import os
import stat
import unittest
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.resources.file import tree_scan
from tests.remote_runtime.fakes import ROOT, DirectoryTest, item, one, run_items
from tests.texts import expect_text

STRANGER = 4711
ROOT_ONLY = unittest.skipUnless(ROOT, "needs root")


class RecursionTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.makedirs(self.path("d", "sub", "deep"))
        for name in ("d/a", "d/sub/b", "d/sub/deep/c"):
            self.write(name, b"x")

    def directory(self, *more: Any, **properties: Any) -> List[Any]:
        given = {"ensure": "directory", "mode": "0755", "recurse": True, **properties}
        return [self.file("d", **given), *more]

    def apply(self, *more: Any, noop: bool = False, **properties: Any) -> Dict[str, Any]:
        return run_items(self.directory(*more, **properties), noop=noop)[0]

    def both(self, *more: Any, **properties: Any) -> Dict[str, Any]:
        """The event of a push, whose preview tells the same; a second one is stable."""
        preview = self.apply(*more, noop=True, **properties)
        event = self.apply(*more, **properties)
        self.assertEqual(event["error"], [])
        self.assertEqual(preview["changes"], event["changes"])
        self.assertEqual(preview["prediction"], "certain")
        self.assertEqual(self.apply(*more, **properties)["status"], "stable")
        return event

    def mode(self, name: str) -> str:
        return "%04o" % stat.S_IMODE(os.lstat(self.path(name)).st_mode)

    def test_directories_have_the_mode_and_files_keep_theirs(self) -> None:
        """A directory may be entered by whom may read it; what the mode says not of it stays."""
        os.chmod(self.path("d", "sub"), 0o2700)
        os.chmod(self.path("d", "a"), 0o600)
        event = self.both(mode="0640")
        self.assertEqual((self.mode("d"), self.mode("d/sub")), ("0750", "2750"))
        self.assertEqual((self.mode("d/sub/deep"), self.mode("d/a")), ("0750", "0600"))
        told = [(change["what"], change["from"], change["to"]) for change in event["changes"]]
        self.assertIn(("mode of sub/", "2700", "2750"), told)

    def test_modes_of_their_own(self) -> None:
        """Each kind has its own, exactly."""
        os.chmod(self.path("d", "sub", "b"), 0o4755)
        self.both(dir_mode="2770", file_mode="0640")
        self.assertEqual((self.mode("d"), self.mode("d/sub")), ("0755", "2770"))
        self.assertEqual((self.mode("d/a"), self.mode("d/sub/b")), ("0640", "0640"))

    @ROOT_ONLY
    def test_owner_and_group(self) -> None:
        """Of files, directories and links, never of what a link leads to."""
        outside = self.write("outside", b"x")
        os.symlink(outside, self.path("d", "link"))
        os.symlink("nowhere", self.path("d", "dangling"))
        os.mkfifo(self.path("d", "pipe"))
        self.both(owner=str(STRANGER), group=str(STRANGER + 1))
        for name in ("d", "d/a", "d/sub/deep/c", "d/link", "d/dangling"):
            found = os.lstat(self.path(name))
            self.assertEqual((found.st_uid, found.st_gid), (STRANGER, STRANGER + 1))
        for name in ("outside", "d/pipe"):
            self.assertEqual(os.lstat(self.path(name)).st_uid, os.geteuid())

    @ROOT_ONLY
    def test_nobody_gets_a_program_of_another(self) -> None:
        """With another owner, setuid and setgid go."""
        os.chmod(self.path("d", "a"), 0o6755)
        self.both(owner=str(STRANGER))
        self.assertEqual(self.mode("d/a"), "0755")

    def test_records_are_few(self) -> None:
        """They name the first paths, and how many more there are."""
        for number in range(50):
            self.write("d/n%02d" % number, b"", 0o600)
        event = self.both(file_mode="0644")
        (change,) = event["changes"]
        expect_text(change["what"], self)
        self.assertEqual((change["from"], change["to"]), ("0600", "0644"))

    def test_other_resources_manage_their_own(self) -> None:
        """A directory of another resource is left alone with all below it."""
        os.chmod(self.path("d", "a"), 0o600)
        others = [
            self.file("d/a", 1, mode="0600", content="x"),
            self.file("d/sub", 2, ensure="directory", mode="0700"),
        ]
        os.chmod(self.path("d", "sub", "deep"), 0o700)
        os.chmod(self.path("d", "sub"), 0o700)
        self.assertEqual(self.apply(*others, file_mode="0644")["status"], "stable")

    def test_a_backup_is_left_alone(self) -> None:
        """It may hold what only few may read."""
        os.chmod(self.path("d", "a"), 0o600)
        self.write("d/.a.~1~", b"secret", 0o600)
        other = self.file("d/a", 1, mode="0600", content="x", backup=True)
        os.chmod(self.path("d", "a"), 0o600)
        self.assertEqual(self.apply(other, file_mode="0644")["status"], "stable")

    def test_through_a_link(self) -> None:
        """The directory itself may be one to a directory."""
        os.rename(self.path("d"), self.path("real"))
        os.symlink("real", self.path("d"))
        os.chmod(self.path("real", "a"), 0o600)
        self.both(file_mode="0644")
        self.assertEqual(self.mode("real/a"), "0644")

    def test_odd_names(self) -> None:
        """Bytes that are no text, and newlines."""
        for name in (b"caf\xe9", b"new\nline", "日本".encode()):
            path = os.path.join(os.fsencode(self.path("d")), name)
            with open(path, "wb"):
                os.chmod(path, 0o600)
        event = self.both(file_mode="0644")
        self.assertIn("caf\\xe9", event["changes"][0]["what"])

    def test_a_planned_tree(self) -> None:
        """A preview sees directories and files of earlier resources."""
        made = self.file("new", ensure="directory", mode="0700")
        inner = self.file("new/in", 1, ensure="directory", mode="0700")
        whole = self.file("new", 2, ensure="directory", mode="0700", recurse=True)
        events = run_items([made, inner, whole], noop=True)
        self.assertEqual([event["status"] for event in events], ["changed", "changed", "stable"])
        self.assertEqual({event["prediction"] for event in events}, {"certain"})

    def test_a_command_that_comes_first(self) -> None:
        """What it leaves is not known, so nothing is certain."""
        command = item("exec", "true", properties={})
        event = run_items([command, self.directory()[0]._replace(index=1)], noop=True)[1]
        self.assertEqual(event["prediction"], "assumed")

    def test_what_a_command_makes(self) -> None:
        """It is not known, and what is known is told; a purge leaves it alone in any case."""
        os.chmod(self.path("d", "a"), 0o600)
        given = {"creates": self.path("d", "new"), "affects": [self.path("d", "new")]}
        command = item("exec", "true", properties=given)
        directory = self.directory(file_mode="0644")[0]._replace(index=1)
        event = run_items([command, directory], noop=True)[1]
        self.assertEqual(event["prediction"], "unknown")
        reason = "the result of exec#true at %s is not known" % self.path("d", "new")
        self.assertEqual(event["prediction_reason"], reason)
        self.assertEqual([change["what"] for change in event["changes"]], ["mode of a"])
        purging: Dict[str, Any] = {"ensure": "directory", "mode": "0755", "purge": True}
        event = run_items([command, self.file("d", 1, **purging)], noop=True)[1]
        self.assertEqual((event["prediction"], len(event["changes"])), ("certain", 5))

    @ROOT_ONLY
    def test_names_of_a_file_in_a_directory_of_another_user(self) -> None:
        """It is refused, and the preview says so; what is as desired is not."""
        os.chown(self.path("d", "sub"), STRANGER, -1)
        os.link(self.write("elsewhere", b"x", 0o600), self.path("d", "sub", "planted"))
        for noop in (True, False):
            event = self.apply(noop=noop, file_mode="0644")
            expect_text(event["error"][0], self)
        self.assertEqual(self.mode("elsewhere"), "0600")
        os.chown(self.path("d", "sub"), os.geteuid(), -1)
        self.both(file_mode="0644")

    def test_too_many_paths(self) -> None:
        """There is a bound, and the error names it."""
        with mock.patch.object(tree_scan, "MAX_PATHS", 3):
            for noop in (True, False):
                event = self.apply(noop=noop)
                expect_text(event["error"][0], self)

    def test_too_many_levels(self) -> None:
        """Users who may write there could else have a walk take hours."""
        at = "d"
        for _ in range(210):
            at += "/e"
            os.mkdir(self.path(at))
        for noop in (True, False):
            event = self.apply(noop=noop)
            expect_text(event["error"][0], self)

    def test_a_run_that_was_killed_in_between(self) -> None:
        """The next one does the rest."""
        for name in ("d/a", "d/sub/b"):
            os.chmod(self.path(name), 0o600)
        os.chmod(self.path("d/a"), 0o644)
        event = self.both(file_mode="0644")
        expect_text([change["what"] for change in event["changes"]], self)

    def test_a_directory_that_is_missing(self) -> None:
        """There is nothing in it yet."""
        given: Dict[str, Any] = {"ensure": "directory", "mode": "0755", "recurse": True}
        event = one(run_items([self.file("none", **given)]))
        self.assertEqual((event["changed"], event["error"]), (True, []))

    def test_ids_that_are_kept(self) -> None:
        """Without owner, group and mode, as in ``ccm ensure``, those below stay, too."""
        os.chmod(self.path("d", "sub"), 0o700)
        resource = item("file", self.path("d"), properties={"ensure": "directory", "recurse": True})
        self.assertEqual(one(run_items([resource]))["status"], "stable")


if __name__ == "__main__":
    unittest.main()
