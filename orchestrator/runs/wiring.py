"""Creates the hosts, the connector and the planner that a request names (controller)."""

import contextlib
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from inventory import Host, Inventory, load, this_host
from orchestrator.sources.address import SourceError, is_url
from orchestrator.sources.archives import Archives
from remote_runtime.errors import InputError, Problem, UnreachableError, UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.fleet.store.outcome_selection import PastRuns
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner, PlanOptions
    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.request import ConnectionOptions, HostChoice, RunRequest
    from orchestrator.transport import Connector, Settings
    from orchestrator.transport.local import WaitingInterpreter


class TargetSelection(NamedTuple):
    """The selected hosts, their inventory, and the files that it was read from."""

    inventory: Inventory
    hosts: list[Host]
    files: tuple[str, ...] = ()


def select_targets(
    options: "HostChoice",
    warn: Callable[[str], None],
    manifest: str = "",
    among: Collection[str] | None = None,
) -> TargetSelection:
    """Read the inventory and select hosts; without an inventory, this host. UsageError, InputError.

    ``warn`` receives the warnings of the inventory. Words such as ``failed`` refer to the last push
    of the ``manifest``; with ``among``, only on these hosts.
    """
    if options.inventory is None:
        if options.limit:
            raise UsageError(
                "--limit requires an inventory", hint="set one with -i, or in ccm.yaml"
            )
        inventory = this_host()
        return TargetSelection(inventory, list(inventory.hosts.values()))
    loaded = load(options.inventory)
    for warning in loaded.warnings:
        warn(str(warning))
    runs = None
    if options.limit is not None:
        runs = past_runs(options, manifest, among)
    return TargetSelection(loaded, loaded.select(options.limit, runs), tuple(options.inventory))


def past_runs(
    options: "HostChoice", manifest: str = "", among: Collection[str] | None = None
) -> "PastRuns":
    """Return the runs for words such as ``failed``. UsageError for a history without safe modes."""
    from orchestrator.fleet.store.outcome_selection import PastRuns
    from orchestrator.fleet.store.run_source import OWN_RUNS, RunSource

    source: RunSource = OWN_RUNS
    if options.past is not None:
        from orchestrator.history.factory import run_source_of

        source = run_source_of(options.past)
    return PastRuns(manifest, among, source)


def connector(
    chosen: TargetSelection,
    options: "ConnectionOptions",
    *,
    ask: Callable[[str], str] | None,
    own_types: Mapping[str, bytes] | None = None,
    reaches: bool = True,
    waiting: "WaitingInterpreter | None" = None,
) -> "Connector":
    """The transport, with all required passwords; contacts no host.

    ``ask`` prompts for a password; None without a terminal. ``own_types``, from
    ``site.types.sources()``, are sent with the runtime. Without ``reaches``, workers log in to the
    hosts, and this machine needs no route to them. ``waiting`` is the result of
    ``start_interpreter``.
    """
    from orchestrator.image import build
    from orchestrator.transport import Connector, Credentials

    credentials = Credentials(options.ask_pass, options.ask_become_pass, ask)
    made = Connector(_settings(chosen, options), credentials, build(own_types), waiting)
    made.prepare(chosen.hosts if reaches else [])
    return made


def start_interpreter(
    chosen: TargetSelection, options: "ConnectionOptions"
) -> "WaitingInterpreter | None":
    """An interpreter for the runtime of this machine, if it is one of the hosts."""
    settings = _settings(chosen, options)
    if not any(map(settings.has_our_python, chosen.hosts)):
        return None
    from orchestrator.transport.local import WaitingInterpreter

    with contextlib.suppress(UnreachableError):  # the connector tries again and reports it
        return WaitingInterpreter()
    return None


def _settings(chosen: TargetSelection, options: "ConnectionOptions") -> "Settings":
    from orchestrator.transport import Settings

    return Settings(
        chosen.inventory.hosts,
        user=options.user,
        become=options.become,
        connect_timeout=options.connect_timeout,
        inventory=chosen.files,
    )


