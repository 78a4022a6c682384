import unittest

from remote_runtime.changes import Missing
from remote_runtime.content import Bytes
from remote_runtime.effects import PathEffect
from remote_runtime.host import file_validation
from tests.remote_runtime.fakes import DirectoryTest, context, failure_of


class ValidationTest(DirectoryTest):
    def test_a_missing_program(self) -> None:
        """It is missing, so that an earlier change may bring it."""
        error = failure_of(
            lambda: file_validation.run(context().commands, "ccm-no-such-program {}", finished="/x")
        )
        self.assertIsInstance(error, Missing)
        self.assertIn("it cannot be validated: ", error.message)

    def test_in_place(self) -> None:
        """A preview validates the planned content, and leaves nothing."""
        ctx = context(noop=True)
        file = PathEffect(self.path("a"), "file", mode=0o644, uid=0, gid=0, content=Bytes(b"x\n"))
        world = ctx.overlay_with(())
        file_validation.preview(world, "grep -q x {}", file)
        error = failure_of(lambda: file_validation.preview(world, "grep -q y {}", file))
        self.assertIn("the validation 'grep -q y {}' failed: exit code 1", error.message)
        self.assertEqual(self.entries(), [])

    def entries(self) -> "list[str]":
        import os

        return os.listdir(self.root)


if __name__ == "__main__":
    unittest.main()
