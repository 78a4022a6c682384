"""``ccm hiera parse``: the data of a hierarchy as it comes out for hosts (controller)."""

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from orchestrator.cli.documents import add_form, read_form
from orchestrator.cli.messages import warn
from orchestrator.cli.options import (
    add_connection,
    add_data,
    add_inventory,
    read_connection,
    read_data,
    read_inventory,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inventory import Host
    from orchestrator.fleet.host.host_facts import Gathered
    from orchestrator.planning import PlanOptions
    from orchestrator.planning.hierarchy import Hierarchy
    from remote_runtime.errors import CcmError

HELP = "Show hierarchical data."
EXAMPLE = """
ccm hiera parse site.yaml                            # with this host's facts
ccm hiera parse --offline --fact role=web site.yaml  # without a host
eval "$(ccm hiera parse --env site.yaml)"     # HIERA_KEY=VALUE for a shell
ccm hiera parse -i hosts.yaml -l web --query app.port site.yaml
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be done with data."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    parse = actions.add_parser(
        "parse",
        help="resolve the data of a manifest or a data file, with secrets masked",
        description="Resolve data, hierarchy and overrides of a file; with -i, for each host.",
    )
    parse.add_argument("manifest", metavar="FILE", help="a manifest or a data file")
    parse.add_argument(
        "given", metavar="KEY=VALUE", nargs="*", help="a fact, as with --fact; repeatable"
    )
    add_inventory(parse, required=False)
    whose = parse.add_mutually_exclusive_group()
    whose.add_argument(
        "-S",
        "--system-facts",
        action="store_true",
        help="use the facts of the host (the default)",
    )
    whose.add_argument(
        "--offline",
        action="store_true",
        help="contact no host; use only --facts, vars and --fact",
    )
    parse.add_argument(
        "-E",
        "--env-facts",
        action="store_true",
        help="use environment variables as facts, except those with the name of a secret",
    )
    parse.add_argument("--query", metavar="PATH", help="show one value by its GJSON path")
    add_form(parse).add_argument(
        "--env", action="store_true", help="write shell variables: HIERA_KEY=VALUE; not with -i"
    )
    parse.add_argument(
        "--env-prefix",
        metavar="WORD",
        default="HIERA",
        help="prefix of these variables (default: %(default)s)",
    )
    add_connection(parse)
    add_data(parse)


def run(args: argparse.Namespace) -> int:
    """Resolve for each host and write one document: the data, or host → data."""
    from orchestrator.cli.app import exit_code_of
    from orchestrator.cli.documents import check_path, variables, write
    from orchestrator.cli.gathering import gather
    from orchestrator.runs import wiring
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import CcmError, UsageError

    check_path("data", args.query)
    if args.env and args.inventory is not None:
        raise UsageError("--env supports one host only", hint="omit -i, or use --json")
    chosen = wiring.choose(read_inventory(args), warn)
    data = read_data(args)
    data = data._replace(fact=[*data.fact, *args.given], hiera=_others(data.hiera, args.manifest))
    hierarchy = _hierarchy(args.manifest, data, args.env_facts)
    hierarchy.see(chosen.inventory)
    answers: Mapping[str, Gathered | CcmError] = {}
    if not (args.offline or hierarchy.is_static):
        answers = gather(chosen, read_connection(args))
    found: dict[str, Any] = {}
    code = 0
    for host in chosen.hosts:
        try:
            found[host.name] = _resolved(hierarchy, host, answers, args.query)
        except CcmError as error:
            print(plain(f"ccm: {host.name}: {error}"), file=sys.stderr)
            code = max(code, exit_code_of(error))
    if args.inventory is not None:
        write(found, read_form(args))
    elif found and args.env:
        print("".join(variables(args.env_prefix, next(iter(found.values())))), end="")
    elif found:
        write(next(iter(found.values())), read_form(args))
    return code


def _others(files: "Sequence[str] | None", parsed: str) -> list[str]:
    """The files of ``--hiera`` but for the one that is parsed: ccm.yaml may name that, too."""
    own = os.path.realpath(parsed)
    return [file for file in files or () if os.path.realpath(file) != own]


def _hierarchy(file: str, options: "PlanOptions", with_environ: bool) -> "Hierarchy":
    from orchestrator.planning.hierarchy import Hierarchy
    from orchestrator.support.plain_text import plain

    hierarchy = Hierarchy(file, options, with_environ)
    for problem in hierarchy.warnings:
        print(plain(f"ccm: warning: {problem}"), file=sys.stderr)
    return hierarchy


def _resolved(
    hierarchy: "Hierarchy",
    host: "Host",
    answers: "Mapping[str, Gathered | CcmError]",
    query: str | None,
) -> Any:
    from orchestrator.cli.documents import at_path
    from orchestrator.planning.facts import NothingGathered
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import CcmError, PlanError

    answer = answers.get(host.name, NothingGathered())
    if isinstance(answer, CcmError):
        raise answer
    data, warnings = hierarchy.resolve(host, answer)
    for text in warnings:
        print(plain(f"ccm: {host.name}: warning: {text}"), file=sys.stderr)
    there, value = at_path("data", data, query)
    if not there:
        raise PlanError(f"there is no data at {query}", "template.undefined")
    return value
