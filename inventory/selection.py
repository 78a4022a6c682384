"""Selects hosts by patterns (controller).

Patterns are joined by ``:`` or ``,``. A plain one adds hosts, ``&PATTERN`` keeps only hosts that
are also in it, ``!PATTERN`` removes hosts; additions apply first, then ``&``, then ``!``, in any
order they are written. Without an addition, all hosts are the start.

A pattern is a host, a group, ``all``, a glob (``web*``), numbers as reports print them
(``web[1-3,7]``, ``db[01-12]``) or ``~REGEX`` (from the beginning of the
name) over both, or ``@FILE``: the hosts that the patterns in its lines pick, where ``#`` begins a
comment. ``failed`` and ``remaining`` are the hosts whose last push failed, and the hosts that
it did not start; ``run:ID:failed`` (or ``remaining``, ``undone`` for both, ``unreachable``,
``changed``) are those of one run.
"""

import fnmatch
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from inventory.yaml_document import read_text
from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.text.suggestions import nearest

MAX_GUESSES = 10
"""A suggestion compares all names, so a long file with unknown names gets only this many
suggestions.
"""

# Numbers and ranges of them; a class without either is a glob's.
_SPAN = r"\d+(?:-\d+)?"
_RANGES = rf"(?a)\[(\d+(?:-\d+|,{_SPAN})(?:,{_SPAN})*)\]"
_OUTSIDE = r"(?![^\[\]]*\])"  # of brackets, for what parts patterns

# The meaning of each word, for the error of a word that matches no host.
_LAST = {"failed": "failed", "remaining": "was left unstarted"}
_OF_RUN = {
    **_LAST,
    "undone": "failed or was left unstarted",
    "unreachable": "was unreachable",
    "changed": "was changed",
}


class Runs(Protocol):
    """The runs of the past."""

    last: str
    """The name of a host's last push in messages, such as "its last push of site.yaml"."""

    def named(self, word: str, run_id: str, hosts: Collection[str]) -> Iterable[str]:
        """Return the hosts that the word selects: in that run, or in their last pushes."""


class _Pattern(NamedTuple):
    operator: str
    text: str
    where: Position | None


