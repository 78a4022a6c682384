"""Regular expressions with linear search time (both sides).

Python's own engine may take exponential time, and patterns run on hosts as root. A pattern is
parsed by Python's parser and searched by simulating all alternatives at once (Thompson, Pike), so
that the time is bounded by the length of the line times that of the pattern. Constructs that need
backtracking are refused: back-references and look-around.

Patterns match within one line, without its newline: ``^`` and ``$`` match at its ends.
"""

from typing import Any, Callable, Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Set, Tuple

MAX_INSTRUCTIONS = 1000  # instructions of one pattern
_CACHED = 20000  # transitions that are kept
_IGNORECASE = 2
_DOTALL = 16
_ASCII = 256
_START, _WORD, _OTHER, _END = range(4)  # what is next to a position
_CHAR, _SPLIT, _JUMP, _SAVE, _AT, _MATCH = range(6)
_REFUSED = {
    "ASSERT": "look-around",
    "ASSERT_NOT": "look-around",
    "GROUPREF": "back-references",
    "GROUPREF_EXISTS": "conditional groups",
    "ATOMIC_GROUP": "atomic groups",
    "POSSESSIVE_REPEAT": "possessive repetitions",
}

Holds = Callable[[str], bool]
Spans = Tuple[int, ...]
Instruction = Tuple[Any, ...]


class Match(NamedTuple):
    """The position of a match in a line: start and end of the match and of each group, -1 for a
    group that did not take part in it.
    """

    line: str
    spans: Spans

    def group(self, number: int) -> str:
        """Return the text of a group, "" if it did not take part in the match; 0 is the entire
        match.
        """
        begin, end = self.spans[2 * number : 2 * number + 2]
        return self.line[begin:end] if begin >= 0 else ""


class Pattern(object):
    """A compiled pattern. ``ValueError`` says what is wrong with its text."""

    def __init__(self, text: str) -> None:
        tree, flags = _parsed(text)
        self.text = text
        self.groups = dict(tree[1])
        self.count = tree[2]
        self._program = _Compiler(flags).program(tree[0], text)
        self._edges: Dict[Tuple[FrozenSet[int], int, str], Any] = {}

    def matches(self, line: str) -> bool:
        """Return whether it matches anywhere in a line."""
        pending, beside = frozenset((0,)), _START
        for char in line:
            edge = self._edges.get((pending, beside, char))
            if edge is None:
                edge = self._step(pending, beside, char)
            if edge is True:
                return True
            pending, beside = edge
        return self._closed(pending, beside, _END)[1]

    def _step(self, pending: FrozenSet[int], beside: int, char: str) -> Any:
        """Return True for a match before the character, otherwise the threads that are pending
        after it.
        """
        if len(self._edges) >= _CACHED:
            self._edges.clear()
        kind = _kind(char)
        chars, matched = self._closed(pending, beside, kind)
        program = self._program
        state: Any = True
        if not matched:
            after = [at + 1 for at in chars if program[at][1](char)]
            state = frozenset([0, *after]), kind
        self._edges[pending, beside, char] = state
        return state

    def _closed(self, pending: FrozenSet[int], before: int, after: int) -> Tuple[List[int], bool]:
        """Return the instructions for a character that are reached without consuming one, and
        whether there is a match.
        """
        seen: Set[int] = set()
        waiting, chars = list(pending), []
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            code = self._program[at]
            if code[0] == _MATCH:
                return [], True
            if code[0] == _CHAR:
                chars.append(at)
            elif code[0] == _SPLIT:
                waiting += code[1:]
            elif code[0] == _JUMP:
                waiting.append(code[1])
            elif code[0] == _SAVE or _holds(code[1], before, after):
                waiting.append(at + 1)
        return chars, False

    def search(self, line: str, since: int = 0) -> Optional[Match]:
        """Return the first match from a position on, as Python's ``re`` finds it."""
        nothing = (-1,) * (2 * self.count)
        best: Optional[Spans] = None
        pending: List[Tuple[int, Spans]] = []
        before = _START if since == 0 else _kind(line[since - 1])
        for at in range(since, len(line) + 1):
            after = _END if at == len(line) else _kind(line[at])
            if best is None:
                pending.append((0, nothing))
            steps: List[Tuple[int, Spans]] = []
            seen: Set[int] = set()
            for thread in pending:
                match = self._follow(thread, (before, at, after), seen=seen, steps=steps)
                if match is not None:
                    best = match
                    break  # what comes later is worse
            if after == _END or (not steps and best is not None):
                break
            char, program = line[at], self._program
            pending = [(code + 1, spans) for code, spans in steps if program[code][1](char)]
            before = after
        return None if best is None else Match(line, best)

    def _follow(
        self,
        thread: Tuple[int, Spans],
        position: Tuple[int, int, int],
        *,
        seen: Set[int],
        steps: List[Tuple[int, Spans]],
    ) -> Optional[Spans]:
        """Add the instructions that a thread reaches without a character to ``steps``, in order of
        preference; return the spans of a match that it reaches. ``position`` is its position
        between two characters.
        """
        before, here, after = position
        waiting = [thread]
        while waiting:
            at, spans = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            code = self._program[at]
            if code[0] == _MATCH:
                return spans
            if code[0] == _CHAR:
                steps.append((at, spans))
            elif code[0] == _SPLIT:
                waiting += [(code[2], spans), (code[1], spans)]
            elif code[0] == _JUMP:
                waiting.append((code[1], spans))
            elif code[0] == _SAVE:
                slot = code[1]
                waiting.append((at + 1, spans[:slot] + (here,) + spans[slot + 1 :]))
            elif _holds(code[1], before, after):
                waiting.append((at + 1, spans))
        return None

    def replaced(self, line: str, template: "Template") -> str:
        """Return the line with every match replaced, from left to right."""
        out, at, last = [], 0, -1
        while at <= len(line):
            match = self.search(line, at)
            if match is None:
                break
            begin, end = match.spans[:2]
            if begin == end == last:  # nothing, right behind a match of nothing
                out.append(line[at : at + 1])
                at, last = at + 1, -1
                continue
            out += [line[at:begin], template.filled(match)]
            at, last = end, end if begin == end else -1
        return "".join(out) + line[at:]


