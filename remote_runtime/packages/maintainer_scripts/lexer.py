"""Splits a maintainer script into words (target; in previews only)."""

import re
from typing import List, Sequence, Tuple

from remote_runtime.packages.maintainer_scripts.syntax import (
    Node,
    ParseError,
    Part,
    Redirect,
    Word,
)

_RESERVED = re.compile(
    r"(if|then|else|elif|fi|do|done|case|esac|while|until|for|in|\{|\}|!)(?=[\s;&|()<>]|\Z)"
)
NAME = re.compile(r"[A-Za-z_]\w*")
_IN_BRACES = re.compile(r"(#?)([A-Za-z_]\w*|\d+|[@*#?$!-])")
_OPERATOR = re.compile(r":?[-+=?]|%%?|##?|//?|:|\^\^?|,,?|\[")
_SPECIAL = "@*#?$!-"
ENDS = " \t\n;&|()<>"  # of a word


DEEPEST = 40  # commands, here-documents and expansions within one another


class Lexer(object):
    """Splits a text into words. ``ParseError``, also for a text that is nested too deeply."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise ParseError("expansions are nested too deeply")
        self._text = text
        self.at = 0
        self._depth = depth
        self._documents: List[Tuple[str, bool, bool, List[Redirect]]] = []

    # -- characters -------------------------------------------------------------------------------

    def _starts(self, *texts: str) -> bool:
        return self._text.startswith(texts, self.at)

    def _take(self, text: str) -> bool:
        if self._starts(text):
            self.at += len(text)
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise ParseError("%r expected" % text)

    def _blanks(self) -> None:
        text = self._text
        while self.at < len(text):
            if text.startswith("\\\n", self.at):
                self.at += 2
            elif text[self.at] in " \t\r":
                self.at += 1
            elif text[self.at] == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                return

    def _newline(self) -> bool:
        if not self._take("\n"):
            return False
        for end, tabs, literal, place in self._documents:
            self._document(end, tabs, literal, place)
        self._documents = []
        return True

    def _document(self, end: str, tabs: bool, literal: bool, place: List[Redirect]) -> None:
        lines: List[str] = []
        while self.at < len(self._text):
            stop = self._text.find("\n", self.at)
            stop = len(self._text) if stop < 0 else stop
            line = self._text[self.at : stop]
            self.at = stop + 1
            line = line.lstrip("\t") if tabs else line
            if line == end:
                break
            lines.append(line + "\n")
        self.at = min(self.at, len(self._text))
        text = "".join(lines)
        parts: Word = (Part("text", text, quoted=True),)
        if not literal:
            parts = type(self)(text, self._depth + 1).quoted("")
        place[0] = place[0]._replace(document=parts)

    def _space(self) -> None:
        """Skip blanks, newlines and semicolons between commands."""
        while True:
            self._blanks()
            if self._newline():
                continue
            if self._starts(";") and not self._starts(";;"):
                self.at += 1
                continue
            return

    def _reserved(self) -> str:
        match = _RESERVED.match(self._text, self.at)
        return match.group(1) if match else ""

    def _goes_on(self) -> bool:
        return self.at < len(self._text) and self._text[self.at] not in ENDS

    def commands(self, ends: Sequence[str]) -> List[Node]:
        """Return the commands before one of these words or signs, which is not consumed."""
        raise NotImplementedError

    # -- words ------------------------------------------------------------------------------------

    def _word(self) -> Word:
        parts: List[Part] = []
        while self._goes_on():
            char = self._text[self.at]
            if char == "'":
                end = self._text.find("'", self.at + 1)
                if end < 0:
                    raise ParseError("a quote is not closed")
                parts.append(Part("text", self._text[self.at + 1 : end], quoted=True))
                self.at = end + 1
            elif char == '"':
                self.at += 1
                parts += self.quoted('"') or (Part("text", "", quoted=True),)
                self._expect('"')
            elif char == "\\":
                if self._text[self.at + 1 : self.at + 2] != "\n":
                    parts.append(Part("text", self._text[self.at + 1 : self.at + 2], quoted=True))
                self.at += 2
            elif char in "$`":
                parts.append(self._expansion(quoted=False))
            else:
                begun = self.at
                while self._goes_on() and self._text[self.at] not in "'\"\\$`":
                    self.at += 1
                parts.append(Part("text", self._text[begun : self.at]))
        if not parts:
            raise ParseError("expected a word at %r" % self._text[self.at : self.at + 20])
        return tuple(parts)

    def quoted(self, end: str) -> Word:
        """Return the text in double quotes, or in a here-document if the end is ""."""
        parts: List[Part] = []
        text = ""
        while self.at < len(self._text) and not (end and self._starts(end)):
            char = self._text[self.at]
            if char == "\\" and self._text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\"):
                text += self._text[self.at + 1]
                self.at += 2
            elif self._starts("\\\n"):
                self.at += 2
            elif char in "$`":
                parts += [Part("text", text, quoted=True)] if text else []
                text = ""
                parts.append(self._expansion(quoted=True))
            else:
                text += char
                self.at += 1
        return tuple(parts + ([Part("text", text, quoted=True)] if text else []))

    def _expansion(self, quoted: bool) -> Part:
        if self._take("`"):
            return self._backticks(quoted)
        self.at += 1
        if self._starts("(("):
            end = self._text.find("))", self.at)
            if end < 0:
                raise ParseError("(( is not closed")
            self.at = end + 2
            return Part("unknown", quoted=quoted)
        if self._take("("):
            commands = self.commands(())
            self._expect(")")
            return Part("command", quoted=quoted, commands=tuple(commands))
        if self._take("{"):
            return self._in_braces(quoted)
        name = NAME.match(self._text, self.at)
        if name:
            self.at = name.end()
            return Part("variable", name.group(), quoted)
        char = self._text[self.at : self.at + 1]
        if char and (char.isdigit() or char in _SPECIAL):
            self.at += 1
            return Part("variable", char, quoted)
        return Part("text", "$", quoted=True)

    def _backticks(self, quoted: bool) -> Part:
        inner = ""
        while not self._starts("`"):
            if self.at >= len(self._text):
                raise ParseError("a backtick is not closed")
            if self._starts("\\`", "\\\\", "\\$") or (quoted and self._starts('\\"')):
                self.at += 1
            inner += self._text[self.at]
            self.at += 1
        self.at += 1
        parser = type(self)(inner, self._depth + 1)
        commands = parser.commands(())
        if parser.at < len(inner):
            raise ParseError("unexpected %r" % inner[parser.at : parser.at + 20])
        return Part("command", quoted=quoted, commands=tuple(commands))

    def _in_braces(self, quoted: bool) -> Part:
        match = _IN_BRACES.match(self._text, self.at)
        if not match:
            raise ParseError("a bad substitution")
        self.at = match.end()
        if match.group(1) and self._take("}"):
            return Part("unknown", quoted=quoted)
        operator = _OPERATOR.match(self._text, self.at)
        if not operator:
            self._expect("}")
            return Part("variable", match.group(2), quoted)
        self.at = operator.end()
        operand = self._operand()
        return Part("variable", match.group(2), quoted, operator.group(), operand)

    def _operand(self) -> Word:
        """Return the text after an operator up to the closing brace."""
        begun, depth, quote = self.at, 0, ""
        while self.at < len(self._text):
            char = self._text[self.at]
            if char == "\\":
                self.at += 1
            elif char in "'\"" and quote in ("", char):
                quote = "" if quote else char
            elif char == "{" and not quote:
                depth += 1
            elif char == "}" and not quote:
                if not depth:
                    break
                depth -= 1
            self.at += 1
        inner = self._text[begun : self.at]
        self._expect("}")
        plain = inner.strip("\"'")
        return type(self)(plain.replace('"', ""), self._depth + 1).quoted("")
