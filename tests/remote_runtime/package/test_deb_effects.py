"""What is on a host once Debian packages have come or gone, by the host's own rules."""

import hashlib
import os
import shutil
import tempfile
import unittest
from unittest import mock

from remote_runtime.effects import PackageEffect, PathEffect, UnknownEffect
from remote_runtime.packages.dpkg.effects import DebEffects
from remote_runtime.packages.dpkg.host_rules import Diversion, HostRules, Override
from remote_runtime.packages.dpkg.installed_packages import Registry
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.dpkg.settings import Settings
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.uncertainty import ASSUMED, Uncertainty

from .. import fakes

OLD, NEW = "old\n", "next\n"


class Host(unittest.TestCase):
    """A directory that stands for a host, whose paths are whole."""

    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(self.root + "/dpkg/info")
        self.context = fakes.context(noop=True)
        self.known = {}
        self.planned = {}
        self.diversions = {}
        self.overrides = {}

    def path(self, name, text=None):
        full = os.path.join(self.root, name)
        if text is not None:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write(text)
        return full

    def member(self, name, text):
        digest = hashlib.sha256(text.encode()).hexdigest()
        return Member(self.path(name), "file", 0o644, 0, 0, len(text), digest, text=text)

    def effects(self, *changes, forced=()):
        consequences = DebEffects(
            self.context,
            Registry("amd64", self.root + "/dpkg"),
            contents=self.known.get,
            planned=self.planned,
            rules=HostRules(self.diversions, self.overrides, Settings((), frozenset(forced))),
        )
        return consequences.of([VersionChange(*change) for change in changes])

    def told(self, *changes, forced=()):
        """The paths that change, with what will be there: a text, a dash for nothing, or a question
        mark where nobody can tell."""
        found = {}
        for effect in self.effects(*changes, forced=forced):
            if isinstance(effect, PathEffect):
                name = os.path.relpath(effect.path, self.root)
                content = effect.content.read().decode() if effect.content else "?"
                found[name] = "-" if effect.kind == "absent" else content
        return found


class Conffiles(Host):
    def setUp(self):
        super().setUp()
        md5 = hashlib.new("md5", OLD.encode()).hexdigest()
        stanza = "Package: a\nStatus: install ok installed\nConffiles:\n"
        for name in ("edited", "untouched", "deleted"):
            stanza += " %s %s\n" % (self.path(name), md5)
        self.path("dpkg/status", stanza + "Description: x\n")
        self.path("edited", "mine\n")
        self.path("untouched", OLD)
        self.path("stray", "mine\n")

    def bring(self, text, *names):
        members = [self.member(name, text) for name in names]
        self.known["a"] = Contents(members, [one.path for one in members], {})

    def test_a_new_version(self):
        """What was edited or deleted stays so, what was not is replaced, what is new comes."""
        self.bring(NEW, "edited", "untouched", "deleted", "new", "stray")
        beside = ("edited.dpkg-dist", "deleted.dpkg-dist", "stray.dpkg-dist")
        usual = {"untouched": NEW, "new": NEW}
        kept = dict(usual, **dict.fromkeys(beside, NEW))
        taken = {"edited": NEW, "edited.dpkg-old": "?", "stray": NEW, "stray.dpkg-old": "?",
                 "deleted": NEW}  # fmt: skip
        missed = {"deleted": NEW, "edited.dpkg-dist": NEW, "stray.dpkg-dist": NEW}
        for forced, found in (
            (["confold"], kept),
            (["confold", "confdef", "confnew"], kept),
            (["confold", "confask"], kept),
            (["confold", "confnew"], dict(usual, **taken)),
            (["confold", "confmiss"], dict(usual, **missed)),
        ):
            self.assertEqual(self.told(("a", "1", "2"), forced=forced), found, forced)

    def test_the_same_version(self):
        """dpkg asks nothing where the package has what it had, unless it is told to."""
        self.bring(OLD, "edited", "untouched", "deleted")
        asked = {"edited.dpkg-dist": OLD, "deleted.dpkg-dist": OLD}
        taken = {"edited": OLD, "edited.dpkg-old": "?", "deleted": OLD}
        for forced, found in (
            (["confold", "confnew"], {}),
            (["confold", "confmiss"], {"deleted": OLD}),
            (["confold", "confask"], asked),
            (["confold", "confask", "confnew"], taken),
        ):
            self.assertEqual(self.told(("a", "1", "2"), forced=forced), found, forced)

    def test_a_large_file(self):
        """A file of another size than the package's is not read unless it is small."""
        self.bring(NEW, "stray")
        os.truncate(self.path("stray"), 1 << 20)
        with mock.patch.object(self.context.files, "sha256", side_effect=AssertionError):
            self.assertEqual(self.told(("a", "1", "2")), {"stray.dpkg-dist": NEW})

    def test_what_lay_beside(self):
        """Of the two files beside it dpkg leaves the one that it has just made."""
        self.bring(NEW, "edited")
        self.path("edited.dpkg-old", "")
        self.assertEqual(
            self.told(("a", "1", "2")), {"edited.dpkg-old": "-", "edited.dpkg-dist": NEW}
        )

    def test_owner_and_mode(self):
        """A file that is replaced keeps its own; so does what comes beside one that is kept."""
        os.chmod(self.path("edited"), 0o600)
        self.bring(NEW, "edited", "untouched", "new")
        modes = {os.path.basename(e.path): e.mode
                 for e in self.effects(("a", "1", "2")) if isinstance(e, PathEffect)}  # fmt: skip
        self.assertEqual(modes, {"untouched": None, "new": 0o644, "edited.dpkg-dist": 0o600})

    def test_what_cannot_be_told(self):
        """A large file may be the one that came before; a link is not followed by every dpkg."""
        self.bring("x" * 9, "edited")
        large = self.known["a"].members[0]._replace(text="")
        os.symlink("untouched", self.path("link"))
        link = self.member("link", NEW)
        self.known["a"] = Contents([large, link], [large.path, link.path], {})
        fogs = [
            e
            for e in self.effects(("a", "1", "2"), forced=["confnew"])
            if isinstance(e, UnknownEffect)
        ]
        for name in ("edited", "edited.dpkg-dist", "link", "untouched", "link.dpkg-new"):
            self.assertTrue(any(f.covers("path", self.path(name), True) for f in fogs), name)
        self.assertFalse(any(fog.covers("path", self.path("stray"), True) for fog in fogs))

    def test_one_that_came_earlier_in_the_plan(self):
        """It is what the earlier version had, though dpkg has not noted it yet."""
        self.bring(NEW, "edited", "stray")
        before = [self.member("edited", "mine\n"), self.member("stray", OLD)]
        self.planned["a", "1"] = Contents(before, [one.path for one in before], {})
        self.assertEqual(self.told(("a", "1", "2")), {"edited": NEW, "stray.dpkg-dist": NEW})


