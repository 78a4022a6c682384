"""Puts the rooms of the controller together as the command line says (controller)."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inventory import Host, Inventory, load, this_host
from orchestrator.fleet.kept_runs import last_failed
from remote_runtime.errors import UsageError
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.fleet.gathered import Gathered
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner
    from orchestrator.transport import Connector


def hosts(args: argparse.Namespace) -> tuple[Inventory, list[Host]]:
    """The inventory, and the hosts that are meant: this one where no inventory is given."""
    if args.inventory is None:
        if args.limit:
            raise UsageError("-l picks hosts of an inventory", hint="name one with -i")
        here = this_host()
        return here, list(here.hosts.values())
    loaded = load(args.inventory)
    return loaded, loaded.select(args.limit, last_failed)


def connector(
    args: argparse.Namespace,
    inventory: Inventory,
    chosen: Sequence[Host],
    ask: Callable[[str], str],
    own_types: Mapping[str, bytes] | None = None,
) -> "Connector":
    """The transport, every password asked for that is known to be needed; contacts no host.

    ``own_types`` travel with the runtime: ``site.types.sources()``.
    """
    from orchestrator.image import build
    from orchestrator.transport import Connector, Credentials, Settings

    settings = Settings(
        inventory.hosts,
        user=args.user,
        become=args.become,
        connect_timeout=args.connect_timeout,
        inventory=tuple(args.inventory or ()),
    )
    prompt = ask if sys.stdin.isatty() else None
    credentials = Credentials(args.ask_pass, args.ask_become_pass, prompt)
    made = Connector(settings, credentials, build(own_types))
    made.prepare(chosen)
    return made


def planner(args: argparse.Namespace) -> "tuple[Site, Planner]":
    """The manifest, checked whole, and what makes each host's plan of it."""
    from orchestrator.manifest import load_site
    from orchestrator.planning import Planner, PlanOptions

    options = PlanOptions(
        args.hiera,
        args.data,
        args.facts,
        args.fact,
        registration=args.registration,
        run=RunOptions(getattr(args, "noop", False), getattr(args, "monitor_only", False)),
    )
    site = load_site(args.manifest)
    return site, Planner(site, options)


def fact_overlay(
    args: argparse.Namespace,
) -> "Callable[[Host, Gathered], tuple[dict[str, Any], list[str]]]":
    """Lays --facts, the inventory's vars and --fact over what a host said; warnings beside it."""
    from orchestrator.planning.facts import FactOverlay

    over = FactOverlay(args.facts, args.fact)

    def overlay(host: Host, gathered: "Gathered") -> tuple[dict[str, Any], list[str]]:
        facts, warnings = over(host, gathered)
        late = [f"{name} is unavailable: {why}" for name, why in facts.unavailable.items()]
        # Facts refuses to be read as a whole while a family is missing; here the rest is wanted.
        return dict(dict.items(facts)), [*warnings, *late]

    return overlay
