"""Packages of Node.js: what npm says, and what the real npm makes of it."""

import json
import os
import shutil
import tempfile
import unittest
from types import SimpleNamespace
from typing import Any

from remote_runtime.packages.language_packages import npm_calls
from remote_runtime.packages.managers.npm import Npm
from remote_runtime.system.files import Files
from remote_runtime.system.process.commands import Result

from ..fakes import DirectoryTest, item, one, run_items
from .npm_registry import NpmRegistry


class Answers(unittest.TestCase):
    def test_versions(self) -> None:
        """One version or several, a name that is missing, and a registry that does not answer."""
        said = {"versions": ["1.9.0", "1.10.0", "2.0.0-rc.1"], "dist-tags": {"latest": "1.10.0"}}
        found = npm_calls.answer(Result(0, json.dumps(said), ""))
        self.assertEqual(found.candidate, "1.10.0")
        self.assertEqual(list(found.versions), ["2.0.0-rc.1", "1.10.0", "1.9.0"])
        said = {"versions": "0.1.0", "dist-tags": {"latest": "0.1.0"}}
        self.assertEqual(npm_calls.answer(Result(0, json.dumps(said), "")).versions, ["0.1.0"])
        self.assertFalse(npm_calls.answer(Result(1, '{"error": {"code": "E404"}}', "")).known)
        for text in ("", '{"error": {"code": "ECONNREFUSED"}}', "no JSON"):
            with self.assertRaises(ValueError):
                npm_calls.answer(Result(1, text, ""))

    def test_lock_files(self) -> None:
        """What may be missing does not count, and with production nothing for development."""
        lock = {
            "packages": {
                "": {"version": "1"},
                "node_modules/a": {"version": "1.0.0"},
                "node_modules/a/node_modules/b": {"version": "2.0.0"},
                "node_modules/c": {"version": "3.0.0", "dev": True},
                "node_modules/d": {"version": "4.0.0", "optional": True},
                "node_modules/e": {"resolved": "e", "link": True},
                "node_modules/../../x": {"version": "5.0.0"},
                "/etc/node_modules/x": {"version": "6.0.0"},
            }
        }
        found = dict(npm_calls.locked(lock, True))
        expected = {"node_modules/a": "1.0.0", "node_modules/a/node_modules/b": "2.0.0"}
        self.assertEqual(found, expected)
        self.assertEqual(len(dict(npm_calls.locked(lock, False))), 3)
        old = {"dependencies": {"a": {"version": "1.0.0"}}}
        self.assertEqual(dict(npm_calls.locked(old, False)), {"node_modules/a": "1.0.0"})


class Documents(DirectoryTest):
    def test_documents_that_would_take_much(self) -> None:
        """The owner of a directory writes them: they count as broken, as does no JSON."""
        manager: Any = SimpleNamespace(context=SimpleNamespace(files=Files()))
        rows: Any = [
            (b'{"version": "1"}', {"version": "1"}),
            (b"[" * 100_000, {}),
            (b'{"a": [%s0]}' % (b"0," * 2_100_000), {}),
            (b"{", {}),
        ]
        for text, expected in rows:
            self.write("package.json", text)
            found = Npm._document(manager, self.path("package.json"))
            self.assertEqual(found, expected, text[:20])


@unittest.skipUnless(shutil.which("npm"), "npm is not installed")
class RealNpm(DirectoryTest):
    """npm with a registry on this machine."""

    def setUp(self) -> None:
        super().setUp()
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="ccm-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.root, True)
        self.registry = NpmRegistry()
        self.addCleanup(self.registry.close)
        self.registry.add("helper", "1.0.0")
        self.registry.add("@team/app", "1.0.0", "2.0.0", dependencies={"helper": "^1.0.0"})

    def run_one(self, name: str, noop: bool = False, **properties: Any) -> Any:
        given = dict({"path": self.path("app"), "index_url": self.registry.url}, **properties)
        return one(run_items([item("package", name, properties=given, provider="npm")], noop=noop))

    def test_from_nothing_to_nothing(self) -> None:
        """A directory is made, filled, found, changed and emptied, each as foretold."""
        preview = self.run_one("@team/app", True, ensure="1.0.0")
        self.assertFalse(os.path.exists(self.path("app")))
        event = self.run_one("@team/app", ensure="1.0.0")
        self.assertEqual((preview["prediction"], preview["changes"]), ("certain", event["changes"]))
        self.registry.asked.clear()
        self.assertEqual(self.run_one("@team/app", ensure="1.0.0")["status"], "stable")
        self.assertEqual(self.run_one("helper")["status"], "stable")
        self.assertEqual(self.registry.asked, [])
        self.assertEqual(self.run_one("@team/app", ensure="latest")["final_ensure"], "2.0.0")
        shutil.rmtree(self.path("app", "node_modules"))
        preview = self.run_one("all", True, ci=True, production=True)
        event = self.run_one("all", ci=True, production=True)
        self.assertEqual((event["error"], event["changes"]), ([], preview["changes"]))
        self.assertEqual(preview["prediction"], "assumed")
        self.assertEqual(self.run_one("all", ci=True)["status"], "stable")
        self.assertEqual(self.run_one("@team/app", ensure="absent")["status"], "changed")
        self.assertFalse(os.path.exists(self.path("app", "node_modules", "@team", "app")))

    def test_a_registry_that_does_not_answer(self) -> None:
        """The preview is unknown then, and the push fails before anything is made."""
        lost = "http://127.0.0.1:1/"
        preview = self.run_one("helper", True, index_url=lost)
        self.assertEqual((preview["prediction"], preview["failed"]), ("unknown", False))
        event = self.run_one("helper", index_url=lost)
        self.assertIn("did not answer", event["error"][0])
        self.assertFalse(os.path.exists(self.path("app")))
        self.assertIn("the index has no package", self.run_one("nothing")["error"][0])


if __name__ == "__main__":
    unittest.main()
