"""The scaffold type against a real file system."""

import errno
import os
import resource as limits
import shutil
import sys
import traceback
import unittest
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

from remote_runtime.effects import PathEffect
from remote_runtime.registry import Registry
from remote_runtime.resources.scaffold import tree_scan
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.files import Files
from remote_runtime.system.inode_flags import IMMUTABLE
from remote_runtime.system.temporary_file import Temporary
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import ROOT, FailingFiles, PackagedContent, context, item, run_items
from tests.remote_runtime.scaffold.case import ScaffoldTest
from tests.remote_runtime.system.flags import flag
from tests.texts import expect_text

TREE = {"a.conf": b"a\n", "sub/deep/b.conf": b"b\n"}


class Stubborn(Files):
    """A file system on which some paths cannot be removed, as with an immutable file."""

    def __init__(self, *stay: str) -> None:
        super().__init__()
        self._stay = stay

    def remove(self, path: str) -> None:
        if path in self._stay:
            raise failure("remove", path, OSError(errno.EPERM, os.strerror(errno.EPERM)))
        super().remove(path)


class Swept(Files):
    """A file system of which somebody else removes all files as soon as one is removed."""

    def remove(self, path: str) -> None:
        super().remove(path)
        for top, _, names in os.walk(os.path.dirname(path)):
            for name in names:
                os.unlink(os.path.join(top, name))


class Forgetful(Files):
    """A file system that keeps no file that is written."""

    def temporary(self, *given: Any) -> Temporary:
        made = super().temporary(*given)
        made.__dict__["commit"] = made.discard
        return made


