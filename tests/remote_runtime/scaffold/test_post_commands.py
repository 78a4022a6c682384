"""Post commands of scaffolds."""

import os
import tempfile
import time
import unittest

from remote_runtime.resources.scaffold.post_commands import commands_for
from tests.remote_runtime.fakes import context, item, run_items
from tests.remote_runtime.scaffold.case import ScaffoldTest
from tests.remote_runtime.scaffold.test_scaffold import wanted
from tests.texts import expect_text

UPPER = "sed -i y/abc/ABC/ {}"


class PostTest(ScaffoldTest):
    def setUp(self) -> None:
        super().setUp()
        self.staging = self.path("staging")
        os.mkdir(self.staging)
        before, tempfile.tempdir = tempfile.tempdir, self.staging
        self.addCleanup(setattr, tempfile, "tempdir", before)

    def test_a_formatter_is_stable(self) -> None:
        """What a command makes of a file is what is compared and written, in noop too."""
        resource = self.scaffold({"x.c": b"abc\n", "y": b"abc\n"}, post=[{"*.c": UPPER}])
        event = self.apply(resource, noop=True)
        expect_text(event["noop_message"], self)
        self.assertIn("+ABC\n", str(event["changes"][1]["diff"]))
        self.assertEqual(self.apply(resource)["error"], [])
        self.assertEqual((self.read("out/x.c"), self.read("out/y")), (b"ABC\n", b"abc\n"))
        for noop in (True, False):
            self.assertEqual(self.apply(resource, noop=noop)["status"], "stable")
        self.assertEqual(os.listdir(self.staging), [])

    def test_the_copy_is_private_and_has_its_name(self) -> None:
        """A command sees the file under its own name in a directory that nobody else may enter."""
        log = self.path("log")
        command = "sh -c 'stat -c %%a $(dirname $(dirname $0)) >>%s; echo $0 >>%s' {}" % (log, log)
        self.apply(self.scaffold({"sub/x.c": b"abc"}, post=[{"*.c": command}]))
        mode, path = self.read("log").decode().split()
        self.assertEqual(mode, "700")
        self.assertTrue(path.startswith(self.staging) and path.endswith("/sub/x.c"), path)

    def test_without_braces_the_path_comes_last(self) -> None:
        """{} stands for the path; without it the path is the last word. The mode is kept."""
        resource = self.scaffold({"x.sh": b"echo\n"}, post=[{"*.sh": "chmod +x"}])
        self.apply(resource)
        self.assertEqual(self.mode("out/x.sh"), 0o755)
        self.assertEqual(self.apply(resource)["status"], "stable")

    def test_several_commands_run_in_order(self) -> None:
        """Each pattern that matches adds its command, in the order written."""
        post = [{"*": "sed -i s/a/b/ {}"}, {"x*": "sed -i s/b/c/ {}"}]
        self.apply(self.scaffold({"x": b"a", "y": b"a"}, post=post))
        self.assertEqual((self.read("out/x"), self.read("out/y")), (b"c", b"b"))

    def test_a_command_that_fails(self) -> None:
        """An exit code other than 0 fails the resource with the output; nothing is written."""
        post = [{"*": "sh -c 'echo broken >&2; exit 3'"}]
        told = self.error(self.scaffold({"x": b"a"}, post=post))
        expect_text(told, self)
        self.assertIn("broken", told)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_command_that_hangs(self) -> None:
        """A command that takes too long is ended and fails the resource."""
        resource = self.scaffold(
            {"x": b"a"}, post=[{"*": "sh -c 'sleep 60'"}], post_timeout="200ms"
        )
        began = time.time()
        expect_text(self.error(resource), self)
        self.assertLess(time.time() - began, 30)

    def test_a_command_that_removes_the_file(self) -> None:
        """A file that is gone, or is a link, after its commands is an error."""
        for command in ("rm {}", "ln -sf /etc/passwd {}"):
            told = self.error(self.scaffold({"x": b"a"}, post=[{"*": command}]))
            expect_text(told, self)

    def test_a_program_that_is_not_there(self) -> None:
        """A missing program fails; in noop a pending resource may bring it."""
        resource = self.scaffold({"x": b"a"}, post=[{"*": "no-such-formatter"}])
        expect_text(self.error(resource), self)
        command = item("exec", "x", properties={"command": "true"})
        event = run_items([command, resource], store=self.store, noop=True)[1]
        self.assertEqual((event["failed"], event["prediction"]), (False, "unknown"))
        expect_text(event["noop_message"], self)

    def test_what_is_there_need_not_travel(self) -> None:
        """A file that is as rendered already is processed from the target's own copy."""
        self.put("out/x", b"abc")
        resource = self.scaffold({"x": b"abc"}, post=[{"*": "true"}])
        self.assertEqual(wanted(resource), [])
        self.assertEqual(self.apply(resource)["status"], "stable")
        self.assertEqual(self.store.asked, [])

    def test_what_is_left_goes_with_the_run(self) -> None:
        """A run that is given up takes the copies with it."""
        made = context()
        directory = made.files.private_directory()
        with open(os.path.join(directory, "x"), "w"):
            pass
        made.files.discard_temporary()
        self.assertEqual(os.listdir(self.staging), [])

    def test_later_resources_read_what_would_be_written(self) -> None:
        """In a preview the file is there for who copies it, and no copy is left in the end."""
        made = self.scaffold({"x.c": b"abc\n"}, post=[{"*.c": UPPER}])
        owned = {"owner": str(os.geteuid()), "group": str(os.getegid()), "mode": "0644"}
        copies = [
            item("file", self.path(to), properties={"source": self.path(of), **owned})
            for of, to in (("out/x.c", "y"), ("y", "z"))
        ]
        guard = {"command": "true", "onlyif": "grep ABC " + self.path("z")}
        reads = item("exec", "read", properties=guard)
        events = run_items([made, *copies, reads], store=self.store, noop=True)
        self.assertEqual([event["error"] for event in events], [[]] * 4)
        self.assertEqual(events[0]["changes"][1]["to"], events[2]["changes"][1]["to"])
        self.assertEqual(os.listdir(self.staging), [])

    def test_what_a_command_makes_is_no_surer_than_what_it_reads(self) -> None:
        """Where a pending command may change that, what copies the file is assumed as well."""
        self.write("conf", b"x")
        before = {"command": "true", "affects": [self.path("conf")]}
        post = [{"*.c": "grep -q x %s" % self.path("conf")}]
        made = self.scaffold({"x.c": b"abc\n", "y": b"y"}, post=[{"*.c": post[0]["*.c"] + " {}"}])
        owned = {"owner": str(os.geteuid()), "group": str(os.getegid()), "mode": "0644"}
        items = [item("exec", "make", properties=before), made]
        for name in ("x.c", "y"):
            source = {"source": self.path("out", name), **owned}
            items.append(item("file", self.path("copy-" + name), properties=source))
        events = run_items(items, store=self.store, noop=True)
        found = [event["prediction"] for event in events[1:]]
        self.assertEqual(found, ["assumed", "assumed", "certain"])

    def test_patterns(self) -> None:
        """Patterns are those of a shell, for the name alone, in its exact letters."""
        for pattern, path, matches in (
            ("*.go", "a/b.go", True),
            ("*.go", "b.Go", False),
            ("[^a]?", "b1", True),
            ("[^a]?", "a1", False),
            ("a/*", "a/b", False),
        ):
            self.assertEqual(bool(commands_for([(pattern, "x")], path)), matches, pattern)


if __name__ == "__main__":
    unittest.main()
