import grp
import hashlib
import os
import stat
import time
import unittest
from typing import Any, Dict, List, Optional
from unittest import mock

from remote_runtime.effects import PathEffect
from remote_runtime.stdlib_light.sha256_digest import sha256
from remote_runtime.system import files
from remote_runtime.system.files import Files
from remote_runtime.system.temporary_file import Temporary
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import (
    GROUP,
    OWNER,
    ROOT,
    BlobStore,
    DirectoryTest,
    FailingFiles,
    PackagedContent,
    blob,
    context,
    item,
    one,
    run_items,
)
from tests.remote_runtime.mounting import possible
from tests.texts import expect_text

LAYERED = possible()


class FileTest(DirectoryTest):
    def apply(self, resource: Any, **options: Any) -> Dict[str, Any]:
        return one(run_items([resource], **options))

    def mode(self, name: str) -> int:
        return stat.S_IMODE(os.lstat(self.path(name)).st_mode)

    def leftovers(self) -> Any:
        return [name for name in os.listdir(self.root) if ".ccm-" in name]

    def test_created_then_stable(self) -> None:
        """Content is written with its attributes, and the second run changes nothing."""
        resource = self.file("motd", content="hello", mode="0640")
        event = self.apply(resource)
        self.assertEqual((event["changed"], event["error"]), (True, []))
        self.assertEqual((self.read("motd"), self.mode("motd")), (b"hello", 0o640))
        before = os.stat(self.path("motd"))
        event = self.apply(resource)
        self.assertEqual((event["status"], event["changes"]), ("stable", []))
        self.assertEqual(os.stat(self.path("motd")).st_ino, before.st_ino)

    def test_drift(self) -> None:
        """Content and mode that drifted are put back together and told as one set of changes."""
        self.write("a", b"bad\n", 0o600)
        event = self.apply(self.file("a", content="good\n"), diff_private=True)
        self.assertEqual(self.read("a"), b"good\n")
        self.assertEqual([c["what"] for c in event["changes"]], ["content", "mode"])
        self.assertIn("-bad\n+good\n", event["changes"][0]["diff"])
        self.assertEqual((event["changes"][1]["from"], event["changes"][1]["to"]), ("0600", "0644"))

    def test_only_attributes_differ(self) -> None:
        """With the right content only the attributes are set, the file stays the same one."""
        self.write("a", b"x", 0o600)
        before = os.stat(self.path("a")).st_ino
        self.apply(self.file("a", content="x"))
        self.assertEqual((os.stat(self.path("a")).st_ino, self.mode("a")), (before, 0o644))

    def test_setuid_is_drift(self) -> None:
        """A special bit on a file is taken away."""
        self.write("a", b"x", 0o4755)
        event = self.apply(self.file("a", content="x", mode="0755"))
        self.assertEqual((event["changes"][0]["from"], self.mode("a")), ("4755", 0o755))

    def test_noop_messages(self) -> None:
        """Each preview has its wording, and the disk is not touched."""
        self.write("old", b"y")
        self.write("loose", b"x", 0o600)
        self.write("gone")
        os.makedirs(self.path("empty"))
        os.makedirs(self.path("full", "inner"))
        cases = [
            (self.file("new", content="x"), "Would have created the file"),
            (self.file("old", content="x"), "Would have created the file"),
            (self.file("loose", content="x"), "Would have updated attributes"),
            (self.file("bare"), "Would have created an empty file with requested attributes"),
            (self.file("gone", ensure="absent"), "Would have removed the file"),
            (self.file("empty", ensure="absent"), "Would have removed the directory"),
            (
                self.file("full", ensure="absent", force=True),
                "Would have recursively removed the directory",
            ),
            (self.file("d/e", ensure="directory"), "Would have created directory"),
        ]
        before = sorted(os.listdir(self.root))
        for resource, message in cases:
            event = self.apply(resource, noop=True)
            self.assertEqual((event["noop_message"], event["changed"]), (message, True))
            self.assertEqual(event["prediction"], "certain")
        self.assertEqual(sorted(os.listdir(self.root)), before)
        event = self.apply(self.file("never", ensure="absent"), noop=True)
        self.assertEqual((event["changed"], event.get("noop_message")), (False, None))

    def test_preview_of_a_planned_directory(self) -> None:
        """A file in a directory that would be created, or in its parent, is a certain change."""
        items = [
            self.file("a/b", 0, ensure="directory"),
            self.file("a/b/c", 1, content="x"),
            self.file("a/d", 2, content="x"),
        ]
        events = run_items(items, noop=True)
        self.assertEqual([e["prediction"] for e in events], ["certain"] * 3)
        self.assertEqual([e["failed"] for e in events], [False] * 3)

    def test_preview_behind_a_command(self) -> None:
        """A missing parent or owner behind a pending command is unknown, without it a failure."""
        command = item("exec", "true")
        for resource in (
            self.file("none/a", content="x"),
            self.file("a", content="x", owner="ccm-no-such-user"),
            self.file("b", source=self.path("no-source")),
        ):
            events = run_items([command, resource], noop=True)
            self.assertEqual((events[1]["prediction"], events[1]["failed"]), ("unknown", False))
            expect_text(events[1]["noop_message"], self)
            self.assertTrue(one(run_items([resource], noop=True))["failed"])

    def test_preview_of_a_planned_source(self) -> None:
        """A source that an earlier resource would write is read as it will be."""
        self.write("source", b"old")
        self.write("copy", b"old")
        items = [self.file("source", content="new"), self.file("copy", source=self.path("source"))]
        events = run_items(items, noop=True)
        self.assertEqual(events[1]["prediction"], "certain")
        self.assertEqual(events[1]["changes"][0]["to"], events[0]["changes"][0]["to"])
        self.assertIn("+new", events[1]["changes"][0]["diff"])
        self.assertEqual(run_items(items)[1]["changes"], events[1]["changes"])

    def test_preview_of_a_directory_that_gets_empty(self) -> None:
        """A directory whose entries are planned to be removed can be removed behind them."""
        os.makedirs(self.path("d"))
        self.write("d/x")
        items = [self.file("d/x", ensure="absent"), self.file("d", ensure="absent")]
        for noop in (True, False):
            self.assertEqual([e["status"] for e in run_items(items, noop=noop)], ["changed"] * 2)
        self.assertFalse(os.path.exists(self.path("d")))

    def test_preview_below_a_directory_that_would_be_removed(self) -> None:
        """What would be removed with a directory counts as gone, until it would be made again."""
        os.makedirs(self.path("d/e"))
        self.write("d/e/f", b"x")
        removed = self.file("d", 0, ensure="absent", force=True)
        behind = self.file("d/e/f", 1, content="x")
        again = self.file("d/e", 1, ensure="directory")
        events = run_items([removed, behind], noop=True)
        self.assertIn(
            "the parent directory %s does not exist" % self.path("d/e"), events[1]["error"][0]
        )
        for noop in (True, False):
            events = run_items([removed, again, behind], noop=noop)
            self.assertEqual([e["status"] for e in events], ["changed"] * 3)

    def test_validator_missing(self) -> None:
        """Without the program that validates it a file is not touched; behind a command it may be
        there."""
        resource = self.file("conf", content="x", validate="ccm-no-such-program {}")
        for noop in (True, False):
            event = one(run_items([resource], noop=noop))
            expect_text(event["error"][0], self)
        events = run_items([item("exec", "true"), resource], noop=True)
        self.assertEqual((events[1]["prediction"], events[1]["failed"]), ("unknown", False))
        self.assertEqual(os.listdir(self.root), [])

    def test_validated_by_itself(self) -> None:
        """The finished file may be the program that validates it."""
        resource = self.file("run", content="#!/bin/sh\n", mode="0755", validate="{} --check")
        for noop in (True, False):
            self.assertEqual(self.apply(resource, noop=noop)["status"], "changed")

    def test_what_a_command_may_make(self) -> None:
        """What becomes of a path that a command creates is not known, and no failure."""
        made = item("exec", "make", properties={"command": "true", "creates": self.path("made")})
        for properties in ({"ensure": "absent"}, {"ensure": "directory", "mode": "0755"}):
            event = run_items([made, self.file("made", 1, **properties)], noop=True)[1]
            self.assertEqual((event["failed"], event["prediction"]), (False, "unknown"))
            self.assertEqual(event["changes"][0]["what"], "ensure")
        event = run_items([made, self.file("made/below", 1, content="x")], noop=True)[1]
        self.assertEqual((event["failed"], event["prediction"]), (False, "unknown"))

    def test_parent_missing(self) -> None:
        """A file whose parent is missing fails; parents are not made for files."""
        event = self.apply(self.file("missing/a", content="x"))
        self.assertIn("parent directory", event["error"][0])
        self.assertFalse(os.path.exists(self.path("missing")))

    def test_parent_is_a_file(self) -> None:
        """A parent that is no directory is told as that."""
        self.write("plain")
        event = self.apply(self.file("plain/a", content="x"))
        expect_text(event["error"][0], self)

    def test_directory(self) -> None:
        """A directory is made with its parents, gets x, and is stable afterwards."""
        resource = self.file("a/b/c", ensure="directory", mode="0640")
        self.assertEqual(self.apply(resource)["final_ensure"], "directory")
        self.assertEqual(self.mode("a/b/c"), 0o750)
        self.assertEqual(self.apply(resource)["status"], "stable")

    def test_directory_drift(self) -> None:
        """Owner and mode of a directory that is there are set, and what it holds is left alone."""
        os.makedirs(self.path("d"))
        self.write("d/held")
        os.chmod(self.path("d"), 0o700)
        event = self.apply(self.file("d", ensure="directory", mode="0755"))
        self.assertEqual([c["what"] for c in event["changes"]], ["mode"])
        self.assertEqual((self.mode("d"), os.listdir(self.path("d"))), (0o755, ["held"]))

    def test_umask(self) -> None:
        """The umask of the runtime takes nothing away from a mode."""
        before = os.umask(0o077)
        try:
            self.apply(self.file("a", content="x", mode="0666"))
            self.apply(self.file("d", ensure="directory", mode="0777"))
        finally:
            os.umask(before)
        self.assertEqual((self.mode("a"), self.mode("d")), (0o666, 0o777))

    def test_what_was_not_achieved(self) -> None:
        """A file is looked at once more after it was written, with all its attributes."""

        class Forgetful(Temporary):
            def dress(self, *given: Any) -> None:
                """Forget what was asked for."""

        class Careless(Files):
            def temporary(self, path: str, beside: Optional[Temporary] = None) -> Temporary:
                return Forgetful(
                    path, self.place(path, "write"), registered=self._temporary, unique="ccm-x"
                )

        event = self.apply(self.file("a", content="x"), files=Careless())
        expect_text(event["error"], self)

    def test_private_until_it_is_finished(self) -> None:
        """While it is written a file has another name beside its own and is nobody else's."""
        seen: List[Any] = []

        class Watched(Temporary):
            def write(self, data: bytes) -> None:
                super().write(data)
                directory = os.path.dirname(self._target)
                seen.append((os.path.exists(self._target), os.path.dirname(self.path) == directory))
                seen.append(stat.S_IMODE(os.stat(self.path).st_mode))

        class Watching(Files):
            def temporary(self, path: str, beside: Optional[Temporary] = None) -> Temporary:
                return Watched(
                    path, self.place(path, "write"), registered=self._temporary, unique="ccm-x"
                )

        self.apply(self.file("a", content="x", mode="0666"), files=Watching())
        self.assertEqual(seen, [(False, True), 0o600])
        self.assertEqual(self.mode("a"), 0o666)

    def test_directory_keeps_special_bits(self) -> None:
        """The sticky bit of a directory is not ours to take away."""
        os.makedirs(self.path("tmp"))
        os.chmod(self.path("tmp"), 0o1700)
        self.apply(self.file("tmp", ensure="directory", mode="0777"))
        self.assertEqual(self.mode("tmp"), 0o1777)
        self.assertEqual(
            self.apply(self.file("tmp", ensure="directory", mode="0777"))["status"], "stable"
        )

    def test_directory_behind_a_symlink(self) -> None:
        """A symlink to a directory is one, whose attributes are set; the symlink stays."""
        os.makedirs(self.path("real"))
        os.chmod(self.path("real"), 0o700)
        os.symlink("real", self.path("link"))
        resource = self.file("link", ensure="directory", mode="0755")
        event = self.apply(resource)
        self.assertEqual((event["error"], event["final_ensure"]), ([], "directory"))
        self.assertEqual((self.mode("real"), os.readlink(self.path("link"))), (0o755, "real"))
        self.assertEqual(self.apply(resource)["status"], "stable")
        self.apply(self.file("link/file", content="x"))
        self.assertEqual(self.read("real/file"), b"x")

    def test_special_bits_of_a_directory(self) -> None:
        """A fourth digit sets the special bits, five digits take them away, nothing else does."""
        for mode, after in (("2755", 0o2755), ("0755", 0o2755), ("1777", 0o1777), ("00755", 0o755)):
            resource = self.file("d", ensure="directory", mode=mode)
            self.assertEqual(self.apply(resource)["error"], [])
            self.assertEqual(self.mode("d"), after, mode)
            self.assertEqual(self.apply(resource)["status"], "stable")
        self.apply(self.file("new/d", ensure="directory", mode="1777"))
        self.assertEqual((self.mode("new"), self.mode("new/d")), (0o755, 0o1777))

    def test_setuid_of_a_file(self) -> None:
        """The mode of a file is exact, its special bits included."""
        resource = self.file("run", content="x", mode="4755")
        self.apply(resource)
        self.assertEqual((self.mode("run"), self.apply(resource)["status"]), (0o4755, "stable"))

    def test_wrong_kinds(self) -> None:
        """A file is not made a directory, nor a directory, a pipe or a link a file's attributes."""
        self.write("file")
        os.makedirs(self.path("dir"))
        os.mkfifo(self.path("pipe"))
        os.symlink("file", self.path("link"))
        for resource, words in (
            (self.file("file", ensure="directory"), "not a directory"),
            (self.file("link", ensure="directory"), "symlink"),
            (self.file("dir", content="x"), "is a directory"),
            (self.file("pipe", content="x"), "was not changed"),
            (self.file("link"), "is a symlink"),
        ):
            self.assertIn(words, self.apply(resource)["error"][0])

    def test_symlink_is_replaced(self) -> None:
        """Content replaces a symlink and is never written through it."""
        self.write("victim", b"precious")
        os.symlink("victim", self.path("link"))
        self.assertEqual(self.apply(self.file("link", content="new"))["status"], "changed")
        self.assertEqual((self.read("victim"), self.read("link")), (b"precious", b"new"))
        self.assertFalse(os.path.islink(self.path("link")))

    def test_absent_below_a_file(self) -> None:
        """Below a file there is nothing, so that what is to be absent there is."""
        self.write("f", b"x")
        for name in ("f/a", "f/b/c"):
            event = self.apply(self.file(name, ensure="absent"))
            self.assertEqual((event["status"], event["final_ensure"]), ("stable", "absent"))
            self.assertTrue(self.apply(self.file(name, ensure="directory"))["failed"])

    def test_absent_symlink(self) -> None:
        """absent removes a symlink itself."""
        self.write("victim", b"precious")
        os.symlink("victim", self.path("link"))
        self.apply(self.file("link", ensure="absent"))
        self.assertEqual(os.listdir(self.root), ["victim"])

    def test_directory_not_empty(self) -> None:
        """A directory with something in it is removed by force only."""
        os.makedirs(self.path("d", "e"))
        event = self.apply(self.file("d", ensure="absent"))
        expect_text(event["error"][0], self)
        self.assertTrue(os.path.exists(self.path("d", "e")))
        self.apply(self.file("d", ensure="absent", force=True))
        self.assertFalse(os.path.exists(self.path("d")))

    def test_local_source(self) -> None:
        """An absolute source is copied on the target, through a symlink too."""
        self.write("real", b"\0binary")
        os.symlink("real", self.path("source"))
        event = self.apply(self.file("copy", source=self.path("source")))
        self.assertEqual(self.read("copy"), b"\0binary")
        self.assertEqual(event["changes"][1]["diff"], "binary")
        expect_text(self.apply(self.file("b", source="/nonexistent"))["error"][0], self)

    def test_blob(self) -> None:
        """A blob is fetched when the destination differs and not when it does not."""
        store = BlobStore(b"from afar\n")
        resource = self.file("a", content=blob(b"from afar\n"))
        self.apply(resource, store=store)
        self.assertEqual((self.read("a"), len(store.asked)), (b"from afar\n", 1))
        self.apply(resource, store=store)
        self.assertEqual(len(store.asked), 1)

    def test_large_blob(self) -> None:
        """A large blob is streamed, and told by sizes and hashes."""
        data = os.urandom(1 << 20) + b"\n" * (2 << 20)
        event = self.apply(self.file("a", content=blob(data)), store=BlobStore(data))
        self.assertEqual(self.read("a"), data)
        self.assertIn("3145728 bytes", event["changes"][1]["diff"])

    def test_large_blob_in_noop(self) -> None:
        """A preview fetches nothing that it cannot show."""
        store = BlobStore(b"x" * (300 << 10))
        for options in ({}, {"diff": False}):
            size = 300 << 10 if not options else 10
            resource = self.file("a", content=blob(b"x" * size))
            self.assertTrue(self.apply(resource, store=store, noop=True, **options)["changed"])
        self.assertEqual(store.asked, [])

    def test_private_diff(self) -> None:
        """A file that others cannot read, before or after, has no diff unless it is asked for."""
        for old, new in ((0o600, "0644"), (0o644, "0600")):
            self.write("a", b"old\n", old)
            resource = self.file("a", content="new\n", mode=new)
            self.assertNotIn("diff", self.apply(resource, noop=True)["changes"][0])
            shown = self.apply(resource, noop=True, diff_private=True)["changes"][0]
            self.assertIn("+new", shown["diff"])

    def test_no_diff_of_what_is_not_known(self) -> None:
        """A prediction is as sure with a diff as without, also where only a hash is known."""
        for diff in (True, False):
            shared = context(noop=True, diff=diff)
            planned = [
                PathEffect(self.path(name), "file", 0o644, content=PackagedContent(b"new\n"))
                for name in ("in", "there")
            ]
            shared.expect(planned, Uncertainty(), "package#p")
            copies = [self.file("a", source=self.path("in")), self.file("there", content="x\n")]
            for event in run_items(copies, shared=shared):
                self.assertEqual((event["prediction"], event["status"]), ("certain", "changed"))
                self.assertNotIn("diff", event["changes"][-1])
                self.assertIn("sha256:", event["changes"][-1]["to"])

    def test_no_diff(self) -> None:
        """Without diff there is none."""
        event = self.apply(self.file("a", content="x"), diff=False)
        self.assertFalse([c for c in event["changes"] if "diff" in c])

    def test_validate(self) -> None:
        """A validation that fails leaves the old file, and its output is in the error."""
        self.write("conf", b"good old")
        check = "sh -c 'grep -q good \"$1\" || { echo no good >&2; exit 3; }' - {}"
        event = self.apply(self.file("conf", content="bad", validate=check))
        self.assertIn("exit code 3", event["error"][0])
        self.assertEqual(event["error"][1], "no good")
        self.assertEqual((self.read("conf"), self.leftovers()), (b"good old", []))
        self.apply(self.file("conf", content="good new", validate=check))
        self.assertEqual(self.read("conf"), b"good new")

    def test_validate_in_a_preview(self) -> None:
        """A validation that would fail fails the preview; nothing of it is left anywhere."""
        self.write("conf", b"good old")
        check = "sh -c 'stat -c %%a $1; dirname $1; touch %s; exec grep -q good $1' - {}" % (
            self.path("trace") if LAYERED else "/dev/null"
        )
        event = self.apply(self.file("conf", content="bad", validate=check), noop=True)
        self.assertTrue(event["failed"])
        self.assertIn("exit code 1", event["error"][0])
        mode, directory = event["error"][1].splitlines()
        self.assertEqual(mode, "644")
        self.assertEqual(directory == self.root, LAYERED, "beside its destination, for root")
        event = self.apply(self.file("conf", content="good new", validate=check), noop=True)
        self.assertEqual((event["failed"], event["changed"]), (False, True))
        self.assertEqual(self.read("conf"), b"good old")
        self.assertEqual(os.listdir(self.root), ["conf"])
        self.assertEqual(os.path.exists(directory), LAYERED)

    @unittest.skipUnless(LAYERED, "needs root, and mounts")
    def test_validate_in_a_preview_sees_the_neighbours_and_the_owner(self) -> None:
        """What is validated stands beside what it includes and is its owner's, as in the push."""
        self.write("include", b"x")
        check = "sh -c 'cd $(dirname $1) && cat include && test $(stat -c %u:%g $1) = 7:8' - {}"
        good = self.file("conf", content="x", owner="7", group="8", validate=check)
        bad = self.file("other", content="x", owner="7", group="7", validate=check)
        for noop in (True, False):
            events = run_items([good, bad], noop=noop)
            self.assertEqual([e["status"] for e in events], ["changed", "failed"])

    def test_validated_file_is_finished(self) -> None:
        """The file that is validated has its content and mode, beside its destination."""
        check = "sh -c 'stat -c %%a $1 > %s; dirname $1 >> %s' - {}" % (
            self.path("seen"),
            self.path("seen"),
        )
        self.apply(self.file("conf", content="x", mode="0640", validate=check))
        self.assertEqual(self.read("seen").decode(), "640\n%s\n" % self.root)

    def test_full_disk(self) -> None:
        """A full disk is told, with the old file and nothing else left."""
        self.write("a", b"old")
        event = self.apply(self.file("a", content="new"), files=FailingFiles())
        expect_text(event["error"][0], self)
        self.assertEqual((self.read("a"), self.leftovers()), (b"old", []))

    def test_unknown_owner(self) -> None:
        """An owner that does not exist fails before anything is written."""
        event = self.apply(self.file("a", content="x", owner="ccm-no-such-user"))
        expect_text(event["error"][0], self)
        self.assertEqual(os.listdir(self.root), [])

    def test_ids(self) -> None:
        """Digits only are ids, and equal the name of the same account."""
        self.apply(self.file("a", content="x", owner=str(os.geteuid()), group=GROUP))
        event = self.apply(self.file("a", content="x", owner=OWNER))
        self.assertEqual(event["status"], "stable")

    @unittest.skipUnless(ROOT, "only root gives files away")
    def test_owner(self) -> None:
        """Owner and group are set, also for an id without a name."""
        self.apply(self.file("a", content="x", owner="54321", group="daemon"))
        found = os.stat(self.path("a"))
        self.assertEqual((found.st_uid, found.st_gid), (54321, grp.getgrnam("daemon").gr_gid))
        event = self.apply(self.file("a", content="x"))
        told = [(change["what"], change["from"]) for change in event["changes"]]
        self.assertEqual(told, [("owner", "54321"), ("group", "daemon")])
        self.assertEqual(os.stat(self.path("a")).st_gid, os.getegid())

    @unittest.skipUnless(ROOT, "only root gives directories away")
    def test_owner_of_a_directory(self) -> None:
        """Owner and group are those of the directory, new or not, and never of what it holds."""
        owned: Dict[str, Any] = {"ensure": "directory", "owner": "54321", "group": "daemon"}
        self.apply(self.file("new", **owned))
        os.makedirs(self.path("old"))
        self.write("old/held")
        self.apply(self.file("old", **owned))
        wanted = (54321, grp.getgrnam("daemon").gr_gid)
        for name in ("new", "old"):
            found = os.stat(self.path(name))
            self.assertEqual((found.st_uid, found.st_gid), wanted)
        self.assertEqual(os.stat(self.path("old/held")).st_uid, os.geteuid())

    @unittest.skipUnless(hasattr(os, "setxattr"), "extended attributes are Linux's")
    def test_attributes_are_carried_over(self) -> None:
        """Extended attributes of the replaced file are on the new one, capabilities are not."""
        self.write("a", b"old")
        try:
            os.setxattr(self.path("a"), "user.note", b"kept")
        except OSError as error:
            self.skipTest("no extended attributes here: %s" % error)
        self.apply(self.file("a", content="new"))
        self.assertEqual(os.getxattr(self.path("a"), "user.note"), b"kept")

    def test_hash_is_cached(self) -> None:
        """A file is hashed once per run, and again once it has changed."""
        self.write("a", b"x")
        shared = context()
        with mock.patch.object(files, "sha256", side_effect=sha256) as hashed:
            for _ in range(3):
                run_items([self.file("a", content="x")], shared=shared)
            self.assertEqual(hashed.call_count, 1)
            time.sleep(0.01)
            self.write("a", b"y")
            run_items([self.file("a", content="y")], shared=shared)
            self.assertEqual(hashed.call_count, 2)

    def test_hash_of_all_there_is(self) -> None:
        """Whatever its size was said to be, as of what has none."""
        data = bytes(range(256)) * 2048
        path = self.write("a", data)
        for size in (0, 10, len(data) - 1, len(data), len(data) + 1):
            files = Files()
            known = files.status(path)
            assert known is not None
            found = files.sha256(path, known._replace(size=size))
            self.assertEqual(found, hashlib.sha256(data).hexdigest())
        with open("/proc/version", "rb") as file:
            said = file.read()
        self.assertEqual(Files().sha256("/proc/version"), hashlib.sha256(said).hexdigest())

    def test_long_name(self) -> None:
        """A name of 255 bytes leaves room for its temporary file, one of 256 is too long."""
        self.assertEqual(self.apply(self.file("n" * 255, content="x"))["error"], [])
        self.assertIn("too long", self.apply(self.file("n" * 256, content="x"))["error"][0])

    def test_changed_paths(self) -> None:
        """What was written or removed is known to the resources that come later."""
        self.write("gone")
        shared = context()
        run_items([self.file("a", content="x"), self.file("gone", ensure="absent")], shared=shared)
        self.assertEqual(shared.changed_paths, {self.path("a"), self.path("gone")})

    def test_a_copy_is_no_surer_than_its_source(self) -> None:
        """What a pending command may change makes assumed what is copied from a copy of it, and
        what stands beside it stays certain."""
        for name in ("source", "other"):
            self.write(name, b"x")
        command = {"command": "true", "affects": [self.path("source")]}
        copies = [
            self.file(to, source=self.path(of))
            for of, to in (("source", "a"), ("a", "b"), ("b", "c"), ("other", "d"))
        ]
        texts = [self.file("source", content="y"), self.file("e", source=self.path("source"))]
        command_first = item("exec", "make", properties=command)
        events = run_items([command_first, *copies, *texts], noop=True)
        expected = ["assumed"] * 3 + ["certain", "assumed", "certain"]
        self.assertEqual([event["prediction"] for event in events[1:]], expected)
