"""From a checked site and the hosts to the exit code: what push, apply and ensure share."""

import argparse
import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from remote_runtime.masking import Mask
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from inventory import Host, Inventory
    from orchestrator.cli.output import Output
    from orchestrator.cli.verifying import AfterPush
    from orchestrator.fleet.bus import Subscriber
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner
    from orchestrator.transport import Connector

# What the folder of a run keeps of the command line; nothing in it may be secret.
_KEPT = [
    "inventory",
    "limit",
    "noop",
    "monitor_only",
    "forks",
    "user",
    "become",
    "connect_timeout",
    "timeout",
    "lock_timeout",
    "hiera",
    "facts",
    "no_diff",
    "diff_private",
]


class Push(NamedTuple):
    """One push: ``what`` is pushed, as people read it, and by which ``command``.

    ``kept``: its folder is to be kept, so that ``ccm report`` has it. ``told``: further subscribers
    of what happens.
    """

    command: str
    what: str
    site: "Site"
    planner: "Planner"
    kept: bool = True
    told: "Sequence[Subscriber]" = ()


def check_options(args: argparse.Namespace) -> None:
    """What can be refused before anything is read; UsageError."""
    from orchestrator.cli.output import check_output
    from orchestrator.fleet.descriptors import make_room
    from orchestrator.registration.store import open_store

    make_room(args.forks)
    check_output(args)
    if getattr(args, "verify", False):
        from orchestrator.cli import verifying

        verifying.check_options(args)
    open_store(args.registration)  # which contacts nothing yet


def carry_out(
    push: Push,
    args: argparse.Namespace,
    inventory: "Inventory",
    hosts: "list[Host]",
    output: "Output | None" = None,
) -> int:
    """Push to the hosts as the options say; everything was checked that needs no host.

    ``output`` is where people look, None for what the options say.
    """
    from orchestrator.cli import assembly, running
    from orchestrator.cli.output import Output
    from orchestrator.fleet.run_folder import new_run_id
    from orchestrator.fleet.settings import Settings

    if output is None:
        output = Output(args, _title(push, args.noop), args.noop)
    options = RunOptions(
        noop=args.noop,
        monitor_only=args.monitor_only,
        diff=not args.no_diff,
        diff_private=args.diff_private,
        timeout=args.timeout,
        lock_timeout=args.lock_timeout,
    )
    settings = Settings(new_run_id(), user_at_host(), options)
    output.prepare()
    site = push.site
    # A name that is the command itself, as with ccm ensure exec, may hold a login.
    what = Mask().text(push.what)
    connector = assembly.connector(args, inventory, hosts, output.ask, site.types.sources())
    for text in site.warnings:
        output.say(f"warning: {text}")
    output.say(site.pre_message)
    documented = args.json or getattr(args, "metrics", None) is not None
    job = running.Job(
        what, hosts, connector, push.planner, settings, args.forks, _options(args),
        args.detailed_exitcode, args.json, push.command, push.kept, documented, push.told,
        args.registration, _verification(push, args, inventory, hosts, connector),
    )  # fmt: skip
    with connector:
        code = running.carry_out(job, output)
    output.say(site.post_message)
    return code


def _verification(
    push: Push,
    args: argparse.Namespace,
    inventory: "Inventory",
    hosts: "list[Host]",
    connector: "Connector",
) -> "AfterPush | None":
    if not getattr(args, "verify", False):
        return None
    from pathlib import Path

    from orchestrator.cli.verifying import after_push
    from orchestrator.verify.running import Job

    job = Job(Path(push.what), inventory, hosts, connector, push.planner, args.forks)
    return after_push(job, args)


def _title(push: Push, noop: bool) -> str:
    what = Mask().text(push.what) if push.command == "ensure" else os.path.basename(push.what)
    return f"{'preview' if noop else push.command} of {what}"


def user_at_host() -> str:
    """Who pushes, as others on the host read it in the lock."""
    import pwd

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"


def _options(args: argparse.Namespace) -> dict[str, Any]:
    kept = {name: getattr(args, name) for name in _KEPT}
    # Values of --data and --fact may be secret, their names are not.
    kept["data"] = [text.partition("=")[0] for text in args.data]
    kept["fact"] = [text.partition("=")[0] for text in args.fact]
    return {name: value for name, value in kept.items() if value not in (None, False, [])}
