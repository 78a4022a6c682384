"""Mount units: what needs them, where they mount, what comes of them, what keeps them from it."""

import os
import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.effects import MountEffect, PathEffect, UnknownEffect
from remote_runtime.uncertainty import Uncertainty
from remote_runtime.units.preview import mount_units
from remote_runtime.units.preview.mount_units import MountChecks
from remote_runtime.units.unit_files import Definition
from remote_runtime.units.unit_text import UnitText, escaped, unescaped

from .. import fakes


def unit(name, text=""):
    read = UnitText(name)
    read.add(text)
    return Definition(name, "/etc/systemd/system/" + name, read, False)


def tmpfs(options="", more=""):
    text = "[Mount]\nWhat=tmpfs\nType=tmpfs\nOptions=%s\n%s" % (options, more)
    return unit("srv-ccm.mount", text)


def bound(source, options="bind", where="srv-ccm.mount"):
    return unit(where, "[Mount]\nWhat=%s\nType=none\nOptions=%s\n" % (source, options))


class Names(unittest.TestCase):
    def test_names_of_places(self):
        """A path makes a name, and the name the path again."""
        for path, name in (
            ("/srv/x", "srv-x"),
            ("/srv//a-b/", "srv-a\\x2db"),
            ("/.x/.y", "\\x2ex-.y"),
            ("/\u00e4", "\\xc3\\xa4"),
            ("/", "-"),
        ):
            self.assertEqual(escaped(path), name)
            self.assertEqual("/" + unescaped(name).strip("/"), os.path.normpath(path))

    def test_places(self):
        """What the unit says, or what its name says."""
        self.assertEqual(mount_units.place(unit("srv-x.mount")), "/srv/x")
        self.assertEqual(
            mount_units.place(unit("srv-x.mount", "[Mount]\nWhere=/srv/x/\n")), "/srv/x"
        )

    def test_what_needs_which(self):
        """Paths that a unit names, with all above them."""
        service = "[Service]\nStateDirectory=x\nWorkingDirectory=~\n[Unit]\n"
        service += "RequiresMountsFor=/a/b\n"
        self.assertEqual(
            mount_units.needed(unit("x.service", service)),
            ["a.mount", "a-b.mount", "var.mount", "var-lib.mount", "var-lib-x.mount"],
        )
        self.assertEqual(
            mount_units.needed(unit("a-b.mount", "[Mount]\nWhat=/c\n")), ["a.mount", "c.mount"]
        )


class Mounted(unittest.TestCase):
    def setUp(self):
        self.context = fakes.context(noop=True, accounts=fakes.FakeAccounts({"ccm-app": 4711}))
        self.mounting = MountChecks(self.context)

    def expect(self, *effects):
        self.context.expect(list(effects), Uncertainty(), "file#x")
        self.mounting = MountChecks(self.context)

    def mounted(self, definition):
        made, *effects = self.mounting.mounted(definition)
        self.assertEqual(made, PathEffect("/srv/ccm", "directory"))
        return effects

    def test_memory(self):
        """An empty file system with the limits and attributes that its options say."""
        plain = MountEffect("/srv/ccm", size=1 << 16)
        for options, effect in (
            ("size=64k", plain),
            ("size=64K,nosuid,x-a.b=c", plain),
            ("nr_blocks=16", plain),
            ("size=0,nr_inodes=1k", MountEffect("/srv/ccm", inodes=1024)),
            ("size=1m,ro", MountEffect("/srv/ccm", size=1 << 20, read_only=True)),
            ("size=2g,noexec", MountEffect("/srv/ccm", size=2 << 30, no_execution=True)),
            ("size=64k,mode=0750,uid=ccm-app,gid=7", plain._replace(mode=0o750, uid=4711, gid=7)),
        ):
            self.assertEqual(self.mounted(tmpfs(options)), [effect], options)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.assertEqual(self.mounted(tmpfs())[0].size, memory // 2)
        self.assertEqual(self.mounted(tmpfs("size=10%"))[0].size, memory // 10)

    def test_a_directory_seen_twice(self):
        """It is the same in both places; where that may be less or more, both are unclear."""
        self.expect(PathEffect("/srv/from", "directory"))
        self.assertEqual(
            self.mounted(bound("/srv/from")), [MountEffect("/srv/ccm", source="/srv/from")]
        )
        for definition in (
            bound("/srv/from", "bind,ro"),
            bound("/srv/nowhere"),
            bound("/srv"),
            bound("/srv/ccm/below"),
        ):
            gone, here, there = self.mounted(definition)
            self.assertEqual(gone, MountEffect("/srv/ccm", present=False))
            source = definition.text.last("Mount", "What")
            self.assertTrue(here.covers("path", "/srv/ccm/x", False))
            self.assertTrue(there.covers("path", source + "/x", True))

    def test_what_nobody_can_tell(self):
        """Another file system hides what is there; an automount unit starts the other."""
        disk = unit("srv-ccm.mount", "[Mount]\nWhat=/dev/sda1\nType=ext4\n")
        gone, fog = self.mounted(disk)
        self.assertFalse(gone.present)
        self.assertTrue(fog.covers("path", "/srv/ccm/x", True))
        effects = self.mounted(unit("srv-ccm.automount"))
        fogs = [effect for effect in effects if isinstance(effect, UnknownEffect)]
        self.assertTrue(any(fog.covers("unit", "srv-ccm.mount", True) for fog in fogs))

    def test_obstacles(self):
        """What is at the place, and what is to be mounted, is looked at."""
        self.expect(
            PathEffect("/srv/file.d", "file"),
            PathEffect("/srv/link", "symlink", target="/tmp"),
            PathEffect("/srv/disk", "file"),
        )
        for name, text, why in (
            ("srv-ccm.mount", "What=t\nType=tmpfs\n", ""),
            (
                "srv-file.d.mount",
                "What=t\n",
                "has the mount point /srv/file.d, which is not a directory",
            ),
            ("srv-link.mount", "What=t\n", "has the mount point /srv/link, which is a symlink"),
            ("srv-ccm.mount", "What=/srv/disk\n", ""),
            ("srv-ccm.mount", "What=/srv/none\n", "mounts /srv/none, which does not exist"),
            ("srv-ccm.mount", "What=/srv/none\nOptions=bind\n", ""),
        ):
            found = self.mounting.obstacles(unit(name, "[Mount]\n" + text))
            self.assertEqual(next(found, ""), why, (name, text))

    def test_what_only_trying_tells(self):
        """A file system that the kernel does not name, an option that is not known here."""
        for definition in (
            tmpfs("size=1m,ccm=1"),
            unit("srv-ccm.mount", "[Mount]\nWhat=x\nType=nosuchfs\n"),
        ):
            with self.assertRaises(Unknowable):
                next(self.mounting.obstacles(definition), "")


if __name__ == "__main__":
    unittest.main()
