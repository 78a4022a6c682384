"""Answers to the questions of packages: what differs, how they are set, and what scripts do."""

import os
import unittest

from remote_runtime.changes import Missing
from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import debconf
from remote_runtime.packages.dpkg.debconf_changes import answer_uncertainty
from remote_runtime.packages.package_info import Answer
from remote_runtime.reporting.masking import Mask
from remote_runtime.resources.package import rules
from remote_runtime.resources.package.debconf_answers import is_given, line_of
from remote_runtime.system.process.commands import Result
from tests.texts import expect_text

from ..fake_commands import FakeCommands
from ..fakes import DirectoryTest
from .plan import INSTALLED, Plan, recorded, recorded_commands

DATABASE = """\
Name: ccm-hello/name
Template: ccm-hello/name
Value: red
Owners: ccm-hello
Variables:
 value = Value: none
Value2: x

Name: ccm-hello/none
Template: ccm-hello/none
Owners: ccm-hello

Name: ccm-hello/parts
Value: a, b
"""
NAME = {"ccm-hello/name": {"type": "string", "value": "green"}}
CONFIGURATION = """\
# Comment: none
Config: all

Name: all
Driver: Stack
Stack: config, secret

Name: config
Driver: File
Filename: /srv/config.dat

Name: secret
Driver: %s
Filename: /srv/secret.dat
"""


class Recording(FakeCommands):
    """Keeps what commands were given to read."""

    def __init__(self):
        super().__init__()
        self.read = []
        for words, answers in reversed(recorded_commands()._answers):
            self.on(words, *answers)

    def run(self, argv, **options):
        if options.get("input") is not None:
            self.read.append(options["input"].decode("utf-8"))
        return super().run(argv, **options)


