"""``ccm registration``: what services are registered, and where that is kept (controller)."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.options import add_registration, count, seconds

if TYPE_CHECKING:
    from orchestrator.registration.entry import Query, Registration
    from orchestrator.registration.store import Store

HELP = "Show and remove service registrations, and prepare a registry for them."
EXAMPLE = """
ccm registration query prod http web
ccm registration rm prod http web 192.0.2.10
ccm registration init --registration registry.json
ccm registration init --registration nats://nats.example.net --max-age 1h
"""
_PARTS = ("cluster", "protocol", "service", "address")
_FLAG = "flag_"
_MOST_REPLICAS = 5
_INIT = ("init", "create")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be done with registrations."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    query = actions.add_parser(
        "query", help="show what is registered", description="Show what is registered."
    )
    _add_query(query)
    query.add_argument("--json", action="store_true", help="one JSON list on stdout")
    remove = actions.add_parser(
        "rm",
        help="remove what is registered, such as a service that is no more",
        description="Remove registrations; the next push of a stable resource brings its own back.",
    )
    _add_query(remove)
    init = actions.add_parser(
        "init",
        aliases=["create"],
        help="create the file or NATS stream, or bring the stream up to date",
        description="Create the file or the NATS JetStream stream that keeps registrations, or "
        "bring the stream up to date.",
    )
    add_registration(init)
    init.add_argument(
        "--replicas", metavar="N", type=count, default=1, help="copies in the cluster, 1 to 5"
    )
    init.add_argument(
        "--max-age",
        metavar="SECONDS",
        type=seconds,
        default=0.0,
        help="forget what was not announced again for that long (default: no limit)",
    )


def _add_query(parser: argparse.ArgumentParser) -> None:
    for part in _PARTS:
        parser.add_argument(
            part, metavar=part.upper(), nargs="?", help=f"only this {part}; * is any"
        )
    for part in _PARTS:
        parser.add_argument(f"--{part}", dest=f"{_FLAG}{part}", help=f"the same as {part.upper()}")
    add_registration(parser)


def run(args: argparse.Namespace) -> int:
    """Do it; RegistrationError where the store cannot be used."""
    from orchestrator.registration.entry import Query
    from orchestrator.registration.store import open_store

    store = open_store(args.registration, new=args.action in _INIT)
    if args.action in _INIT:
        return _init(args, store)
    query = Query(*(_part(args, part) for part in _PARTS))
    if args.action == "rm":
        return _remove(store, query)
    entries = store.lookup(query)
    if args.json:
        print(json.dumps([entry.payload() for entry in entries], indent=2))
    else:
        _show(entries, store, "nothing" if query == Query() else "nothing that fits")
    return 0


def _part(args: argparse.Namespace, part: str) -> str:
    from remote_runtime.errors import UsageError

    word, flag = getattr(args, part), getattr(args, f"{_FLAG}{part}")
    if word is not None and flag is not None:
        raise UsageError(f"{part.upper()} and --{part} are the same", hint="give one of them")
    if word is None and flag is None and part == "cluster" and args.action == "rm":
        raise UsageError("rm: which cluster?", hint="name it; '*' is any")
    return str(word or flag or "*")


def _init(args: argparse.Namespace, store: Store) -> int:
    from remote_runtime.errors import UsageError

    if args.replicas > _MOST_REPLICAS:
        raise UsageError(f"--replicas must be 1 to {_MOST_REPLICAS}")
    store.initialize(args.replicas, args.max_age)
    print(f"{store.shown} is ready")
    return 0


def _remove(store: Store, query: Query) -> int:
    entries = store.lookup(query)
    if entries:
        store.remove(entries)
    print(f"removed {len(entries)} registration{'' if len(entries) == 1 else 's'}")
    return 0


def _show(entries: list[Registration], store: Store, none: str) -> None:
    from orchestrator.support.plain_text import one_line

    if not entries:
        print(f"{none} is registered in {store.shown}", file=sys.stderr)
    for entry in entries:
        words = [f"{entry.cluster} {entry.protocol} {entry.service}", entry.endpoint]
        words += [f"priority {entry.priority}", f"since {entry.timestamp}"]
        words += [f"ttl {entry.ttl}"] if entry.ttl else []
        words += [f"{key}={value}" for key, value in entry.annotations]
        print("  ".join(map(one_line, words)))