class PresentTest(ScaffoldTest):
    def test_created_then_stable(self) -> None:
        """Every file is written below new directories, and the second run changes nothing."""
        resource = self.scaffold(TREE)
        event = self.apply(resource)
        self.assertEqual((event["changed"], event["error"]), (True, []))
        self.assertEqual(self.files(), ["a.conf", "sub/", "sub/deep/", "sub/deep/b.conf"])
        self.assertEqual((self.read("out/a.conf"), self.mode("out/a.conf")), (b"a\n", 0o644))
        self.assertEqual((self.mode("out"), self.mode("out/sub/deep")), (0o755, 0o755))
        before = os.stat(self.path("out/a.conf"))
        event = self.apply(resource)
        self.assertEqual((event["status"], event["changes"]), ("stable", []))
        self.assertEqual(os.stat(self.path("out/a.conf")).st_ino, before.st_ino)

    def test_missing_parents_are_created(self) -> None:
        """The directories above the scaffold come with it."""
        self.apply(self.scaffold(TREE, name="x/y/out"))
        self.assertEqual(self.read("x/y/out/a.conf"), b"a\n")

    def test_only_what_differs_travels(self) -> None:
        """A file that is there already is neither asked for nor written."""
        self.put("out/a.conf", b"a\n")
        inode = os.stat(self.path("out/a.conf")).st_ino
        event = self.apply(self.scaffold(TREE))
        (asked,) = self.store.asked
        self.assertEqual([self.store.held[sha] for sha in asked], [b"b\n"])
        self.assertEqual(os.stat(self.path("out/a.conf")).st_ino, inode)
        self.assertEqual(
            [c["what"] for c in event["changes"] if c["to"] != "directory"],
            ["sub/deep/b.conf"],
        )

    def test_what_travels_is_known_ahead(self) -> None:
        """The quick look names the differing files, in noop only those that diffs need."""
        self.put("out/a.conf", b"a\n")
        large = {"large": b"x" * (300 << 10)}
        resource = self.scaffold(dict(TREE, **large))
        self.assertEqual(len(wanted(resource)), 2)
        self.assertEqual(len(wanted(resource, noop=True)), 1)
        self.assertEqual(wanted(resource, noop=True, diff=False), [])
        self.assertEqual(wanted(self.scaffold(TREE, ensure="absent")), [])

    def test_drift_is_repaired_and_attributes_stay(self) -> None:
        """A file that was edited is put back; its mode, and others' files, stay as they are."""
        self.apply(self.scaffold(TREE))
        self.put("out/a.conf", b"edited\n", 0o600)
        self.put("out/other", b"mine")
        event = self.apply(self.scaffold(TREE))
        self.assertEqual((self.read("out/a.conf"), self.mode("out/a.conf")), (b"a\n", 0o600))
        self.assertEqual(self.read("out/other"), b"mine")
        self.assertEqual(len(event["changes"]), 1)
        self.assertNotIn("diff", event["changes"][0])

    def test_the_execute_bit_is_kept(self) -> None:
        """A file is executable as its source is; nothing else of its mode is managed."""
        tree = {"run": b"#!/bin/sh\n", "plain": b"p"}
        self.apply(self.scaffold(tree, ["run"]))
        self.assertEqual((self.mode("out/run"), self.mode("out/plain")), (0o755, 0o644))
        os.chmod(self.path("out/run"), 0o640)
        os.chmod(self.path("out/plain"), 0o750)
        event = self.apply(self.scaffold(tree, ["run"]))
        self.assertEqual((self.mode("out/run"), self.mode("out/plain")), (0o750, 0o640))
        self.assertEqual(
            [(c["from"], c["to"]) for c in event["changes"]], [("0750", "0640"), ("0640", "0750")]
        )
        self.assertEqual(self.apply(self.scaffold(tree, ["run"]))["status"], "stable")

    def test_empty_directories_are_created(self) -> None:
        """A directory without files is made too, and is no file in the count."""
        resource = self.scaffold({}, directories=["x/y"])
        expect_text(self.apply(resource, noop=True)["noop_message"], self)
        self.apply(resource)
        self.assertEqual(self.files(), ["x/", "x/y/"])
        self.assertEqual(self.apply(resource)["status"], "stable")

    def test_purge(self) -> None:
        """Files that are not part of it go, with the directories that this leaves empty."""
        resource = self.scaffold(TREE, purge=True)
        self.apply(resource)
        self.put("out/extra", b"x")
        self.put("out/gone/extra2", b"x")
        os.mkdir(self.path("out/empty"))
        os.symlink("/etc", self.path("out/link"))
        event = self.apply(resource, noop=True)
        expect_text(event["noop_message"], self)
        self.assertTrue(os.path.exists(self.path("out/extra")))
        self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual(self.files(), ["a.conf", "empty/", "sub/", "sub/deep/", "sub/deep/b.conf"])
        self.assertEqual(self.apply(resource)["status"], "stable")

    def test_purge_of_odd_names(self) -> None:
        """A newline, bytes that are no UTF-8 and 255 bytes are names like any other."""
        resource = self.scaffold(TREE, purge=True)
        self.apply(resource)
        for name in (b"a\nb", b"bad\xff", b"x" * 255):
            with open(os.path.join(os.fsencode(self.path("out")), name), "wb") as file:
                file.write(b"x")
        event = self.apply(resource, noop=True)
        whats = [change["what"] for change in event["changes"]]
        self.assertEqual(whats, ["a\nb", "bad\\xff", "x" * 255])
        self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual(self.files(), ["a.conf", "sub/", "sub/deep/", "sub/deep/b.conf"])

    def room_for(self, calls: int) -> None:
        """Let only so many calls more than now stand in each other, and files be open."""
        depth = len(traceback.extract_stack()) + calls
        self.addCleanup(sys.setrecursionlimit, sys.getrecursionlimit())
        sys.setrecursionlimit(depth)
        maximum = calls
        for descriptor in sorted(map(int, os.listdir("/dev/fd"))):
            maximum += descriptor < maximum  # one that is open already, whoever opened it
        before = limits.getrlimit(limits.RLIMIT_NOFILE)
        self.addCleanup(limits.setrlimit, limits.RLIMIT_NOFILE, before)
        limits.setrlimit(limits.RLIMIT_NOFILE, (maximum, before[1]))

    def test_deep_directories(self) -> None:
        """However deep the directory is that somebody made there, its files are found and go."""
        resource = self.scaffold(TREE, purge=True)
        self.apply(resource)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.path("out"))
        self.room_for(200)
        for _ in range(300):
            os.mkdir("d")
            os.chdir("d")
        with open("extra", "w"):
            pass
        os.chdir(before)
        event = self.apply(resource)
        self.assertEqual((event["error"], len(event["changes"])), ([], 1))
        self.assertEqual(self.files(), ["a.conf", "sub/", "sub/deep/", "sub/deep/b.conf"])

    def test_too_many_paths_or_levels(self) -> None:
        """Users who may write there could else have a walk take hours, or all memory."""
        resource = self.scaffold(TREE, purge=True)
        self.apply(resource)
        for name in ("MAX_PATHS", "MAX_DEPTH"):
            self.put("out/1/2/3/4/5/extra", b"x")
            with mock.patch.object(tree_scan, name, 4):
                for noop in (True, False):
                    event = self.apply(resource, noop=noop)
                    expect_text(event["error"][0], self)
            self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual(self.files(), ["a.conf", "sub/", "sub/deep/", "sub/deep/b.conf"])

    def test_names_that_are_no_text(self) -> None:
        """Extra files are removed whatever they are called, and shown as text."""
        resource = self.scaffold(TREE, purge=True)
        self.apply(resource)
        with open(os.path.join(os.fsencode(self.path("out")), b"caf\xe9\n"), "wb"):
            pass
        event = self.apply(resource)
        self.assertEqual((event["error"], len(self.files())), ([], 4))
        self.assertTrue(event["changes"][0]["what"].endswith("caf\\xe9\n"), event["changes"])

    def test_a_full_disk_is_told(self) -> None:
        """What cannot be written fails the resource, and nothing half-written is left."""
        os.mkdir(self.path("out"))
        told = self.error(self.scaffold({"a": b"a"}), files=FailingFiles())
        expect_text(told, self)
        self.assertEqual(self.files(), [])

    def test_a_file_that_the_controller_lost(self) -> None:
        """A source that is gone fails the resource with the controller's words."""
        resource = self.scaffold({"a": b"a"})
        self.store.held.clear()
        expect_text(self.error(resource), self)

    def test_what_was_written_is_told_to_others(self) -> None:
        """Each path that was written counts as changed for the rest of the run."""
        resource = self.scaffold({"a": b"a"})
        shared = context([resource], self.store)
        run_items([resource], shared=shared)
        self.assertEqual(shared.changed_paths, {self.path("out"), self.path("out/a")})


