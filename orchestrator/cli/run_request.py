"""The request of a run, from the flags of its command (controller)."""

import argparse

from orchestrator.cli.shared_options import (
    read_connection,
    read_data,
    read_fields,
    read_history,
    read_inventory,
)
from orchestrator.runs.request import PlanRequirements, RunRequest, StageChoice, Subject
from remote_runtime.options import RunOptions

_TAKE_PLANS = ("push", "apply", "plan")
"""Commands whose file may be a stages file or a plan. Other commands read the file once, so it may
be a pipe.
"""


def read_request(args: argparse.Namespace, command: str) -> RunRequest:
    """Read the requests of push, apply, plan, drift, run, fetch and ensure.

    UsageError. Options that the command does not have are set to their defaults.
    """
    request = RunRequest(
        command=command,
        manifest=getattr(args, "manifest", ""),
        hosts=read_inventory(args),
        data=read_data(args),
        run=read_fields(RunOptions, args),
        connection=read_connection(args),
        verify=getattr(args, "verify", False),
        keep=args.keep,
        plan=read_fields(PlanRequirements, args),
        stages=read_fields(StageChoice, args),
        history=read_history(args),
    )
    # Modules that only fleets need are loaded only for fleets.
    if hasattr(args, "waves"):
        from orchestrator.cli.rollout_options import read_rollout

        request = request._replace(rollout=read_rollout(args))
    if hasattr(args, "engine"):
        from orchestrator.runs.engine_choice import parse_engine

        engine = parse_engine(args.engine, args.resolved["engine"].where)
        request = request._replace(engine=engine)
    if request.manifest and command in _TAKE_PLANS:
        request = request._replace(subject=_subject(request.manifest))
    return request


def _subject(path: str) -> Subject:
    """The kind of a file, by its content; an unreadable file counts as a manifest."""
    from orchestrator.plan_files.plan_detection import is_plan
    from orchestrator.rollout.stages_detection import is_stages

    if is_plan(path):
        return Subject.PLAN
    return Subject.STAGES if is_stages(path) else Subject.MANIFEST
