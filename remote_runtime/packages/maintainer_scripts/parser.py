"""Parses the shell code of maintainer scripts into a syntax tree (target; in previews only).

It knows the grammar of POSIX shells, and the parts of bash that maintainer scripts use. Nothing is
expanded here; ``interpreter`` does that.
"""

import re
from typing import List, Optional, Sequence, Tuple

from remote_runtime.packages.maintainer_scripts.lexer import DEEPEST, ENDS, NAME, Lexer
from remote_runtime.packages.maintainer_scripts.syntax import (
    AndOr,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    ParseError,
    Part,
    Pipeline,
    Redirect,
    Redirected,
    Simple,
    While,
    Word,
)

_FUNCTION = re.compile(r"(?:function[ \t]+)?([A-Za-z_][\w-]*)[ \t]*\([ \t]*\)\s*")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
_REDIRECT = re.compile(r"\d*(<<-|<<<|<<|<&|>&|>>|>\||<>|<|>)|&>>?")


def parse(script: str) -> List[Node]:
    """Return the commands of a script. ``ParseError``."""
    parser = _Parser(script)
    nodes = parser.commands(())
    if parser.at < len(script):
        raise ParseError("unexpected %r" % script[parser.at : parser.at + 20])
    return nodes


class _Parser(Lexer):
    # -- commands ---------------------------------------------------------------------------------

    def commands(self, ends: Sequence[str]) -> List[Node]:
        """Return the commands before one of these words or signs, which is not consumed."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ParseError("commands are nested too deeply")
        nodes: List[Node] = []
        while True:
            self._space()
            if self.at >= len(self._text) or self._starts(")", ";;"):
                break
            if self._reserved() in ends:
                break
            nodes.append(self._and_or())
            self._blanks()
            if self._starts("&") and not self._starts("&&"):
                self.at += 1
        self._depth -= 1
        return nodes

    def _body(self, *ends: str) -> List[Node]:
        """Return the nodes before one of these words; the word itself is not consumed."""
        nodes = self.commands(ends)
        if self._reserved() not in ends:
            raise ParseError("%s expected" % " or ".join(ends))
        return nodes

    def _and_or(self) -> Node:
        first = self._pipeline()
        rest: List[Tuple[str, Node]] = []
        while True:
            self._blanks()
            operator = "&&" if self._take("&&") else "||" if self._take("||") else ""
            if not operator:
                return AndOr(first, rest) if rest else first
            self._space()
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> Node:
        negated = False
        while self._reserved() == "!":
            self.at += 1
            negated = not negated
            self._blanks()
        commands = [self._command()]
        while True:
            self._blanks()
            if not self._starts("|") or self._starts("||"):
                break
            self.at += 2 if self._starts("|&") else 1
            self._space()
            commands.append(self._command())
        return Pipeline(negated, commands) if negated or len(commands) > 1 else commands[0]

    def _command(self) -> Node:
        self._blanks()
        word = self._reserved()
        readers = {
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "until": self._while,
            "case": self._case,
            "{": self._braces,
        }
        if word in readers:
            self.at += len(word)
            return self._redirected(readers[word]())
        if word and word != "in":
            raise ParseError("unexpected %s" % word)
        if self._starts("((") or self._starts("function "):
            raise ParseError("not a POSIX shell's")
        if self._take("("):
            body = self.commands(())
            self._expect(")")
            return self._redirected(Group(body, subshell=True))
        function = _FUNCTION.match(self._text, self.at)
        if function:
            self.at = function.end()
            self._space()
            return Function(function.group(1), self._command())
        return self._simple()

    def _redirected(self, node: Node) -> Node:
        redirects: List[List[Redirect]] = []
        self._blanks()
        while _REDIRECT.match(self._text, self.at):
            redirects.append(self._redirect())
            self._blanks()
        return Redirected(node, redirects) if redirects else node

    def _if(self) -> Node:
        branches = []
        while True:
            condition = self._body("then")
            self.at += len("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            if not self._take("elif"):
                break
        otherwise: List[Node] = []
        if self._take("else"):
            otherwise = self._body("fi")
        self._expect("fi")
        return If(branches, otherwise)

    def _for(self) -> Node:
        self._blanks()
        name = NAME.match(self._text, self.at)
        if not name:
            raise ParseError("a name expected")
        self.at = name.end()
        self._space()
        words: Optional[List[Word]] = None
        if self._reserved() == "in":
            self.at += len("in")
            words = []
            self._blanks()
            while self.at < len(self._text) and self._text[self.at] not in "\n;":
                words.append(self._word())
                self._blanks()
        return For(name.group(), words, self._loop())

    def _while(self) -> Node:
        condition = self._body("do")
        return While(condition, self._loop())

    def _loop(self) -> List[Node]:
        self._space()
        self._expect("do")
        body = self._body("done")
        self._expect("done")
        return body

    def _case(self) -> Node:
        self._blanks()
        subject = self._word()
        self._space()
        self._expect("in")
        arms = []
        self._space()
        while self._reserved() != "esac":
            self._take("(")
            self._blanks()
            patterns = [self._word()]
            self._blanks()
            while self._take("|"):
                self._blanks()
                patterns.append(self._word())
                self._blanks()
            self._expect(")")
            arms.append((patterns, self.commands(("esac",))))
            if not self._take(";;") and self._reserved() != "esac":
                raise ParseError("esac expected")
            self._space()
        self.at += len("esac")
        return Case(subject, arms)

    def _braces(self) -> Node:
        body = self._body("}")
        self._expect("}")
        return Group(body, subshell=False)

    def _simple(self) -> Node:
        assigned: List[Tuple[str, Word]] = []
        words: List[Word] = []
        redirects: List[List[Redirect]] = []
        while True:
            self._blanks()
            if self.at >= len(self._text):
                break
            if _REDIRECT.match(self._text, self.at):
                redirects.append(self._redirect())
                continue
            test = bool(words) and words[0] == (Part("text", "[["),)
            if test and self._starts("&&", "||"):
                words.append((Part("text", "-a" if self._take("&&") else "-o"),))
                self.at += 2 if self._starts("||") else 0
                continue
            if self._text[self.at] in ENDS:
                break
            name = _ASSIGNED.match(self._text, self.at) if not words else None
            if name:
                self.at = name.end()
                assigned.append((name.group(1), self._word() if self._goes_on() else ()))
                continue
            words.append(self._word())
        if not (assigned or words or redirects):
            raise ParseError("expected a command at %r" % self._text[self.at : self.at + 20])
        return Simple(assigned, words, redirects)

    def _redirect(self) -> List[Redirect]:
        """Parse one redirection; the text of a here-document is inserted once its lines
        are read.
        """
        match = _REDIRECT.match(self._text, self.at)
        if not match:
            raise ParseError("a redirection expected")
        operator = match.group(1) or match.group()
        self.at = match.end()
        self._blanks()
        if self._starts("("):
            raise ParseError("not a POSIX shell's")
        literal = self._starts("'", '"', "\\")
        target = self._word()
        place = [Redirect(operator, target)]
        if operator in ("<<", "<<-"):
            end = "".join(part.text for part in target)
            self._documents.append((end, operator == "<<-", literal, place))
        return place