class SymlinkTest(ScaffoldTest):
    def test_a_link_at_a_file_is_replaced(self) -> None:
        """A symlink in the place of a file is replaced, and what it names stays."""
        victim = self.put("victim", b"v")
        self.put("out/x", b"")
        os.symlink(victim, self.path("out/a.conf"))
        self.apply(self.scaffold({"a.conf": b"a\n"}))
        self.assertFalse(os.path.islink(self.path("out/a.conf")))
        self.assertEqual((self.read("out/a.conf"), self.read("victim")), (b"a\n", b"v"))

    def test_nothing_is_written_through_a_link(self) -> None:
        """A symlink in the place of a directory, the scaffold's own included, is an error."""
        os.mkdir(self.path("elsewhere"))
        os.mkdir(self.path("out"))
        os.symlink(self.path("elsewhere"), self.path("out/sub"))
        told = self.error(self.scaffold(TREE))
        expect_text(told, self)
        os.symlink(self.path("elsewhere"), self.path("link"))
        expect_text(self.error(self.scaffold(TREE, name="link")), self)
        expect_text(self.error(self.scaffold(TREE, name="link", ensure="absent")), self)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])
        self.assertEqual(self.files(), ["sub/"])

    def test_a_directory_that_becomes_a_link(self) -> None:
        """A directory that somebody swaps for a symlink after the look is noticed in time."""
        victim = self.put("elsewhere/b", b"v")
        os.makedirs(self.path("out/sub"))
        post = "sh -c 'rmdir %s; ln -s %s %s'" % (
            self.path("out/sub"),
            self.path("elsewhere"),
            self.path("out/sub"),
        )
        tree = {"sub/b": b"b", "z": b"z"}
        told = self.error(self.scaffold(tree, post=[{"z": post}]))
        expect_text(told, self)
        with open(victim, "rb") as file:
            self.assertEqual(file.read(), b"v")

    def test_purge_replaces_a_link_by_the_directory(self) -> None:
        """With purge a symlink in the place of a directory goes, not what it names."""
        self.put("elsewhere/keep", b"k")
        os.mkdir(self.path("out"))
        os.symlink(self.path("elsewhere"), self.path("out/sub"))
        self.assertEqual(self.apply(self.scaffold(TREE, purge=True))["error"], [])
        self.assertEqual(self.files(), ["a.conf", "sub/", "sub/deep/", "sub/deep/b.conf"])
        self.assertEqual(os.listdir(self.path("elsewhere")), ["keep"])

    def test_absent_does_not_follow_links(self) -> None:
        """Files behind a symlink in the directory are not the scaffold's."""
        self.put("elsewhere/deep/b.conf", b"theirs")
        self.put("out/a.conf", b"a\n")
        os.symlink(self.path("elsewhere"), self.path("out/sub"))
        self.assertEqual(self.apply(self.scaffold(TREE, ensure="absent"))["error"], [])
        self.assertEqual(self.read("elsewhere/deep/b.conf"), b"theirs")

    def test_other_kinds_in_the_way(self) -> None:
        """A directory or a pipe in the place of a file is left alone and told."""
        os.makedirs(self.path("out/a.conf"))
        expect_text(self.error(self.scaffold(TREE)), self)
        os.rmdir(self.path("out/a.conf"))
        os.mkfifo(self.path("out/a.conf"))
        expect_text(self.error(self.scaffold(TREE)), self)

    def test_a_plan_that_leads_out_is_refused(self) -> None:
        """The target itself refuses paths that leave the directory."""
        for path in ("../x", "/etc/x", "a/../../x", "a//b", ""):
            self.assertIn("leads out", self.error(self.scaffold({path: b"x"})), path)


