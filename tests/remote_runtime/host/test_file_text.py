import os
import unittest
from typing import Any

from remote_runtime.base import Diff, PathStateType
from remote_runtime.host.file_text import FileText, diff_of
from tests.remote_runtime.fakes import DirectoryTest, item, one
from tests.remote_runtime.host.kinds import run
from tests.texts import expect_text


class Greeting(PathStateType):
    """The first line of a file."""

    noun = "greeting"
    _after = b""

    def read(self, host: Any) -> Any:
        node = host.files.stat(self.name)
        if node is None:
            return None
        data = host.files.read(self.name)
        first, _, rest = data.partition(b"\n")
        word = self.properties.get("text", "").encode()
        if self.ensure == "absent":
            self._after = rest
            return {"content": FileText(data, node.mode)} if first == word else None
        self._after = word + b"\n" + rest
        return {"content": FileText(data, node.mode)}

    def desired(self) -> Any:
        return {"content": FileText(self._after, 0o644)}

    def remaining(self) -> Any:
        return self.desired()

    def left(self, host: Any) -> Any:
        return {"first": host.files.read(self.name).partition(b"\n")[0].decode()}

    def apply(self, host: Any, diff: Diff) -> None:
        host.files.rewrite(self.name, self._after, validate=self.properties.get("validate", ""))

    def remove(self, host: Any) -> None:
        host.files.rewrite(self.name, self._after)


class FileTextTest(DirectoryTest):
    def event(self, mode: int = 0o644, **given: Any) -> Any:
        """The event of a preview, which has to tell what the push tells."""
        fields = {key: given.pop(key) for key in ("sensitive", "secrets") if key in given}
        properties = given.pop("properties", {"text": "hello"})
        path = self.write("a", b"good day\nrest\n", mode)
        greeting = item("greeting", path, properties=properties, **fields)
        preview = one(run(Greeting, greeting, noop=True, **given))
        push = one(run(Greeting, greeting, **given))
        self.assertEqual((preview["changes"], push["error"]), (push["changes"], []))
        self.assertEqual(self.read("a"), b"hello\nrest\n")
        self.assertEqual(one(run(Greeting, greeting))["status"], "stable")
        return preview

    def test_a_diff(self) -> None:
        """A change of content has both hashes and a unified diff."""
        (change,) = self.event()["changes"]
        self.assertEqual(change["what"], "content")
        self.assertTrue(change["from"].startswith("sha256:"))
        self.assertIn("-good day\n+hello\n rest\n", change["diff"])

    def test_a_private_file(self) -> None:
        """A file that others cannot read has no diff unless it is asked for."""
        (change,) = self.event(0o600)["changes"]
        self.assertNotIn("diff", change)
        (change,) = self.event(0o600, diff_private=True)["changes"]
        self.assertIn("+hello", change["diff"])

    def test_no_diff(self) -> None:
        """Without diffs there is none; that of a sensitive resource is masked."""
        (change,) = self.event(diff=False)["changes"]
        self.assertNotIn("diff", change)
        (change,) = self.event(sensitive=True)["changes"]
        self.assertNotIn("hello", str(change))

    def test_a_secret(self) -> None:
        """A text with a secret is told without its hash, and the secret is masked in the diff."""
        (change,) = self.event(secrets=["text"])["changes"]
        self.assertNotIn("hello", str(change))
        self.assertNotIn("sha256", str(change))

    def test_removed(self) -> None:
        """What an absent part leaves is told, too."""
        path = self.write("a", b"hello\nrest\n")
        properties = {"text": "hello", "ensure": "absent"}
        event = one(run(Greeting, item("greeting", path, properties=properties)))
        told = [(change["what"], change.get("diff")) for change in event["changes"]]
        self.assertEqual(told[0], ("ensure", None))
        self.assertIn("-hello\n", told[1][1])
        self.assertEqual(self.read("a"), b"rest\n")

    def test_records(self) -> None:
        """Status and plan files have the hash; drift what the type says."""
        from remote_runtime.managed_resources.managed_resource import ManagedResource
        from remote_runtime.provider import Provider
        from tests.remote_runtime.fakes import context

        path = self.write("a", b"good day\n")
        ctx = context()
        greeting = item("greeting", path, properties={"text": "hello"})
        resource = ManagedResource(Greeting, greeting, Provider(ctx), ctx)
        hashed = FileText(b"good day\n", 0o644).record
        self.assertEqual(resource.found(), {"content": hashed, "ensure": "present"})
        self.assertEqual(resource.observation(resource.observe()), {"content": hashed})
        self.assertEqual(resource.drift_state(), {"first": "good day", "ensure": "present"})

    def test_sizes(self) -> None:
        """A large text has a line with sizes instead of a diff; a new file has no old side."""
        large = FileText(b"x\n" * (200 << 10), 0o644)
        told = diff_of(None, large, "/a", private=False)
        expect_text(str(told).partition(" (")[0], self)
        new = diff_of(None, FileText(b"x\n", 0o644), "/a", private=False)
        self.assertEqual(new, "--- /dev/null\n+++ /a\n@@ -0,0 +1 @@\n+x\n")
        self.assertEqual(FileText(b"x", 0o644), FileText(b"x", 0o600))


class RewriteTest(DirectoryTest):
    def rewritten(self, path: str, **properties: Any) -> Any:
        greeting = item("greeting", path, properties=dict(properties, text="hello"))
        events = [one(run(Greeting, greeting, noop=noop)) for noop in (True, False)]
        self.assertEqual(events[0]["error"], events[1]["error"])
        self.assertEqual(events[0]["changes"], events[1]["changes"])
        return events[1]

    def test_attributes(self) -> None:
        """Mode and extended attributes stay."""
        path = self.write("a", b"x\n", 0o640)
        os.setxattr(path, "user.note", b"kept")
        self.rewritten(path)
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o640)
        self.assertEqual(os.getxattr(path, "user.note"), b"kept")

    def test_links(self) -> None:
        """A symlink stays, and the file that it leads to is rewritten."""
        self.write("real", b"x\n")
        os.symlink("real", self.path("b"))
        os.symlink("b", self.path("a"))
        self.assertEqual(self.rewritten(self.path("a"))["status"], "changed")
        self.assertEqual((os.readlink(self.path("a")), self.read("real")), ("b", b"hello\n"))

    def test_refused(self) -> None:
        """What is no regular file."""
        os.mkdir(self.path("a"))
        expect_text(self.rewritten(self.path("a"))["error"][0], self)

    def test_validate(self) -> None:
        """A validation that fails leaves the file alone, in the preview with the same message."""
        path = self.write("a", b"x\n")
        event = self.rewritten(path, validate="grep -q bye {}")
        expect_text(event["error"][0], self)
        self.assertEqual((self.read("a"), os.listdir(self.root)), (b"x\n", ["a"]))
        self.assertEqual(self.rewritten(path, validate="grep -q hello {}")["error"], [])


if __name__ == "__main__":
    unittest.main()
