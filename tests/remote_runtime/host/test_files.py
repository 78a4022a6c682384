"""What the ports of files do beside the change itself."""

import os
import unittest
from typing import Any
from unittest import mock

from remote_runtime.changes import Missing
from remote_runtime.content import Text
from remote_runtime.effects import Below, PathEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import NewAttributes
from remote_runtime.host.machine import files
from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.uncertainty import UNKNOWN, Uncertainty
from tests.remote_runtime.fakes import DirectoryTest, context, failure_of, item, run_items
from tests.texts import expect_text

OURS: Any = {"uid": os.geteuid(), "gid": os.getegid()}


class FilesTest(DirectoryTest):
    def test_accounts_are_read_again_after_their_file_has_changed(self) -> None:
        """Whichever type writes it."""
        path = self.write("group", b"a:x:1:\n")
        ctx = context()
        edit = item("edit", path, properties={"line": "a:x:2:", "match": "^a:"})
        forget = mock.patch.object(ctx.accounts, "forget")
        with mock.patch.object(files, "_DATABASES", frozenset([path])), forget as forgotten:
            run_items([edit], shared=ctx)
        self.assertEqual(forgotten.call_count, 1)

    def test_a_shared_overlay_stays_as_it_is(self) -> None:
        """A later call sees what an earlier one would leave, and nobody else does."""
        ctx = context(noop=True)
        with ctx.for_resource(item("file", "/x"), True):
            world = ctx.planned()
            host = Overlay(world, "file#x", context=ctx, shared=True)
            host.files.put(self.path("a"), Text("x"), mode=0o600, **OURS)
            self.assertIsNone(world.files.status(self.path("a")))
            self.assertEqual(host.files.read(self.path("a")), b"x")
            host.accounts.uid("root")
            host.files.unlink(self.path("a"))
            self.assertIsNone(host.files.lstat(self.path("a")))
            self.assertIsNone(world.files.status(self.path("a")))
        kinds = [one.kind for one in host.record.effects if isinstance(one, PathEffect)]
        self.assertEqual(kinds, ["file", "absent"])

    def test_a_directory_that_an_unknown_change_may_empty_or_fill(self) -> None:
        """Whether it is empty is as uncertain as each of its names, and as a new one."""
        for name, inside in (("a", ["f"]), ("b", [])):
            os.makedirs(self.path(name))
            for one in inside:
                self.write(os.path.join(name, one))
            ctx = context(noop=True)
            fog = UnknownEffect(Uncertainty(UNKNOWN, "why"), Below(self.path(name)))
            ctx.expect([fog], Uncertainty(), "t#a")
            gone = item("file", self.path(name), properties={"ensure": "absent"})
            (event,) = run_items([gone], shared=ctx, noop=True)
            self.assertEqual((event["prediction"], event["failed"]), (UNKNOWN, False), name)

    def test_what_belongs_to_a_planned_account(self) -> None:
        """A preview records the number of that account, and not that of the run."""
        planned: Any = {"uid": -1001, "gid": -1002}
        ctx = context(noop=True)
        with ctx.for_resource(item("file", "/x"), True):
            host = Overlay(ctx.overlay_with(()), "file#x", context=ctx)
            with mock.patch("os.geteuid", return_value=0):
                host.files.put(self.path("put"), Text("x"), mode=0o600, **planned)
                host.files.write(self.path("written"), b"x", mode=0o600, **planned)
                host.files.mkdir(self.path("made"), 0o700, **planned)
        owners = [(one.uid, one.gid) for one in host.record.effects if isinstance(one, PathEffect)]
        self.assertEqual(owners, [(-1001, -1002)] * 3)

    def test_a_copy_keeps_mode_and_times_and_no_right_to_act_as_another(self) -> None:
        """The overlay foresees content and mode of it."""
        path, copy = self.write("a", b"x", 0o4755), self.path(".a.~1~")
        os.utime(path, (5, 5))
        ctx = context(noop=True)
        with ctx.for_resource(item("file", "/x"), True):
            host = Overlay(ctx.overlay_with(()), "file#x", context=ctx)
            host.files.back_up(path, copy)
            predicted = host.files.lstat(copy)
            self.assertEqual(host.files.read(copy), b"x")
        self.assertFalse(os.path.exists(copy))
        machine(context()).files.back_up(path, copy)
        found = machine(context()).files.lstat(copy)
        assert found is not None
        assert predicted is not None
        self.assertEqual((found.mode, found.mtime, self.read(".a.~1~")), (0o755, 5, b"x"))
        self.assertEqual((predicted.mode, predicted.size), (found.mode, found.size))

    def test_a_copy_has_the_size_that_the_file_had(self) -> None:
        """A user who has the own file grow does not fill the disk."""
        path, copy = self.write("a", b"x" * 10), self.path(".a.~1~")
        ctx = context()

        def grow() -> None:
            if os.path.getsize(path) < 100:
                with open(path, "ab") as file:
                    file.write(b"y" * 10)

        with mock.patch.object(ctx, "check_cancelled", grow):
            machine(ctx).files.back_up(path, copy)
        self.assertEqual(self.read(".a.~1~"), b"x" * 10)

    def test_a_copy_without_room_is_not_begun(self) -> None:
        """A sparse file of a user takes no room itself, but its copy does."""
        path, copy = self.write("a", b"x"), self.path(".a.~1~")
        os.truncate(path, 1 << 43)
        error = failure_of(lambda: machine(context()).files.back_up(path, copy))
        expect_text(str(error), self)
        self.assertEqual(os.listdir(self.root), ["a"])

    def test_what_is_gone_needs_no_attributes(self) -> None:
        """What comes behind it gets them."""
        path = self.write("a", b"x", 0o600)
        gone = NewAttributes(self.path("gone"), "file", mode=0o644, **OURS)
        machine(context()).files.set_all_attributes(
            [gone, NewAttributes(path, "file", mode=0o640, **OURS)]
        )
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)

    def test_contents(self) -> None:
        """A source that is not there is missing; one that is not known cannot be put."""
        host = machine(context())
        missing = failure_of(lambda: host.contents.local(self.path("none")))
        self.assertIsInstance(missing, Missing)
        self.assertEqual(host.contents.text("é").read(), b"\xc3\xa9")
        with self.assertRaises(ResourceError) as caught:
            host.files.put(self.path("a"), None, mode=0o600, **OURS)
        self.assertIn("the content of %s is not known yet" % self.path("a"), str(caught.exception))


if __name__ == "__main__":
    unittest.main()