class DecisionTest(ScaffoldTest):
    def test_the_documents_table(self) -> None:
        """Stable or not, by what is wanted, whether the files are there, and purge."""
        whole, edited = {"a": b"a", "b": b"b"}, {"a": b"a", "b": b"edited"}
        rows: List[Tuple[str, Optional[Dict[str, bytes]], bool, str]] = [
            ("absent", None, False, ""),
            ("absent", {"theirs": b""}, True, ""),
            ("absent", dict(edited, theirs=b""), False, "Would have removed 2 scaffold files"),
            ("absent", dict(edited, theirs=b""), True, "Would have removed 2 scaffold files"),
            ("present", whole, False, ""),
            ("present", whole, True, ""),
            ("present", dict(whole, theirs=b""), False, ""),
            ("present", dict(whole, theirs=b""), True, "Would have changed 1 scaffold files"),
            ("present", edited, False, "Would have changed 1 scaffold files"),
            ("present", dict(edited, theirs=b""), True, "Would have changed 2 scaffold files"),
            ("present", None, False, "Would have changed 2 scaffold files"),
        ]
        for number, (ensure, there, purge, message) in enumerate(rows):
            name = "out%d" % number
            for path, content in (there or {}).items():
                self.put(name + "/" + path, content)
            before = self.files(name)
            resource = self.scaffold(whole, name=name, ensure=ensure, purge=purge)
            event = self.apply(resource, noop=True)
            with self.subTest(rows[number]):
                self.assertEqual(event.get("noop_message", ""), message)
                self.assertIs(event["changed"], bool(message))
                self.assertEqual(self.files(name), before)

    def test_what_cannot_be_removed_keeps_no_other(self) -> None:
        """Each file is tried; the one that stays is told, and the state is not as desired."""
        self.apply(self.scaffold(TREE))
        event, notices = self.remove(Stubborn(self.path("out/a.conf")))
        self.assertEqual(self.files(), ["a.conf"])
        expect_text(event["error"][0], self)
        ((level, text),) = notices
        self.assertEqual(level, "error")
        self.assertIn("a.conf", text)
        self.assertEqual([c["what"] for c in event["changes"]], ["sub/deep/b.conf"])

    @unittest.skipUnless(ROOT, "only root may set flags")
    def test_what_is_seen_not_to_go_is_tried_last(self) -> None:
        """All else is done, in the preview as well, and the failure says why it stays."""
        notices: List[Tuple[str, str]] = []
        for purge in (True, False):
            for name in ("out/a", "out/b", "out/c"):
                self.put(name)
            for name in ("out/a", "out/c"):
                flag(self.path(name), IMMUTABLE)
            tree = {"d": b"d"} if purge else {"a": b"", "b": b"", "c": b""}
            wanted = self.scaffold(tree, ensure="present" if purge else "absent", purge=purge)
            (told,) = run_items([wanted], noop=True, store=self.store)
            self.assertEqual(self.files(), ["a", "b", "c"])
            notices.clear()
            (came,) = run_items(
                [wanted],
                store=self.store,
                on_notice=lambda level, text: notices.append((level, text)),
            )
            self.assertEqual(told["prediction"], "certain")
            self.assertEqual((told["error"], told["changes"]), (came["error"], came["changes"]))
            expect_text(came["error"][0], self)
            self.assertEqual(self.files(), ["a", "c", "d"] if purge else ["a", "c"])
            self.assertEqual(len(notices), 1)
            for name in ("out/a", "out/c"):
                flag(self.path(name), 0)
            shutil.rmtree(self.path("out"))

    def test_a_directory_that_stays_is_no_failure(self) -> None:
        """An empty directory that cannot be removed is told, and what is above it is tried."""
        for stays, left in (("out/sub/deep", ["sub/", "sub/deep/"]), ("out", [])):
            self.apply(self.scaffold(TREE))
            event, notices = self.remove(Stubborn(self.path(stays)))
            self.assertEqual((event["error"], self.files()), ([], left))
            self.assertEqual([level for level, _ in notices], ["warning"])

    def test_a_file_that_is_gone_by_then_is_passed_over(self) -> None:
        """What somebody else removed in the meantime is neither told nor missed."""
        self.apply(self.scaffold(TREE))
        event, notices = self.remove(Swept())
        self.assertEqual((event["error"], notices), ([], []))
        self.assertFalse(os.path.exists(self.path("out")))

    def remove(self, files: Files) -> "Tuple[Dict[str, Any], List[Tuple[str, str]]]":
        """The event of an absent scaffold, and what was told on the way."""
        resource = self.scaffold(TREE, ensure="absent")
        notices: List[Tuple[str, str]] = []
        (event,) = run_items(
            [resource],
            store=self.store,
            files=files,
            on_notice=lambda level, text: notices.append((level, text)),
        )
        return event, notices

    def test_what_did_not_come_to_be_is_a_failure(self) -> None:
        """After writing, the directory is compared again."""
        event = self.apply(self.scaffold(TREE), files=Forgetful())
        told = "desired state not achieved: still different: a.conf, sub/deep/b.conf"
        self.assertIn(told, event["error"][0])


