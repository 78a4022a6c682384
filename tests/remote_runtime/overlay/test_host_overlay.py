"""What is planned besides paths."""

import contextlib
import os
import tempfile
import unittest
from typing import List, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import (
    AccountEffect,
    Effect,
    MountEffect,
    PackageEffect,
    PathEffect,
    UnitEffect,
    UnknownEffect,
    everything,
)
from remote_runtime.errors import ResourceError
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from tests.remote_runtime.fakes import context, item

SURE = Uncertainty()


class OverlayTest(unittest.TestCase):
    def setUp(self) -> None:
        self.context = context(noop=True)

    def test_effects_on_one_thing_add_up(self) -> None:
        """The latest word on a package counts, and of a unit what each said."""
        self.context.expect([PackageEffect("a", "1"), UnitEffect("u", active=True)], SURE, "t#a")
        self.context.expect([PackageEffect("a", ""), UnitEffect("u", enabled=True)], SURE, "t#b")
        world = self.context.overlay
        assert world is not None
        self.assertEqual(world.packages["a"].version, "")
        self.assertEqual(world.units["u"], UnitEffect("u", active=True, enabled=True))

    def test_what_may_be_in_a_planned_directory(self) -> None:
        """Fog over it lasts where a later resource only says what the directory itself is like."""
        fog = UnknownEffect(
            Uncertainty(ASSUMED, "it starts"), lambda kind, value, there: value.startswith("/v/a/")
        )
        made = PathEffect("/v/a", "directory", mode=0o755)
        self.context.expect([made, fog], SURE, "service#a")
        for kind, level in (("directory", ASSUMED), ("absent", "")):
            self.context.expect([PathEffect("/v/a", kind, mode=0o750)], SURE, "file#/v/a")
            with self.context.for_resource(item("file", "/v/a/x"), noop=True):
                self.assertFalse(self.context.files.exists("/v/a/x"))
                self.assertEqual(self.context.uncertainty.level, level, kind)

    def test_what_may_be_behind_a_planned_link(self) -> None:
        """A link, or a mount, that comes after fog does not settle what it leads to."""
        fog = UnknownEffect(
            Uncertainty(ASSUMED, "it starts"), lambda kind, value, there: value.startswith("/v/a/")
        )
        self.context.expect([PathEffect("/v/a", "directory", mode=0o755), fog], SURE, "archive#a")
        bound = MountEffect("/v/c", source="/v/a", mode=0o755)
        for effect, path in (
            (PathEffect("/w/l", "symlink", target="/v/a"), "/w/l/x"),
            (PathEffect("/v/b", "symlink", target="a"), "/v/b/x"),
            (PathEffect("/v/n/l", "symlink", target="../a"), "/v/n/l/x"),
            (bound, "/v/c/x"),
        ):
            self.context.expect([PathEffect("/v/n", "absent"), effect], SURE, "link#l")
            with self.context.for_resource(item("file", path), noop=True):
                self.assertFalse(self.context.files.exists(path))
                self.assertEqual(self.context.uncertainty.level, ASSUMED, path)

    def test_what_runs_only_if_a_command_succeeds_is_assumed(self) -> None:
        """Later reads of a change whose run is assumed are assumed, those beside it are not."""
        gate = Uncertainty(ASSUMED, "if exec#a succeeds")
        made: List[Effect] = [PathEffect("/v/a", "directory"), AccountEffect("user", "anna", 4001)]
        self.context.expect(made, gate, "task#a", gate)
        for path, level in (("/v/a/x", ASSUMED), ("/v/b", "")):
            with self.context.for_resource(item("file", path), noop=True):
                self.context.files.exists(path)
                self.assertEqual(self.context.uncertainty.level, level, path)
        with self.context.for_resource(item("file", "/v/b"), noop=True):
            self.assertEqual(self.context.accounts.uid("anna"), 4001)
            self.assertEqual(self.context.uncertainty, gate)

    def test_what_a_skipped_resource_may_change_is_assumed(self) -> None:
        """Its effects are not planned, but reads of what they concern are assumed."""
        gate = Uncertainty(ASSUMED, "it depends on file#a")
        fog = UnknownEffect(
            Uncertainty(UNKNOWN, "x"), lambda kind, value, there: (kind, value) == ("unit", "u")
        )
        self.context.suppose_effects([PathEffect("/v/a", "file"), fog], gate, "file#a")
        with self.context.for_resource(item("file", "/v/a"), noop=True):
            self.assertFalse(self.context.files.exists("/v/a"))
            self.assertEqual(self.context.uncertainty, gate)
        with self.context.for_resource(item("service", "u"), noop=True):
            self.context.record_read("unit", "u", False)
            self.assertEqual(self.context.uncertainty, gate)

    def test_whose_number_is_taken_by_an_assumed_account(self) -> None:
        """That a planned account has a number is as certain as the account."""
        gate = Uncertainty(ASSUMED, "if exec#a succeeds")
        self.context.expect([AccountEffect("group", "g9", 4999)], gate, "group#g9", gate)
        with self.context.for_resource(item("group", "h9"), noop=True):
            self.assertEqual(self.context.accounts.group_name(4999), "g9")
            self.assertEqual(self.context.uncertainty, gate)

    def test_the_content_that_an_assumed_change_leaves_is_assumed(self) -> None:
        """Only one that sets the whole content settles it. One that is assumed for another
        reason leaves certain content.
        """
        assumed = Uncertainty(ASSUMED, "exec#a may change the host first")
        fog = UnknownEffect(assumed, lambda kind, value, there: (kind, value) == ("path", "/v/a"))
        for content, part, by_exec, level in (
            (Text("x"), True, False, ""),
            (None, False, False, ""),
            (None, False, True, ASSUMED),
            (Text("x"), True, True, ASSUMED),
            (Text("x"), False, True, ""),
        ):
            if by_exec:
                self.context.expect([fog], SURE, "exec#a")
            effect = PathEffect("/v/a", "file", 0o600, content=content, part=part)
            self.context.expect([effect], assumed, "file#/v/a")
            with self.context.for_resource(item("file", "/v/a"), noop=True):
                self.assertTrue(self.context.files.exists("/v/a"))
                self.assertEqual(self.context.uncertainty.level, "", effect)
                with contextlib.suppress(Unknowable):
                    self.context.files.sha256("/v/a")
                self.assertEqual(self.context.uncertainty.level, level, effect)

    def test_a_directory_that_a_command_makes_has_unknown_attributes(self) -> None:
        """Its owner and mode are unknown until a resource sets them."""
        self.context.expect([PathEffect("/v/a/made", "something")], SURE, "exec#a")
        for level in (UNKNOWN, ""):
            with self.context.for_resource(item("file", "/v/a"), noop=True):
                found = self.context.files.status("/v/a")
                self.assertEqual(found and found.kind, "directory")
                self.assertEqual(self.context.uncertainty.level, level)
            self.context.expect([PathEffect("/v/a", "directory", 0o700)], SURE, "file#/v/a")

    def test_a_directory_that_is_there_stays_one(self) -> None:
        """If an action that is not certain only keeps it, what is below it is where it seems."""
        doubt = Uncertainty(ASSUMED, "why")
        for directory, level in (("/usr", ""), ("/v/new", UNKNOWN)):
            self.context = context(noop=True)
            self.context.expect([PathEffect(directory, "directory")], doubt, "archive#a")
            unknown = Uncertainty(UNKNOWN, "what it extracts")
            self.context.expect([PathEffect(directory + "/x", "symlink")], unknown, "link#x")
            with self.context.for_resource(item("link", "/opt/x"), noop=True):
                self.context.files.exists("/opt/x")
                self.assertEqual(self.context.uncertainty.level, level, directory)

    def test_a_planned_file_of_accounts(self) -> None:
        """A user whose line goes may be elsewhere; one that is nowhere today does not come."""
        planned = PathEffect("/etc/passwd", "file", content=Text("root:x:0:0::/root:/bin/sh\n"))
        self.context.expect([planned], Uncertainty(), "file#p")
        for kind, name, level in (
            ("user", "root", ""),
            ("group", "ccm-new", ""),
            ("user", "ccm-new", ""),
            ("user", "daemon", UNKNOWN),
        ):
            with self.context.for_resource(item("file", "x"), noop=True):
                self.context.accounts.number(kind, name)
                self.assertEqual(self.context.uncertainty.level, level, name)

    def _excuse(self, kind: str, name: str, *fogs: Tuple[str, str, str, str]) -> Tuple[str, str]:
        """The level and the reason of a failure over a thing in the fog of resources."""
        own = context(noop=True)
        for by, level, reason, text in fogs:
            own.expect([UnknownEffect(Uncertainty(level, reason), everything, text)], SURE, by)
        with own.for_resource(item("file", "x"), noop=True):
            own.record_read(kind, name, False)
            return own.uncertainty.level, own.excuse

    def test_the_resource_that_mentions_a_missing_thing_is_named(self) -> None:
        """A failure names the resource that mentions the thing, whatever else may bring it."""
        curl = ("package#curl", UNKNOWN, "curl", "")
        for by, text, kind, name in (
            ("exec#user-alice", "", "user", "alice"),
            ("exec#accounts", "useradd -m alice", "user", "alice"),
            ("exec#/usr/sbin/groupadd ops", "", "group", "ops"),
            ("exec#unpack", "tar -C /opt/app -xf a.tar", "path", "/opt/app"),
            ("exec#units", "install app.service /etc/systemd/system", "unit", "app.service"),
        ):
            named = (by, ASSUMED, "the exec", text)
            other = ("exec#other", ASSUMED, "other", "malice alice2")
            for fogs in ((curl, named, other), (named, curl, other), (other, curl, named)):
                found = self._excuse(kind, name, *fogs)
                self.assertEqual(found, (UNKNOWN, "the exec"), (by, fogs))

    def test_the_nearest_resource_is_named(self) -> None:
        """Where none mentions the thing, the nearest is named, and one that weighs more."""
        curl = ("package#curl", UNKNOWN, "curl", "")
        tree = ("package#tree", UNKNOWN, "tree", "")
        run = ("exec#run", ASSUMED, "run", "true")
        for fogs, reason in (
            ((curl, tree), "tree"),
            ((tree, curl), "curl"),
            ((curl, run), "run and curl"),
            ((run, curl), "curl"),
        ):
            self.assertEqual(self._excuse("user", "alice", *fogs), (UNKNOWN, reason))
        self.assertEqual(self._excuse("user", "alice"), ("", ""))

    def test_accounts(self) -> None:
        """One that will be there has a number, one that goes has none, others are the host's."""
        effects = [
            AccountEffect("user", "ccm-new"),
            AccountEffect("group", "ccm-known", 4711),
            AccountEffect("user", "root", present=False),
        ]
        self.context.expect(effects, SURE, "t#a")
        accounts = self.context.accounts
        number = accounts.uid("ccm-new")
        self.assertEqual((number < 0, accounts.user_name(number)), (True, "ccm-new"))
        self.assertEqual((accounts.gid("ccm-known"), accounts.gid("root")), (4711, 0))
        self.assertIn("user 'root' does not exist", accounts.lacking("user", "root")[0])
        with self.assertRaises(Unknowable):
            accounts.identity("ccm-new")

    def test_files_that_accounts_stand_in(self) -> None:
        """What they hold is not known until accounts that are planned, who owns them is."""
        self.context.expect([AccountEffect("user", "ccm-new")], SURE, "t#a")
        files = self.context.files
        for look, path, level in (
            (files.sha256, "/etc/passwd", UNKNOWN),
            (files.reader, "/etc/group", UNKNOWN),
            (files.status, "/etc/passwd", ""),
            (files.sha256, "/etc/hosts", ""),
        ):
            with self.context.for_resource(item("file", "x"), noop=True):
                look(path)
                self.assertEqual(self.context.uncertainty.level, level, path)

    def test_a_command_of_the_user(self) -> None:
        """It runs where the host is as it will be; else nobody knows what it would say."""
        fog = UnknownEffect(Uncertainty(ASSUMED, "exec#x may change it"), everything)
        self.context.expect([fog], SURE, "exec#x")
        with self.context.for_resource(item("t", "a"), True):
            self.assertEqual(self.context.user_commands.run(["true"]).code, 0)
            self.assertEqual(self.context.uncertainty.level, ASSUMED)
            self.context.expect([PackageEffect("a", "1")], SURE, "t#a")
            with self.assertRaises(Unknowable):
                self.context.user_commands.run(["dpkg", "-s", "a"])
            self.assertEqual(self.context.user_commands.run(["id"]).code, 0)
            self.assertEqual(self.context.commands.run(["true"]).code, 0)

    def test_doubt_over_what_a_command_asks_for(self) -> None:
        """Where it runs and asks for something by name, the doubt over that is one over it."""

        def covers(kind: str, value: str, present: bool) -> bool:
            place = kind == "path" and value.startswith("/usr/bin/")
            return (place or kind in ("user", "package", "unit")) and "ccm-new" in value

        fog = UnknownEffect(Uncertainty(UNKNOWN, "why"), covers)
        self.context.expect([PackageEffect("a", "1"), fog], SURE, "t#a")
        for words, level in (
            (["id", "ccm-new"], UNKNOWN),
            (["id", "root"], ""),
            (["sh", "-c", "command -v ccm-new"], UNKNOWN),
            (["sh", "-c", "command -v sh"], ""),
            (["dpkg", "-s", "ccm-new"], UNKNOWN),
            (["getent", "group", "ccm-new"], ""),
        ):
            with self.subTest(words=words), self.context.for_resource(item("t", "a"), True):
                with contextlib.suppress(ResourceError):  # where there is no such program
                    self.context.user_commands.run(words)
                self.assertEqual(self.context.uncertainty.level, level)

    def test_the_manager_of_units(self) -> None:
        """It sees no text of a unit that is planned, so nobody knows what it would say of it."""
        effects = [PathEffect("/etc/systemd/system/app.service.d/x.conf", "file")]
        self.context.expect(effects, SURE, "t#a")
        with self.context.for_resource(item("t", "a"), True), self.assertRaises(Unknowable):
            self.context.user_commands.run(["systemctl", "is-enabled", "app"])

    def test_what_is_unknown_stays_so(self) -> None:
        """Each thing that an unknown action speaks of is in fog, and nothing else."""
        effects: List[Effect] = [PathEffect("/no/such", "file"), UnitEffect("u")]
        effects.append(AccountEffect("user", "x"))
        self.context.expect(effects, Uncertainty(UNKNOWN, "why"), "t#a")
        for kind, value, level in (
            ("path", "/no/such", UNKNOWN),
            ("path", "/no/such/below", UNKNOWN),
            ("path", "/no", ""),
            ("unit", "u", UNKNOWN),
            ("unit", "v", ""),
            ("user", "x", UNKNOWN),
        ):
            with self.context.for_resource(item("t", "a"), True):
                self.context.record_read(kind, value)
                self.assertEqual(self.context.uncertainty.level, level, (kind, value))

    def test_what_undoes_each_other_is_told(self) -> None:
        """Different wishes for one path; not what one of them leaves as it is found."""
        notices = []
        ctx = context(noop=True, on_notice=lambda level, text: notices.append((level, text)))
        directory = tempfile.mkdtemp()
        self.addCleanup(os.rmdir, directory)
        for effect, by, told in (
            (PathEffect("/f", "file", 0o644), "file#/f", ""),
            (PathEffect("/f", "file", 0o600), "file#/link", "file#/f and file#/link"),
            (PathEffect("/f", "absent"), "file#/gone", "file#/link and file#/gone"),
            (PathEffect("/d", "directory", 0o755, firm=False), "scaffold#/d", ""),
            (PathEffect("/d", "directory", 0o700), "file#/d", ""),
            (PathEffect("/p", "file", 0o644, once=True), "package#p", ""),
            (PathEffect("/p", "absent"), "file#/p", ""),
            (PathEffect("/p", "file", 0o644, once=True), "package#q", ""),
            (PathEffect("/w", "file", content=Text("a"), firm=False), "file#/w", ""),
            (PathEffect("/w", "file", 0o600, firm=False), "file#/w/mode", ""),
            (PathEffect("/w", "file", content=Text("b"), part=True, firm=False), "edit#/w", ""),
        ):
            path = directory + effect.path
            ctx.expect([effect._replace(path=path)], SURE, by)
            said = [("warning", "%s undo each other on every run: %s" % (told, path))]
            self.assertEqual(notices, said if told else [], by)
            del notices[:]

    def test_apart(self) -> None:
        """A block sees what was planned before it, and what it plans ends with it."""
        self.context.expect([PackageEffect("a", "1")], SURE, "t#a")
        with self.context.apart():
            self.context.expect([PackageEffect("b", "1")], SURE, "t#b")
            assert self.context.overlay is not None
            self.assertEqual(sorted(self.context.overlay.packages), ["a", "b"])
        self.assertEqual(sorted(self.context.overlay.packages), ["a"])


if __name__ == "__main__":
    unittest.main()
