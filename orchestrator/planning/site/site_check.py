"""Checks a site with the hosts of an inventory without contacting them (controller)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from orchestrator.expressions import Expression, Template
from orchestrator.language.errors import NEEDS, FactsUnavailableError
from orchestrator.language.facts import Facts
from orchestrator.manifest.data_files import DataFiles
from orchestrator.manifest.data_source import DataSource
from orchestrator.planning.site.template_reads import template_reads
from remote_runtime.errors import Position, Problem
from remote_runtime.text.suggestions import nearest

if TYPE_CHECKING:
    from orchestrator.planning.site.manifests import RunManifest, RunSources
    from orchestrator.planning.site.unknown_manifests import UnknownManifest

GATHERED = frozenset(("host", "cpu", "memory", "network", "partition"))
"""The families of facts that every host reports."""
UNKNOWN_READ = "data.unknown_read"
"""The kind of a warning about a value that is read but that no data has."""
UNKNOWN_FACT = "facts.unknown_read"
"""The kind of a warning about a fact whose name looks misspelled."""
_FACT = re.compile(r"\bFacts\.([A-Za-z_]\w*)")
_FACT_LOOKUP = re.compile(r"\blookup\(\s*(['\"])facts\.([\w-]+)")
_MAX_NAMES = 3
_DEFINE_IT = "define it under data, in an override, with --hiera or with --data"
_READ = re.compile(r"\bData\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?!\w*\()")
_LOOKUP = re.compile(r"\blookup\(\s*(['\"])data\.([\w-]+(?:\.[\w-]+)*)\1\s*\)")
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_OPTIONAL = re.compile(r"\bdefault\b|\bdefined\b|\bif\b|\bor\b|\band\b|\bin\b|\?")


class UnknownFacts(Facts):
    """The facts of a host that is not contacted: reading a gathered fact raises an error.

    Variables and ``--fact`` may set parts of a gathered family. These are known; the rest of its
    ``path`` is not.
    """

    are_partial = True

    def __init__(self, facts: dict[str, Any], path: str = "") -> None:
        known = {
            key: UnknownFacts(value, f"{path}{key}.")
            if isinstance(value, dict) and (path or key in GATHERED)
            else value
            for key, value in dict.items(facts)
        }
        super().__init__(known, {})
        self._path = path

    def __deepcopy__(self, _: dict[int, Any]) -> Facts:
        return self.copied()

    def __len__(self) -> int:
        if self._path:
            self.refuse_any()
        return super().__len__()

    def refuse(self, key: object) -> None:
        """Raise FactsUnavailableError for a fact that neither a variable nor ``--fact`` sets."""
        if not dict.__contains__(self, key):
            raise FactsUnavailableError(f"{self._path}{key}", "this command contacts no host")

    def refuse_any(self) -> NoReturn:
        """Raise the error, because the host has more facts."""
        raise FactsUnavailableError(self._path[:-1] or "host", "this command contacts no host")


class HostCheck(NamedTuple):
    """The result for one host: problems of its plan, resources that are certain to fail, and the
    number of resources checked. ``unknown`` counts the resources that were not checked, by the kind
    of value that they need; ``unchecked_assertions`` counts the assertions. ``unseen`` are the
    manifests whose number of resources is not known. ``deferred`` counts the checked resources
    with templates that are rendered during the run.
    """

    host: str
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]
    known: int
    unknown: Counter[str]
    unchecked_assertions: Counter[str]
    unseen: tuple[UnknownManifest, ...] = ()
    deferred: int = 0


class SiteCheck:
    """The problems on the hosts of an inventory, each listed once with its hosts."""

    def __init__(self, checks: Iterable[HostCheck]) -> None:
        wrong: dict[Problem, list[str]] = {}
        uncertain: dict[str, list[str]] = {}
        self.hosts = self.known = self.deferred = 0
        self.unknown: Counter[str] = Counter()
        self.unchecked_assertions: Counter[str] = Counter()
        self.unseen: dict[UnknownManifest, None] = {}
        for check in checks:
            self.hosts += 1
            self.known += check.known
            self.deferred += check.deferred
            self.unknown += check.unknown
            self.unchecked_assertions += check.unchecked_assertions
            self.unseen.update(dict.fromkeys(check.unseen))
            for problem in dict.fromkeys(check.problems):
                wrong.setdefault(problem, []).append(check.host)
            for text in dict.fromkeys(check.warnings):
                uncertain.setdefault(text, []).append(check.host)
        self.problems = [
            problem._replace(message=f"{problem.message} (on {_names(hosts)})")
            for problem, hosts in wrong.items()
        ]
        self.warnings = [f"{text} (on {_names(hosts)})" for text, hosts in uncertain.items()]

    @property
    def summary(self) -> str:
        """Return the checked parts in words, with the parts that could not be checked."""
        hosts = f"{self.hosts} host{'' if self.hosts == 1 else 's'}"
        unknown = self.unknown.total()
        total = self.known + unknown
        checked = f"{self.known} of {total} resources" if unknown else "all resources"
        were = "was" if unknown and self.known == 1 else "were"
        words = [f"{checked} of {hosts} {were} checked"]
        if not total:
            none = f"{hosts} {'has' if self.hosts == 1 else 'have'} no resources"
            words = [f"no resources of {hosts} were checked" if self.unseen else none]
        words += [
            f"{n} need{'s' if n == 1 else ''} {NEEDS[kind]}" for kind, n in _counted(self.unknown)
        ]
        if self.deferred:
            have = f"{self.deferred} {'has' if self.deferred == 1 else 'have'}"
            words.append(f"{have} templates that are rendered only during the run")
        for kind, count in _counted(self.unchecked_assertions):
            need = "assertion needs" if count == 1 else "assertions need"
            words.append(f"{count} {need} {NEEDS[kind]}")
        text = "; ".join(words)
        if not self.unseen:
            return text
        from orchestrator.planning.site.unknown_manifests import in_words

        return f"{text}; not checked: {'; '.join(in_words(self.unseen))}"


def _counted(needs: Counter[str]) -> list[tuple[str, int]]:
    return [(kind, needs[kind]) for kind in NEEDS if needs[kind]]


def _names(hosts: list[str]) -> str:
    rest = len(hosts) - _MAX_NAMES
    names = ", ".join(hosts[:_MAX_NAMES])
    return f"{names} and {rest} more" if rest > 0 else names


def unreachable_overrides(
    source: DataSource, reached: Iterable[str] | None = None
) -> list[Problem]:
    """A warning for each override that no entry of the order can name.

    ``reached`` are the names of the entries on all hosts. If it is None (unknown), the fixed
    parts of each entry decide.
    """
    names = None if reached is None else set(reached)
    possible = {name for entry in source.order for name in source.possible(entry)}
    problems = []
    for name in source.overrides:
        if name not in (possible if names is None else names):
            order_names = [str(entry) for entry in source.order if not isinstance(entry, Template)]
            likely = nearest(name, [*order_names, *(names or ())])
            prefixes = [_prefix(entry) for entry in source.order if isinstance(entry, Template)]
            begin = nearest(name.partition(":")[0] + ":", [one for one in prefixes if one])
            hint = f"did you mean {likely}?" if likely else "no entry of hierarchy.order names it"
            hint = f"did you mean {begin}...?" if begin and not likely else hint
            message = f"the override {name!r} applies to no host"
            problems.append(Problem(message, source.place(name), hint, "data.override"))
    return problems


def unreachable_files(
    files: DataFiles, manifests: Iterable[tuple[DataSource, Iterable[str] | None]]
) -> list[Problem]:
    """A warning for each data file that the order of no manifest can name.

    Each manifest's data comes with the names of its entries on all hosts. If they are None
    (unknown), the fixed parts of each entry decide.
    """
    named: set[str] = set()
    for source, reached in manifests:
        entries = source.order if reached is None else ()
        named.update(reached or ())
        named.update(name for entry in entries for name in source.possible(entry, files))
    names = {name.replace("/", ":") for name in named}
    problems = []
    for file in files.all():
        if file.name not in names:
            likely = nearest(file.name, names)
            hint = f"did you mean {likely}?" if likely else "no entry of hierarchy.order names it"
            message = f"the data file {file.path} applies to no host"
            problems.append(Problem(message, file.position, hint, "data.file"))
    return problems


def _prefix(entry: Template) -> str:
    first = next(iter(entry.pieces))
    return "" if isinstance(first, Expression) else str(first)


def unknown_reads(run: RunSources, data_keys: Iterable[str]) -> list[Problem]:
    """A warning for each data value that a template reads by name and nothing sets.

    ``data_keys`` are the keys of ``--data``. Values that an expression treats as optional are
    ignored.
    """
    containers = run.containers
    handed = _handed(run.parts)
    if handed is None:
        return []
    handed.update(data_keys)
    known_keys = list(dict.fromkeys([*run.known_keys, *handed]))
    problems: dict[Problem, None] = {}
    readers = [one for part in run.parts for one in part.site.expressions_outside_data()]
    readers += [one for source in run.data for one in source.value_expressions()]
    read: list[tuple[str, Position | None]] = [
        (path, expression.where)
        for expression in (*readers, *run.files.expressions())
        for path in _reads(expression.source)
    ]
    read += [one for part in run.parts for one in template_reads(part.site, _reads)]
    for path, where in read:
        keys = path.split(".")
        if keys[0] in handed or any(source.holds(keys) for source in containers):
            continue
        if len(keys) > 1 and any(source.holds(keys[:1]) for source in containers):
            continue
        likely = nearest(keys[0], known_keys)
        hint = f"did you mean Data.{likely}?" if likely else _DEFINE_IT
        message = f"Data.{keys[0]} is used here, but not defined"
        problems[Problem(message, where, hint, UNKNOWN_READ)] = None
    return list(problems)


def unknown_merges(run: RunSources) -> list[Problem]:
    """A warning for each key of ``hierarchy.keys`` that no data contains."""
    known_keys = run.known_keys
    problems = []
    for source in run.data:
        for key, where in source.keys_merged.items():
            if key not in known_keys:
                likely = nearest(key, known_keys)
                hint = f"did you mean {likely}?" if likely else "remove it, or define it under data"
                message = f"hierarchy.keys contains {key!r}, which is not defined in any data"
                problems.append(Problem(message, where, hint, UNKNOWN_READ))
    return problems


def unknown_facts(run: RunSources, fact_names: Iterable[str]) -> list[Problem]:
    """A warning for each fact that a template reads and whose name is similar to a known one.

    ``fact_names`` are those of the inventory and the command line. A host may have other facts, so
    only probable misspellings are reported.
    """
    names = [*GATHERED, *fact_names]
    problems: dict[Problem, None] = {}
    readers = [
        expression
        for part in run.parts
        for expression in (
            *part.site.expressions_outside_data(),
            *part.site.source.expressions(),
        )
    ]
    for expression in (*readers, *run.files.expressions()):
        plain = _TEXT.sub("''", expression.source)
        read = [*_FACT.findall(plain), *(m[2] for m in _FACT_LOOKUP.finditer(expression.source))]
        for name in read:
            likely = None if name in names or hasattr(dict, name) else nearest(name, names)
            if likely:
                message = f"the fact {name!r} is read here, but no inventory sets it"
                hint = f"did you mean {likely}?"
                problems[Problem(message, expression.where, hint, UNKNOWN_FACT)] = None
    return list(problems)


def _handed(parts: Iterable[RunManifest]) -> set[str] | None:
    """The keys that applies pass to children; None if a template decides this."""
    keys: set[str] = set()
    for part in parts:
        for declared in part.site.resources:
            data = declared.raw.get("data") if declared.type.applies else None
            if isinstance(data, str):
                return None
            keys.update(data if isinstance(data, dict) else ())
    return keys


def _reads(source: str) -> Iterator[str]:
    """The paths below the data that an expression requires."""
    if _OPTIONAL.search(_TEXT.sub("''", source)):
        return
    for match in _LOOKUP.finditer(source):
        yield match[2]
    for match in _READ.finditer(_TEXT.sub("''", source)):
        if not hasattr(dict, match[1].partition(".")[0]):
            yield match[1]
