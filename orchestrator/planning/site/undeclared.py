"""Look-ups that data outside of a manifest reads and no manifest declares (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.expressions import Expression
from orchestrator.manifest.checks.look_ups import unknown_names
from orchestrator.manifest.data import DataSource
from orchestrator.manifest.data_files import DataFile, DataFiles
from orchestrator.manifest.values import expressions_in
from orchestrator.planning.site.manifests import Part
from remote_runtime.errors import Problem

UNDECLARED = "data.ask"
"""The kind of these warnings."""


def undeclared_look_ups(
    parts: Sequence[Part], sources: Iterable[DataSource], files: DataFiles
) -> list[Problem]:
    """A warning for each value of ``--hiera`` and of a data file that reads such a look-up.

    ``parts`` are all manifests of the run, ``sources`` those of ``--hiera``. A data file is for the
    manifests whose order may name it; other files are ignored.
    """
    found: list[Problem] = []
    for source in sources:
        found += _undeclared(source.expressions(), parts)
    for file in files.all():
        users = [part for part in parts if _may_use(part, file, files)]
        found += _undeclared(expressions_in(file.tree), users) if users else []
    return found


def _undeclared(expressions: Iterable[Expression], parts: Sequence[Part]) -> list[Problem]:
    declared = dict.fromkeys(name for part in parts for name in part.site.asks)
    return [one._replace(kind=UNDECLARED) for one in unknown_names(expressions, declared)]


def _may_use(part: Part, file: DataFile, files: DataFiles) -> bool:
    source = part.site.source
    return any(file.name in source.possible(entry, files) for entry in source.order)