class Diverted(Host):
    def divert(self, name, to, package=""):
        self.diversions[self.path(name)] = Diversion(self.path(to), package)

    def test_what_comes_lies_elsewhere(self):
        """A file, and a configuration file that was edited where it lies; not the diverter's."""
        self.divert("f", "f.real")
        self.divert("own", "own.real", "a")
        self.divert("conf", "conf.real")
        self.path("conf.real", "mine\n")
        self.overrides[self.path("f")] = Override(1, 2, 0o600)
        members = [self.member(name, NEW) for name in ("f", "own", "conf")]
        self.known["a"] = Contents(members, [self.path("conf")], {})
        self.assertEqual(
            self.told(("a", "", "1")), {"f.real": NEW, "own": NEW, "conf.real.dpkg-dist": NEW}
        )
        effect = self.effects(("a", "", "1"))[1]
        self.assertEqual((effect.mode, effect.uid, effect.gid), (0o600, 1, 2))

    def test_what_goes_lies_elsewhere(self):
        """What stands at the undiverted place is somebody else's, on removal and on upgrade."""
        for name in ("f", "f.real", "g"):
            self.path(name, OLD)
        self.path("dpkg/info/a.list", "%s\n%s\n" % (self.path("f"), self.path("g")))
        self.divert("f", "f.real")
        self.assertEqual(self.told(("a", "1", "")), {"f.real": "-", "g": "-"})
        self.known["a"] = Contents([self.member("g", NEW)], [], {})
        self.assertEqual(self.told(("a", "1", "2")), {"f.real": "-", "g": NEW})

    def test_links_in_place_of_directories(self):
        """A link goes with its package if nothing of it is below; other paths are not looked up."""
        links = ["link%d" % number for number in range(20)]
        for name in links:
            os.makedirs(self.path("in/" + name))
            os.symlink("in/" + name, self.path(name))
        self.path("dpkg/info/a.list", "".join(self.path(name) + "\n" for name in links))
        files = self.context.files
        with mock.patch.object(files, "is_there", wraps=files.is_there) as look_up:
            self.assertEqual(set(self.told(("a", "1", ""))), set(links))
        self.assertLessEqual(look_up.call_count, 2 * len(links))

    def test_what_a_command_may_have_changed(self):
        """What comes by rules that were read in the fog of a command is no surer than they."""
        self.known["a"] = Contents([self.member("f", NEW)], [], {})
        with self.context.for_resource(fakes.item("package", "a"), noop=True):
            self.assertFalse(
                [e for e in self.effects(("a", "", "1")) if isinstance(e, UnknownEffect)]
            )
            self.context.suppose("a command may change it")
            (fog,) = [e for e in self.effects(("a", "", "1")) if isinstance(e, UnknownEffect)]
        self.assertEqual(fog.uncertainty, Uncertainty(ASSUMED, "a command may change it"))
        self.assertTrue(fog.covers("path", self.path("f"), True))
        self.assertFalse(fog.covers("path", self.path("g"), True))

    def test_what_another_package_has_taken_over(self):
        """A file of two packages is the later one's, and does not go with the other."""
        for name in ("f", "g"):
            self.path(name, OLD)
        self.path("dpkg/info/b.list", "%s\n%s\n" % (self.path("f"), self.path("g")))
        self.known["a"] = Contents([self.member("f", NEW)], [], {})
        self.assertEqual(self.told(("a", "", "1"), ("b", "1", "")), {"g": "-", "f": NEW})
        self.context.expect([PackageEffect("a", "1")], Uncertainty(), "package#a")
        self.assertEqual(self.told(("b", "1", "")), {"g": "-"})
        self.context.expect([PackageEffect("a", "")], Uncertainty(), "package#a")
        self.assertEqual(self.told(("b", "1", "")), {"g": "-", "f": "-"})

    def test_what_a_script_diverts(self):
        """The paths are in fog, also for a package that brings one of them later."""
        path = self.path("x/f")
        script = "dpkg-divert --local --rename --divert %s.new --add %s\n" % (path, path)
        self.known["a"] = Contents([], [], {"preinst": script})
        self.known["b"] = Contents([self.member("x/f", NEW)], [], {})
        self.known["c"] = Contents([self.member("x/g", NEW)], [], {})
        for name, covered in (("a", True), ("b", True), ("c", False)):
            fogs = [e for e in self.effects((name, "", "1")) if isinstance(e, UnknownEffect)]
            for one in (path, path + ".new"):
                self.assertEqual(any(f.covers("path", one, True) for f in fogs), covered, name)


if __name__ == "__main__":
    unittest.main()
