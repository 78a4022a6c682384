"""``ccm validate`` of a manifest that others apply: checked as part of those (controller)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.manifest.parents import Parent
    from orchestrator.planning import PlanOptions
    from orchestrator.runs.wiring import Chosen


class PartCheck(NamedTuple):
    """What is wrong with a manifest as a part of its ``parents``, and of what it is warned."""

    parents: tuple[str, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check_as_part(manifest: str, data: PlanOptions, chosen: Chosen | None) -> PartCheck | None:
    """Check a manifest with what those that apply it give; None where none in the project does.

    Where only templates fit its path, what is wrong under all of those manifests is a problem.
    With hosts of an inventory, the plans of its parents are made for them.
    """
    from orchestrator.manifest.parents import parents_of
    from orchestrator.project.finding import folders_above

    child = Path(manifest)
    parents = parents_of(child, folders_above(manifest))
    if not parents:
        return None
    certain = [parent for parent in parents if parent.certain]
    found = [_under(parent, child, data, chosen) for parent in certain or parents]
    wrong = [_of(child, problems) for problems, _ in found]
    problems = list(dict.fromkeys(problem for problems in wrong for problem in problems))
    if not certain:
        problems = [one for one in problems if all(one in other for other in wrong)]
    warnings = dict.fromkeys(one for _, doubtful in found for one in _of(child, doubtful))
    names = dict.fromkeys(os.path.relpath(parent.path) for parent in certain or parents)
    return PartCheck(tuple(names), tuple(problems), tuple(warnings))


def _under(
    parent: Parent, child: Path, data: PlanOptions, chosen: Chosen | None
) -> tuple[list[Problem], list[Problem]]:
    """The problems and the warnings of a run of one parent, in whatever file they are."""
    from orchestrator.manifest.loading import read_site
    from orchestrator.planning.site.check import SiteCheck
    from orchestrator.runs import wiring
    from orchestrator.runs.fleet_facts import show_hosts

    warnings: list[Problem] = []
    try:
        if not parent.certain:
            warnings += read_site(child, parent.site).warnings
        if parent.certain or chosen is not None:
            _, planner = wiring.planner(str(parent.path), data)
            survey = planner.survey
            warnings += [*survey.warnings, *planner.data_warnings()]
            problems = [*survey.conditional, *(problem for _, problem in survey.failing)]
            if chosen is not None:
                show_hosts([planner], chosen.inventory)
                problems += SiteCheck(map(planner.examine, chosen.hosts)).problems
            return problems, warnings
    except InputError as error:
        return error.problems, warnings
    return [], warnings


def _of(child: Path, problems: Iterable[Problem]) -> list[Problem]:
    """Those that are in the file itself; a parent's own are for ``ccm validate`` of that."""
    real = os.path.realpath(child)
    return [one for one in problems if one.where and os.path.realpath(one.where.file) == real]
