import os
import stat
import unittest
from typing import Any, Dict

from tests.remote_runtime.fakes import BlobStore, DirectoryTest, blob, one, run_items
from tests.texts import expect_text


class ReplaceTest(DirectoryTest):
    def put(self, content: str = "first\n", **options: Any) -> Dict[str, Any]:
        return one(run_items([self.file("a", content=content, replace=False)], **options))

    def test_a_symlink(self) -> None:
        """One at the path is refused, with what lets it be replaced."""
        os.symlink("b", self.path("a"))
        resource = self.file("a", content="new\n", replace=False)
        for noop in (True, False):
            error = one(run_items([resource], noop=noop))["error"][0]
            expect_text(error, self)

    def test_a_missing_file_is_made(self) -> None:
        """With its content; the preview says so."""
        expect_text(self.put(noop=True)["noop_message"], self)
        self.put()
        self.assertEqual(self.read("a"), b"first\n")

    def test_what_is_there_stays(self) -> None:
        """Whatever is in it; previews agree."""
        self.write("a", b"edited\n")
        self.assertEqual(self.put(noop=True)["status"], "stable")
        self.assertEqual((self.put()["status"], self.read("a")), ("stable", b"edited\n"))

    def test_attributes_are_managed_all_the_same(self) -> None:
        """Another mode is set, in the same file."""
        self.write("a", b"edited\n", 0o600)
        preview, event = self.put(noop=True), self.put()
        self.assertEqual([change["what"] for change in event["changes"]], ["mode"])
        self.assertEqual(preview["changes"], event["changes"])
        self.assertEqual(self.read("a"), b"edited\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("a")).st_mode), 0o644)

    def test_a_source_that_is_gone_does_not_matter_then(self) -> None:
        """It is not read for a file that stays."""
        self.write("a", b"edited\n")
        resource = self.file("a", source=self.path("nowhere"), replace=False)
        self.assertEqual(one(run_items([resource]))["status"], "stable")

    def test_content_does_not_travel_for_nothing(self) -> None:
        """The controller is not asked for it."""
        self.write("a", b"edited\n")
        store = BlobStore(b"first\n")
        resource = self.file("a", content=blob(b"first\n"), replace=False)
        self.assertEqual(one(run_items([resource], store=store))["status"], "stable")
        self.assertEqual(store.asked, [])

    def test_a_link_is_refused(self) -> None:
        """Its attributes are not managed, and it is not replaced."""
        os.symlink("nowhere", self.path("a"))
        for noop in (True, False):
            self.assertIn("is a symlink", self.put(noop=noop)["error"][0])

    def test_a_file_that_an_earlier_resource_plans_stays(self) -> None:
        """The second of two has nothing to do."""
        first = self.file("a", content="mine\n")
        second = self.file("a", 1, content="other\n", replace=False)
        events = run_items([first, second], noop=True)
        self.assertEqual([event["status"] for event in events], ["changed", "stable"])


if __name__ == "__main__":
    unittest.main()
