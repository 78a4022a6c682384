import os
import stat
import unittest
from typing import Any, Dict, List

from remote_runtime.effects import PathEffect
from remote_runtime.resources.file.backups import MAX_BACKUPS, number_of
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import (
    ROOT,
    DirectoryTest,
    close,
    context,
    item,
    one,
    run_items,
)


class BackupTest(DirectoryTest):
    def put(self, content: str, **options: Any) -> Dict[str, Any]:
        resource = self.file("motd", content=content, backup=True)
        return one(run_items([resource], **options))

    def backups(self) -> List[str]:
        return sorted(name for name in os.listdir(self.root) if name.endswith("~"))

    def test_the_old_file_stays_beside_the_new_one(self) -> None:
        """It keeps its mode, its owner and its times."""
        path = self.write("motd", b"old\n", 0o640)
        os.utime(path, (1000000000, 1100000000))
        if ROOT:
            os.chown(path, 4711, 4712)
        event = self.put("new\n")
        self.assertEqual((event["error"], self.read("motd")), ([], b"new\n"))
        kept = self.path(".motd.~1~")
        self.assertEqual(self.read(".motd.~1~"), b"old\n")
        found = os.stat(kept)
        self.assertEqual((stat.S_IMODE(found.st_mode), found.st_mtime), (0o640, 1100000000))
        if ROOT:
            self.assertEqual((found.st_uid, found.st_gid), (4711, 4712))
        told = {"what": "backup", "from": None, "to": kept}
        self.assertIn(told, event["changes"])

    def test_a_preview_names_it(self) -> None:
        """The same records as those of the push, and nothing is made."""
        self.write("motd", b"old\n")
        preview = self.put("new\n", noop=True)
        self.assertEqual((self.backups(), preview["prediction"]), ([], "certain"))
        self.assertEqual(preview["changes"], self.put("new\n")["changes"])

    def test_only_what_is_replaced_is_kept(self) -> None:
        """A new file, equal content and other attributes leave none."""
        self.put("new\n")
        self.put("new\n")
        os.chmod(self.path("motd"), 0o600)
        event = self.put("new\n")
        self.assertEqual([change["what"] for change in event["changes"]], ["mode"])
        self.assertEqual(self.backups(), [])

    def test_long_numbers(self) -> None:
        """A name with a date as its number is a backup, and the next one counts on."""
        self.assertEqual(number_of(".motd.~20261129043811~", "motd"), 20261129043811)

    def test_the_newest_ones_stay(self) -> None:
        """The oldest is removed, and the preview tells that."""
        for number in range(MAX_BACKUPS + 1):
            self.put("%d\n" % number)
        self.assertEqual(self.backups(), [".motd.~%d~" % (at + 1) for at in range(MAX_BACKUPS)])
        gone = {"what": self.path(".motd.~1~"), "from": "file", "to": "absent"}
        self.assertIn(gone, self.put("more\n", noop=True)["changes"])
        self.assertIn(gone, self.put("more\n")["changes"])
        self.assertEqual(self.backups(), [".motd.~%d~" % (at + 2) for at in range(MAX_BACKUPS)])

    def test_a_run_that_was_killed_in_between(self) -> None:
        """A backup of the very content is not made again."""
        self.write("motd", b"old\n")
        self.write(".motd.~7~", b"old\n")
        event = self.put("new\n")
        self.assertEqual(self.backups(), [".motd.~7~"])
        self.assertNotIn("backup", [change["what"] for change in event["changes"]])

    def test_numbers_go_on(self) -> None:
        """Behind the highest one, whatever a link with such a name leads to."""
        self.write("motd", b"old\n")
        self.write(".motd.~9~", b"older\n")
        os.symlink("/etc/passwd", self.path(".motd.~20~"))
        self.put("new\n")
        self.assertEqual(self.backups(), [".motd.~10~", ".motd.~20~", ".motd.~9~"])

    def test_nobody_runs_as_its_owner(self) -> None:
        """A backup of a program with setuid has none."""
        self.write("motd", b"old\n", 0o6755)
        self.put("new\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.path(".motd.~1~")).st_mode), 0o755)

    def test_a_failed_validation_leaves_none(self) -> None:
        """Nothing is replaced, so nothing is kept."""
        self.write("motd", b"old\n")
        resource = self.file("motd", content="new\n", backup=True, validate="false {}")
        event = one(run_items([resource]))
        self.assertTrue(event["failed"])
        self.assertEqual((self.backups(), self.read("motd")), ([], b"old\n"))

    def test_a_link_is_no_file(self) -> None:
        """What a link leads to is not replaced, so there is nothing to keep."""
        self.write("behind", b"old\n")
        os.symlink("behind", self.path("motd"))
        self.put("new\n")
        self.assertEqual((self.backups(), self.read("behind")), ([], b"old\n"))

    def test_later_resources_of_a_preview_see_it(self) -> None:
        """Its content is that of before, also where that is planned itself."""
        self.write("motd", b"old\n")
        copy = self.file("copy", 1, source=self.path(".motd.~1~"))
        events = run_items([self.file("motd", content="new\n", backup=True), copy], noop=True)
        pushed = run_items([self.file("motd", content="new\n", backup=True), copy])
        self.assertEqual([e["changes"] for e in events], [e["changes"] for e in pushed])
        self.assertEqual(events[1]["prediction"], "certain")

    def test_a_planned_file_is_kept(self) -> None:
        """A preview sees the file of an earlier resource, not that of the host."""
        self.write("motd", b"host\n")
        resource = self.file("motd", 1, content="new\n", backup=True)
        ctx = context([resource], noop=True)
        planned = item("file", "earlier")
        with ctx.for_resource(planned, True):
            effect = PathEffect(self.path("motd"), "file", 0o644, os.geteuid(), os.getegid())
            ctx.expect([effect._replace(content=_text("planned\n"))], Uncertainty(), "earlier")
        run_items([resource], shared=ctx)
        with ctx.for_resource(planned, True):
            self.assertEqual(ctx.files.read(self.path(".motd.~1~"), 100), b"planned\n")
        close(ctx)

    def test_names(self) -> None:
        """Only those of this very file count."""
        self.assertEqual(number_of(".a.~3~", "a"), 3)
        for name in (
            ".a.~x~",
            "a.~3~",
            ".a.~3~.bak",
            ".ab.~3~",
            ".a.~%s~" % ("9" * 19),
            ".a.~3~\n",
        ):
            self.assertEqual(number_of(name, "a"), 0)


def _text(text: str) -> Any:
    from remote_runtime.content import Text

    return Text(text)


if __name__ == "__main__":
    unittest.main()
