import os
import shutil
import unittest
from typing import Any, Dict, Optional

from remote_runtime.host import interpreters
from remote_runtime.host.machine.commands import LOGGED
from remote_runtime.resources.exec.resource import Resource
from remote_runtime.system.process.commands import Commands
from tests.remote_runtime.fakes import (
    ROOT,
    BlobStore,
    DirectoryTest,
    blob,
    context,
    item,
    one,
    run_items,
)
from tests.texts import expect_text

CSH = r"""
set word = ''
foreach part (c s h)
set word = $word$part
end
printf '%s\n' $word > out
"""


class ExecTest(DirectoryTest):
    def apply(self, command: str = "true", provider: str = "", **properties: Any) -> Dict[str, Any]:
        options = {k: properties.pop(k) for k in ("noop", "shared") if k in properties}
        fields = {k: properties.pop(k) for k in ("sensitive", "secrets") if k in properties}
        properties.setdefault("command", command)
        resource = item("exec", "x", provider=provider, properties=properties, **fields)
        return one(run_items([resource], **options))

    def shell(self, script: str, **properties: Any) -> Dict[str, Any]:
        return self.apply(script, "shell", **properties)

    def made(self, name: str) -> bool:
        return os.path.exists(self.path(name))

    def test_name_is_the_command(self) -> None:
        """Without a command the name is the command line."""
        event = one(run_items([item("exec", "touch '%s'" % self.path("a b"))]))
        self.assertEqual((event["changed"], event["final_ensure"]), (True, "present"))
        self.assertTrue(self.made("a b"))

    def test_posix_is_no_shell(self) -> None:
        """The posix provider passes metacharacters on as they are."""
        program = self.write("args", b'#!/bin/sh\nfor a in "$@"; do echo "$a"; done > out\n', 0o755)
        self.apply(program + " $HOME * && > x", cwd=self.root)
        self.assertEqual(self.read("out"), b"$HOME\n*\n&&\n>\nx\n")

    def test_accounts_are_looked_up_anew(self) -> None:
        """A command may have changed who a name stands for, whatever it says that it affects."""
        shared = context([item("exec", "x")])
        self.assertNotEqual(shared.accounts.user_name(os.geteuid()), "stale")
        for affects in ([], ["/etc/passwd"]):
            shared.accounts._user_names[os.geteuid()] = "stale"
            self.apply(shared=shared, affects=affects)
            self.assertNotEqual(shared.accounts.user_name(os.geteuid()), "stale")

    def test_exit_codes(self) -> None:
        """A code that is not accepted fails with its number and the tail of stderr."""
        event = self.shell("echo out; echo why >&2; exit 5", returns=[0, 4])
        self.assertEqual(
            event["error"], ["desired state not achieved: exit code 5, expected 0 or 4", "why"]
        )
        self.assertFalse(event["changed"])
        self.assertEqual(self.shell("exit 4", returns=[0, 4])["status"], "changed")
        self.assertEqual(self.shell("exit 0", returns=[4])["status"], "failed")
        self.assertIn("signal 9", self.shell("kill -9 $$")["error"][0])

    def test_made_what_creates_names(self) -> None:
        """A command that makes what creates names has succeeded; its event has the exit code."""
        event = self.shell("touch made; exit 3", cwd=self.root, creates="made")
        self.assertEqual((event["status"], event["exit_code"]), ("changed", 3))
        self.assertEqual(event["error"], [])

    def test_creates_does_not_excuse_everything(self) -> None:
        """A timeout, a signal, and what was there before a refresh leave a command failed."""
        made = {"cwd": self.root, "creates": "made"}
        killed = self.shell("touch made; kill -9 $$", **made)
        self.assertEqual((killed["status"], "exit_code" in killed), ("failed", False))
        os.unlink(self.path("made"))
        late = self.shell("touch made; sleep 60", timeout="300ms", **made)
        self.assertEqual((late["status"], self.made("made")), ("failed", True))
        items = [
            self.file("changed", content=blob(b"new")),
            item("exec", "x", 1, provider="shell", properties={"command": "exit 3", **made},
                 subscribe=("file#" + self.path("changed"),)),
        ]  # fmt: skip
        events = run_items(items, store=BlobStore(b"new"))
        self.assertEqual([e["status"] for e in events], ["changed", "failed"])

    def test_output_is_kept(self) -> None:
        """What a command printed stands in its event, on success too, bounded and masked."""
        event = self.shell("echo out; echo why >&2", secrets=())
        self.assertEqual((event["exit_code"], event["output"]), (0, "out\nwhy\n"))
        told = one(run_items([item("exec", "echo my hunter22 end")], secrets=["hunter22"]))
        self.assertEqual(told["output"], "my [masked] end\n")
        hidden = self.apply("echo hunter22", sensitive=True)
        self.assertEqual(hidden["output"], "[masked]")
        self.assertNotIn("output", self.apply("true"))
        flood = self.shell("seq 1 20000; exit 1")["output"]
        self.assertLess(len(flood), 17 << 10)
        self.assertTrue(flood.startswith("[... ") and flood.endswith("\n20000\n"), flood[:80])

    def test_an_empty_list_of_codes(self) -> None:
        """returns: [] means what leaving it out does, of the command and of a guard."""
        guard = {"command": "true", "returns": []}
        self.assertEqual(self.apply("true", returns=[], onlyif=guard)["status"], "changed")
        self.assertEqual(self.apply("false", returns=[])["status"], "failed")

    def test_shell_syntax(self) -> None:
        """The shell provider reads globs, substitutions, operators, redirections and builtins."""
        self.write("b.txt", b"b\n")
        self.write("a.txt", b"a\n")
        script = """
            false && echo never > out || echo or > out
            cat *.txt >> out; echo $(cat a.txt)`cat b.txt` >> out
            N=5; export N; sh -c 'echo ${N:-none}' >> out
            cat < a.txt | tr a z >> out 2>&1
        """
        self.assertEqual(self.shell(script, cwd=self.root)["error"], [])
        self.assertEqual(self.read("out"), b"or\na\nb\nab\n5\nz\n")

    def test_no_shell(self) -> None:
        """Without /bin/sh the shell provider says so, and posix does not need it."""

        class NoShell(Commands):
            def find(
                self, program: str, path: Optional[str] = None, cwd: Optional[str] = None
            ) -> str:
                return "" if program == "/bin/sh" else super().find(program, path, cwd)

            def is_there(self, path: str) -> bool:
                return path != "/bin/sh" and super().is_there(path)

        for provider, errors in (("shell", ["program /bin/sh not found"]), ("posix", [])):
            shared = context(commands=NoShell)
            event = self.apply("true", provider, shared=shared)
            self.assertEqual(len(event["error"]), len(errors))
            for found, expected in zip(event["error"], errors):
                self.assertIn(expected, found)

    def test_creates(self) -> None:
        """An existing creates path means neither the command nor a guard is run."""
        self.write("mark")
        event = self.apply("false", creates=self.path("mark"), onlyif="touch " + self.path("ran"),
                           unless="/nonexistent/guard")  # fmt: skip
        self.assertEqual(event["status"], "stable")
        self.assertFalse(self.made("ran"))

    def test_guards(self) -> None:
        """onlyif lets it run at 0, unless at anything else, and both are asked in noop too."""
        for guards, status in (
            ({"onlyif": "true"}, "changed"),
            ({"onlyif": "false"}, "stable"),
            ({"unless": "false"}, "changed"),
            ({"unless": "true"}, "stable"),
            ({"onlyif": "true", "unless": "true"}, "stable"),
        ):
            for noop in (False, True):
                self.assertEqual(self.apply(noop=noop, **guards)["status"], status, guards)

    def test_guards_are_asked_once(self) -> None:
        """A command that makes its own guard change its mind has still succeeded."""
        guard = "echo asked >> log; test ! -e made"
        event = self.shell("touch made", cwd=self.root, onlyif=guard)
        self.assertEqual((event["status"], self.read("log")), ("changed", b"asked\n"))

    def test_guard_cannot_start(self) -> None:
        """A guard that cannot start fails, and is named."""
        event = self.apply("touch " + self.path("ran"), unless="/nonexistent/guard")
        expect_text(event["error"][0], self)
        event = self.apply("touch " + self.path("ran"), unless=self.write("plain"))
        expect_text(event["error"][0], self)
        self.assertFalse(self.made("ran"))

    def test_guard_inherits(self) -> None:
        """A guard has the exec's cwd, environment, path, user, umask and timeout."""
        self.write("tool", b'#!/bin/sh\ntest "$A" = 1 && test "$PWD" = / && umask\n', 0o755)
        event = self.shell("true", onlyif="tool | grep -q 77", path=self.root + ":/usr/bin:/bin",
                           environment=["A=1"], cwd="/", umask="077")  # fmt: skip
        self.assertEqual(event["status"], "changed")
        event = self.apply(unless="sleep 30", timeout="200ms")
        self.assertIn("guard unless: timed out after 0.2 s", event["error"][0])

    def test_guard_map(self) -> None:
        """What a guard's map sets is its own, exit codes too; what it leaves is the exec's."""
        guard: Dict[str, Any] = {"command": "test $A$B = 12", "environment": ["A=1", "B=2"]}
        guard["cwd"] = self.root
        self.assertEqual(self.shell("true", onlyif=guard, environment=["A=3"])["status"], "changed")
        guard = {"command": "exit 3", "returns": [3]}
        self.assertEqual(self.shell("true", onlyif=guard)["status"], "changed")
        self.assertEqual(self.shell("exit 3", onlyif="exit 3", returns=[3])["status"], "stable")

    def test_refresh(self) -> None:
        """A subscription overrides all conditions; without one refresh_only rests."""
        self.write("mark")
        first = item("exec", "true")
        properties = {"command": "touch " + self.path("ran"), "creates": self.path("mark"),
                      "onlyif": "false", "refresh_only": True}  # fmt: skip
        second = item("exec", "x", subscribe=("exec#true",), properties=properties)
        events = run_items([first, second], noop=True)
        expect_text(events[1]["noop_message"], self)
        events = run_items([first, second])
        self.assertEqual((events[1]["changed"], events[1]["refreshed"]), (True, True))
        self.assertTrue(self.made("ran"))
        self.assertEqual(self.apply(refresh_only=True)["status"], "stable")

    def test_noop(self) -> None:
        """Noop says so and runs nothing."""
        event = self.apply("touch " + self.path("ran"), noop=True)
        self.assertEqual((event["noop_message"], event["changed"]), ("Would have executed", True))
        self.assertFalse(self.made("ran"))

    def test_program_missing(self) -> None:
        """A missing program fails in both, unless an earlier pending change may bring it."""
        for noop in (False, True):
            self.assertEqual(self.apply("/nonexistent/p --now", noop=noop)["status"], "failed")
        first = item("exec", "true")
        second = item("exec", "surely-no-such-program")
        events = run_items([first, second], noop=True)
        self.assertEqual((events[1]["prediction"], events[1]["failed"]), ("unknown", False))

    def test_preview_of_a_planned_program(self) -> None:
        """A program or working directory that an earlier resource would make counts as there."""
        program = self.file("tool", 0, content="#!/bin/sh\n", mode="0755")
        directory = self.file("work", 1, ensure="directory")
        run = item("exec", self.path("tool"), 2, properties={"cwd": self.path("work")})
        guarded = item("exec", "true", 3, properties={"onlyif": self.path("tool")})
        events = run_items([program, directory, run, guarded], noop=True)
        self.assertEqual([e["failed"] for e in events], [False] * 4)
        self.assertEqual(events[2]["prediction"], "certain")
        # As root the guard runs on the host as it will be; the command before may do anything.
        told = "assumed" if os.geteuid() == 0 else "unknown"
        self.assertEqual(events[3]["prediction"], told)

    def test_timeout(self) -> None:
        """A command that takes too long is killed and fails."""
        event = self.apply("sleep 3600", timeout="200ms")
        self.assertIn("timed out after 0.2 s", event["error"][0])

    def test_cwd(self) -> None:
        """The command runs in its working directory, which must exist."""
        self.shell("touch here", cwd=self.root)
        self.assertTrue(self.made("here"))
        expect_text(self.apply(cwd=self.path("none"))["error"][0], self)

    def test_environment(self) -> None:
        """Entries are added; a value may hold blanks and equal signs."""
        self.shell('printf "%s|%s|%s" "$A" "$B" "$LC_ALL" > out', cwd=self.root,
                   environment=["A=deep blue", "B=a=b"])  # fmt: skip
        self.assertEqual(self.read("out"), b"deep blue|a=b|C")

    @unittest.skipUnless(ROOT, "only root becomes another user")
    def test_user(self) -> None:
        """The command runs as its user, group and umask; an unknown user fails."""
        os.chmod(self.root, 0o777)
        self.shell("id -un > out; touch made", cwd=self.root, user="nobody", umask="077")
        self.assertEqual(self.read("out"), b"nobody\n")
        self.assertEqual(os.stat(self.path("made")).st_mode & 0o777, 0o600)
        expect_text(self.apply(user="ccm-no-such-user")["error"][0], self)

    def test_logoutput(self) -> None:
        """With logoutput each line of stdout is told."""
        told = []
        shared = context(on_notice=lambda level, text: told.append((level, text)))
        self.shell("echo a; echo b; echo c >&2", logoutput=True, shared=shared)
        self.assertEqual(told, [("info", "exec#x: a"), ("info", "exec#x: b")])

    def test_logged_flood(self) -> None:
        """Of a command that prints without end only the first lines are told."""
        told = []
        shared = context(on_notice=lambda level, text: told.append(text))
        self.shell("yes | head -n 100000", logoutput=True, shared=shared)
        self.assertEqual(told[:-1], ["exec#x: y"] * LOGGED)
        self.assertIn("more than %d lines" % LOGGED, told[-1])

    def test_sensitive(self) -> None:
        """Of a sensitive exec neither the command nor its output is in the event."""
        event = self.shell("echo hunter2x >&2; exit 1", sensitive=True)
        self.assertNotIn("hunter2x", str(event))

    def test_interpreters(self) -> None:
        """A command and a guard run in the language that is asked for."""
        for name, script, true, false in (
            ("sh", "echo sh > out", "[ 1 = 1 ]", "[ 1 = 2 ]"),
            (
                "bash",
                "[[ a == a ]] && echo bash > out",
                "[[ $PWD == %s ]]" % self.root,
                "[[ a == b ]]",
            ),
            ("python", "open('out', 'w').write('python\\n')", "import os", "raise SystemExit(1)"),
            ("perl", "open F, '>out'; print F \"perl\\n\"", "exit 0", "exit 1"),
            ("ruby", "File.write('out', \"ruby\\n\")", "exit 0", "exit 1"),
            ("csh", CSH, "exit 0", "exit 1"),
        ):
            program = "python3" if name == "python" else name
            if shutil.which(program) is None:
                continue
            with self.subTest(name):
                options = {"cwd": self.root, "guard_interpreter": name}
                event = self.apply(script, interpreter=name, onlyif=true, unless=false, **options)
                self.assertEqual((event["error"], event["changed"]), ([], True))
                self.assertEqual(self.read("out").decode(), name + "\n")
                self.assertEqual(self.apply(onlyif=false, **options)["status"], "stable")

    def test_every_csh(self) -> None:
        """A script for csh does the same in each of the programs that Debian has for it."""
        os.mkdir(self.path("programs"))
        for name in ("bsd-csh", "tcsh"):
            program = shutil.which(name)
            if program is None:
                continue
            with self.subTest(name):
                os.symlink(program, self.path("programs/csh"))
                options = {"cwd": self.root, "path": self.path("programs") + ":/usr/bin:/bin"}
                event = self.apply(CSH, interpreter="csh", **options)
                self.assertEqual((event["error"], self.read("out")), ([], b"csh\n"))
                os.unlink(self.path("programs/csh"))
                os.unlink(self.path("out"))

    def test_default_guard_interpreter(self) -> None:
        """Without guard_interpreter a guard runs in the way of the provider."""
        expect_text(self.apply(onlyif="[[ a == a ]]", interpreter="bash")["error"][0], self)
        self.assertEqual(self.shell("true", onlyif="test a = a && true")["status"], "changed")

    def test_interpreter_missing(self) -> None:
        """An interpreter that is not installed is named."""
        event = self.apply("x", interpreter="ruby", path=self.root)
        expect_text(event["error"][0], self)

    def test_powershell(self) -> None:
        """powershell_script runs pwsh; a boolean result counts for guards, not for commands."""
        self.write("pwsh", b'#!/bin/sh\nfor a in "$@"; do last=$a; done\n'
                   b'printf "%s" "$last" >> log; echo --- >> log\n', 0o755)  # fmt: skip
        options = {"interpreter": "powershell_script", "guard_interpreter": "powershell_script",
                   "path": self.root + ":/bin:/usr/bin", "cwd": self.root}  # fmt: skip
        self.apply("Do-It", onlyif="Test-It", **options)
        guard, command = self.read("log").decode().split("---\n")[:2]
        self.assertIn("-is [bool]", guard)
        self.assertEqual(command, "Do-It")
        os.unlink(self.path("log"))
        self.apply("Do-It", onlyif="Test-It", convert_boolean_return=True, **options)
        self.apply("Do-It", onlyif="Test-It", convert_boolean_return=False, **options)
        converted = ["-is [bool]" in part for part in self.read("log").decode().split("---\n")[:4]]
        self.assertEqual(converted, [True, True, False, False])
        words = interpreters.start("powershell_script", "$true", True, lambda p: p).argv
        quietly = ["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command"]
        self.assertEqual(list(words[:-1]), quietly)
        self.assertIn("$true", words[-1])

    def test_problems(self) -> None:
        """Each broken rule is told with its property."""
        for name, properties, where in (
            ("it's", {}, "name"),
            ("x\x1b[31m", {}, "name"),
            ("x", {"command": 'a "b'}, "command"),
            ("x", {"command": " \n"}, "command"),
            ("x", {"onlyif": " "}, "onlyif"),
            ("x", {"unless": 'a "b'}, "unless"),
            ("x", {"path": "/usr/bin:bin"}, "path"),
            ("x", {"path": "/usr/bin:"}, "path"),
            ("x", {"environment": ["A"]}, "environment"),
            ("x", {"environment": ["=b"]}, "environment"),
            ("x", {"environment": ["A="]}, "environment"),
            ("x", {"timeout": "5"}, "timeout"),
            ("x", {"umask": "0999"}, "umask"),
            ("x", {"subscribe": ["first"]}, "subscribe"),
            ("x", {"subscribe": ["#a"]}, "subscribe"),
            ("x", {"cwd": "relative"}, "cwd"),
            ("x", {"onlyif": {"command": "true", "path": "bin"}}, "onlyif"),
            ("x", {"unless": {"command": "it's"}}, "unless"),
        ):
            found = Resource.check(name, dict(properties))
            self.assertEqual([key for key, _ in found], [where], (name, properties))

    def test_no_problems(self) -> None:
        """Quotes that only a shell or an interpreter reads are not judged."""
        self.assertEqual(Resource.check("x", {"command": "it's", "provider": "shell"}), [])
        self.assertEqual(Resource.check("true\n\tx", {"provider": "shell"}), [])
        self.assertEqual(Resource.check("x", {"command": "it's", "interpreter": "bash"}), [])