class Template(object):
    r"""A replacement: text with ``\1``, ``\g<1>``, ``\g<name>``, ``\\`` and ``\t``.

    ``ValueError`` says what is wrong with it, or which group the pattern does not have.
    """

    def __init__(self, text: str, pattern: Pattern) -> None:
        self._parts: List[Any] = []
        at = 0
        while at < len(text):
            slash = text.find("\\", at)
            if slash < 0:
                break
            self._parts.append(text[at:slash])
            part, at = _reference(text, slash + 1, pattern)
            self._parts.append(part)
        self._parts.append(text[at:])

    @property
    def is_plain(self) -> bool:
        """Return whether it refers to no group."""
        return all(isinstance(part, str) for part in self._parts)

    def filled(self, match: Match) -> str:
        """Return the text for a match."""
        return "".join(
            [part if isinstance(part, str) else match.group(part) for part in self._parts]
        )

    def plain(self) -> str:
        """Return the text of a replacement without groups."""
        return "".join(part for part in self._parts if isinstance(part, str))


def _reference(text: str, at: int, pattern: Pattern) -> Tuple[Any, int]:
    """Return the meaning of a backslash before ``at``, and where the text continues."""
    letter = text[at : at + 1]
    if letter in ("\\", "t"):
        return {"\\": "\\", "t": "\t"}[letter], at + 1
    name, end = "", at
    if letter == "g" and text[at + 1 : at + 2] == "<" and ">" in text[at:]:
        end = text.index(">", at) + 1
        name = text[at + 2 : end - 1]
    else:
        while end < len(text) and end < at + 2 and text[end] in "0123456789":
            end += 1
        name = text[at:end]
    if not name:
        raise ValueError("write a backslash as \\\\, and a group as \\1 or \\g<name>")
    number = int(name) if name.isdigit() else pattern.groups.get(name, -1)
    if not 0 <= number < pattern.count:
        raise ValueError("the pattern has no group %s" % name)
    return number, end


