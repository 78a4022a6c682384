"""``ccm render``: the manifest as rendered for one host (controller). Changes nothing."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from orchestrator.cli.messages import warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.selection_options import add_selection
from orchestrator.cli.shared_options import (
    add_connection,
    add_data,
    add_inventory,
    read_connection,
    read_data,
    read_inventory,
)

if TYPE_CHECKING:
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.planning import Planner
    from orchestrator.planning.explanation import Explanation
    from orchestrator.runs.fleet_facts import FactReads
    from orchestrator.runs.request import ConnectionOptions
    from orchestrator.runs.wiring import TargetSelection

HELP = "Show the rendered manifest of one host as YAML."
EXAMPLE = """
ccm render site.yaml                                # for this host
ccm render -i hosts.yaml -l web1 site.yaml
ccm render -i hosts.yaml -l web1 --only 'file#/etc/nginx/*' site.yaml
ccm render -i hosts.yaml -l web1 --offline --facts web1-facts.json site.yaml
"""


def configure(parser: Parser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    add_inventory(parser, required=False)
    parser.add_argument(
        "--offline",
        action="store_true",
        help="do not contact the host; use only --facts, --fact and the inventory's vars",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also show, as comments, where each data value comes from",
    )
    add_selection(parser)
    add_connection(parser)
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Plan the selected host, and write the plan as a manifest."""
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.planning.resolved_manifest import resolved_manifest
    from orchestrator.runs import wiring
    from orchestrator.runs.fleet_facts import max_age, show_hosts

    chosen = wiring.select_targets(read_inventory(args), warn, args.manifest)
    _check_one(chosen)
    data = read_data(args)
    site, planner = wiring.planner(args.manifest, data)
    oldest = None if args.offline else max_age(data.facts_max_age)
    read = show_hosts([planner], chosen.inventory, oldest)
    gathered: HostFacts = HostFacts()
    if not args.offline:
        gathered = _gather(chosen, read, read_connection(args), planner)
    plan = planner.plan(chosen.hosts[0], gathered)
    for text in (*site.warnings, *plan.warnings, *planner.unmatched()):
        warn(str(text))
    if args.explain:
        _explain(chosen.hosts[0].name, planner.explanations(chosen.hosts[0], gathered))
    _write(resolved_manifest(site, plan))
    return 0


def _explain(host: str, explanations: "list[Explanation]") -> None:
    """Write the origin of the data as comments, so that the output remains valid YAML."""
    from orchestrator.cli.explanation_output import lines
    from orchestrator.support.plain_text import plain

    for one in explanations:
        print("\n".join(f"# {plain(line)}" for line in lines(host, one)))


def _check_one(chosen: "TargetSelection") -> None:
    from remote_runtime.errors import UsageError

    if len(chosen.hosts) != 1:
        raise UsageError(
            f"render shows one host, but {len(chosen.hosts)} are selected",
            hint="select one with -l HOST",
        )


def _gather(
    chosen: "TargetSelection", read: "FactReads", options: "ConnectionOptions", planner: "Planner"
) -> "HostFacts":
    """The facts of the host, after those of other hosts that its templates read."""
    from orchestrator.cli.fact_requests import gather
    from orchestrator.runs.fleet_facts import take_answers
    from remote_runtime.errors import CcmError

    (host,) = chosen.hosts
    if read.stale:
        take_answers(read, gather(chosen._replace(hosts=list(read.stale)), options), warn)
    answer = gather(chosen, options, planner.require_answers)[host.name]
    if isinstance(answer, CcmError):
        raise answer
    return answer


def _write(document: dict[str, Any]) -> None:
    import yaml

    from orchestrator.cli.data_output import yaml_text

    class Dumper(yaml.SafeDumper):
        """Writes multi-line strings as blocks, which are easier to read."""

        def ignore_aliases(self, data: Any) -> bool:
            """Repeat equal values instead of using anchors."""
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        """Write text of several lines as a block."""
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    sys.stdout.write(yaml_text(document, Dumper, width=100))
