"""Options that several commands share, and their values (controller).

``add_X`` adds options to a parser, ``read_X`` reads their values, as ``read_request`` does: except
for these and the file of a command, nothing uses the parser.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.cli.parser import OptionGroup, Parser
from orchestrator.project.settings import DEFAULT_FORKS
from orchestrator.runs.request import ConnectionOptions, HostChoice
from orchestrator.support.durations import parse_seconds
from remote_runtime.errors import UsageError
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.fleet.store.run_source import RunSource
    from orchestrator.history.location import HistoryLocation
    from orchestrator.planning import PlanOptions

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
Options = TypeVar("Options", bound=tuple[Any, ...])


def read_fields(kind: type[Options], args: argparse.Namespace) -> Options:
    """A named tuple with the parsed values of its fields; other fields have their defaults."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]  # no bound is a named tuple
    return kind(**{name: value for name, value in vars(args).items() if name in fields})


def add_inventory(
    parser: Parser,
    required: bool = True,
    *,
    fleet: bool = False,
    default: str = "",
    limited: bool = False,
) -> None:
    """``-i`` and ``-l``; unless an inventory is ``required``, the default is this host.

    A command for the ``fleet`` uses the inventory of the project, any other command only with
    ``-l``. ``default`` is the default shown in the help. With ``limited``, the hosts must be named:
    a call without ``-l`` is refused, and ``-l all`` means every host.
    """
    if not default:
        without_flag = "the project's, else this host" if fleet else "this host"
        default = "the project's" if required else without_flag
    parser.add_argument(
        "-i",
        "--inventory",
        metavar="FILE",
        action="append",
        help="inventory: a YAML file, a program that prints one, or names such as web1,web2;"
        f" repeatable (default: {default})",
    )
    parser.add_argument(
        "-l",
        "--limit",
        metavar="PATTERN",
        action="append",
        help="select hosts: web:&prod:!web3, globs, @file, failed, remaining, run:ID:failed;"
        " repeatable" + ("; required (-l all selects every host)" if limited else ""),
    )
    add_history(
        parser,
        "make -l failed, remaining and run:ID refer to the shared runs in the project's history",
    )
    parser.set_defaults(
        inventory_required=required, limit_required=limited, here=not (required or fleet)
    )


def read_inventory(args: argparse.Namespace) -> HostChoice:
    """The values of the options of ``add_inventory``. UsageError."""
    return read_fields(HostChoice, args)._replace(past=read_past(args))


def add_history(parser: Parser, meaning: str) -> None:
    """Add ``--history``, which reads the shared runs."""
    parser.add_argument("--history", action=_FromHistory, help=meaning)
    parser.set_defaults(from_history=False)


