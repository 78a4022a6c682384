"""Which commands find the same, whatever is planned beside files."""

import unittest

from remote_runtime.overlay.probe_commands import (
    looked_up_names,
    may_write,
    names_looked_up_by_script,
    parse_command,
)

PLANNED = {"app", "app.service"}


class LookingTest(unittest.TestCase):
    def test_programs(self) -> None:
        """Those that are known for looking at files, unless they look where running things show,
        and those that ask for what is not planned."""
        rows = [
            (["test", "-f", "/etc/app.conf"], True),
            (["/usr/bin/grep", "-q", "x", "/etc/app.conf"], True),
            (["test", "-e", "/proc/1"], False),
            (["test", "-S", "/var/run/app.sock"], False),
            (["test", "-e", "/var/lock/app"], False),
            (["test", "-e", "/srv/app/run/sys.d"], True),
            (["test", "-e", "/sys.d"], True),
            (["grep", "-q", "^app:", "/etc/passwd"], False),
            (["sh", "-c", "cat /etc/gshadow-"], False),
            (["test", "-e", "/var/lib/dpkg/info/app.list"], False),
            (["grep", "-q", "^app:", "/srv/etc/passwd", "/etc/group.d"], True),
            (["systemctl", "is-active", "app"], False),
            (["systemctl", "is-active", "--quiet", "app.service"], False),
            (["systemctl", "-q", "is-active", "ssh"], True),
            (["systemctl", "is-enabled", "ssh"], False),
            (["systemctl", "restart", "ssh"], False),
            (["systemctl", "is-active"], False),
            (["id", "app"], False),
            (["id", "-u", "shop"], True),
            (["id"], True),
            (["id", "1000"], False),
            (["getent", "passwd", "shop"], True),
            (["getent", "passwd", "app"], False),
            (["getent", "passwd"], False),
            (["getent", "hosts", "shop"], False),
            (["dpkg", "-s", "nginx:amd64"], True),
            (["dpkg", "-s", "app:amd64"], False),
            (["dpkg", "-s", "a*"], False),
            (["dpkg", "-l", "nginx"], False),
            (["which", "app"], True),
            (["command", "-v", "app"], True),
            (["command", "app"], False),
            (["/opt/check", "-f"], False),
        ]
        for argv, expected in rows:
            self.assertIs(looked_up_names(argv, PLANNED) is not None, expected, argv)

    def test_scripts(self) -> None:
        """A script of such commands alone is one, whatever holds them together."""
        rows = [
            ("test -f /a && ! grep -q x /b 2>&1 >/dev/null", True),
            ("[ -e /a ] || [ -e /b ]; true", True),
            ("if test -d /a; then exit 0; else exit 1; fi", True),
            ("A=1 test -n x | wc -l", True),
            ("test $(cat /a | wc -l) = 3", True),
            ("test $(id -u app) = 3", False),
            ("test $(id -u shop) = 3", True),
            ("A=$(cat /a) id", False),
            ("(test -f /a); id app", False),
            ("id shop >/dev/null 2>&1", True),
            ("id shop > /dev/null", True),
            ("id $USER", False),
            ("id shop &>/dev/null || exit 1", True),
            ("test -f `which app`", True),
            ("test -f /a && dpkg -s app", False),
            ("test -f /a && dpkg -s 'nginx'", True),
            ("dpkg -l | grep -q nginx", False),
            ("getent passwd shop | cut -d: -f7 | grep -q bash", True),
            ("test -f /run/app.pid", False),
            ("command -v app >/dev/null", True),
            ("command -v curl && curl -f http://localhost", False),
            ("A=1", True),
        ]
        for text, expected in rows:
            found = looked_up_names(["/bin/sh", "-c", text], PLANNED)
            self.assertIs(found is not None, expected, text)
        self.assertIsNone(looked_up_names(["sh", "/opt/check.sh"], PLANNED))

    def test_script_files(self) -> None:
        """A file is one where it is a shell's script of such commands alone."""
        rows = [
            ('#!/bin/sh\n# id app\ngrep -q ok "$1"\n', True),
            ('#!/bin/sh -e\nfor f in /srv/*; do\n  test -e "$f" && exit 0\ndone\nexit 1\n', True),
            ("#!/bin/sh\nset -- $(ls /srv)\nshift; test $# = 1\n", True),
            ("#!/bin/sh\nfor f in /etc/*; do grep -q app $f; done\n", False),
            ("#!/bin/sh\nfor f in /*/passwd; do grep -q app $f; done\n", False),
            ("#!/bin/sh\nid app\n", False),
            ("#!/bin/sh\n. /srv/functions\n", False),
            ("#!/bin/sh\nfor tool in id; do $tool app; done\n", False),
            ("#!/bin/sh\nsystemctl is-active app\n", False),
            ("#!/usr/bin/python3\nprint(1)\n", False),
            ("\x7fELF", False),
            ("", False),
        ]
        for text, expected in rows:
            self.assertIs(names_looked_up_by_script(text, PLANNED) is not None, expected, text)

    def test_what_is_read(self) -> None:
        """Of commands that read what they name, their words; of others nothing is told."""
        rows = [
            (["test", "-f", "/a", "-a", "b"], ["test", "/a", "b"]),
            (["/bin/grep", "-q", "a*", "/b"], ["/bin/grep", "a*", "/b"]),
            (["grep", "-rq", "x", "/etc"], None),
            (["grep", "-qf", "/patterns", "/b"], None),
            (["grep", "--include=x", "y", "/b"], None),
            (["sha256sum", "/a"], ["sha256sum", "/a"]),
            (["sha256sum", "-c", "/sums"], None),
            (["sh", "-c", "cd / ; md5sum --status -c /sums"], None),
            (["sh", "-c", "cat /sums | sha1sum --check -"], None),
            (["wc", "-l", "/a"], ["wc", "/a"]),
            (["wc", "--files0-from=/names"], None),
            (["test", "-e", "/proc/1"], None),
            (["grep", "-q", "x", "/etc/passwd"], None),
            (["id", "x"], None),
            (["/opt/check", "/a"], None),
            (["sh", "-c", "[ -e /a ] && grep -q '^x$' /b 2>/dev/null"],
             ["[", "/a", "]", "grep", "^x$", "/b", "2", "/dev/null"]),
            (["sh", "-c", 'test "$(cat /a)" = c'], ["test", "$", "cat", "/a", "c"]),
            (["sh", "-c", "[ 3 -le $(wc -l < /a) ]"], ["[", "3", "$", "wc", "/a", "]"]),
            (["sh", "-c", "test a != `cat /a`"], None),
            (["test", "-f", "/a b"], ["test", "/a", "b", "/a b"]),
            (["test", "-f", "/a=(b)"], ["test", "/a", "b", "/a=(b)"]),
            (["sh", "-c", "test -f '/a b' -o -f \"c d\""],
             ["test", "/a", "b", "c", "d", "/a b", "c d"]),
            (["sh", "-c", "test -f /a=b"], ["test", "/a", "b", "/a=b"]),
            (["sh", "-c", "test -f /a\\ b"], None),
            (["sh", "-c", 'test -f "/a\\"b"'], None),
            (["sh", "-c", "grep -q 'a\\.b' /c"], ["grep", "a\\.b", "/c"]),
            (["sh", "-c", "[ a != $(cat /a) ]"], ["[", "a", "!", "$", "cat", "/a", "]"]),
            (["sh", "-c", '[ ! "$(cat /a)" ]'], ["[", "!", "$", "cat", "/a", "]"]),
            (["sh", "-c", 'test "$(cat /a)" -nt c'], None),
            (["sh", "-c", 'test -f "$(cat /a)"'], None),
            (["sh", "-c", "grep -q x $(cat /a)"], None),
            (["sh", "-c", 'test "$(cat $(cat /a))" = c'], None),
            (["sh", "-c", "cat < /a | wc -l"], ["cat", "/a", "wc"]),
            (["sh", "-c", "test -e $HOME/x"], None),
            (["sh", "-c", "test -e ${X}"], None),
            (["sh", "-c", "test -e `cat /a`"], None),
            (["sh", "-c", "test -e /a/*"], None),
            (["sh", "-c", "test -e /a[bc]"], None),
            (["sh", "-c", "cd /a && test -e b"], None),
            (["sh", "-c", "test -e ~/x"], None),
            (["sh", "/opt/check.sh"], None),
            (["sh", "-ec", "test -e /a"], None),
        ]  # fmt: skip
        for argv, expected in rows:
            found = parse_command(argv)
            self.assertEqual(None if found is None else found[1], expected, argv)
        programs = parse_command(["sh", "-c", "test -e /a || grep -q x /b"])
        self.assertEqual(programs and programs[0], ["sh", "test", "grep"])

    def test_links_and_texts(self) -> None:
        """A link that is only read is not followed, and what it is compared with is no path."""
        for argv, words, links in (
            (["sh", "-c", 'test "$(readlink /a)" = /b/c'], ["test", "$", "readlink"], ["/a"]),
            (["sh", "-c", "[ $(readlink /a) != 'b/c' ]"], ["[", "$", "readlink", "!", "]"], ["/a"]),
            (["sh", "-c", 'test "$(readlink -f /a)" = /b'], ["test", "$", "readlink", "/a"], []),
            (["sh", "-c", "test -L /a && test -e /a"], ["test", "test", "/a"], ["/a"]),
            (["sh", "-c", "test -L /a/"], ["test", "/a/"], []),
            (["sh", "-c", "test -h /a && cat /a"], ["test", "/a", "cat", "/a"], []),
            (["sh", "-c", "grep = /a"], ["grep", "/a"], []),
            (["test", "-L", "/a"], ["test"], ["/a"]),
            (["test", "/a", "=", "/b"], ["test", "/a"], []),
            (["readlink", "/a"], ["readlink"], ["/a"]),
        ):
            found = parse_command(argv)
            assert found is not None, argv
            self.assertEqual((found.words, found.links), (words, links), argv)

    def test_names(self) -> None:
        """What is asked for is told by kind and name, so that the doubt over it counts."""
        text = "id -u shop; getent group www; dpkg -s nginx:amd64; systemctl is-active ssh; which x"
        self.assertEqual(
            looked_up_names(["sh", "-c", text], PLANNED),
            [("user", "shop"), ("group", "www"), ("package", "nginx"), ("unit", "ssh"),
             ("program", "x")],
        )  # fmt: skip


class WritingTest(unittest.TestCase):
    def test_redirections(self) -> None:
        """Only what goes to another output or nowhere writes nothing."""
        rows = [
            ("test -e /srv/a", False),
            ("cat /srv/a >/dev/null 2>&1", False),
            ("grep -q x /srv/a > /dev/null", False),
            ("grep -q x /srv/a &> /dev/null", False),
            ("echo x >&2", False),
            ("cat < /srv/a", False),
            ("echo x > /srv/a", True),
            ("echo x >>/srv/a", True),
            ("echo x >| /srv/a", True),
            ("echo x >& /srv/a", True),
            ("echo x 1<> /srv/a", True),
            ("echo x > /dev/null.d", True),
            ("echo x > /dev/null/../../srv/a", True),
        ]
        for text, expected in rows:
            self.assertIs(may_write(["sh", "-c", text], ["/usr/bin/sh"]), expected, text)

    def test_programs_of_somebody_else(self) -> None:
        """A program that has the name of one that only reads may do anything."""
        self.assertTrue(may_write(["/opt/app/cat", "/srv/a"], ["/opt/app/cat"]))
        self.assertFalse(may_write(["cat", "/srv/a"], ["/bin/cat", "/usr/bin/cat"]))
