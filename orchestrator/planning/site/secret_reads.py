"""The secrets that a site names, and whether they exist, checked without any key (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orchestrator.expressions import Expression
from orchestrator.secrets.reference import InlineRead, SecretRead, calls_in
from remote_runtime.errors import Problem

if TYPE_CHECKING:
    from orchestrator.planning.site.manifests import RunSources
    from orchestrator.secrets.key_sources import KeySources


def secret_reads(run: RunSources) -> Iterator[SecretRead]:
    """Each literal call in manifests, their data and templates, ``--hiera`` and data files."""
    top = str(run.parts[0].site.directory.path)
    for part in run.parts:
        directory = str(part.site.directory.path)
        yield from part.secret_calls
        if "secret" in part.site.source.text:
            yield from _in_expressions(part.site.expressions(), directory)
    for source in run.sources:
        if "secret" in source.text:
            yield from _in_expressions(source.expressions(), top)
    yield from _in_expressions(run.files.expressions(), top)


def inline_reads(run: RunSources) -> Iterator[InlineRead]:
    """Each encrypted value in the data."""
    sources = [*(part.site.source for part in run.parts), *run.sources]
    for node in [*(node for one in sources for node in one.encrypted), *run.files.encrypted()]:
        yield InlineRead(node.tag, node.text, node.position)


def secret_problems(reads: Iterable[SecretRead], keys: KeySources) -> list[Problem]:
    """The problems of secrets that no source has, as far as they are visible without a key."""
    from orchestrator.secrets.checks import problem

    problems: dict[Problem, None] = {}
    for read in reads:
        error = problem(read.text, read.directory, keys)
        if error is not None:
            message = f"secret({read.text!r}): {error.message}"
            problems[Problem(message, read.where, error.hint, error.kind)] = None
    return list(problems)


def inline_problems(reads: Iterable[InlineRead]) -> list[Problem]:
    """The problems of encrypted values that are visible without a key."""
    from orchestrator.secrets.checks import inline_problem

    problems = []
    for read in reads:
        error = inline_problem(read.tag, read.text)
        if error is not None:
            problems.append(Problem(error.message, read.where, error.hint, error.kind))
    return problems


def _in_expressions(expressions: Iterable[Expression], directory: str) -> Iterator[SecretRead]:
    for expression in expressions:
        for text, _ in calls_in(expression.source):
            yield SecretRead(text, directory, expression.where)