class _FromHistory(argparse.Action):
    """Reads the setting on demand, so that the project file is read only with ``--history``."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **more)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        vars(namespace).update(from_history=True, history=None, history_token=None)


def read_past(args: argparse.Namespace) -> HistoryLocation | None:
    """The history whose runs are read; None without ``--history``. UsageError."""
    if not getattr(args, "from_history", False):
        return None
    history = read_history(args)
    if history is None:
        raise UsageError(
            "--history: no history is configured",
            hint="set history in ccm.yaml or CCM_HISTORY to a directory or the address of a studio",
        )
    return history


def read_run_source(args: argparse.Namespace) -> RunSource:
    """The location of the runs that a command shows. UsageError."""
    past = read_past(args)
    if past is None:
        from orchestrator.fleet.store.run_source import OWN_RUNS

        return OWN_RUNS
    from orchestrator.history.factory import run_source_of

    return run_source_of(past)


def read_history(args: argparse.Namespace) -> HistoryLocation | None:
    """The history set by the environment and the project file; None if it is not
    set. UsageError.
    """
    if not args.history:
        return None
    from orchestrator.history.location import history_location

    return history_location(args.history, args.history_token or {})


def add_retention(parser: Parser) -> None:
    """Add the settings of the run store, which have no flags."""
    parser.set_defaults(keep=None, history=None, history_token=None)


def add_run(parser: Parser) -> None:
    """The permissions and time limits of a run of resources; used with ``add_diff``."""
    parser.add_argument(
        "--noop", action="store_true", help="change nothing; show what would change"
    )
    parser.add_argument(
        "--monitor-only", action="store_true", help="only run the health checks of the resources"
    )
    add_preview(parser)
    add_retention(parser)
    parser.add_argument(
        "--lock-timeout",
        metavar="DURATION",
        type=seconds,
        default=60.0,
        help="time to wait for another push on a host to end (default: 60s)",
    )


def add_preview(parser: Parser) -> None:
    """Add the downloads of a preview, and the limits of a run."""
    parser.add_argument(
        "--no-package-probe",
        action="store_false",
        dest="package_probe",
        help="do not download packages to examine them; previews become less precise",
    )
    parser.add_argument(
        "--probe-urls",
        action="store_true",
        help="let a preview send HEAD requests for the archives that it would download",
    )
    parser.add_argument(
        "--refresh-lists",
        action="store_true",
        help="refresh a host's package lists before its first package that needs them, even in a "
        "preview",
    )
    add_bounds(parser)


def add_bounds(parser: Parser) -> None:
    """Add the time limits of a run on a host."""
    parser.add_argument(
        "--timeout",
        metavar="DURATION",
        type=seconds,
        default=0.0,
        help="time limit for one host (default: no limit)",
    )
    parser.add_argument(
        "--stall-timeout",
        metavar="DURATION",
        type=seconds,
        default=RunOptions().stall_timeout,
        help="time limit for one host between two events; longer if the timeouts of its resources "
        "require it; 0 for no limit (default: 6h)",
    )


def add_plan_requirements(parser: Parser) -> None:
    """Add the requirements that a plan must meet before it is pushed."""
    group = parser.add_group("plan")
    group.add_argument(
        "--expect",
        metavar="ID",
        help="push only if the plan has this ID; a manifest is planned again first",
    )
    group.add_argument(
        "--signers",
        metavar="FILE",
        help="file that lists the people who may approve plans, in the allowed_signers format of "
        "ssh-keygen; must be outside the checkout (default: $CCM_SIGNERS)",
    )
    group.add_argument(
        "--approvals",
        metavar="N",
        type=count,
        help="number of signatures required (default: 1)",
    )


def add_diff(parser: Parser | OptionGroup, none: str) -> None:
    """Add the options that decide whether a run creates diffs; ``none`` is the help of
    ``--no-diff``.
    """
    parser.add_argument("--no-diff", action="store_false", dest="diff", help=none)
    parser.add_argument(
        "--diff-private",
        action="store_true",
        help="also show diffs of files that others cannot read",
    )


def add_connection(parser: Parser) -> None:
    """Add the options for connections: how hosts are reached, and how many at a time."""
    group = parser.add_group("connection")
    group.add_argument(
        "--forks",
        metavar="N",
        type=count,
        help=f"maximum number of hosts in parallel (default: {DEFAULT_FORKS})",
    )
    group.add_argument("--user", metavar="NAME", type=user, help="log in as this user")
    group.add_argument("--ask-pass", action="store_true", help="prompt once for the login password")
    group.add_argument(
        "--become",
        metavar="USER",
        type=user,
        nargs="?",
        const=True,
        help="become this user with sudo (default: root)",
    )
    group.add_argument(
        "--ask-become-pass", action="store_true", help="prompt once for the sudo password"
    )
    group.add_argument(
        "--connect-timeout",
        metavar="DURATION",
        type=seconds,
        help="time limit for the connection, before the login (default: 10s)",
    )


def read_connection(args: argparse.Namespace) -> ConnectionOptions:
    """The values of the options of ``add_connection``."""
    return read_fields(ConnectionOptions, args)


def add_data(parser: Parser) -> None:
    """Data and facts from the command line."""
    group = parser.add_group("data and facts")
    group.add_argument(
        "--hiera",
        metavar="FILE|URL",
        action="append",
        help="a file with data that overrides the manifest's, or https://HOST/PATH#sha256=HEX",
    )
    group.add_argument(
        "--data",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set a data value; overrides all other sources; a.b=1 sets a nested key; repeatable",
    )
    parser.set_defaults(data_dir=None, source_hosts=None, facts_max_age=None, nats=None)
    parser.set_defaults(secret_keys=None)
    add_facts(group)
    add_registration(group)


def read_data(args: argparse.Namespace) -> PlanOptions:
    """The values of the options of ``add_data``, ``add_facts`` and ``add_selection``."""
    from orchestrator.planning import PlanOptions

    return read_fields(PlanOptions, args)


def add_registration(group: Parser | OptionGroup) -> None:
    """Add the registry in which services are registered and looked up."""
    group.add_argument(
        "--registration",
        metavar="URL|FILE",
        help="store of service registrations: nats://host:4222/STREAM or a JSON file (default: "
        "$CCM_REGISTRATION, else registrations.json in ccm's state directory)",
    )


def add_facts(group: Parser | OptionGroup) -> None:
    """Facts from the command line."""
    group.add_argument(
        "--facts",
        metavar="FILE",
        action="append",
        default=[],
        help="a file with facts that override the host's",
    )
    group.add_argument(
        "--fact",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set a fact; overrides all other sources; a.b=1 sets a nested key; repeatable",
    )


def user(name: str) -> str:
    """A user name that is valid in an inventory."""
    import re

    from inventory.connection_properties import USER

    if name.endswith((".yaml", ".yml")):
        hint = "put the manifest before the option, or use --become=USER"
        raise argparse.ArgumentTypeError(f"{name!r} is a manifest, not a user: {hint}")
    if not re.fullmatch(USER, name):
        raise argparse.ArgumentTypeError(f"{name!r} is not a user name")
    return name


def count(text: str) -> int:
    """A positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def size(text: str) -> int:
    """A number of bytes, optionally with a unit."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in _UNITS or not (number.isascii() and number.isdecimal()) or not int(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500K, 100M or 2G")
    return int(number) * _UNITS[unit]


def seconds(text: str) -> float:
    """A number of seconds, or a duration such as ``90s``, ``2m`` or ``1h``."""
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
