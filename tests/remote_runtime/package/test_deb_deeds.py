"""What a maintainer script does to paths, as far as its text tells."""

import os

from remote_runtime.effects import Doubt, PathEffect
from remote_runtime.resources.package.deb_deeds import Deeds
from remote_runtime.resources.package.deb_steps import steps
from remote_runtime.system.files import Files

from ..fakes import FakeAccounts, FolderTest, context

SCRIPT = """#!/bin/sh
set -e
case "$1" in
  configure)
    log=%(root)s/log
    if ! dpkg-statoverride --list "$log" >/dev/null; then
      chown web:adm $log
      chmod 0750 $log
    fi
    if [ -z "$2" ] && [ ! -e %(root)s/enabled/default ] &&
       [ -d %(root)s/enabled ]; then
      ln -s ../default %(root)s/enabled/default
    fi
    if [ ! -e "$log/a" ]; then
      touch "$log/a"; chmod 640 "$log/a"
    fi
    mkdir -p %(root)s/www/html || true
  ;;
  abort-upgrade|abort-remove)
    touch %(root)s/never
  ;;
esac
if [ "$1" = "triggered" ]; then touch %(root)s/triggered; fi
if [ "$(uname -m)" = "vax" ]; then
    touch %(root)s/vax
else
    touch %(root)s/novax
fi
for name in b c; do
    touch %(root)s/$name
done
"""


class DeedsTest(FolderTest):
    def setUp(self):
        super().setUp()
        for name in ("log", "enabled"):
            os.mkdir(self.path(name))
        self.context = context(noop=True, accounts=FakeAccounts({"web": 7}))
        self.world = self.context.world_with([])

    def told(self, script, fresh=True):
        def lay(effect):
            self.world.lay((effect,), Doubt(), "")

        return Deeds(self.world.files, FakeAccounts({"web": 7, "adm": 8}), lay, fresh).of(script)

    def test_a_script(self):
        """What is behind conditions that can be told is done, or is not; all else stays open."""
        told = self.told(SCRIPT % {"root": self.root})
        log, link = self.path("log"), self.path("enabled/default")
        self.assertEqual(
            [(e.path, e.kind, e.mode, e.uid) for e in told.effects],
            [
                (log, "directory", None, 7),
                (log, "directory", 0o750, None),
                (link, "symlink", None, None),
                (log + "/a", "file", 0o644, 0),
                (log + "/a", "file", 0o640, None),
                (self.path("www"), "directory", 0o755, 0),
                (self.path("www/html"), "directory", 0o755, 0),
            ],
        )
        for name in ("never", "triggered"):
            self.assertNotIn(self.path(name), told.rest)
        for name in ("vax", "novax", "$name"):
            self.assertIn("touch %s" % self.path(name), told.rest)

    def test_an_upgrade(self):
        """What only a first installation does is not done."""
        told = self.told(SCRIPT % {"root": self.root}, fresh=False)
        self.assertNotIn(self.path("enabled/default"), [e.path for e in told.effects] + [told.rest])

    def test_what_nobody_can_tell(self):
        """A command with more than plain words, or of which it is not known whether it fails."""
        there = self.write("there")
        for line in (
            "chown nobody-knows %s" % there,
            "chown -R web %s" % there,
            "chmod u+s %s" % there,
            "ln -s x %s" % there,
            "touch %s/*" % self.root,
            "echo x > %s" % there,
            "touch %s/../x" % self.root,
            "cp %s %s" % (there, self.root),
        ):
            told = self.told(line)
            self.assertEqual((told.effects, told.rest), ([], line))

    def test_what_is_no_command(self):
        """The text of a here-document, of a string over lines and of a comment is none, and a brace
        there ends nothing."""
        a, b, c = (self.path(name) for name in "abc")
        script = """if [ -n "$2" ]; then  # don't
            cat > %(b)s <<END
            touch %(a)s
            fi
END
            awk '
            }
            ' x
            touch %(c)s
            fi
            helper() { touch %(a)s; }
            touch %(b)s
            """ % {"a": a, "b": b, "c": c}
        self.assertEqual([e.path for e in self.told(script).effects], [b])
        self.assertIn("touch %s" % a, self.told(script).rest)

    def test_a_script_that_ends_before(self):
        """Nothing is done behind an exit, and nothing is known behind one that may be."""
        touch = "touch %s\n" % self.path("a")
        for before, effects, rest in (
            ('if [ "$1" != configure ]; then exit 0; fi\n', 1, False),
            ("[ -e /x ]\nexit 0\n", 0, False),
            ("if grep -q x /etc/x; then exit 0; fi\n", 0, True),
        ):
            told = self.told(before + touch)
            self.assertEqual((len(told.effects), "touch" in told.rest), (effects, rest), before)
            self.world = self.context.world_with([])

    def test_a_copy(self):
        """Of a copy all is known but what it holds."""
        there = self.write("there", b"x", 0o755)
        (effect,) = self.told("cp %s %s" % (there, self.path("copy"))).effects
        self.assertEqual(effect, PathEffect(self.path("copy"), "file", 0o755, 0, 0))

    def test_a_copy_that_keeps_attributes(self):
        """Mode and owner are those of what is copied, the rights of its group among them."""
        there = self.write("there", b"x", 0o664)
        for option in ("-p", "-a"):
            line = "cp %s %s %s" % (option, there, self.path("copy" + option))
            (effect,) = self.told(line).effects
            owner, group = os.getuid(), os.getgid()
            wanted = PathEffect(self.path("copy" + option), "file", 0o664, owner, group)
            self.assertEqual(effect, wanted)

    def test_a_copy_over_a_file(self):
        """What is there keeps its attributes and loses its content: nobody tells that here."""
        there, here = self.write("there", b"x", 0o755), self.write("here", b"y", 0o600)
        told = self.told("cp %s %s" % (there, here))
        self.assertEqual((told.effects, told.rest), ([], "cp %s %s" % (there, here)))

    def test_steps_in_one_line(self):
        """A condition that ends where it began is around nothing behind it."""
        found = steps("if [ -e /a ]; then rm /a; fi\nrm /b\n")
        self.assertEqual(
            [(step.words, [c.text for c in step.conditions]) for step in found],
            [(("rm", "/a"), ["[ -e /a ]"]), (("rm", "/b"), [])],
        )
        self.assertIsInstance(self.world.files, Files)
