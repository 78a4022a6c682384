"""The problems that ``ccm validate`` finds in an unsaved manifest (controller)."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from orchestrator.manifest import load_site
from orchestrator.manifest.resource_types import BUILT_IN, Types, types_beside
from orchestrator.planning.plan_options import PlanOptions
from orchestrator.sources.archives import Archives
from orchestrator.studio.design.manifest_text import ManifestText
from orchestrator.studio.design.value_spans import Path as DataPath
from remote_runtime.errors import CcmError, InputError, Problem
from remote_runtime.reporting.masking import Mask


class Finding(NamedTuple):
    """A problem or a warning with the text from ``ccm validate``, and the field that it concerns.

    ``resource`` is the number of the resource, -1 for none; ``key`` the property, "" for none.
    ``at`` is its position in the text, -1 if unknown.
    """

    text: str
    resource: int = -1
    key: str = ""
    is_warning: bool = False
    at: int = -1


def types_for(path: Path) -> Types:
    """The types that a manifest may use, whether or not it exists yet. InputError."""
    if path.exists():
        return types_beside(path)
    return types_beside(path.parent) if path.parent.is_dir() else BUILT_IN


def offline(data_dir: str) -> PlanOptions:
    """Plan without contacting anything, and without the environment of this process."""
    return PlanOptions(contact=False, environ={}, data_dir=data_dir)


def findings(
    manifest: ManifestText, path: Path, *, root: Path, data_dir: str, secrets: Iterable[str]
) -> list[Finding]:
    """Return the problems and warnings of a document at a path; ``root`` is the directory of the
    project.

    Their texts contain none of the ``secrets``.
    """
    mask, found = Mask(secrets), list[Finding]()
    problems, warnings = _examine(manifest.text, path, root, data_dir)
    for problem in dict.fromkeys([*problems, *warnings]):
        text = mask.text(str(problem).replace(f"{root}/", ""))
        at = _index(manifest, problem)
        resource, key = _place(manifest, problem, at)
        is_warning = problem not in problems
        found.append(Finding(text, resource, key, is_warning=is_warning, at=at))
    return found


def _examine(
    text: str, path: Path, root: Path, data_dir: str
) -> tuple[list[Problem], list[Problem]]:
    """The problems and the warnings, in the order of ``ccm validate``."""
    from orchestrator.planning import Planner  # takes its time to load

    try:
        types = types_for(path)
        site = load_site(path, types, archives=Archives(contact=False), text=text, bounds=root)
        planner = Planner(site, offline(data_dir))
    except InputError as error:
        return list(error.problems), []
    except CcmError as error:
        return [Problem(error.message, None, error.hint, error.kind)], []
    survey = planner.survey
    if survey.failing:
        failing = [problem for _, problem in survey.failing]
        return list(dict.fromkeys([*survey.conditional, *failing])), []
    warnings = [*site.warnings, *planner.data_warnings(())]
    return [], [one for one in warnings if isinstance(one, Problem)]


def is_at(manifest: ManifestText, path: DataPath, at: int) -> bool:
    """Whether a position in the text is that of a key or its value."""
    start, end = _extent(manifest, path) if manifest.yaml.has(path) else (1, 0)
    return start <= at <= end


def _index(manifest: ManifestText, problem: Problem) -> int:
    """The position of a problem in the text; -1 if unknown."""
    lines = manifest.text.split("\n")
    if problem.where is None or problem.where.line > len(lines):
        return -1
    before = sum(len(line) + 1 for line in lines[: problem.where.line - 1])
    return before + problem.where.column - 1


def _place(manifest: ManifestText, problem: Problem, index: int) -> tuple[int, str]:
    """The resource and the property at the position of a problem."""
    if index < 0:
        return -1, ""
    for number, one in enumerate(manifest.resources):
        start, end = _extent(manifest, one.path)
        if start <= index <= end:
            return number, problem.missing or _key(manifest, one.path, index)
    return -1, ""


def _extent(manifest: ManifestText, path: DataPath) -> tuple[int, int]:
    """The range from the name of a resource, or its type, to the end of its properties."""
    holder, span = manifest.yaml.span(path[:-1]), manifest.yaml.span(path)
    if holder is None or span is None:
        return 1, 0
    return holder.keys[holder.place(path[-1])].start, span.end


def _key(manifest: ManifestText, path: DataPath, index: int) -> str:
    span = manifest.yaml.span(path)
    if span is not None and span.kind == "map":
        for key, value in zip(span.keys, span.values):
            if key.start <= index <= value.end:
                return key.text
    return ""
