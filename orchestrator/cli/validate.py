"""``ccm validate``: check a manifest whole (controller). Contacts no host."""

import argparse
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.options import add_data
from orchestrator.cli.part_flags import add_selection, read_selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.manifest.site import Site
    from orchestrator.planning import PlanOptions
    from remote_runtime.errors import Problem

HELP = "Check a manifest and its data, or a file of stages; no host is contacted."
EXAMPLE = """
ccm validate site.yaml
ccm validate release.yaml      # a file of stages, with all of their manifests
ccm validate --hiera production.yaml site.yaml
ccm validate --tags web site.yaml   # does that mean anything there?
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, or a file of stages")
    add_selection(parser)
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Say that it is good, with warnings; every mistake, a child's too, is an InputError."""
    from orchestrator.rollout.recognising import is_stages

    data = read_selection(args)
    if is_stages(args.manifest):
        return _stages(args.manifest, data)
    site, found = _found(args.manifest, data)
    _warn([site])
    _say(args.manifest, found)
    return 0


def _stages(path: str, data: "PlanOptions") -> int:
    """The same of the manifests of all stages."""
    from orchestrator.cli.stages import refuse_part
    from orchestrator.planning.unknown_data import keep_common
    from orchestrator.rollout.stages import read_stages
    from remote_runtime.errors import InputError, Problem

    stages = read_stages(path)
    refuse_part(data, len(stages))
    problems: list[Problem] = []
    found, sites = [], []
    for stage in stages:
        try:
            site, told = _found(stage.manifest, data._replace(handed=stage.data))
        except InputError as error:
            problems += stage.placed(error)
            continue
        sites.append(site)
        found.append(f"{stage.name}: {told}")
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    keep_common(sites)
    _warn(sites)
    _say(path, f"{len(stages)} stage{'' if len(stages) == 1 else 's'}; {'; '.join(found)}")
    return 0


def _say(path: str, found: str) -> None:
    from orchestrator.support.plain_text import plain

    print(plain(f"{path} is valid: {found}"))


def _warn(sites: "Sequence[Site]") -> None:
    for site in sites:
        _tell("warning", site.warnings)


def _tell(what: str, problems: "Iterable[Problem]") -> None:
    from orchestrator.support.plain_text import plain

    for problem in problems:
        print(plain(f"ccm: {what}: {problem}"), file=sys.stderr)


def _found(manifest: str, data: "PlanOptions") -> "tuple[Site, str]":
    """A manifest, and what is in it. InputError."""
    from orchestrator.cli import assembly
    from remote_runtime.errors import InputError

    site, planner = assembly.planner(manifest, data)
    survey = planner.survey
    if survey.failing:
        failing = [problem for _, problem in survey.failing]
        raise InputError(list(dict.fromkeys([*survey.conditional, *failing])))
    _tell("note", planner.notes())
    found = f"{survey.resources} resource{'' if survey.resources == 1 else 's'}"
    if survey.manifests > 1:
        found += f" in {survey.manifests} manifests"
    if site.resources_template:
        found = f"each host's resources come of {site.resources_template.name}"
    return site, found
