"""What is told lasts."""

import json
import os
import unittest
from typing import Any, Dict, List

from tests.remote_runtime.controller import ROOT, RuntimeTest

# Notes renames, syncs of directories and the writes of the protocol in the order in which they end.
WATCH = """
import errno, json, os, stat, sys
sys.path.insert(0, {root!r})
from remote_runtime.protocol import channel
channel.FLUSH = {flush}
trace = os.open({trace!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
rename, fsync, write = os.rename, os.fsync, os.write
def note(*what):
    write(trace, (json.dumps(what) + "\\n").encode())
def watched_rename(source, target, **at):
    rename(source, target, **at)
    note("rename", str(target))
def watched_fsync(descriptor):
    fsync(descriptor)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        folder = os.readlink("/proc/self/fd/%d" % descriptor)
        note("sync", folder)
        if folder.endswith("/{failing}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
def watched_write(descriptor, data):
    note("write", bytes(data).count(b'"t":"event"'))
    return write(descriptor, data)
os.rename, os.fsync, os.write = watched_rename, watched_fsync, watched_write
"""


class SettlingTest(RuntimeTest):
    def want(self, number: int) -> Dict[str, Any]:
        name = self.path("files/%d" % number)
        owner, group = os.getuid(), os.getgid()
        properties = {
            "name": name, "ensure": "present", "content": "x", "mode": "0644",
            "owner": str(owner), "group": str(group),
        }  # fmt: skip
        return {
            "id": "file#" + name, "type": "file", "name": name, "properties": properties,
            "index": number,
        }  # fmt: skip

    def push(self, count: int, failing: str = "none", flush: float = 0.05) -> Any:
        os.mkdir(self.path("files"))
        prologue = WATCH.format(root=ROOT, flush=flush, trace=self.path("trace"), failing=failing)
        target = self.target(prologue=prologue)
        events = target.push(*[self.want(number) for number in range(count)])
        self.assertEqual([event["status"] for event in events], ["changed"] * count)
        return target

    def trace(self) -> List[Any]:
        with open(self.path("trace")) as file:
            return [json.loads(line) for line in file]

    def test_an_event_leaves_when_its_file_lasts(self) -> None:
        """No event is written before its directory was synced."""
        self.push(40)
        renamed = synced = told = 0
        for what, value in self.trace():
            if what == "rename" and value.isdigit():
                renamed += 1
            elif what == "sync" and value == self.path("files"):
                synced = renamed
            elif what == "write":
                told += value
                self.assertLessEqual(told, synced)
        self.assertEqual((renamed, told), (40, 40))

    def test_files_that_are_told_of_together_share_a_sync(self) -> None:
        """All events of a short run leave in one write, so their directory is synced once."""
        self.push(40, flush=60)
        self.assertEqual(self.trace().count(["sync", self.path("files")]), 1)

    def test_a_command_finds_no_directory_open(self) -> None:
        """It may unmount what a file was written to; what could not be synced is told then, too."""
        os.mkdir(self.path("files"))
        listing = "ls -l /proc/$PPID/fd 2>/dev/null"  # other ones come and go meanwhile
        shell = "sh -c '%s | grep -c %s$; true'" % (listing, self.path("files"))
        look = {
            "id": "exec#look", "type": "exec", "name": "look", "index": 1, "properties": {
                "name": "look", "command": shell, "logoutput": True,
            },
        }  # fmt: skip
        trace = self.path("trace")
        prologue = WATCH.format(root=ROOT, flush=60, trace=trace, failing="files")
        target = self.target(prologue=prologue)
        events = target.push(self.want(0), look)
        self.assertEqual(events[1]["output"].strip(), "0")
        self.assertIn("Input/output error", target.of("notice")[0]["text"])

    def test_a_directory_that_cannot_be_synced_is_told(self) -> None:
        """The warning comes before the event that may not last."""
        target = self.push(1, failing="files")
        kinds = [frame["t"] for frame in target.frames if frame["t"] in ("notice", "event")]
        self.assertEqual(kinds, ["notice", "event"])
        self.assertIn("Input/output error", target.of("notice")[0]["text"])


if __name__ == "__main__":
    unittest.main()
