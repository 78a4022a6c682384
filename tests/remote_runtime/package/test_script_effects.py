"""What a maintainer script does to paths, as far as its text tells."""

import os
import time
import unittest
from unittest import mock

from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts.effects import ScriptEffects
from remote_runtime.uncertainty import Uncertainty

from ..fakes import DirectoryTest, FakeAccounts, context

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


class DeedsTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        for name in ("log", "enabled"):
            os.mkdir(self.path(name))
        self.context = context(noop=True, accounts=FakeAccounts({"web": 7}))
        self.world = self.context.overlay_with([])

    def told(self, script, fresh=True):
        def lay(effect):
            self.world.lay((effect,), Uncertainty(), "")

        follower = ScriptEffects(
            self.world.files, FakeAccounts({"web": 7, "adm": 8, "root": 0}), lay=lay
        )
        return follower.follow("p", "postinst", script, ["configure", "" if fresh else "0.9"])

    def rest(self, told):
        """The calls that leave something open, one a line."""
        return "\n".join(call.text for call in told.open)

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
                (self.path("b"), "file", 0o644, 0),
                (self.path("c"), "file", 0o644, 0),
            ],
        )
        for name in ("never", "triggered"):
            self.assertNotIn(self.path(name), self.rest(told))
        for name in ("vax", "novax"):
            self.assertIn("touch %s" % self.path(name), self.rest(told))

    def test_an_upgrade(self):
        """What only a first installation does is not done."""
        told = self.told(SCRIPT % {"root": self.root}, fresh=False)
        self.assertNotIn(
            self.path("enabled/default"), [e.path for e in told.effects] + [self.rest(told)]
        )

    def test_what_nobody_can_tell(self):
        """A command with more than plain words leaves open the paths that it names, no more."""
        there = self.write("there")
        for line, paths in (
            ("chown nobody-knows %s" % there, [there]),
            ("chown -R web %s" % there, [there]),
            ("chmod u+s %s" % there, [there]),
            ("ln -s x %s" % there, [there]),
            ("touch %s/*" % self.root, [self.root + "/\0"]),
            (
                "touch %s/../x" % self.root,
                [self.root + "/../x", os.path.join(os.path.dirname(self.root), "x")],
            ),
            ("cp %s %s" % (there, self.root), [self.root]),
            ("date > %s" % there, [there]),
            ("sed -i s/a/b/ %s" % there, [there]),
            ("grep -q x /etc/x && rm %s" % there, [there]),
        ):
            told = self.told(line)
            self.assertEqual((told.effects, [one.paths for one in told.open]), ([], [paths]), line)

    def test_what_is_behind_links_and_open_calls(self):
        """A link is followed, but not with -h. A test of what a call may create is not known."""
        there, link, new = self.write("there"), self.path("link"), self.path("new")
        os.symlink("there", link)
        for line, expected in (
            ("chmod 600 %s" % link, [(there, "file")]),
            ("chown -h web %s" % link, [(link, "symlink")]),
            (": ${x:=1}; [ $x = 1 ] && : > %s" % new, [(new, "file")]),
            ("[ -n '%s' ] && [ -z ${x-} ] && : > %s" % (new, new), [(new, "file")]),
            ("date > %s.n; [ -e %s.n ] && : > %s" % (new, new, new), []),
        ):
            effects = self.told(line).effects
            self.assertEqual([(e.path, e.kind) for e in effects], expected, line)
        (written,) = self.told("date > %s" % link).open
        self.assertEqual(written.paths, [link, there])

    def test_what_fails(self):
        """The command behind ``||`` runs if the first one certainly fails; it may run if that one's
        user is not known."""
        there, new = self.write("there"), self.path("new")
        for line, certain in (
            ("mkdir %s" % there, True),
            ("rm %s.no" % there, True),
            ("rmdir %s.no" % there, True),
            ("rmdir %s" % self.root, True),
            ("rm -f %s.no" % there, None),
            ("chown nobody-knows %s" % there, False),
            ("touch %s/no/x" % self.root, True),
            ("mkdir %s/no/x" % self.root, True),
        ):
            told = self.told("%s || echo x > %s" % (line, new))
            self.assertEqual([e.path for e in told.effects], [new] if certain else [], line)
            open_paths = [path for one in told.open for path in one.paths or ()]
            self.assertEqual(new in open_paths, certain is False, line)

    def test_what_changes_nothing(self):
        """A command that only reads leaves nothing open, whatever it is given."""
        for line in ("sed s/a/b/ /etc/x", "find /etc -name x", "xargs grep x", "dpkg -s a",
                     "systemctl daemon-reload", "env A=b cat /etc/x",
                     "x=$(mktemp); date > $x"):  # fmt: skip
            self.assertEqual(self.told(line).open, [], line)

    def test_what_may_change_anything(self):
        """A command that has no row in the list, also behind another one, a file that is read as a
        script, and a script of another language."""
        for line, name in (
            ("make-it so", "make-it"),
            ("/usr/lib/a/helper", "helper"),
            (". /usr/share/a/functions", "."),
            ("runuser -u web -- make-it", "runuser"),
            ("find /etc -exec make-it {} +", "find"),
            ("systemctl edit x", "systemctl"),
            ("#!/usr/bin/perl\nunlink;", "/usr/bin/perl"),
            ("if true; then", "postinst"),
        ):
            told = self.told(line)
            self.assertEqual([(one.call, one.paths) for one in told.open], [(name, None)], line)

    def test_files_that_are_printed(self):
        """What echo, printf and cat write to a file is known where it is plain text."""
        there = self.write("there", b"a\n", 0o600)
        new = self.path("new")
        for line, content in (
            ("echo 'b c' > %s" % new, b"b c\n"),
            ("printf 'b=%%s\\n' 1 > %s" % new, b"b=1\n"),
            ("cat > %s <<END\nb\n  c\nEND" % new, b"b\n  c\n"),
            (": > %s" % new, b""),
            ("echo b >> %s" % there, b"a\nb\n"),
        ):
            self.world = self.context.overlay_with([])
            (effect,) = self.told(line).effects
            self.assertEqual(effect.content.read(), content, line)
            self.assertEqual(effect.mode, 0o644 if effect.path == new else None)

    def test_installed_and_removed(self):
        """install -d and -m, mkdir -m, rm and rmdir are followed."""
        there = self.write("there", b"x", 0o755)
        new, directory = self.path("new"), self.path("enabled")
        told = self.told(
            "install -d -m 750 -o web -g root %s\nmkdir -m 700 %s/x\ninstall -m 640 %s %s/y\n"
            "rm -f %s %s\nrmdir %s\n" % (new, new, there, new, there, new + "/none", directory)
        )
        self.assertEqual(
            [(e.path, e.kind, e.mode, e.uid, e.gid) for e in told.effects],
            [
                (new, "directory", 0o750, 7, 0),
                (new + "/x", "directory", 0o700, 0, 0),
                (new + "/y", "file", 0o640, 0, 0),
                (there, "absent", None, None, None),
                (directory, "absent", None, None, None),
            ],
        )

    def test_another_umask(self):
        """What is made with another umask has a mode that is not told."""
        told = self.told("umask 077\nmkdir %s\n" % self.path("new"))
        self.assertEqual((told.effects, told.open[0].paths), ([], [self.path("new")]))

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
            touch %(d)s
            """ % {"a": a, "b": b, "c": c, "d": self.path("d")}
        self.assertEqual([e.path for e in self.told(script).effects], [self.path("d")])

    def test_a_script_that_ends_before(self):
        """Nothing is done behind an exit, and nothing is known behind one that may be."""
        touch = "touch %s\n" % self.path("a")
        for before, effects, rest in (
            ('if [ "$1" != configure ]; then exit 0; fi\n', 1, False),
            ("[ -e /x ]\nexit 0\n", 0, False),
            ("if grep -q x /etc/x; then exit 0; fi\n", 0, True),
        ):
            told = self.told(before + touch)
            self.assertEqual(
                (len(told.effects), "touch" in self.rest(told)), (effects, rest), before
            )
            self.world = self.context.overlay_with([])

    def test_a_copy(self):
        """A copy holds what the file holds."""
        there = self.write("there", b"x", 0o755)
        (effect,) = self.told("cp %s %s" % (there, self.path("copy"))).effects
        self.assertEqual(effect.content.read(), b"x")
        wanted = PathEffect(self.path("copy"), "file", 0o755, 0, 0)
        self.assertEqual(effect._replace(content=None), wanted)

    def test_a_copy_of_a_large_file(self):
        """A file of more than 64 MiB is not read; the content of its copy is unknown."""
        there = self.write("there", b"")
        os.truncate(there, (64 << 20) + 1)
        with mock.patch.object(self.context.files, "sha256", side_effect=AssertionError):
            (effect,) = self.told("cp %s %s" % (there, self.path("copy"))).effects
        self.assertEqual((effect.path, effect.content), (self.path("copy"), None))

    def test_a_copy_that_keeps_attributes(self):
        """Mode and owner are those of what is copied, the rights of its group among them."""
        there = self.write("there", b"x", 0o664)
        for option in ("-p", "-a"):
            line = "cp %s %s %s" % (option, there, self.path("copy" + option))
            (effect,) = self.told(line).effects
            owner, group = os.getuid(), os.getgid()
            wanted = PathEffect(self.path("copy" + option), "file", 0o664, owner, group)
            self.assertEqual(effect._replace(content=None), wanted)

    def test_a_copy_over_a_file(self):
        """What is there keeps its attributes and loses its content: nobody tells that here."""
        there, here = self.write("there", b"x", 0o755), self.write("here", b"y", 0o600)
        told = self.told("cp %s %s" % (there, here))
        self.assertEqual((told.effects, told.open[0].paths), ([], [here]))


class StrangersTest(unittest.TestCase):
    """Scripts that another host may have reported."""

    def followed(self, script, effects=()):
        run = script_sequence.Run("p", "postinst", script, ["configure", ""])
        return script_sequence.follow(
            context(noop=True), list(effects), run, lambda overlay, call: None
        )

    def test_paths_that_cost_time(self):
        """Deep paths and very many paths are not looked up; what the script does is unknown."""
        deep, half = "/a" * 1500, "/a" * 90
        lines = ("d %s - - - -\n" % (deep + "/b"), "d /%d - - - -\n")
        files = {"deep.conf": lines[0], "many.conf": "".join(lines[1] % n for n in range(999))}
        effects = [
            PathEffect("/usr/lib/tmpfiles.d/" + name, "file", 0o644, 0, 0, Text(text))
            for name, text in files.items()
        ]
        for script in (
            "mkdir -p %s" % deep,
            "for i in a b c d e f g h i j k l m n; do mkdir -p /$i%s; done" % half,
            "d=%s\n" % half + "touch $d/a $d/b $d/c $d/d\n" * 4000,
            "cd %s\n" % half + "touch a b c d\n" * 4000,
            "d=%s\n" % half + "[ -e $d/a ] && c\n" * 4000,
            "d=%s\n" % half + "update-alternatives --install $d/x x /bin/sh 1\n" * 4000,
            "systemd-tmpfiles --create deep.conf\n",
            "systemd-tmpfiles --create many.conf\n" * 4000,
        ):
            began = time.process_time()
            found = self.followed(script, effects)
            self.assertLess(time.process_time() - began, 15, script[:40])
            self.assertIn(None, [one.paths for one in found.open], script[:40])

    def test_calls_that_fail(self):
        """What a tool would not take changes nothing for certain, and a device is not read."""
        long = "n" * 300
        for call in (
            "update-alternatives --install usr/bin/x x /bin/sh 1",
            "update-alternatives --install /usr/../x x /bin/sh 1",
            "update-alternatives --install /x ../x /bin/sh 1",
            "update-alternatives --install /x /x /bin/sh 1",
            "update-alternatives --install /x x bin/sh 1",
            "update-alternatives --install /x '' /bin/sh 1",
            "update-alternatives --install /x %s /bin/sh 1" % long,
            "update-alternatives --install /%s x /bin/sh 1" % long,
            "update-alternatives --remove . /x",
            "systemd-tmpfiles --create /dev/zero",
        ):
            found = self.followed(call)
            self.assertEqual(found.effects, [], call)
            self.assertTrue(found.open, call)
