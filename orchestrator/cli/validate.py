"""``ccm validate``: check a manifest (controller). Contacts no host."""

import argparse
from typing import TYPE_CHECKING

from orchestrator.cli.messages import note, warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.selection_options import add_selection
from orchestrator.cli.shared_options import add_data, add_inventory, read_data, read_inventory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from inventory import Host
    from orchestrator.manifest.site import Site
    from orchestrator.planning import Planner, PlanOptions
    from orchestrator.runs.wiring import TargetSelection
    from remote_runtime.errors import Problem

HELP = "Check a manifest and its data, or a stages file, without contacting hosts."
EXAMPLE = """
ccm validate site.yaml
ccm validate release.yaml      # a stages file with all its manifests
ccm validate --hiera production.yaml site.yaml
ccm validate -i hosts.yaml site.yaml   # including each host's data
ccm validate --tags web site.yaml   # do these tags exist?
"""


def configure(parser: Parser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, or a stages file")
    add_inventory(parser, required=False, default="none; only the manifest is checked")
    add_selection(parser)
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Report that the manifest is valid, with warnings; every mistake, including mistakes in
    children, is an InputError.
    """
    from orchestrator.cli.child_validation import check_child
    from orchestrator.project.discovery import project_files
    from orchestrator.project.reader import project_notes
    from orchestrator.rollout.stages_detection import is_stages
    from remote_runtime.errors import InputError

    data = read_data(args)._replace(contact=False)
    chosen = _chosen(args)
    _tell("note", project_notes(project_files(args.manifest)))
    if is_stages(args.manifest):
        return _stages(args.manifest, data, chosen)
    try:
        site, text = _check_manifest(args.manifest, data, chosen)
    except InputError:
        part = check_child(args.manifest, data, chosen)
        if part is None:
            raise
        if part.problems:
            raise InputError(list(part.problems)) from None
        _tell("warning", part.warnings)
        _say(args.manifest, f"checked as part of {' and '.join(part.parents)}")
        return 0
    _warn([site])
    _say(args.manifest, text)
    return 0


def _chosen(args: argparse.Namespace) -> "TargetSelection | None":
    """The hosts of the inventory; None without an inventory."""
    from orchestrator.runs import wiring

    where = read_inventory(args)
    if where.inventory is None and not where.limit:
        return None
    chosen = wiring.select_targets(where, warn, args.manifest)
    _tell("note", chosen.inventory.notes)
    return chosen


def _stages(path: str, data: "PlanOptions", chosen: "TargetSelection | None") -> int:
    """The same for the manifests of all stages."""
    from orchestrator.planning.site.unknown_data import keep_common
    from orchestrator.rollout.stages import read_stages, stages_notes
    from orchestrator.runs.staged_job import refuse_part
    from remote_runtime.errors import InputError, Problem

    stages = read_stages(path)
    _tell("note", stages_notes(path))
    refuse_part(data, len(stages))
    problems: list[Problem] = []
    texts, sites = [], []
    noted: set[Problem] = set()
    for stage in stages:
        try:
            handed = data._replace(handed=stage.data)
            site, text = _check_manifest(stage.manifest, handed, chosen, noted)
        except InputError as error:
            problems += stage.placed(error)
            continue
        sites.append(site)
        texts.append(f"{stage.name}: {text}")
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    keep_common(sites)
    _warn(sites)
    _say(path, f"{len(stages)} stage{'' if len(stages) == 1 else 's'}; {'; '.join(texts)}")
    return 0


def _say(path: str, text: str) -> None:
    from orchestrator.support.plain_text import plain

    print(plain(f"{path} is valid: {text}"))


def _warn(sites: "Sequence[Site]") -> None:
    for site in sites:
        _tell("warning", site.warnings)


def _tell(what: str, problems: "Iterable[Problem | str]") -> None:
    for problem in problems:
        note(f"{what}: {problem}")


def _check_manifest(
    manifest: str,
    data: "PlanOptions",
    chosen: "TargetSelection | None",
    noted: "set[Problem] | None" = None,
) -> "tuple[Site, str]":
    """Check a manifest; return its site and a summary of its content.

    InputError. ``noted`` has notes that were already written.
    """
    from orchestrator.cli.child_validation import check_child
    from orchestrator.planning.site.site_check import UNKNOWN_READ
    from orchestrator.runs import wiring
    from remote_runtime.errors import InputError

    site, planner = wiring.planner(manifest, data)
    survey = planner.survey
    if survey.failing:
        failing = [problem for _, problem in survey.failing]
        raise InputError(list(dict.fromkeys([*survey.conditional, *failing])))
    if chosen is not None:
        from orchestrator.runs.fleet_facts import show_hosts

        show_hosts([planner], chosen.inventory)
    checked = _check_hosts(planner, chosen) if chosen is not None else ""
    notes = [note for note in planner.notes() if noted is None or note not in noted]
    _tell("note", notes)
    if noted is not None:
        noted.update(notes)
    uncertain = planner.data_warnings(_every_host(chosen))
    if any(problem.kind == UNKNOWN_READ for problem in uncertain):
        part = check_child(manifest, data, chosen)
        if part is not None:
            uncertain = [one for one in uncertain if one.kind != UNKNOWN_READ]
            uncertain += [one for one in part.warnings if one.kind == UNKNOWN_READ]
    _tell("warning", [*uncertain, *planner.unread()])
    text = f"{survey.resources} resource{'' if survey.resources == 1 else 's'}"
    if survey.manifests > 1:
        text += f" in {survey.manifests} manifests"
    if survey.templates:
        from orchestrator.planning.site.unknown_manifests import listed

        text += f" and those from {listed(list(survey.templates))}"
    if site.resources_template:
        text = f"each host's resources come from {site.resources_template.name}"
    return site, f"{text}; {checked}" if checked else text


def _every_host(chosen: "TargetSelection | None") -> "Sequence[Host]":
    """All hosts of the inventory, because an override may apply to any of them."""
    return list(chosen.inventory.hosts.values()) if chosen is not None else ()


def _check_hosts(planner: "Planner", chosen: "TargetSelection") -> str:
    """Check the hosts, and return the result as text; InputError with the problems."""
    from orchestrator.planning.site.site_check import SiteCheck
    from remote_runtime.errors import InputError, Problem

    check = SiteCheck(map(planner.examine, chosen.hosts))
    unmatched = [Problem(text, None, "", "input.selection") for text in planner.unmatched()]
    if check.problems or (unmatched and planner.sees_all):
        raise InputError([*check.problems, *(unmatched if planner.sees_all else ())])
    _tell("warning", [*check.warnings, *unmatched])
    return check.summary
