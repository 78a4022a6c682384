"""``ccm validate`` of a manifest that others apply: it is checked as part of those (controller)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.sources.address import is_url
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.manifest.parent_manifests import Parent
    from orchestrator.planning import PlanOptions
    from orchestrator.runs.wiring import TargetSelection


class ChildCheck(NamedTuple):
    """The problems and warnings of a manifest as a child of its ``parents``."""

    parents: tuple[str, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check_child(
    manifest: str, data: PlanOptions, chosen: TargetSelection | None
) -> ChildCheck | None:
    """Check a manifest with the data from its parents; None if no manifest of the project applies
    it.

    The data from its parents is assumed to be correct. Mistakes in its own templates and in the
    manifests that it applies do not depend on a parent. If its path only matches templates, a
    mistake must occur under all of these parents. With hosts of an inventory, its parents are
    planned for those hosts.
    """
    from orchestrator.manifest.parent_manifests import parents_of
    from orchestrator.project.discovery import directories_above

    if is_url(manifest):
        return None
    child = Path(manifest)
    if not child.exists():  # the error names it
        return None
    directories = directories_above(manifest)
    if not child.is_absolute():  # name the files as the user names this one
        directories = [Path(os.path.relpath(directory)) for directory in directories]
    parents = parents_of(child, directories)
    if not parents:
        return None
    certain = [parent for parent in parents if parent.certain]
    results = [_under(parent, child, data, chosen) for parent in certain or parents]
    problems = list(dict.fromkeys(problem for wrong, _ in results for problem in wrong))
    if not certain:
        problems = [one for one in problems if all(one in wrong for wrong, _ in results)]
    warnings = dict.fromkeys(one for _, uncertain in results for one in uncertain)
    names = dict.fromkeys(os.path.relpath(parent.path) for parent in certain or parents)
    return ChildCheck(tuple(names), tuple(problems), tuple(warnings))


def _under(
    parent: Parent, child: Path, data: PlanOptions, chosen: TargetSelection | None
) -> tuple[list[Problem], list[Problem]]:
    """The problems and warnings of the manifest and its children, under one parent."""
    from orchestrator.manifest.loader import read_site
    from orchestrator.planning.site.overview import mistakes_within

    problems, warnings = _in_run(parent, data, chosen) if _is_run(parent, chosen) else ([], [])
    problems, warnings = _of(child, problems), _of(child, warnings)
    try:
        site = read_site(child, parent.site)
    except InputError as error:
        return [*problems, *error.problems], warnings
    if not parent.certain:
        warnings = [*_of(child, site.warnings), *warnings]
    return [*problems, *mistakes_within(site, data)], warnings


def _is_run(parent: Parent, chosen: TargetSelection | None) -> bool:
    """Whether a run of the parent is known to apply the manifest, or may apply it on some host."""
    return parent.certain or chosen is not None


def _in_run(
    parent: Parent, data: PlanOptions, chosen: TargetSelection | None
) -> tuple[list[Problem], list[Problem]]:
    """The problems and warnings of a run of one parent, in all files."""
    from orchestrator.planning.site.site_check import SiteCheck
    from orchestrator.runs import wiring
    from orchestrator.runs.fleet_facts import show_hosts

    warnings: list[Problem] = []
    try:
        _, planner = wiring.planner(str(parent.path), data)
        survey = planner.survey
        warnings += [*survey.warnings, *planner.data_warnings()]
        problems = [*survey.conditional, *(problem for _, problem in survey.failing)]
        if chosen is not None:
            show_hosts([planner], chosen.inventory)
            problems += SiteCheck(map(planner.examine, chosen.hosts)).problems
    except InputError as error:
        return error.problems, warnings
    return problems, warnings


def _of(child: Path, problems: Iterable[Problem]) -> list[Problem]:
    """The problems in the file itself; ``ccm validate`` of a parent reports that parent's own."""
    real = os.path.realpath(child)
    return [one for one in problems if one.where and os.path.realpath(one.where.file) == real]