class Answers(DirectoryTest):
    def plan(self, answers, installed=False, **properties):
        """ccm-hello with these answers, beside another package."""
        commands = Recording()
        commands.on("debconf-set-selections", "")
        if installed:
            line = INSTALLED % ("ccm-hello", "1.0-1")
            commands.on("dpkg-query", recorded("dpkg-query.txt") + line)
        wanted = dict(properties, debconf=answers)
        made = Plan(commands, ("ccm-hello", wanted), ("ccm-daemon", {"ensure": "latest"}))
        with open(self.path("config.dat"), "w", encoding="utf-8") as file:
            file.write(DATABASE)
        made.provider.answer_files = [self.path("config.dat"), self.path("passwords.dat")]
        return made

    def test_before_the_package(self):
        """An answer is set before the package comes, and not on a command line."""
        plan = self.plan(NAME)
        with plan.noop():
            resource = plan.resources[0]
            actions = resource.actions(resource.observe(), False)
            expect_text(resource.describe(actions), self)
        plan = self.plan(NAME)
        changes = plan.carry_out()
        self.assertEqual(
            changes[0], {"what": "debconf ccm-hello/name", "from": "red", "to": "green"}
        )
        asked = [line.split()[0] for line in plan.commands.asked]
        self.assertLess(asked.index("debconf-set-selections"), asked.index("apt-get"))
        self.assertEqual(plan.commands.read, ["ccm-hello ccm-hello/name string green\n"])

    def test_of_what_is_installed(self):
        """An answer that differs is set, one that is given is not; a password does not count."""
        for value, read in (("green", ["ccm-hello ccm-hello/name string green\n"]), ("red", [])):
            answers = {
                "ccm-hello/name": {"type": "string", "value": value},
                "ccm-hello/key": {"type": "password", "value": "hunter22"},
                "ccm-hello/parts": {"type": "multiselect", "value": "b, a"},
            }
            plan = self.plan(answers, installed=True)
            plan.carry_out()
            self.assertEqual(plan.commands.read, read)

    def test_a_later_resource_of_a_preview(self):
        """What an earlier resource would answer counts, and a command may answer anything."""
        plan = self.plan(NAME, installed=True)
        with plan.noop():
            for words in ("Would have set the debconf answers", ""):
                resource = plan.resources[0]
                actions = resource.actions(resource.observe(), False)
                self.assertEqual(resource.describe(actions), words)
                self.assertFalse(plan.context.uncertainties)
            found = plan.resources[0].drift_state()["debconf"]
            self.assertEqual(found, {"ccm-hello/name": "red"})  # as it is

    def test_nobody_sees_a_password(self):
        """Neither a password nor another secret is in a record."""
        answers = {
            "ccm-hello/name": {"type": "string", "value": "open sesame"},
            "ccm-hello/key": {"type": "password", "value": "hunter22"},
        }
        plan = self.plan(answers)
        plan.context._current = plan.context._current._replace(mask=Mask(["sesame"]))
        changes = [change for change in plan.carry_out() if change["what"].startswith("debconf")]
        self.assertEqual([change["to"] for change in changes], ["[masked]", "[masked]"])
        self.assertEqual([change["from"] for change in changes], [None, "[masked]"])
        self.assertIn("ccm-hello ccm-hello/key password hunter22\n", plan.commands.read[0])

    def test_scripts_that_answer(self):
        """A package that changed the answer is not as desired, and the error says so."""
        plan = self.plan(NAME, installed=True)
        resource = plan.resources[0]
        expect_text(resource.unachieved(resource.observe()), self)
        self.assertEqual(resource.drift_state()["debconf"], {"ccm-hello/name": "red"})

    def test_not_in_the_transaction_of_another(self):
        """A package whose answers are to be set has a transaction of its own."""
        plan = self.plan(NAME)
        with self.assertRaisesRegex(ResourceError, "answers are set first"):
            plan.ahead()

    def test_where_it_cannot_be_done(self):
        """dnf has no such questions, and a host may have no debconf."""
        commands = recorded_commands()
        commands.on("rpm -q", recorded("rpm-query.txt"))
        found = Plan(commands, ("ccm-hello", {"debconf": NAME}), provider="dnf")
        with self.assertRaisesRegex(ResourceError, "omit debconf"):
            found.resources[0].observe()
        plan = self.plan(NAME, installed=True)
        plan.commands._missing = ("debconf-set-selections",)
        with plan.noop(), self.assertRaisesRegex(Missing, "debconf-set-selections is not"):
            plan.messages()

    def test_a_locked_database(self):
        """The lock of debconf's database is waited for; another failure is told."""
        plan = self.plan(NAME, installed=True, lock_timeout="1m")
        busy = Result(1, "", 'DbDriver "config": config.dat is locked by another process: x')
        plan.commands.on("debconf-set-selections", busy, "")
        plan.context.cancellation.sleep = lambda seconds: None
        plan.carry_out()
        self.assertEqual(plan.commands.count("debconf-set-selections"), 2)
        plan = self.plan(NAME, installed=True)
        plan.commands.on("debconf-set-selections", Result(1, "", "error: no space\n"))
        with self.assertRaisesRegex(ResourceError, "did not accept the answers for ccm-hello"):
            plan.carry_out()

    def test_the_files(self):
        """The files are those of debconf's settings; a database that is none is refused."""
        os.mkdir(self.path("home"))
        settings = os.path.join(self.path("home"), ".debconfrc")
        files = self.plan(NAME).context.files
        for driver in ("File", "LDAP"):
            with open(settings, "w", encoding="utf-8") as file:
                file.write(CONFIGURATION % driver)
            if driver == "File":
                found = debconf.databases(files, self.path("home"))
                self.assertEqual(list(found), ["/srv/config.dat", "/srv/secret.dat"])
            else:
                with self.assertRaisesRegex(ResourceError, "'secret', which is not a file"):
                    debconf.databases(files, self.path("home"))


class Rules(unittest.TestCase):
    def test_values(self):
        """What debconf could not keep is refused, without the value."""
        for kind, value, right in (
            ("boolean", True, True),
            ("boolean", "false", True),
            ("boolean", "yes", False),
            ("boolean", 1, False),
            ("string", "two\nlines", True),
            ("string", "a\rb", False),
            ("string", "ends\\", False),
            ("string", 5, True),
        ):
            found = rules.problems("x", {"debconf": {"a/b": {"type": kind, "value": value}}})
            self.assertEqual(not found, right, (kind, value))
            self.assertFalse([text for _, text in found if str(value) in text])

    def test_one_line(self):
        """A text of several lines is one for debconf; choices have no order."""
        self.assertEqual(line_of("a\nb"), "a\\nb")
        self.assertTrue(is_given(Answer("a", "multiselect", "b, a"), "a,b"))
        self.assertFalse(is_given(Answer("a", "select", "b, a"), "a, b"))

    def test_what_scripts_may_change(self):
        """A script that sets the answer, or one that it computes, makes it uncertain."""
        for script, text, certain in (
            ("config", "db_input low a/b\ndb_go", True),
            ("config", "db_set a/b 'x'", False),
            ("config", "db_set a/other x", True),
            ("postinst", 'db_reset "$question"', False),
            ("postrm", "db_purge", True),
            ("postinst", "echo a a/b string x | debconf-set-selections", False),
        ):
            self.assertEqual(not answer_uncertainty("a", {script: text}, ["a/b"]), certain, text)
        self.assertIn("not known", answer_uncertainty("a", None, ["a/b"]))


if __name__ == "__main__":
    unittest.main()
