"""Which commands a maintainer script runs, as far as its text tells."""

import unittest

from remote_runtime.packages.maintainer_scripts.builtins import compared
from remote_runtime.packages.maintainer_scripts.interpreter import Interpreter
from remote_runtime.packages.maintainer_scripts.syntax import ParseError

THERE = {("d", "/there"): True, ("e", "/gone"): False, ("command", "tool"): True}


class Following(unittest.TestCase):
    def calls(self, script, arguments=("configure", "")):
        """The words of each call, with ``?`` before one that is not certain."""
        found = []

        def handle(call):
            line = " ".join(call.words).replace("\0", "*")
            if call.writes:
                line += " > " + " ".join(call.writes)
            found.append(line if call.certain else "?" + line)
            return None

        variables = {"DPKG_ROOT": "", "NAME": "p"}
        Interpreter(handle, lambda *asked: THERE.get(asked), variables).run(script, arguments)
        return found

    def test_conditions(self):
        """Arguments, paths and programs decide; what nobody can tell leaves both ways open."""
        for script, calls in (
            ('if [ "$1" = configure ]; then a; else b; fi', ["a"]),
            ('[ "$1" = purge ] && a; [ -z "$2" ] && b', ["b"]),
            ('case "$1" in purge|remove) a;; conf*) b;; *) c;; esac', ["b"]),
            ("if [ -d /there -a ! -e /gone ]; then a; fi", ["a"]),
            ("if [ -d /there ] && [ -f /who-knows ]; then a; else b; fi", ["?a", "?b"]),
            ("if grep -q x /y; then a; fi; b", ["grep -q x /y", "?a", "b"]),
            ("if command -v tool > /dev/null; then a; fi", ["a"]),
            ('if [ -x "`which tool`" ]; then a; fi', ["?a"]),
            ("[ -f /who-knows ] && [ $1 = purge ] && a", []),
            ("a || true; b", ["a", "b"]),
            ("a || b", ["a", "?b"]),
            ("[ 2 -ge 1 ] && a; [ x != x ] || b", ["a", "b"]),
            ("until a; do b; done", ["a", "?b", "?b"]),
        ):
            self.assertEqual(self.calls(script), calls, script)

    def test_variables(self):
        """Variables, their defaults and endings are filled in, as far as they are known."""
        for script, calls in (
            ("d=/a; c $d/b ${d}x ${e:-y} ${d:+z}", ["c /a/b /ax y z"]),
            ('f=/a/b.conf; c "${f%.conf}" "${f##*/}"', ["c /a/b b.conf"]),
            ('x=$(date); c "/a/$x/b"', ["date", "c /a/*/b"]),
            ("x=a; if grep y z; then x=b; fi; c $x", ["grep y z", "c *"]),
            ("x='a b'; c $x; c \"$x\"", ["c a b", "c a b"]),
            ("c /a/*.conf '/a/*'", ["c /a/*.conf /a/*"]),
            (". /etc/default/p; c $X", ["c *"]),
            ("set -- a b; shift; c $1", ["c b"]),
            ("n=$(basename /a/b); c $n", ["c b"]),
            ("cd /a; c > b", ["c > /a/b"]),
        ):
            self.assertEqual(self.calls(script), calls, script)

    def test_functions_and_loops(self):
        """Functions have arguments of their own; loops over known words are gone through."""
        for script, calls in (
            ("f() { a $1; }; f x; f y", ["a x", "a y"]),
            ("f() { [ $1 = x ] || return; a; }; f y; f x; b", ["a", "b"]),
            ("f() { grep x y && return; a; }; f; b", ["grep x y", "?a", "b"]),
            ("for i in a b; do c $i; done", ["c a", "c b"]),
            ("for i in a b; do [ $i = a ] && continue; c $i; done; d", ["c b", "d"]),
            ("for i in a b; do c $i; break; done; d", ["c a", "d"]),
            ("for i in /a/*; do c $i; done; d", ["?c /a/*", "d"]),
            ("f() { f; }; a", ["a"]),
            ("trap 'a x' EXIT; b", ["?a x", "b"]),
            ("eval 'a b'", ["a b"]),
        ):
            self.assertEqual(self.calls(script), calls, script)

    def test_the_end(self):
        """Nothing is run behind an exit, and nothing is certain behind one that may be."""
        for script, calls in (
            ("[ $1 = remove ] || exit 0; a", []),
            ("if grep x y; then exit 0; fi; a", ["grep x y", "?a"]),
            ("f() { exit 0; }; f; a", []),
            ("(exit 0); a", ["a"]),
            ("x=$(a; exit 1); b", ["a", "b"]),
        ):
            self.assertEqual(self.calls(script), calls, script)

    def test_an_upgrade(self):
        """The version before decides what only an upgrade does."""
        script = 'if dpkg --compare-versions "$2" lt-nl 2.0; then a; else b; fi'
        self.assertEqual(self.calls(script), ["b"])
        self.assertEqual(self.calls(script, ("configure", "1.0")), ["a"])
        self.assertEqual(self.calls(script, ("configure", "\0")), ["?a", "?b"])

    def test_versions(self):
        """Versions compare as with dpkg, an empty one as the operator has it."""
        for left, operator, right, holds in (
            ("1.0", "lt", "1.0.1", True), ("", "lt", "1", True), ("", "lt-nl", "1", False),
            ("1", "le-nl", "", True), ("1", "gt", "", True), ("1~", ">>", "1", False),
            ("", "eq", "", True), ("\0", "lt", "1", None),
        ):  # fmt: skip
            self.assertIs(compared(left, operator, right), holds, (left, operator, right))

    def test_bounds(self):
        """Scripts that never end are given up."""
        for script in ("f() { f; }; f", "for i in %s; do for j in %s; do for k in %s; do a; done;"
                       " done; done" % (("x " * 60,) * 3)):  # fmt: skip
            with self.assertRaises(ParseError):
                self.calls(script)

    def test_scripts_of_strangers(self):
        """What another host says of a package costs no memory and little time."""
        for script in (
            "a=xxxxxxxx\n" + "a=$a$a\n" * 60,
            "set -- x y\n" + 'set -- "$@" "$@"\n' * 60,
            "set -- ''\n" + 'set -- "$@" "$@"\n' * 60,
            "a=" + "x" * 100_000 + "\n" + 'c "$a"\n' * 4_000,
            "c " + "${a:-" * 500 + "}" * 500,
        ):
            with self.assertRaises(ParseError, msg=script[:40]):
                self.calls(script)

    def test_patterns_of_strangers(self):
        """The result of a pattern that takes long to compare is unknown."""
        long = "a=%s; " % ("a" * 100_000)
        evil = "*a" * 40 + "b"
        for script, calls in (
            (long + 'c "${a%%b*}"', ["c *"]),
            (long + "case $a in *%sb) c;; *) d;; esac" % ("a" * 100), ["?c", "?d"]),
            ("a=%s; case $a in %s) c;; *) d;; esac" % ("a" * 200, evil), ["?c", "?d"]),
            ("a=%s; case $a in %s) c;; *) d;; esac" % ("a" * 200, "*a" * 30 + "b"), ["d"]),
            ("case aXb in *[[:upper:]]*) c;; esac; case a in [[.a.]]) c;; esac", ["c", "c"]),
            ("case a in [[.space.]]) c;; esac", ["?c"]),
            ("case '*' in \\*) c;; [*]) d;; esac", ["c"]),
            ("case 'a\\b' in 'a\\b') c;; esac", ["c"]),
        ):
            self.assertEqual(self.calls(script), calls, script[-60:])

    def test_digits_that_are_no_number(self):
        """Digits of other scripts, and very many of them."""
        many = "9" * 5_000
        for script, calls in (
            ("[ \u00b2 -eq 2 ] && c", ["?c"]),
            ("[ %s -gt 2 ] && c" % many, ["?c"]),
            ("set -- a; shift \u00b2; c $1", ["c"]),
            ("c $\u00b2 ${%s}" % many, ["c"]),
        ):
            self.assertEqual(self.calls(script), calls, script[:30])


if __name__ == "__main__":
    unittest.main()
