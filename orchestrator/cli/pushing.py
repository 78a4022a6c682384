"""From a checked site and the hosts to the exit code: what push, apply and ensure share."""

import argparse
import os
from typing import TYPE_CHECKING, cast

from orchestrator.cli.engine_choice import DASK, THREADS, EngineChoice
from orchestrator.cli.exit_code import CHANGED
from orchestrator.cli.job import How, Push, PushOptions, Targets
from orchestrator.cli.options import (
    read_connection,
    read_data,
    read_inventory,
    read_keeping,
    read_run,
)
from orchestrator.cli.output import Output, OutputOptions
from remote_runtime.errors import UsageError
from remote_runtime.masking import Mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.cli.assembly import Chosen
    from orchestrator.cli.far_work import FarWork
    from orchestrator.cli.verifying import AfterPush
    from orchestrator.planning import Planner
    from orchestrator.transport import Connector


def read_push(args: argparse.Namespace, output: OutputOptions) -> PushOptions:
    """What the options say that push, apply and ensure share."""
    return PushOptions(
        where=read_inventory(args),
        run=read_run(args),
        connection=read_connection(args),
        data=read_data(args),
        output=output,
        keep=read_keeping(args),
    )


def check_options(options: PushOptions) -> None:
    """What can be refused before anything is read; UsageError."""
    from orchestrator.cli.output import check_output
    from orchestrator.fleet.descriptors import make_room

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
    if options.data.registration:
        from orchestrator.registration.store import open_store

        open_store(options.data.registration)  # which contacts nothing yet


def carry_out(
    push: Push, options: PushOptions, chosen: "Chosen", output: Output | None = None
) -> int:
    """Push to the hosts as the options say; everything was checked that needs no host.

    ``output`` is where people look, None for what the options say.
    """
    from orchestrator.cli import assembly

    # A name that is the command itself, as with ccm ensure exec, may hold a login.
    mask = Mask().text
    shown = push._replace(what=mask(push.what), words=tuple(map(mask, push.words)))
    if output is None:
        output = Output(options.output, options.run, lambda: _title(shown, options.run.noop))
    output.prepare()
    if options.where.inventory is None and not options.output.json:
        output.say(assembly.ON_THIS_MACHINE)
    for lacking in _unshared(push, options, chosen):
        output.say(f"warning: {lacking}")
    types = own_types(push)
    far = _far_work(push, options, chosen)
    connector = assembly.connector(
        chosen,
        options.connection,
        ask=output.ask,
        own_types=types,
        reaches=far is None or options.verify,
    )
    for site in push.sites:
        for text in site.warnings:
            output.say(f"warning: {text}")
    for message in dict.fromkeys(site.pre_message for site in push.sites):
        output.say(message)
    verify = _verification(push, options, chosen, connector) if options.verify else None
    hosts = [host for stage in push.stages for host in stage.hosts] or chosen.hosts
    with connector:
        from orchestrator.cli import running

        targets = Targets(hosts, connector, options.connection.forks)
        code = running.carry_out(shown, targets, _how(shown, options, verify, far), output)
    if code in (0, CHANGED):
        for message in dict.fromkeys(site.post_message for site in push.sites):
            output.say(message)
    return code


def _how(
    shown: Push, options: PushOptions, verify: "AfterPush | None", far: "FarWork | None"
) -> How:
    from orchestrator.cli.again import words_again, words_for_failed
    from orchestrator.fleet.lost_runs import key_of
    from orchestrator.fleet.origin import origin_of
    from orchestrator.fleet.run_folder import new_run_id
    from orchestrator.fleet.settings import RunSettings

    origin = origin_of(shown.what if shown.site is not None or shown.stages else "")
    run_id, run = new_run_id(), options.run
    looks = run.noop or run.monitor_only or run.status_only or run.adhoc
    return How(
        settings=RunSettings(
            run_id=run_id,
            user=f"{origin.user}@{origin.machine}",
            options=run,
            manifest=shown.identity,
            origin=origin,
            key="" if looks or not shown.kept else key_of(run_id),
        ),
        record=options.record(),
        registration=options.data.registration,
        verify=verify,
        rollout=options.rollout,
        again=words_again(shown, options),
        retry=words_for_failed(shown, options),
        keep=options.keep,
        engine=options.engine or EngineChoice(THREADS),
        far=far,
    )


def _far_work(push: Push, options: PushOptions, chosen: "Chosen") -> "FarWork | None":
    """What workers of a Dask scheduler need, where they are to work; UsageError."""
    if options.engine is None or options.engine.word != DASK:
        return None
    from orchestrator.cli.far_work import FarWork

    far = FarWork(push, options, chosen)
    far.check()
    return far


def _unshared(push: Push, options: PushOptions, chosen: "Chosen") -> "Iterator[str]":
    """Warnings about hosts that ``--per`` says nothing of; UsageError where it says it of none."""
    if not options.rollout.per and not any(stage.rollout.per for stage in push.stages):
        return
    from orchestrator.rollout.sharing import check_sharing

    whole = options.rollout.per  # which some stages may know nothing of
    alike = [host for stage in push.stages if stage.rollout.per == whole for host in stage.hosts]
    if alike or not push.stages:
        yield from check_sharing(whole, alike or chosen.hosts)
    for stage in push.stages:
        if stage.rollout.per != whole:
            yield from check_sharing(stage.rollout.per, stage.hosts)


def own_types(push: Push) -> dict[str, bytes]:
    """What travels with the runtime of the types that sites have; UsageError where two differ."""
    found: dict[str, bytes] = {}
    for site in push.sites:
        for path, text in site.types.sources().items():
            if found.setdefault(path, text) != text:
                raise UsageError(
                    f"two of the stages have different types in {path}",
                    hint="keep their manifests beside the same types/, or push them apart",
                )
    return found


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
        planner=cast("Planner", push.planner),  # only a manifest is verified
        forks=options.connection.forks,
    )
    return after_push(job, options.output.verbose, options.output.quiet)


def _title(push: Push, noop: bool) -> str:
    from orchestrator.report.wording import run_subject, run_word

    return f"{run_word(push.command, noop)} of {run_subject(push.command, push.what)}"


def user_at_host() -> str:
    """Who pushes, as others on the host read it in the lock."""
    from orchestrator.fleet.origin import local_user

    return f"{local_user()}@{os.uname().nodename}"
