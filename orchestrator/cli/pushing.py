"""From a checked site and the hosts to the exit code: what push, apply and ensure share."""

import argparse
import os
import socket
from typing import TYPE_CHECKING

from orchestrator.cli.exit_code import CHANGED
from orchestrator.cli.job import How, Push, PushOptions, Targets
from orchestrator.cli.options import read_connection, read_data, read_inventory, read_run
from orchestrator.cli.output import Output, OutputOptions
from remote_runtime.errors import UsageError
from remote_runtime.masking import Mask

if TYPE_CHECKING:
    from orchestrator.cli.assembly import Chosen
    from orchestrator.cli.verifying import AfterPush
    from orchestrator.transport import Connector


def read_push(args: argparse.Namespace, output: OutputOptions) -> PushOptions:
    """What the options say that push, apply and ensure share."""
    return PushOptions(
        where=read_inventory(args),
        run=read_run(args),
        connection=read_connection(args),
        data=read_data(args),
        output=output,
    )


def check_options(options: PushOptions) -> None:
    """What can be refused before anything is read; UsageError."""
    from orchestrator.cli.output import check_output
    from orchestrator.fleet.descriptors import make_room
    from orchestrator.registration.store import open_store

    if options.run.noop and options.run.monitor_only:
        raise UsageError(
            "--noop with --monitor-only would do nothing: a preview runs no health checks",
            hint="give one of them; --monitor-only alone changes nothing either",
        )
    make_room(options.connection.forks)
    check_output(options.output)
    if options.verify:
        from orchestrator.cli import verifying

        verifying.check_options(options.run)
    open_store(options.data.registration)  # which contacts nothing yet


def carry_out(
    push: Push, options: PushOptions, chosen: "Chosen", output: Output | None = None
) -> int:
    """Push to the hosts as the options say; everything was checked that needs no host.

    ``output`` is where people look, None for what the options say.
    """
    from orchestrator.cli import assembly, running
    from orchestrator.fleet.run_folder import new_run_id
    from orchestrator.fleet.settings import RunSettings

    # A name that is the command itself, as with ccm ensure exec, may hold a login.
    shown = push._replace(what=Mask().text(push.what))
    if output is None:
        output = Output(options.output, options.run, _title(shown, options.run.noop))
    settings = RunSettings(new_run_id(), user_at_host(), options.run, push.identity)
    output.prepare()
    site = push.site
    connector = assembly.connector(chosen, options.connection, output.ask, site.types.sources())
    for text in site.warnings:
        output.say(f"warning: {text}")
    output.say(site.pre_message)
    targets = Targets(chosen.hosts, connector, options.connection.forks)
    how = How(
        settings,
        options.record(),
        options.data.registration,
        _verification(push, options, chosen, connector) if options.verify else None,
    )
    with connector:
        code = running.carry_out(shown, targets, how, output)
    if code in (0, CHANGED):
        output.say(site.post_message)
    return code


def _verification(
    push: Push, options: PushOptions, chosen: "Chosen", connector: "Connector"
) -> "AfterPush":
    from pathlib import Path

    from orchestrator.cli.verifying import after_push
    from orchestrator.verify.running import Checkup

    job = Checkup(
        manifest=Path(push.what),
        inventory=chosen.inventory,
        hosts=chosen.hosts,
        connector=connector,
        planner=push.planner,
        forks=options.connection.forks,
    )
    return after_push(job, options.output.verbose, options.output.quiet)


def _title(push: Push, noop: bool) -> str:
    from orchestrator.report.wording import run_word

    what = push.what if push.command == "ensure" else os.path.basename(push.what)
    return f"{run_word(push.command, noop)} of {what}"


def user_at_host() -> str:
    """Who pushes, as others on the host read it in the lock."""
    import pwd

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"
