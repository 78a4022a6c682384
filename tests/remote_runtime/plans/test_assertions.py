import unittest
from typing import List

from remote_runtime.changes import Action, Change
from remote_runtime.errors import ResourceError
from remote_runtime.plans.assertions import PlanAssertions
from tests.remote_runtime.fakes import item
from tests.texts import expect_text


class PromisesTest(unittest.TestCase):
    def action(self, *changes: Change) -> Action:
        return Action("Would have acted", lambda: None, changes)

    def test_only_what_was_promised_is_held(self) -> None:
        """The same records pass, whatever their diffs; of what was not promised anything does."""
        promises = PlanAssertions()
        promises.add(item("file", "/a", 0), [Change("mode", "0600", "0644", "diff")])
        promises.hold(item("file", "/a", 0), [self.action(Change("mode", "0600", "0644"))])
        promises.hold(item("file", "/b", 1), [self.action(Change("mode", "0600", "0644"))])
        with self.assertRaisesRegex(
            ResourceError, "mode 0600 → 0644; the host would now do: mode 0400"
        ):
            promises.hold(item("file", "/a", 0), [self.action(Change("mode", "0400", "0644"))])

    def test_values_of_a_sensitive_resource_are_not_told(self) -> None:
        """Only what would change is named: a short secret can be guessed by its hash."""
        promises = PlanAssertions()
        sensitive = item("file", "/a", 0, sensitive=True)
        promises.add(sensitive, [Change("content", "sha256:1", "sha256:2")])
        with self.assertRaises(ResourceError) as caught:
            promises.hold(sensitive, [self.action(Change("content", "sha256:3", "sha256:2"))])
        expect_text(caught.exception.message, self)
        self.assertNotIn("sha256", caught.exception.message)

    def test_hashes_are_told_by_twelve_digits(self) -> None:
        """A content is told from another one by the first digits of its hash."""
        promises = PlanAssertions()
        promises.add(item("file", "/a", 0), [Change("content", None, "sha256:" + "1" * 64)])
        other = self.action(Change("content", "sha256:" + "2" * 64, "sha256:" + "1" * 64))
        words = r"content None → sha256:1{12}; the host would now do: content sha256:2{12} → .*"
        with self.assertRaisesRegex(ResourceError, words):
            promises.hold(item("file", "/a", 0), [other])

    def test_nothing_to_do_is_a_promise(self) -> None:
        """What was to stay as it is does."""
        promises = PlanAssertions()
        promises.add(item("service", "x", 0), [])
        with self.assertRaisesRegex(ResourceError, "nothing; the host would now do: ensure 1"):
            promises.hold(item("service", "x", 0), [self.action(Change("ensure", 1, 2))])


class FailingTest(unittest.TestCase):
    """A resource of which it was promised that its second of three actions fails."""

    def setUp(self) -> None:
        self.called: List[str] = []
        self.promises = PlanAssertions()
        self.item = item("scaffold", "/s", 0)
        self.promises.add(self.item, [Change("a", None, "1")], failing=1)

    def actions(self, *, first: str = "1", full: bool, fails: bool) -> List[Action]:
        def act(name: str) -> Action:
            def call() -> None:
                self.called.append(name)
                if name == "b" and fails:
                    raise ResourceError("could not write b: the disk is full")

            def preflight() -> None:
                if name == "b" and full:
                    raise ResourceError("the disk is full")

            value = first if name == "a" else "1"
            return Action("Would", call, [Change(name, None, value)], preflight=preflight)

        return [act(name) for name in "abc"]

    def run_held(self, actions: List[Action]) -> None:
        for action in self.promises.hold(self.item, actions):
            action.call()

    def test_it_gets_as_far_and_fails(self) -> None:
        """What was promised is done, and the failure is that of the action itself."""
        with self.assertRaisesRegex(ResourceError, "could not write b: the disk is full"):
            self.run_held(self.actions(full=True, fails=True))
        self.assertEqual(self.called, ["a", "b"])

    def test_what_is_no_longer_to_be_done_does_not_fail(self) -> None:
        """Of actions that change nothing there may be fewer by then; the changes are those."""
        self.promises.add(self.item, [Change("a", None, "1")], failing=2)
        self.run_held(self.actions(full=False, fails=False)[:1])
        self.assertEqual(self.called, ["a"])

    def test_what_would_no_longer_fail_is_not_begun(self) -> None:
        """More than was promised is not done."""
        with self.assertRaisesRegex(ResourceError, "by the plan: a failure; the host .* b "):
            self.run_held(self.actions(full=False, fails=False))
        self.assertEqual(self.called, ["a"])

    def test_what_succeeds_all_the_same_ends_it(self) -> None:
        """Nothing comes behind an action that was to fail."""
        with self.assertRaisesRegex(ResourceError, "by the plan: a failure.* Nothing more was"):
            self.run_held(self.actions(full=True, fails=False))
        self.assertEqual(self.called, ["a", "b"])

    def test_other_changes_before_it_are_refused(self) -> None:
        """What comes before the failure is held, too, and nothing is begun."""
        with self.assertRaisesRegex(
            ResourceError, "the host would now do: a None → 2, b .* Nothing was"
        ):
            self.run_held(self.actions(first="2", full=True, fails=True))
        self.assertEqual(self.called, [])
