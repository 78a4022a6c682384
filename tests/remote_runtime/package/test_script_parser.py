"""How the shell of maintainer scripts is parsed."""

import unittest
from typing import Any

from remote_runtime.packages.maintainer_scripts import parser as script_parser
from remote_runtime.packages.maintainer_scripts.syntax import (
    AndOr,
    Case,
    For,
    Function,
    Group,
    If,
    ParseError,
    Pipeline,
    Redirected,
    Simple,
    While,
)


def parse(script: str) -> Any:
    """The nodes, of whatever kind."""
    return script_parser.parse(script)


def text(word):
    return "".join(part.text for part in word)


def words(node):
    return [text(word) for word in node.words]


class Parsing(unittest.TestCase):
    def test_kinds_of_commands(self):
        """Each compound command of the shell has its node."""
        for script, kind in (
            ("a b", Simple),
            ("a && b || c", AndOr),
            ("! a", Pipeline),
            ("a | b", Pipeline),
            ("if a; then b; elif c; then d; else e; fi", If),
            ("for x in a b; do c; done", For),
            ("for x do c; done", For),
            ("while a; do b; done", While),
            ("until a\ndo b\ndone", While),
            ("case $1 in a|b) c;; (d) ;; *) e\nesac", Case),
            ("{ a; b; }", Group),
            ("(a; b)", Group),
            ("f() { a; }", Function),
            ("f () (\na\n)", Function),
            ("{ a; } > b", Redirected),
        ):
            (node,) = parse(script)
            self.assertIsInstance(node, kind, script)

    def test_words(self):
        """Quotes, backslashes and comments are those of the shell."""
        (node,) = parse('a \'b c\' "d\\" e" f\\ g \'h\'"i"# # j\n')
        self.assertEqual(words(node), ["a", "b c", 'd" e', "f g", "hi#"])
        (node,) = parse("a \\\n b # c\n")
        self.assertEqual(words(node), ["a", "b"])

    def test_a_command_goes_on(self):
        """A line that ends in an operator, or within quotes, goes on with the next."""
        self.assertEqual(len(parse("a &&\n b ||\n c\n'd\n e'\n")), 2)

    def test_here_documents(self):
        """The lines of a here-document are its text, also of two in one line, and with tabs cut."""
        script = "a <<A > x; b <<-'B'\n1 $x\nA\n\tif\n\tB\nc\n"
        first, second, third = parse(script)
        (document,), (output,) = first.redirects
        self.assertEqual([part.kind for part in document.document], ["text", "variable", "text"])
        self.assertEqual((output.operator, text(output.target)), (">", "x"))
        self.assertEqual(text(second.redirects[0][0].document), "if\n")
        self.assertEqual(words(third), ["c"])

    def test_substitutions(self):
        """Commands within words are parsed as well, however they are quoted."""
        for script in ('a "$(b "c d")"', "a `b c`", "a $(b; `c`)", 'a "${x:-$(b)}"'):
            (node,) = parse(script)
            self.assertEqual(len(node.words), 2, script)
        (part,) = parse("a ${x%.conf}")[0].words[1]
        self.assertEqual((part.text, part.operator, text(part.operand)), ("x", "%", ".conf"))

    def test_what_is_no_shell(self):
        """Other languages, and what is not closed, are refused; so is what is too deep."""
        for script in ("a 'b", "if a; then b", "a )", "a \"$(b\"", "fi", "f( {", "((", "`" * 3,
                       "(" * 500, "$(" * 500, "<(a)"):  # fmt: skip
            with self.assertRaises(ParseError, msg=script):
                parse(script)


if __name__ == "__main__":
    unittest.main()