class AbsentTest(ScaffoldTest):
    def test_its_files_go_and_others_stay(self) -> None:
        """Only the scaffold's own files are counted and removed, edited ones included."""
        self.apply(self.scaffold(TREE))
        self.put("out/a.conf", b"edited")
        self.put("out/sub/theirs", b"t")
        resource = self.scaffold(TREE, ensure="absent", purge=True)
        event = self.apply(resource, noop=True)
        expect_text(event["noop_message"], self)
        self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual(self.files(), ["sub/", "sub/theirs"])
        event = self.apply(resource)
        self.assertEqual((event["status"], event["final_ensure"]), ("stable", "present"))

    def test_the_directory_goes_when_it_is_empty(self) -> None:
        """With nothing else in it the directory is removed too."""
        tree = dict(TREE)
        self.apply(self.scaffold(tree, directories=["x"]))
        event = self.apply(self.scaffold(tree, directories=["x"], ensure="absent"))
        self.assertEqual((event["error"], event["final_ensure"]), ([], "absent"))
        self.assertFalse(os.path.exists(self.path("out")))
        self.assertEqual(self.apply(self.scaffold(tree, ensure="absent"))["status"], "stable")

    def test_nothing_travels(self) -> None:
        """For removal no content is needed."""
        self.apply(self.scaffold(TREE))
        self.store.asked.clear()
        self.apply(self.scaffold(TREE, ensure="absent"))
        self.assertEqual(self.store.asked, [])


