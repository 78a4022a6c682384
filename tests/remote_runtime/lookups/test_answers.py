import grp
import os
import pwd
import unittest
from typing import Any, Dict

from remote_runtime.lookups.answers import LARGEST, answer
from remote_runtime.registry import Registry
from tests.remote_runtime.fakes import DirectoryTest, context
from tests.texts import expect_text


class AnsweringTest(DirectoryTest):
    def ask(self, kind: str, of: str, **settings: Any) -> Dict[str, Any]:
        ctx = context(noop=True)
        return answer(dict(settings, kind=kind, of=of), ctx, Registry(ctx))

    def test_command(self) -> None:
        """Exit code and both outputs; nothing of a shell in it."""
        found = self.ask("command", "printf '%s' '$HOME'")
        self.assertEqual(found, {"exit_code": 0, "stdout": "$HOME", "stderr": ""})
        found = self.ask("command", "sh -c 'echo out; echo err >&2; exit 3'")
        self.assertEqual(found, {"exit_code": 3, "stdout": "out\n", "stderr": "err\n"})

    def test_settings_of_a_command(self) -> None:
        """As those of a guard."""
        found = self.ask("command", "sh -c 'echo $X; pwd'", cwd=self.root, environment=["X=1"])
        self.assertEqual(found["stdout"], "1\n%s\n" % self.root)

    def test_a_program_that_is_not_there(self) -> None:
        """Is an answer, as a shell gives it: whether java is there is what people ask."""
        found = self.ask("command", "no-such-program -version")
        self.assertEqual((found["exit_code"], found["stdout"]), (127, ""))
        expect_text(found["stderr"], self)
        found = self.ask("command", self.write("text", b"x"))
        self.assertEqual(found["exit_code"], 126)

    def test_a_command_that_does_not_end(self) -> None:
        """Is killed, and that is no answer; no setting gives it longer than the bound."""
        found = self.ask("command", "sleep 60", timeout="200ms")
        self.assertEqual(list(found), ["error"])
        self.assertIn("timed out after 0.2 s", found["error"])

    def test_an_output_that_is_too_long(self) -> None:
        """Is refused, not cut: half of it would be read as all of it."""
        found = self.ask("command", "head -c %d /dev/zero" % (LARGEST + 1))
        expect_text(found["error"], self)

    def test_a_command_that_cannot_be_asked(self) -> None:
        """Says why."""
        self.assertIn("quote", self.ask("command", "echo 'x")["error"])
        self.assertIn("no-such-user", self.ask("command", "true", user="no-such-user")["error"])
        self.assertIn("/nowhere", self.ask("command", "true", cwd="/nowhere")["error"])

    def test_file(self) -> None:
        """Its text, links followed, or that it is not there."""
        os.symlink(self.write("conf", "a = ü\n".encode()), self.path("link"))
        for name in ("conf", "link"):
            found = self.ask("file", self.path(name))
            self.assertEqual(found, {"exists": True, "content": "a = ü\n"})
        gone = self.ask("file", self.path("gone"))
        self.assertEqual(gone, {"exists": False, "content": ""})

    def test_a_file_that_is_no_text(self) -> None:
        """Or none at all, or too large, has no answer."""
        expect_text(self.ask("file", self.write("a", b"x\xff"))["error"], self)
        expect_text(self.ask("file", self.root)["error"], self)
        large = self.write("large", b"x" * (LARGEST + 1))
        expect_text(self.ask("file", large)["error"], self)

    def test_stat(self) -> None:
        """What is at the path itself, in the words of the file type."""
        path = self.write("conf", b"12345", 0o640)
        os.symlink("conf", self.path("link"))
        found = self.ask("stat", path)
        whose = {
            "owner": pwd.getpwuid(os.geteuid()).pw_name,
            "group": grp.getgrgid(os.getegid()).gr_name,
        }
        self.assertEqual(
            found, dict(whose, exists=True, kind="file", mode="0640", size=5, target="")
        )
        link = self.ask("stat", self.path("link"))
        self.assertEqual((link["kind"], link["target"], link["size"]), ("symlink", "conf", 0))
        self.assertEqual(self.ask("stat", self.root)["kind"], "directory")

    def test_stat_of_nothing(self) -> None:
        """Has the same names, so that a template may read them."""
        found = self.ask("stat", self.path("gone"))
        self.assertEqual((found["exists"], found["kind"]), (False, "absent"))
        self.assertEqual(set(found), set(self.ask("stat", self.root)))

    def test_what_a_type_cannot_tell(self) -> None:
        """Is why there is no answer."""
        found = self.ask("service", "no-such-unit")
        self.assertTrue("error" in found or found == {"active": False, "enabled": False}, found)


if __name__ == "__main__":
    unittest.main()
