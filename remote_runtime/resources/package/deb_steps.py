"""Takes a maintainer script apart into its commands and the conditions around each (target).

What is followed of the shell: ``if``, ``case``, plain variables, ``;``. A command in anything else
has a condition that nobody can tell.
"""

import re
import shlex
from typing import Dict, List, NamedTuple, Optional, Tuple

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(\S*|\"[^\"]*\"|'[^']*')\Z")
_USED = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_ARM = re.compile(r"\(?[\w*|\" -]+\)(?:\s+.+)?\Z")
_GOES_ON = re.compile(r"(?:\\|&&|\|\|)\s*\Z")
_DOCUMENT = re.compile(r"<<-?\s*[\"']?(\w+)")
_FUNCTION = re.compile(r"\w+\s*\(\)\s*\{\s*")
_LEFT_ALONE = re.compile(r"\s*\|\|\s*(?:true|:)\s*\Z")


class Condition(NamedTuple):
    """What is asked once, before the first command behind it; None where nobody can tell."""

    number: int
    text: Optional[str]


class Step(NamedTuple):
    """One command, with the conditions around it.

    ``words`` are () where the shell makes more of it than words.
    """

    text: str
    words: Tuple[str, ...]
    conditions: Tuple[Condition, ...]


def steps(script: str) -> List[Step]:
    """The commands of a script, in the order written."""
    return _Parser().parse(script)


class _Parser(object):
    def __init__(self) -> None:
        self._found: List[Step] = []
        self._around: List[Condition] = []
        self._asked = 0
        self._subjects: List[str] = []  # of the cases that are open
        self._values: Dict[str, Optional[str]] = {}

    def parse(self, script: str) -> List[Step]:
        for line in _lines(script):
            for part in _parts(line):
                self._take(part)
        return self._found

    def _take(self, part: str) -> None:
        function = _FUNCTION.match(part)
        if function:
            self._open(None)
            part = part[function.end() :]
        word, _, rest = part.partition(" ")
        if word in ("then", "do", "else", "{"):
            if word == "else":
                self._within(None)
            if rest.strip():
                self._take(rest.strip())
        elif part and not (self._is_of_block(word, part) or self._is_of_case(word, part)):
            self._command(part)

    def _is_of_block(self, word: str, part: str) -> bool:
        """Whether it begins, parts or ends a block; that is heeded."""
        if word == "if":
            self._open(self._expanded(part[len("if") :].strip()))
        elif word == "elif":
            self._within(None)
        elif word in ("for", "while", "until") or part.endswith("{"):
            self._open(None)
        elif word in ("fi", "done", "}"):
            del self._around[-1:]
        else:
            return False
        return True

    def _is_of_case(self, word: str, part: str) -> bool:
        if word == "case":
            self._subjects.append(part[len("case") :].rpartition(" in")[0].strip().strip('"'))
            self._open(None)
        elif word == "esac":
            del self._around[-1:]
            del self._subjects[-1:]
        elif part == ";;":
            self._within(None)
        elif self._subjects and _ARM.match(part):
            self._arm(part)
        else:
            return False
        return True

    def _open(self, condition: Optional[str]) -> None:
        self._asked += 1
        self._around.append(Condition(self._asked, condition))

    def _within(self, condition: Optional[str]) -> None:
        if self._around:
            del self._around[-1]
            self._open(condition)

    def _arm(self, part: str) -> None:
        pattern, _, rest = part.strip().lstrip("(").partition(")")
        words = [word.strip(' "') for word in pattern.split("|")]
        plain = self._subjects[-1] in ("$1", "${1}") and "*" not in pattern
        tests = ['[ "$1" = "%s" ]' % word for word in words]
        self._within(" || ".join(tests) if plain else None)
        if rest.strip():
            self._take(rest.strip())

    def _command(self, text: str) -> None:
        assigned = _ASSIGNED.match(text)
        if assigned:
            name, value = assigned.group(1), self._expanded(assigned.group(2).strip("\"'"))
            again = name in self._values
            self._values[name] = None if again or "$" in value or "`" in value else value
            return
        text = self._expanded(text)
        self._found.append(Step(text, _words(text), tuple(self._around)))

    def _expanded(self, text: str) -> str:
        def value(used: "re.Match[str]") -> str:
            known = self._values.get(used.group(1) or used.group(2))
            return used.group(0) if known is None else known

        return _USED.sub(value, text)


def _lines(script: str) -> List[str]:
    """Lines without comments and here-documents; one that ends in ``&&``, a backslash or within
    quotes goes on with the next."""
    lines: List[str] = []
    begun, ends = "", ""
    for raw in script.splitlines():
        if ends:
            ends = "" if raw.strip() == ends else ends
            continue
        line, inside = _bare(begun + raw.strip())
        if _GOES_ON.search(line) or inside:
            begun = line.rstrip("\\") + " "
            continue
        document = _DOCUMENT.search(line)
        ends = document.group(1) if document else ""
        lines += [line] if line else []
        begun = ""
    return lines + ([begun] if begun else [])


def _bare(line: str) -> Tuple[str, bool]:
    """The line without a comment at its end, and whether it ends within quotes."""
    quote = ""
    for place, char in enumerate(line):
        if char in "\"'" and quote in ("", char):
            quote = "" if quote else char
        elif char == "#" and not quote and (not place or line[place - 1] in " \t;"):
            return line[:place].rstrip(), False
    return line, bool(quote)


def _parts(line: str) -> List[str]:
    """The commands of a line, parted by semicolons outside of quotes; ``;;`` is one itself."""
    parts, begun, quote = [], "", ""
    for place, char in enumerate(line):
        if char in "\"'" and quote in ("", char):
            quote = "" if quote else char
        if char == ";" and not quote:
            parts += [begun, ";;"] if line[place + 1 : place + 2] == ";" else [begun]
            begun = ""
        else:
            begun += char
    return [part.strip() for part in parts + [begun] if part.strip()]


def _words(text: str) -> Tuple[str, ...]:
    plain = _LEFT_ALONE.sub("", text)
    if re.search(r"[$`|&<>(){}*?]", plain):
        return ()
    try:
        return tuple(shlex.split(plain))
    except ValueError:
        return ()
