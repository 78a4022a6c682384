import grp
import hashlib
import os
import unittest
from typing import Any, Dict, List, Tuple

from remote_runtime.errors import ProtocolError
from remote_runtime.execution.plan_executor import ResourceResult
from remote_runtime.state.earlier_results import parse
from tests.remote_runtime.fakes import OWNER, DirectoryTest, Script, ScriptRegistry, item, run_items

GOOD = {"met": True, "changed": True, "noop": False}


class EarlierTest(unittest.TestCase):
    def test_turns_by_reference(self) -> None:
        """Each reference has the turn that it had in an earlier command."""
        earlier = parse({"resources": {"exec#a": GOOD}, "pending": True})
        step = earlier.results["exec#a"]
        self.assertEqual((step.met, step.changed, step.noop), (True, True, False))
        (fog,) = earlier.pending
        self.assertEqual((fog.uncertainty.level, fog.covers("path", "/x", True)), ("assumed", True))
        self.assertEqual(parse({}).pending, [])

    def test_what_is_broken_is_refused(self) -> None:
        """Anything but the three flags is a broken plan."""
        entries: List[Any] = [{"resources": []}, {"resources": {"a#b": {}}}, {"pending": 1}]
        for entry in [*entries, {"resources": {"a#b": dict(GOOD, met="yes")}}]:
            with self.assertRaises(ProtocolError):
                parse(entry)

    def test_gates_and_subscriptions(self) -> None:
        """A resource requires, and is fired by, what an earlier command did."""
        results = {
            "t#good": ResourceResult(True, True),
            "t#bad": ResourceResult(False),
            "t#preview": ResourceResult(True, True, noop=True),
        }
        cases: List[Tuple[Dict[str, Any], bool, str]] = [
            ({"require": ("t#good",)}, False, "changed"),
            ({"require": ("t#bad",)}, False, "skipped"),
            ({"require": ("t#never",)}, False, "skipped"),
        ]
        for fields, noop, status in cases:
            registry = ScriptRegistry(a=Script())
            (event,) = run_items([item("t", "a", **fields)], registry, noop, results=results)
            self.assertEqual(event["status"], status, fields)
        for reference, noop, refreshed in (
            ("t#good", False, True),
            ("t#preview", False, False),
            ("t#preview", True, True),
            ("t#bad", True, False),
        ):
            registry = ScriptRegistry(a=Script())
            fired = item("t", "a", subscribe=(reference,))
            (event,) = run_items([fired], registry, noop, results=results)
            self.assertEqual(event["refreshed"], refreshed, (reference, noop))


class StatusTest(DirectoryTest):
    def test_only_looks(self) -> None:
        """With status_only nothing desired is asked for, and the event tells what was found."""
        path = self.root + "/a.tar"
        for kind in ("file", "archive"):
            (event,) = run_items([item(kind, path)], noop=True, status_only=True)
            self.assertEqual((event["final_ensure"], event["properties"]), ("absent", {}))
        self.write("a.tar", b"abc", 0o640)
        os.utime(path, (0, 86400.5))
        found = {
            "owner": OWNER,
            "group": grp.getgrgid(os.stat(path).st_gid).gr_name,
            "mode": "0640",
            "size": 3,
            "checksum": hashlib.sha256(b"abc").hexdigest(),
            "mtime": "1970-01-02T00:00:00Z",
        }
        for kind in ("file", "archive"):
            (event,) = run_items([item(kind, path)], noop=True, status_only=True)
            self.assertEqual((event["final_ensure"], event["status"]), ("present", "stable"))
            self.assertEqual(event["properties"], found)

    def test_a_directory_is_looked_at_too(self) -> None:
        """A directory has attributes and no content, a symlink says what it is."""
        os.makedirs(self.path("d"))
        os.symlink("d", self.path("link"))
        for name, ensure in (("d", "directory"), ("link", "present")):
            (event,) = run_items([item("file", self.path(name))], noop=True, status_only=True)
            self.assertEqual(event["final_ensure"], ensure)
            self.assertNotIn("checksum", event["properties"])
            self.assertEqual(event["properties"].get("kind"), {"link": "symlink"}.get(name))

    def test_what_has_no_state_says_so(self) -> None:
        """An exec fails, since it has only conditions."""
        (event,) = run_items([item("exec", "x")], noop=True, status_only=True)
        self.assertEqual(event["status"], "failed")
        self.assertIn("no state", event["error"][0])
