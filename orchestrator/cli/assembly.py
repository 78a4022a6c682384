"""Puts the rooms of the controller together as the command line says (controller)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from inventory import Host, Inventory, load, this_host
from orchestrator.cli.options import ConnectionOptions, InventoryOptions
from orchestrator.support.plain_text import plain
from remote_runtime.errors import UsageError
from remote_runtime.masking import Mask

if TYPE_CHECKING:
    from orchestrator.fleet.gathered import Gathered
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner, PlanOptions
    from orchestrator.transport import Connector


ON_THIS_MACHINE = "on this machine only; -i or -l names other hosts"
"""The first line of a command that has this machine as its default, for people only."""


class Chosen(NamedTuple):
    """The hosts that are meant, of which inventory, and the files that it was read of."""

    inventory: Inventory
    hosts: list[Host]
    files: tuple[str, ...] = ()


def choose(
    options: InventoryOptions, manifest: str = "", among: Collection[str] | None = None
) -> Chosen:
    """The hosts that are meant: this one where no inventory is given.

    Words such as ``failed`` speak of the last push of the ``manifest``, and of no hosts but those
    ``among`` which a plan is.
    """
    if options.inventory is None:
        if options.limit:
            raise UsageError(
                "-l picks hosts of an inventory", hint="name one with -i, or in ccm.yaml"
            )
        here = this_host()
        return Chosen(here, list(here.hosts.values()))
    loaded = load(options.inventory)
    for warning in loaded.warnings:
        print(plain(f"ccm: warning: {warning}"), file=sys.stderr)
    runs = None
    if options.limit is not None:
        from orchestrator.fleet.past_runs import PastRuns

        runs = PastRuns(manifest, among)
    return Chosen(loaded, loaded.select(options.limit, runs), tuple(options.inventory))


def note_this_machine(options: InventoryOptions) -> None:
    """Write to stderr that a command is about this machine only, where nothing names hosts."""
    if options.inventory is None:
        print(f"ccm: {ON_THIS_MACHINE}", file=sys.stderr)


def connector(
    chosen: Chosen,
    options: ConnectionOptions,
    *,
    ask: Callable[[str], str],
    own_types: Mapping[str, bytes] | None = None,
    reaches: bool = True,
) -> Connector:
    """The transport, every password asked for that is known to be needed; contacts no host.

    ``own_types`` travel with the runtime: ``site.types.sources()``. Where others log in to
    the hosts, it ``reaches`` none: the ways to them are theirs.
    """
    from orchestrator.image import build
    from orchestrator.transport import Connector, Credentials, Settings

    settings = Settings(
        chosen.inventory.hosts,
        user=options.user,
        become=options.become,
        connect_timeout=options.connect_timeout,
        inventory=chosen.files,
    )
    prompt = ask if sys.stdin.isatty() else None
    credentials = Credentials(options.ask_pass, options.ask_become_pass, prompt)
    made = Connector(settings, credentials, build(own_types))
    made.prepare(chosen.hosts if reaches else [])
    return made


def planner(manifest: str, options: PlanOptions) -> tuple[Site, Planner]:
    """The manifest, checked whole, and what makes each host's plan of it."""
    from orchestrator.manifest import load_site
    from orchestrator.planning import Planner

    if manifest.startswith(("http://", "https://")):
        raise UsageError(
            f"{Mask().text(manifest)} is an address; a manifest is a file of this machine",
            hint="fetch it first, look at it, and give its file: it can run any command on a host",
        )
    site = load_site(manifest)
    return site, Planner(site, options)


def fact_overlay(
    options: PlanOptions,
) -> Callable[[Host, Gathered], tuple[dict[str, Any], list[str]]]:
    """Lays --facts, the inventory's vars and --fact over what a host said; warnings beside it."""
    from orchestrator.planning.facts import FactOverlay

    over = FactOverlay(options.facts, options.fact)

    def overlay(host: Host, gathered: Gathered) -> tuple[dict[str, Any], list[str]]:
        facts, warnings = over(host, gathered)
        late = [f"{name} is unavailable: {why}" for name, why in facts.unavailable.items()]
        # Facts refuses to be read as a whole while a family is missing; here the rest is wanted.
        return dict(dict.items(facts)), [*warnings, *late]

    return overlay
