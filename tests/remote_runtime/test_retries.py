import unittest
from typing import List

from remote_runtime.errors import ResourceError
from remote_runtime.retries import ONCE, RetryPolicy, TransientError, is_transient, retry, tries_of
from tests.remote_runtime.fakes import close, context


class RetriesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.told: List[str] = []
        self.context = context(on_progress=lambda index, action: self.told.append(action))
        self.addCleanup(close, self.context)

    def test_until_it_succeeds(self) -> None:
        """The number of the try is passed, and each pause is told."""

        def step(number: int) -> int:
            if number < 3:
                raise TransientError("not yet")
            return number

        self.assertEqual(retry(self.context, RetryPolicy(5, 0.001), step, is_transient), 3)
        self.assertEqual(
            self.told, ["waiting 0.001 s after try %d of 5" % number for number in (1, 2)]
        )

    def test_the_last_error(self) -> None:
        """Its message says how many tries there were; another try must be able to help."""

        def fail(error: ResourceError) -> str:
            def step(number: int) -> None:
                raise error

            with self.assertRaises(ResourceError) as caught:
                retry(self.context, RetryPolicy(3, 0.001), step, is_transient)
            return str(caught.exception)

        self.assertEqual(fail(TransientError("down", hint="wait")), "down (3 tries) (wait)")
        self.assertEqual(fail(ResourceError("no")), "no")

    def test_of_properties(self) -> None:
        """One try without the property; the pause is a second unless it is given."""
        self.assertEqual(tries_of({}), ONCE)
        self.assertEqual(tries_of({"tries": 1, "try_sleep": "5s"}), ONCE)
        self.assertEqual(tries_of({"tries": 4}), RetryPolicy(4, 1.0))
        self.assertEqual(tries_of({"tries": 2, "try_sleep": "1m"}), RetryPolicy(2, 60.0))
        self.assertEqual(RetryPolicy(2, 0).label("x", 1), "x (try 1 of 2)")
        self.assertEqual(ONCE.label("x", 1), "x")


if __name__ == "__main__":
    unittest.main()