def planner(manifest: str, options: "PlanOptions") -> "tuple[Site, Planner]":
    """The manifest, checked completely, and the planner of its hosts' plans. InputError."""
    from orchestrator.manifest import load_site
    from orchestrator.planning import Planner

    archives = Archives(options.contact, options.archives)
    path = str(_archived(manifest, archives)) if is_url(manifest) else manifest
    site = load_site(path, archives=archives)
    return site, Planner(site, options)


def _archived(url: str, archives: Archives) -> Path:
    """The manifest in an archive on another machine; InputError."""
    try:
        archived = archives.get(url)
    except SourceError as error:
        raise InputError([Problem(error.message, None, error.hint, error.kind)]) from error
    if archived is None:
        hint = "ccm render or ccm push --noop downloads it to the cache"
        text = f"{url.partition('#')[0]} was not checked: this command contacts no other machine"
        raise InputError([Problem(text, None, hint, SourceError.default_kind)])
    return archived.path


def with_sources(request: "RunRequest") -> "RunRequest":
    """The request with its data from URLs, read once for the complete push.

    InputError.
    """
    if not any(is_url(name) for name in request.data.hiera):
        return request
    from orchestrator.planning.remote_data import fetched

    return request._replace(data=fetched(request.data))


def checked_job(request: "RunRequest", chosen: TargetSelection) -> "PushJob":
    """The push of a request's manifest to the ``chosen`` hosts, which are not contacted.

    InputError with every mistake; UsageError.
    """
    refuse_stages(request, request.manifest)
    job = manifest_job(request)
    survey = cast("Planner", job.planner).survey
    if request.data.selection() and not survey.is_whole:
        _require_selected(request, chosen)
    return job


def _require_selected(request: "RunRequest", chosen: TargetSelection) -> None:
    """InputError for names of ``--only``, ``--tags`` or ``--skip`` that match nothing on any host
    of the inventory, if the resources are known before the hosts are contacted."""
    from orchestrator.runs.fleet_facts import show_hosts

    hosts, inventory = chosen.hosts, chosen.inventory
    made = cast("Planner", manifest_job(request).planner)  # its notes are not the run's
    show_hosts([made], inventory)
    others = [host for host in inventory.hosts.values() if host not in hosts]
    for host in (*hosts, *others):
        if made.examine(host).problems or not (made.unmatched() and made.sees_all):
            return
    raise InputError([Problem(text, None, "", "input.selection") for text in made.unmatched()])


def manifest_job(request: "RunRequest") -> "PushJob":
    """The push of a request's manifest, without a check of the selected resources. InputError."""
    from orchestrator.manifest.identity import identity
    from orchestrator.runs.push_job import PushJob

    data = request.data._replace(run=request.run)
    site, made = planner(request.manifest, data)
    path = request.manifest if is_url(request.manifest) else os.path.abspath(request.manifest)
    return PushJob(
        request.command,
        path,
        site,
        made,
        identity=identity(path),
        remarks=made.unmatched,
        data=data,
    )


def refuse_stages(request: "RunRequest", path: str) -> None:
    """UsageError if stages are selected for anything but a stages file."""
    choice = request.stages
    for option, name in (("--from", choice.begin), ("--stage", choice.stage)):
        if name is not None:
            raise UsageError(
                f"{request.command}: {option} {name[:60]} selects a stage, but {path} has none",
                hint="omit it, or use a file with 'stages:'",
            )


def fact_overlay(
    options: "PlanOptions",
) -> "Callable[[Host, HostFacts], tuple[dict[str, Any], list[str]]]":
    """Overlays a host's facts with --facts, the inventory's vars and --fact; with warnings."""
    from orchestrator.planning.facts import FactOverlay

    over = FactOverlay(options.facts, options.fact)

    def overlay(host: Host, gathered: "HostFacts") -> tuple[dict[str, Any], list[str]]:
        """The facts of a host with overrides, and warnings about missing families."""
        facts, warnings = over(host, gathered)
        late = [f"{name} is unavailable: {reason}" for name, reason in facts.unavailable.items()]
        # Facts cannot be read as a whole while a family is missing; here the rest is needed.
        return dict(dict.items(facts)), [*warnings, *late]

    return overlay
