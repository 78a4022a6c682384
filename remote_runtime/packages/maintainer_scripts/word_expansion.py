"""Expands the words of a maintainer script (target; in previews only)."""

import re
from typing import List, Sequence

from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.globs import fits
from remote_runtime.packages.maintainer_scripts.shell import Shell
from remote_runtime.packages.maintainer_scripts.syntax import ParseError, Part, Word
from remote_runtime.text.numbers import is_number

_WILD = re.compile(r"[*?]|\[[^\]]+\]")
_WILD_SIGNS = re.compile(r"([*?\[])")
_BLANKS = re.compile(r"[ \t\n]+")
MAX_TEXT = 4 << 20  # characters that the words of one script may come to
_MAX_TRIMMED = 256  # characters of a value from which a pattern is cut off


class Words(object):
    """Expands words with the current variables and arguments of an interpreter.

    ``ParseError`` when the words of a script produce too much text.
    """

    def __init__(self, interpreter: Shell) -> None:
        self._interpreter = interpreter
        self._left = MAX_TEXT

    def _counted(self, text: str) -> str:
        self._left -= len(text) + 1  # empty words take room, too
        if self._left < 0:
            raise ParseError("its words expand to too much text")
        return text

    def fields(self, words: Sequence[Word]) -> List[str]:
        """Return all words, split as the shell splits them; a wildcard is replaced by
        unknown text.
        """
        fields: List[str] = []
        for word in words:
            fields += self._fields(word)
        return fields

    def joined(self, word: Word) -> str:
        """Return one word that is not split, as in an assignment or in a here-document."""
        return "".join(self._text(part) for part in word)

    def _text(self, part: Part) -> str:
        return self._counted(part.text if part.kind == "text" else self._value(part))

    def pattern(self, word: Word) -> str:
        """Return a word as a pattern of ``fnmatch``: quoted text is literal."""
        text = ""
        for part in word:
            value = self._text(part)
            text += _WILD_SIGNS.sub(r"[\1]", value) if part.quoted else value
        return text

    def _fields(self, word: Word) -> List[str]:
        fields = [""]
        some = False
        for part in word:
            if part.kind == "text":
                some = True
                text = self._counted(part.text)
                fields[-1] += text if part.quoted else _WILD.sub(UNKNOWN, text)
            elif part.kind == "variable" and part.text in "@*" and not part.operator:
                arguments = list(map(self._counted, self._interpreter.arguments))
                fields[-1] += arguments[0] if arguments else ""
                fields += arguments[1:]
                some = some or bool(arguments)
            elif part.quoted:
                some = True
                fields[-1] += self._text(part)
            else:
                pieces = _BLANKS.split(_WILD.sub(UNKNOWN, self._text(part)))
                fields[-1] += pieces[0]
                fields += pieces[1:]
        if some:
            return fields
        return [field for field in fields if field]

    def _value(self, part: Part) -> str:
        if part.kind == "command":
            return self._interpreter.output(part.commands).rstrip("\n")
        if part.kind != "variable":
            return UNKNOWN
        value = self._variable(part.text)
        return self._operated(part, value) if part.operator else value

    def _variable(self, name: str) -> str:
        arguments = self._interpreter.arguments
        if is_number(name) and name != "0":
            at = int(name) - 1
            return arguments[at] if at < len(arguments) else ""
        if name in "@*":
            return " ".join(arguments)
        if name == "#":
            return UNKNOWN if UNKNOWN in arguments else str(len(arguments))
        if name in "?$!-0":
            return UNKNOWN
        return self._interpreter.variables.get(name, UNKNOWN if self._interpreter.exposed else "")

    def _operated(self, part: Part, value: str) -> str:
        operator, operand = part.operator, self.joined(part.operand)
        open_ = UNKNOWN in value and not value.replace(UNKNOWN, "")
        if operator in (":-", "-", ":=", "="):
            result = UNKNOWN if open_ else value if self._has(part, value) else operand
            if operator.endswith("=") and not is_number(part.text):
                self._interpreter.variables[part.text] = result
            return result
        if operator in (":+", "+"):
            return (UNKNOWN if open_ else operand) if self._has(part, value) else ""
        if operator in (":?", "?"):
            return value
        if operator in ("%", "%%", "#", "##") and UNKNOWN not in value + operand:
            return _trimmed(value, operator, operand)
        return UNKNOWN

    def _has(self, part: Part, value: str) -> bool:
        """Return whether a variable is set; with a colon in the operator, not to an empty text."""
        colon = part.operator.startswith(":")
        return bool(value) or (not colon and part.text in self._interpreter.variables)


def _trimmed(value: str, operator: str, pattern: str) -> str:
    """Return a value without its shortest or longest matching suffix or prefix."""
    if len(value) > _MAX_TRIMMED:
        return UNKNOWN
    lengths = range(len(value) + 1)
    for length in reversed(lengths) if len(operator) == 2 else lengths:
        cut = value[len(value) - length :] if operator[0] == "%" else value[:length]
        matches = fits(cut, pattern)
        if matches is None:
            return UNKNOWN
        if matches:
            return value[: len(value) - length] if operator[0] == "%" else value[length:]
    return value