class PreviewTest(ScaffoldTest):
    def test_it_counts_and_touches_nothing(self) -> None:
        """New and differing files are counted, with a diff each, and nothing is written."""
        self.put("out/a.conf", b"old\n")
        event = self.apply(self.scaffold(TREE), noop=True)
        expect_text(event["noop_message"], self)
        self.assertEqual((event["prediction"], event["changed"]), ("certain", True))
        self.assertIn("-old\n+a\n", event["changes"][-2]["diff"])
        self.assertEqual(self.files(), ["a.conf"])

    def test_no_diff_of_what_is_not_known(self) -> None:
        """Where only the hash of a planned file is known, the prediction is certain without one."""
        shared = context(noop=True, store=self.store)
        old = PathEffect(self.path("out/a.conf"), "file", 0o644, content=PackagedContent(b"old\n"))
        shared.expect([old], Uncertainty(), "package#p")
        (event,) = run_items([self.scaffold({"a.conf": b"a\n"})], shared=shared)
        self.assertEqual((event["prediction"], event["status"]), ("certain", "changed"))
        self.assertNotIn("diff", str(event["changes"]))

    def test_diffs_follow_the_rules_of_files(self) -> None:
        """No diff of what others cannot read, of a sensitive resource, or of very much."""
        self.put("out/a.conf", b"old\n", 0o600)
        hidden = self.apply(self.scaffold({"a.conf": b"a"}), noop=True)
        self.assertNotIn("diff", hidden["changes"][0])
        shown = self.apply(self.scaffold({"a.conf": b"a"}), noop=True, diff_private=True)
        self.assertIn("+a", shown["changes"][0]["diff"])
        sensitive = self.apply(self.scaffold({"b": b"secret"}, sensitive=True), noop=True)
        self.assertNotIn("diff", sensitive["changes"][0])
        many = {"f%d" % n: b"%d" % n + b"x" * (100 << 10) for n in range(10)}
        diffs = [c.get("diff", "") for c in self.apply(self.scaffold(many), noop=True)["changes"]]
        expect_text(diffs[-1], self)
        self.assertLess(sum(map(len, diffs)), 1 << 20)

    def test_what_it_would_create_counts_as_there(self) -> None:
        """A later resource may rely on the directories and files of a pending scaffold."""
        items = [self.scaffold(TREE), self.file("out/sub/deep/more", content="x")]
        events = run_items(items, store=self.store, noop=True)
        self.assertEqual([e["prediction"] for e in events], ["certain"] * 2)

    def test_a_pending_directory_counts_as_there(self) -> None:
        """Below a directory that an earlier resource would create everything is new."""
        directory = item(
            "file",
            self.path("out"),
            properties={"ensure": "directory", "owner": "0", "group": "0", "mode": "0755"},
        )
        event = run_items([directory, self.scaffold(TREE)], store=self.store, noop=True)[1]
        self.assertEqual(event["prediction"], "certain")
        expect_text(event["noop_message"], self)

    def test_what_is_in_the_way_may_go(self) -> None:
        """An obstacle that an earlier pending resource removes is none; a command may remove it."""
        self.put("out", b"a file")
        scaffold = self.scaffold(TREE)
        expect_text(self.error(scaffold, noop=True), self)
        removed = item("file", self.path("out"), properties={"ensure": "absent"})
        event = run_items([removed, scaffold], store=self.store, noop=True)[1]
        self.assertEqual((event["failed"], event["prediction"]), (False, "certain"))
        command = item("exec", "x", properties={"command": "true"})
        event = run_items([command, scaffold], store=self.store, noop=True)[1]
        self.assertEqual((event["failed"], event["prediction"]), (False, "unknown"))
        expect_text(event["prediction_reason"], self)
        expect_text(event["noop_message"], self)

    def test_a_file_above_is_in_the_way(self) -> None:
        """A parent that is no directory fails, unless an earlier resource may change it."""
        self.put("up", b"")
        scaffold = self.scaffold(TREE, name="up/out")
        expect_text(self.error(scaffold), self)
        command = item("exec", "x", properties={"command": "true"})
        event = run_items([command, scaffold], store=self.store, noop=True)[1]
        self.assertEqual(event["prediction"], "unknown")


class EventTest(ScaffoldTest):
    def test_the_event_names_the_directory(self) -> None:
        """The event shows the directory as the manifest has it, not a thousand files."""
        event = self.apply(self.scaffold(TREE, purge=True))
        self.assertEqual(event["properties"], {"source": "templates/app", "purge": True})
        self.assertEqual((event["provider"], event["final_ensure"]), ("choria", "present"))

    def test_secrets_are_masked(self) -> None:
        """Data's secrets do not show in diffs; of a sensitive scaffold no value does."""
        event = self.apply(self.scaffold({"a": b"pw hunter22\n"}), noop=True, secrets=["hunter22"])
        self.assertIn("pw [masked]", str(event["changes"]))
        event = self.apply(self.scaffold({"mode": b"x"}, sensitive=True, data={"k": "hunter22"}))
        self.assertNotIn("hunter22", str(event))
        self.assertEqual([c["to"] for c in event["changes"]], ["[masked]"] * 2)


def wanted(resource: Any, **settings: Any) -> List[str]:
    """The hashes that a quick look asks for."""
    made = context([resource], **settings)
    return Registry(made).create(resource).wanted()


if __name__ == "__main__":
    unittest.main()
