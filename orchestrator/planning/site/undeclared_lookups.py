"""Lookups that data outside of a manifest reads and no manifest declares (controller).

A host that resolves such a value is refused. If every host does, the run is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.expressions import Expression
from orchestrator.manifest.checks.lookups import unknown_names
from orchestrator.manifest.data_files import NO_FILES, DataFiles
from orchestrator.manifest.data_source import DataSource
from orchestrator.manifest.site import Site
from orchestrator.manifest.value_compiler import expressions_in
from remote_runtime.errors import Problem

if TYPE_CHECKING:
    from orchestrator.manifest.lookups import Asks

UNDECLARED = "data.ask"
"""The kind of these warnings."""


def undeclared_lookups(
    sites: Sequence[Site], sources: Iterable[DataSource], files: DataFiles
) -> list[Problem]:
    """A warning for each value of ``--hiera`` and of a data file that reads such a lookup.

    ``sites`` are all manifests of the run, ``sources`` those of ``--hiera``. A data file belongs to
    the manifests whose order may name it; other files are ignored.
    """
    problems: list[Problem] = []
    for source in sources:
        problems += _undeclared(source.expressions(), sites)
    for file in files.all():
        users = [site for site in sites if site.source.may_name(file.name, files)]
        problems += _undeclared(expressions_in(file.tree), users) if users else []
    return problems


def _undeclared(expressions: Iterable[Expression], sites: Sequence[Site]) -> list[Problem]:
    declared = dict.fromkeys(name for site in sites for name in site.asks)
    return [one._replace(kind=UNDECLARED) for one in unknown_names(expressions, declared)]


def undeclared_everywhere(
    source: DataSource,
    asks: Asks,
    *,
    sources: Sequence[DataSource],
    files: DataFiles,
    data_keys: Iterable[str],
) -> list[Problem]:
    """The problem of each such value that every host resolves.

    ``source`` is the data of a manifest with these ``asks``, ``sources`` are those of ``--hiera``,
    and ``data_keys`` those of later data. A key with more than one value above ``data`` is skipped,
    because one value may replace the other.
    """
    local = [one for one in sources if not one.is_remote]
    values = [*_above(source, files)]
    for one in local:
        values += [*one.base.pairs(), *_above(one, NO_FILES)]
    if not any("Asked" in one.source for _, value in values for one in expressions_in(value)):
        return []
    # Entries that only some hosts have may replace a value as well.
    names = {entry: None for one in source.order for entry in source.possible(one, files)}
    times = Counter(key for name in names for key in _keys_of(source, name, files))
    times.update(key for one in sources for key in (*one.base_keys(), *one.keys_above()))
    times.update(data_keys)
    problems = [
        problem
        for key, value in values
        if times[key] == 1
        for problem in unknown_names(expressions_in(value), asks, asks)
    ]
    return list(dict.fromkeys(problems))


def _keys_of(source: DataSource, name: str, files: DataFiles) -> list[str]:
    return [key for layer in source.layers(name, files) for key, _ in layer.pairs()]


def _above(source: DataSource, files: DataFiles) -> Iterator[tuple[str, Any]]:
    """Yield the values of entries that every host has, except entries that another entry
    may stop.
    """
    for number, entry in enumerate(source.order):
        if source.possible(entry, files) != [str(entry)]:
            continue
        for layer in source.layers(str(entry), files):
            for key, value in layer.pairs():
                if source.merging.wants(str(key), number == 0, ()):
                    yield str(key), value
