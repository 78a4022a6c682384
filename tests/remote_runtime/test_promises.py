import unittest

from remote_runtime.changes import Action, Change
from remote_runtime.errors import ResourceError
from remote_runtime.promises import Promises
from tests.remote_runtime.fakes import item


class PromisesTest(unittest.TestCase):
    def action(self, *changes: Change) -> Action:
        return Action("Would have acted", lambda: None, changes)

    def test_only_what_was_promised_is_held(self) -> None:
        """The same records pass, whatever their diffs; of what was not promised anything does."""
        promises = Promises()
        promises.add(item("file", "/a", 0), [Change("mode", "0600", "0644", "diff")])
        promises.hold(item("file", "/a", 0), [self.action(Change("mode", "0600", "0644"))])
        promises.hold(item("file", "/b", 1), [self.action(Change("mode", "0600", "0644"))])
        with self.assertRaisesRegex(ResourceError, "mode 0600 → 0644; now it would be: mode 0400"):
            promises.hold(item("file", "/a", 0), [self.action(Change("mode", "0400", "0644"))])

    def test_values_of_a_sensitive_resource_are_not_told(self) -> None:
        """Only what would change is named: a short secret can be guessed by its hash."""
        promises = Promises()
        sensitive = item("file", "/a", 0, sensitive=True)
        promises.add(sensitive, [Change("content", "sha256:1", "sha256:2")])
        with self.assertRaises(ResourceError) as caught:
            promises.hold(sensitive, [self.action(Change("content", "sha256:3", "sha256:2"))])
        self.assertIn("for certain: content; now", caught.exception.message)
        self.assertNotIn("sha256", caught.exception.message)

    def test_hashes_are_told_by_twelve_digits(self) -> None:
        """A content is told from another one by the first digits of its hash."""
        promises = Promises()
        promises.add(item("file", "/a", 0), [Change("content", None, "sha256:" + "1" * 64)])
        other = self.action(Change("content", "sha256:" + "2" * 64, "sha256:" + "1" * 64))
        words = (
            "content None → sha256:1{12}; now it would be: content sha256:2{12} → sha256:1{12}[.]"
        )
        with self.assertRaisesRegex(ResourceError, words):
            promises.hold(item("file", "/a", 0), [other])

    def test_nothing_to_do_is_a_promise(self) -> None:
        """What was to stay as it is does."""
        promises = Promises()
        promises.add(item("service", "x", 0), [])
        with self.assertRaisesRegex(ResourceError, "nothing to do; now it would be: ensure 1"):
            promises.hold(item("service", "x", 0), [self.action(Change("ensure", 1, 2))])