def _parsed(text: str) -> Tuple[Tuple[Any, Dict[str, int], int], int]:
    """Return the tree of Python's parser, its groups by name with their count, and its flags."""
    import re
    import warnings

    parser = vars(re).get("_parser") or vars(re)["sre_parse"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(text, 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError("%r is not a regular expression: %s" % (text, error)) from error
    state = getattr(tree, "state", None) or tree.pattern  # its name before Python 3.8
    return (tree, state.groupdict, state.groups), int(state.flags)


class _Compiler(object):
    """Compiles a tree to instructions."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self._code: List[Instruction] = []

    def program(self, tree: Any, text: str) -> Sequence[Instruction]:
        """Return the instructions for a whole match. ``ValueError``."""
        try:
            self._add(_SAVE, 0)
            self._sequence(tree)
            self._add(_SAVE, 1)
            self._add(_MATCH)
        except RecursionError as error:
            raise ValueError("%r is nested too deeply" % text) from error
        except ValueError as error:
            raise ValueError("%r: %s" % (text, error)) from None
        return tuple(self._code)

    def _add(self, *code: Any) -> int:
        if len(self._code) >= MAX_INSTRUCTIONS:
            raise ValueError("the pattern is too large; use smaller repetitions")
        self._code.append(code)
        return len(self._code) - 1

    def _sequence(self, tree: Any) -> None:
        for op, argument in tree:
            name = str(op)
            if name in _REFUSED:
                raise ValueError("it has %s, which ccm does not support" % _REFUSED[name])
            getattr(self, "_" + name.lower(), self._one)(argument, name)

    def _one(self, operand: Any, name: str) -> None:
        """Add an instruction for one character."""
        self._add(_CHAR, _predicate(name, operand, self._flags))

    def _at(self, operand: Any, name: str) -> None:
        self._add(_AT, str(operand))

    def _branch(self, operand: Any, name: str) -> None:
        jumps = []
        for tree in operand[1][:-1]:
            split = self._add(_SPLIT, len(self._code) + 1, -1)
            self._sequence(tree)
            jumps.append(self._add(_JUMP, -1))
            self._code[split] = (_SPLIT, split + 1, len(self._code))
        self._sequence(operand[1][-1])
        for jump in jumps:
            self._code[jump] = (_JUMP, len(self._code))

    def _subpattern(self, operand: Any, name: str) -> None:
        number, more, less, tree = operand
        flags = self._flags
        self._flags = (flags | more) & ~less
        if number is not None:
            self._add(_SAVE, 2 * number)
        self._sequence(tree)
        if number is not None:
            self._add(_SAVE, 2 * number + 1)
        self._flags = flags

    def _max_repeat(self, operand: Any, name: str, greedy: bool = True) -> None:
        least, maximum, tree = operand
        for _ in range(least):
            self._sequence(tree)
        if int(maximum) > 0xFFFFFFF:  # any number
            split = self._split()
            self._sequence(tree)
            self._add(_JUMP, split)
            self._land([split], greedy)
            return
        splits = []
        for _ in range(int(maximum) - least):
            splits.append(self._split())
            self._sequence(tree)
        self._land(splits, greedy)

    def _min_repeat(self, operand: Any, name: str) -> None:
        self._max_repeat(operand, name, greedy=False)

    def _split(self) -> int:
        return self._add(_SPLIT, -1, -1)

    def _land(self, splits: Sequence[int], greedy: bool) -> None:
        """Connect these to their targets, or to this position."""
        for split in splits:
            ways = (split + 1, len(self._code))
            self._code[split] = (_SPLIT, *(ways if greedy else ways[::-1]))


def _holds(where: str, before: int, after: int) -> bool:
    """Return whether an anchor matches at a position."""
    if where.startswith("AT_BEGINNING"):
        return before == _START
    if where.startswith("AT_END"):
        return after == _END
    at_boundary = (before == _WORD) != (after == _WORD)
    return at_boundary == ("NON" not in where)


def _kind(char: str) -> int:
    return _WORD if _is_word(char) else _OTHER


def _is_word(char: str) -> bool:
    return char == "_" or char.isalnum()


_CLASSES: Dict[str, Holds] = {
    "DIGIT": str.isdecimal,
    "SPACE": str.isspace,
    "WORD": _is_word,
}


def _class(name: str, flags: int) -> Holds:
    """Return a class such as ``\\d``, by the name of its constant."""
    kind = name.rpartition("_")[2]
    holds, wanted = _CLASSES[kind], "_NOT_" not in name
    if flags & _ASCII:
        return lambda char: (char < "\x80" and holds(char)) == wanted
    return lambda char: holds(char) == wanted


def _predicate(name: str, operand: Any, flags: int) -> Holds:
    """Return a function that tests whether a character matches a node of the tree."""
    if name == "ANY":
        return (lambda char: True) if flags & _DOTALL else (lambda char: char != "\n")
    if name in ("LITERAL", "NOT_LITERAL"):
        return _set([(name, operand)], flags, name == "NOT_LITERAL")
    if name == "IN":
        negated = str(operand[0][0]) == "NEGATE"
        return _set([(str(op), value) for op, value in operand[negated:]], flags, negated)
    raise ValueError("it has %s, which ccm does not support" % name.lower())


def _set(members: Sequence[Tuple[str, Any]], flags: int, negated: bool) -> Holds:
    single = {chr(value) for name, value in members if name.endswith("LITERAL")}
    ranges = [(chr(value[0]), chr(value[1])) for name, value in members if name == "RANGE"]
    classes = [_class(str(value), flags) for name, value in members if name == "CATEGORY"]
    if "\n" in single and not negated:
        raise ValueError("patterns match within one line, so a line break never matches")

    def holds(char: str) -> bool:
        return (
            char in single
            or any(first <= char <= last for first, last in ranges)
            or any(one(char) for one in classes)
        )

    if not flags & _IGNORECASE:
        return (lambda char: not holds(char)) if negated else holds

    def holds_any_case(char: str) -> bool:
        return (holds(char) or holds(char.lower()) or holds(char.upper())) != negated

    return holds_any_case
