"""``ccm validate``: check a manifest whole (controller). Contacts no host."""

import argparse
import sys

from orchestrator.cli.options import add_data, read_data

HELP = "Check a manifest and its data; no host is contacted."
EXAMPLE = """
ccm validate site.yaml
ccm validate --hiera production.yaml site.yaml
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Say that it is good, with warnings; every mistake, a child's too, is an InputError."""
    from orchestrator.cli import assembly
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import InputError

    site, planner = assembly.planner(args.manifest, read_data(args))
    survey = planner.survey
    if survey.broken:
        raise InputError(survey.broken)
    for problem in site.warnings:
        print(plain(f"ccm: warning: {problem}"), file=sys.stderr)
    found = f"{survey.resources} resource{'' if survey.resources == 1 else 's'}"
    if survey.manifests > 1:
        found += f" in {survey.manifests} manifests"
    if site.resources_template:
        found = f"each host's resources come of {site.resources_template.name}"
    print(plain(f"{args.manifest} is valid: {found}"))
    return 0
