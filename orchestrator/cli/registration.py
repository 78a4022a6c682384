"""``ccm registration``: the registered services and their store (controller)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orchestrator.cli.data_output import write
from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import add_registration, count, seconds

if TYPE_CHECKING:
    from orchestrator.registration.entry import Registration
    from orchestrator.registration.store import Store

HELP = "Show, add and remove service registrations, and set up a registry."
EXAMPLE = """
ccm registration query prod http web
ccm registration watch prod
ccm registration create --cluster prod --protocol http --service web \\
  --address 192.0.2.10 --port 80 --ttl 1h -A zone=a
ccm registration rm prod http web 192.0.2.10 --port 80
ccm registration init --registration registry.json
ccm registration init --registration nats://nats.example.net --max-age 1h
"""
_PARTS = ("cluster", "protocol", "service", "address")
_FLAG = "flag_"
_MAX_REPLICAS = 5
_PAUSE = 1.0  # seconds between two looks of a watcher


def configure(parser: Parser) -> None:
    """Add the subcommands."""
    actions = parser.add_subcommands()
    query = actions.add_parser(
        "query", help="show registered services", description="Show registered services."
    )
    _add_query(query)
    form = query.add_exclusive_group()
    form.add_argument("--json", action="store_true", help="write one JSON list to stdout")
    form.add_argument("--yaml", action="store_true", help="write YAML")
    watching = actions.add_parser(
        "watch",
        help="show registered services and their changes until interrupted",
        description="Show registered services, then each registration that is added, changed or "
        "removed.",
    )
    _add_query(watching)
    watching.add_argument("--json", action="store_true", help="write one JSON object per line")
    _add_create(actions)
    remove = actions.add_parser(
        "rm",
        aliases=["delete"],
        help="remove registrations of services that no longer exist",
        description="Remove registrations. The next push of a healthy resource adds them again.",
    )
    _add_query(remove)
    remove.add_argument(
        "--force",
        action="store_true",
        help="accepted for compatibility with Choria CCM; there is no prompt",
    )
    init = actions.add_parser(
        "init",
        help="create the file or NATS stream, or update the stream",
        description="Create the file or NATS stream for registrations, or update the stream.",
    )
    add_registration(init)
    init.add_argument(
        "--replicas",
        metavar="N",
        type=count,
        default=1,
        help="number of replicas in the cluster, 1 to 5",
    )
    init.add_argument(
        "--max-age",
        metavar="DURATION",
        type=seconds,
        default=0.0,
        help="remove registrations that have not been renewed for this long (default: no limit)",
    )


def _add_query(parser: Parser) -> None:
    for part in _PARTS:
        parser.add_argument(
            part, metavar=part.upper(), nargs="?", help=f"only this {part}; * matches any"
        )
    for part in _PARTS:
        parser.add_argument(
            f"--{part}",
            dest=f"{_FLAG}{part}",
            metavar=part.upper(),
            help=f"the same as the argument {part.upper()}",
        )
    parser.add_argument("--port", metavar="N", type=count, help="only this port")
    add_registration(parser)


def _add_create(actions: Any) -> None:
    create = actions.add_parser(
        "create",
        help="register a service manually; replaces a registration of the same endpoint",
        description="Register a service by hand; a push does this with register_when_stable.",
    )
    for part in _PARTS:
        create.add_argument(f"--{part}", required=True, help=f"the {part}")
    create.add_argument("--port", metavar="N", type=count, help="the port, if any")
    create.add_argument(
        "--priority", metavar="N", type=count, help="priority from 1 to 255 (default: 1)"
    )
    create.add_argument(
        "--ttl", metavar="DURATION", help="time until the registration expires (default: never)"
    )
    create.add_argument(
        "-A",
        "--annotation",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="additional information; repeatable",
    )
    add_registration(create)


def run(args: argparse.Namespace) -> int:
    """Run the action; RegistrationError if the store cannot be used."""
    from orchestrator.registration.entry import Query
    from orchestrator.registration.store import open_store

    store = open_store(args.registration, new=args.action == "init")
    if args.action == "init":
        return _init(args, store)
    if args.action == "create":
        return _create(args, store)
    query = Query(*(_part(args, part) for part in _PARTS))

    def look() -> list[Registration]:
        """The registrations that match the query and the port."""
        return [e for e in store.lookup(query) if args.port in (None, e.port)]

    if args.action in ("rm", "delete"):
        return _remove(store, look())
    if args.action == "watch":
        return _watch(look, args.json)
    entries = look()
    if args.json or args.yaml:
        write([entry.payload() for entry in entries], args.yaml)
    else:
        some = args.port is not None or query != Query()
        _show(entries, store, "no matching service" if some else "no service")
    return 0


def _part(args: argparse.Namespace, part: str) -> str:
    from remote_runtime.errors import UsageError

    word, flag = getattr(args, part), getattr(args, f"{_FLAG}{part}")
    if word is not None and flag is not None:
        raise UsageError(f"{part.upper()} and --{part} are the same", hint="use only one")
    if word is None and flag is None and part == "cluster" and args.action in ("rm", "delete"):
        raise UsageError(
            "registration rm: CLUSTER is missing", hint="specify a cluster, or '*' for any"
        )
    return str(word or flag or "*")


def _init(args: argparse.Namespace, store: Store) -> int:
    from remote_runtime.errors import UsageError

    if args.replicas > _MAX_REPLICAS:
        raise UsageError(f"--replicas must be 1 to {_MAX_REPLICAS}")
    store.initialize(args.replicas, args.max_age)
    print(f"{store.shown} is ready")
    return 0


def _create(args: argparse.Namespace, store: Store) -> int:
    from orchestrator.registration.entry import Registration

    fields = {key: getattr(args, key) for key in (*_PARTS, "port", "priority", "ttl")}
    properties: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
    properties["annotations"] = dict(map(_annotation, args.annotation))
    _check(properties)
    entry = Registration.of(properties)
    store.publish([entry])
    print(f"registered in {store.shown}: {_told(entry)}")
    return 0


def _annotation(text: str) -> tuple[str, str]:
    from remote_runtime.errors import UsageError

    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"-A {text!r} is not an annotation", hint="write -A KEY=VALUE")
    return key, value


def _check(properties: dict[str, Any]) -> None:
    """UsageError for entries that ``register_when_stable`` would also refuse."""
    from orchestrator.manifest.checks.schema_errors import SchemaValidator
    from orchestrator.manifest.resource_types import common_property
    from remote_runtime.errors import UsageError

    common = common_property("register_when_stable")
    entry = {"$defs": common.definitions, **common.schema["items"]}
    for wrong in SchemaValidator(entry)(properties, "an entry"):  # each message starts with a key
        raise UsageError(f"registration create: --{wrong.message}", hint=wrong.hint)


def _remove(store: Store, entries: list[Registration]) -> int:
    if entries:
        store.remove(entries)
    print(f"removed {len(entries)} registration{'' if len(entries) == 1 else 's'}")
    return 0


def _watch(look: Callable[[], list[Registration]], as_json: bool) -> int:
    from orchestrator.registration.watch import watch
    from orchestrator.support.plain_text import escaped

    for one in watch(look, lambda: time.sleep(_PAUSE), time.time):
        if as_json:
            print(escaped(json.dumps(one.payload(), ensure_ascii=False)), flush=True)
        else:
            print(f"{one.what:<10}  {_told(one.entry)}", flush=True)
    return 0


def _show(entries: list[Registration], store: Store, none: str) -> None:
    if not entries:
        print(f"{none} is registered in {store.shown}", file=sys.stderr)
    for entry in entries:
        print(_told(entry))


def _told(entry: Registration) -> str:
    from orchestrator.support.plain_text import one_line

    words = [f"{entry.cluster} {entry.protocol} {entry.service}", entry.endpoint]
    words += [f"priority {entry.priority}", f"since {entry.timestamp}"]
    words += [f"ttl {entry.ttl}"] if entry.ttl else []
    words += [f"{key}={value}" for key, value in entry.annotations]
    return "  ".join(map(one_line, words))
