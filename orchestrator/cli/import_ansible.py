"""``ccm import ansible``: converts an Ansible project to a ccm site (controller)."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from orchestrator.cli.import_proof import Converted, add_proof, check_proof, read_proof, run_proof
from orchestrator.cli.parser import Parser

if TYPE_CHECKING:
    from orchestrator.ansible.importer import ImportResult

HELP = "Convert an Ansible playbook, role or project."
EXAMPLE = """
ccm import ansible site.yml -o site
ccm import ansible roles/nginx -o nginx
ccm import ansible . -o ../site --json
ccm import ansible site.yml -o site --prove -l test1
"""


def configure(parser: Parser) -> None:
    """Add the kinds of projects that can be imported."""
    actions = parser.add_subcommands()
    ansible = actions.add_parser(
        "ansible",
        help="convert an Ansible playbook, role or project",
        description="Write manifests, data files, templates and an inventory. Contacts no host "
        "without --prove.",
    )
    ansible.add_argument("source", metavar="SOURCE", help="a playbook, a role, or a project")
    ansible.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="the directory to write, new or empty"
    )
    ansible.add_argument("--json", action="store_true", help="print the report as JSON")
    add_proof(ansible)


def run(args: argparse.Namespace) -> int:
    """Convert and print the report. Exit code 0, regardless of the result; 2 for bad input.

    With --prove, 1 if the second tool would have changed something.
    """
    from orchestrator.ansible.importer import import_project
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import UsageError

    proof = read_proof(args)
    check_proof(proof)
    try:
        result = import_project(args.source, args.output)
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be read or written: {error.strerror}",
            hint="check the path and its mode",
        ) from error
    if args.json:
        print(json.dumps(result.document(), indent=2, ensure_ascii=False))
    else:
        print(plain(result.text()), end="")
    return run_proof(proof, _converted(result)) if proof.prove else 0


def _converted(result: ImportResult) -> Converted:
    tasks = result.document()["tasks"]
    return Converted(
        playbooks=result.playbooks,
        inventory=result.inventories,
        site=result.site,
        hosts=result.inventory,
        tasks=tasks,
    )