class Selector:
    """Evaluates patterns over host names and the groups that each host is in."""

    def __init__(self, hosts: Mapping[str, tuple[str, ...]], groups: Iterable[str]) -> None:
        self._hosts = hosts
        self._members: dict[str, set[str]] = {name: set() for name in groups}
        for host, names in hosts.items():
            for name in names:
                self._members[name].add(host)
        self._members["all"] = set(hosts)
        self._problems: list[Problem] = []
        self._runs: Runs | None = None

    def select(
        self, limit: str | Iterable[str] | None = None, runs: Runs | None = None
    ) -> set[str]:
        """The selected names; InputError (``inventory.no_match``) if a pattern matches none."""
        texts = ["all"] if limit is None else [limit] if isinstance(limit, str) else list(limit)
        self._problems = []
        self._runs = runs
        patterns = [pattern for text in texts for pattern in self._patterns(text, None)]
        if not patterns and not self._problems:
            self._no_match("the pattern is empty", "specify a host or a group, or omit the pattern")
        picked = self._combine(patterns)
        if self._problems:
            raise InputError(self._problems)
        if not picked:
            shown = ":".join(texts)[:200]
            hint = "'ccm inventory --graph' shows the groups and their hosts"
            self._no_match(f"{shown!r} selects no host", hint)
            raise InputError(self._problems)
        return picked

    def _combine(self, patterns: list[_Pattern]) -> set[str]:
        matches = [(pattern.operator, self._match(pattern)) for pattern in patterns]
        added = [names for operator, names in matches if not operator]
        picked = set().union(*added) if added else set(self._members["all"])
        for operator, names in matches:
            if operator == "&":
                picked &= names
        for operator, names in matches:
            if operator == "!":
                picked -= names
        return picked

    def _patterns(self, text: str, where: Position | None) -> Iterator[_Pattern]:
        for part in re.split("," + _OUTSIDE, text):
            yield from self._split(part.strip(), where)

    def _split(self, text: str, where: Position | None) -> Iterator[_Pattern]:
        """Split at colons, except in a regex, a file name, a run and a host's name with colons."""
        bare = text.lstrip("&!")
        whole = bare[:1] in ("~", "@") or bare in self._hosts
        parts = iter([text] if whole else re.split(":" + _OUTSIDE, text))
        for part in parts:
            part = part.strip()
            if part.lstrip("&! ") == "run":
                part = ":".join([part, *itertools.islice(parts, 2)])
            operator = part[:1] if part[:1] in ("&", "!") else ""
            name = part[len(operator) :].strip()
            if name:
                yield _Pattern(operator, name, where)
            elif operator:
                self._no_match(
                    f"the pattern {part!r} is incomplete", "expected a name after & or !"
                )

    def _match(self, pattern: _Pattern) -> set[str]:
        name = pattern.text
        if name in _LAST or name.partition(":")[0] == "run":
            return self._match_runs(pattern)
        if name.startswith("@"):
            return self._match_file(pattern)
        if name.startswith("~") or any(char in name for char in "*?["):
            return self._match_all(pattern)
        if name in self._hosts or name in self._members:
            names = self._members.get(name, set()) | ({name} if name in self._hosts else set())
            if not names and not pattern.operator:
                what = "the inventory" if name == "all" else f"the group {name!r}"
                self._no_match(f"{what} has no hosts", "add them under 'hosts'", pattern.where)
            return names
        self._unknown(pattern)
        return set()

    def _match_file(self, pattern: _Pattern) -> set[str]:
        path = pattern.text[1:]
        if pattern.where is not None:
            hint = "list the names in one file"
            self._no_match(
                f"{pattern.text!r} is not allowed in a file of patterns", hint, pattern.where
            )
            return set()
        try:
            lines = read_text(path).splitlines()
        except InputError as error:
            self._problems.extend(error.problems)
            return set()
        patterns: list[_Pattern] = []
        for number, line in enumerate(lines, 1):
            text = re.sub(r"(^|\s)#.*", "", line).strip()
            patterns.extend(self._patterns(text, Position(path, number, 1)))
        if not patterns:
            self._no_match(f"{path} contains no host", "write one host or pattern per line")
        return self._combine(patterns)

    def _match_all(self, pattern: _Pattern) -> set[str]:
        text = pattern.text
        try:
            matches = re.compile(text[1:]).match if text.startswith("~") else _glob(text)
        except re.error as error:
            self._no_match(f"invalid regular expression {text!r}: {error}", "", pattern.where)
            return set()
        names = {name for name in self._hosts if matches(name)}
        for group, members in self._members.items():
            if matches(group):
                names |= members
        if not names:
            self._unknown(pattern)
        return names

    def _match_runs(self, pattern: _Pattern) -> set[str]:
        of_run, _, rest = pattern.text.partition(":")
        run_id, _, word = rest.partition(":") if of_run == "run" else ("", "", pattern.text)
        if of_run == "run" and (not run_id or word not in _OF_RUN):
            message = f"{pattern.text[:80]!r} does not select hosts of a run"
            hint = f"write run:ID:{'|'.join(_OF_RUN)}; 'ccm runs' lists the runs"
            self._no_match(message, hint, pattern.where)
            return set()
        try:
            named = self._runs.named(word, run_id, self._hosts.keys()) if self._runs else ()
        except InputError as error:
            self._problems.extend(error.problems)
            return set()
        names = set(named)
        if not names and pattern.operator != "!":
            last = self._runs.last if self._runs else "its last push"
            where = f"run {run_id[:60]}" if run_id else last
            message = f"no host of this inventory {_OF_RUN[word]} in {where}"
            hint = "'ccm runs' lists the runs"
            hint += "" if run_id else f"; run:ID:{word} selects the {word} hosts of a run"
            self._no_match(message, hint, pattern.where)
        return names

    def _unknown(self, pattern: _Pattern) -> None:
        name = pattern.text
        guess = ""
        if len(self._problems) < MAX_GUESSES:
            guess = nearest(name.lstrip("~"), [*self._members, *self._hosts])
        hint = f"did you mean {guess}?" if guess else "'ccm inventory --graph' shows the names"
        message = f"the pattern {pattern.operator + name[:80]!r} matches no host"
        self._no_match(message, hint, pattern.where)

    def _no_match(self, message: str, hint: str, where: Position | None = None) -> None:
        self._problems.append(Problem(message, where, hint, "inventory.no_match"))


def _glob(text: str) -> Callable[[str], object]:
    """The names that a glob matches, with its ranges of numbers expanded."""
    ranges = [match[1].split(",") for match in re.finditer(_RANGES, text)]
    regex = re.compile(fnmatch.translate(re.sub(_RANGES, "\0", text)).replace("\0", "([0-9]+)"))

    def matches(name: str) -> bool:
        match = regex.match(name)
        return match is not None and all(map(_among, match.groups(), ranges))

    return matches


def _among(number: str, spans: list[str]) -> bool:
    """Whether a number is in one of the spans as written: ``01-12`` contains ``07``."""
    for span in spans:
        first, _, last = span.partition("-")
        padded = number == number.lstrip("0").zfill(len(first))
        if padded and _size(first) <= _size(number) <= _size(last or first):
            return True
    return False


def _size(number: str) -> tuple[int, str]:
    """Return the sort key of a number of any length."""
    digits = number.lstrip("0")
    return len(digits), digits
