"""``ccm hiera``: the resolved data of a hierarchy, and its origin (controller)."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from orchestrator.cli.data_output import add_form
from orchestrator.cli.messages import note, warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import (
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
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.planning import PlanOptions
    from orchestrator.planning.hiera_file import Hierarchy
    from remote_runtime.errors import CcmError

HELP = "Show hierarchical data."
MANIFEST = "site.yaml"
"""The manifest whose data is explained by default."""
EXAMPLE = """
ccm hiera parse site.yaml                            # with this host's facts
ccm hiera parse --offline --fact role=web site.yaml  # without a host
eval "$(ccm hiera parse --env site.yaml)"     # HIERA_KEY=VALUE for a shell
ccm hiera parse -i hosts.yaml -l web --query app.port site.yaml
ccm hiera explain users -l web1               # file and line of each part
"""


def configure(parser: Parser) -> None:
    """Add the subcommands."""
    actions = parser.add_subcommands()
    _configure_explain(
        actions.add_parser(
            "explain",
            help="show where a value comes from: every source, and the file and line of each part",
            description="Show the sources of a value, how they merge, and the origin of each part.",
        )
    )
    parse = actions.add_parser(
        "parse",
        help="resolve the data of a manifest or a data file, with secrets masked",
        description="Resolve the data, hierarchy and overrides of a file; with -i, for each host.",
    )
    parse.intermixed = True
    parse.add_argument("manifest", metavar="FILE", help="a manifest or a data file")
    parse.add_argument(
        "given",
        metavar="KEY=VALUE",
        nargs="*",
        default=[],
        help="a fact, as with --fact; repeatable",
    )
    add_inventory(parse, required=False)
    whose = parse.add_exclusive_group()
    whose.add_argument(
        "-S",
        "--system-facts",
        action="store_true",
        help="use the facts of the host (the default)",
    )
    whose.add_argument(
        "--offline",
        action="store_true",
        help="do not contact hosts; use only --facts, --fact and the inventory's vars",
    )
    parse.add_argument(
        "-E",
        "--env-facts",
        action="store_true",
        help="use environment variables as facts, except those whose names suggest a secret",
    )
    parse.add_argument("--query", metavar="PATH", help="show the value at a path such as app.port")
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


def _configure_explain(explain: Parser) -> None:
    explain.intermixed = True
    explain.add_argument("key", metavar="KEY", help="the key, such as users or app.port")
    explain.add_argument(
        "manifest",
        metavar="FILE",
        nargs="?",
        default=MANIFEST,
        help="a manifest or a data file (default: %(default)s)",
    )
    add_inventory(explain, required=False)
    explain.add_argument(
        "--offline",
        action="store_true",
        help="do not contact hosts; use only --facts, --fact and the inventory's vars",
    )
    explain.add_argument("--json", action="store_true", help="write one JSON document to stdout")
    add_connection(explain)
    add_data(explain)


def run(args: argparse.Namespace) -> int:
    """Resolve or explain the data for each host."""
    return _explain(args) if args.action == "explain" else _parse(args)


def _explain(args: argparse.Namespace) -> int:
    """Show the origin of a value for each host."""
    from orchestrator.cli.app import exit_code_of
    from orchestrator.cli.data_output import write
    from orchestrator.cli.explanation_output import document, lines
    from orchestrator.support.plain_text import plain
    from remote_runtime.errors import CcmError, UsageError

    keys = args.key.removeprefix("data.").split(".")
    if not all(keys):
        raise UsageError(f"{args.key!r} is not a data key", hint="such as users or app.port")
    hosts, hierarchy, answers = _answers(args, read_data(args), False)
    by_host: dict[str, Any] = {}
    code = 0
    for host in hosts:
        try:
            explanation, warnings = hierarchy.explain(host, _answer(host, answers), keys)
        except CcmError as error:
            note(f"{host.name}: {error}")
            code = max(code, exit_code_of(error))
            continue
        for text in warnings:
            note(f"{host.name}: warning: {text}")
        code = max(code, int(not explanation.found))
        if not args.json:
            print(plain("\n".join(lines(host.name, explanation))))
        by_host[host.name] = document(explanation)
    if args.json:
        write(by_host, False)
    return code


def _parse(args: argparse.Namespace) -> int:
    """Resolve the data for each host and write one document: the data, or a map from hosts
    to data.
    """
    from orchestrator.cli.app import exit_code_of
    from orchestrator.cli.data_output import check_path, variables, write
    from remote_runtime.errors import CcmError, UsageError

    check_path("data", args.query)
    if args.env and args.inventory is not None:
        raise UsageError("--env supports one host only", hint="omit -i, or use --json")
    data = read_data(args)
    data = data._replace(fact=[*data.fact, *args.given])
    hosts, hierarchy, answers = _answers(args, data, args.env_facts)
    by_host: dict[str, Any] = {}
    code = 0
    for host in hosts:
        try:
            by_host[host.name] = _resolved(hierarchy, host, answers, args.query)
        except CcmError as error:
            note(f"{host.name}: {error}")
            code = max(code, exit_code_of(error))
    if args.inventory is not None:
        write(by_host, args.yaml)
    elif by_host and args.env:
        print("".join(variables(args.env_prefix, next(iter(by_host.values())))), end="")
    elif by_host:
        write(next(iter(by_host.values())), args.yaml)
    return code


def _answers(
    args: argparse.Namespace, data: "PlanOptions", with_environ: bool
) -> "tuple[Sequence[Host], Hierarchy, Mapping[str, HostFacts | CcmError]]":
    """The selected hosts, the hierarchy, and the gathered facts if needed."""
    from orchestrator.cli.fact_requests import gather
    from orchestrator.runs import wiring

    chosen = wiring.select_targets(read_inventory(args), warn)
    data = data._replace(hiera=_others(data.hiera, args.manifest))
    hierarchy = _hierarchy(args.manifest, data, with_environ)
    hierarchy.see(chosen.inventory)
    if args.offline or hierarchy.is_static:
        return chosen.hosts, hierarchy, {}
    answers = gather(chosen, read_connection(args), hierarchy.require_answers)
    return chosen.hosts, hierarchy, answers


def _others(files: "Sequence[str] | None", parsed: str) -> list[str]:
    """The files of ``--hiera`` except the parsed one, which ccm.yaml may also list."""
    own = os.path.realpath(parsed)
    return [file for file in files or () if os.path.realpath(file) != own]


def _hierarchy(file: str, options: "PlanOptions", with_environ: bool) -> "Hierarchy":
    from orchestrator.planning.hiera_file import Hierarchy

    hierarchy = Hierarchy(file, options, with_environ)
    for problem in hierarchy.warnings:
        warn(str(problem))
    return hierarchy


def _answer(host: "Host", answers: "Mapping[str, HostFacts | CcmError]") -> "HostFacts":
    """The gathered facts of a host; CcmError if that failed."""
    from orchestrator.fleet.host.host_facts import HostFacts
    from remote_runtime.errors import CcmError

    answer = answers.get(host.name, HostFacts())
    if isinstance(answer, CcmError):
        raise answer
    return answer


def _resolved(
    hierarchy: "Hierarchy",
    host: "Host",
    answers: "Mapping[str, HostFacts | CcmError]",
    query: str | None,
) -> Any:
    from orchestrator.cli.data_output import at_path
    from remote_runtime.errors import PlanError

    data, warnings = hierarchy.resolve(host, _answer(host, answers))
    for text in warnings:
        note(f"{host.name}: warning: {text}")
    exists, value = at_path("data", data, query)
    if not exists:
        raise PlanError(f"there is no data at the path {query!r}", "template.undefined")
    return value
