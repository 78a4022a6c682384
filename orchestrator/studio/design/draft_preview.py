"""Tries out an unsaved manifest: renders it for a host, or previews it (controller)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.manifest import load_site
from orchestrator.manifest.identity import identity
from orchestrator.manifest.site import Site
from orchestrator.planning.resolved_manifest import resolved_manifest
from orchestrator.project.discovery import FILE as PROJECT_FILE
from orchestrator.runs.fleet_facts import show_hosts
from orchestrator.runs.request import HostChoice
from orchestrator.sources.archives import Archives
from orchestrator.studio.design.drafts import Draft
from orchestrator.studio.design.form_edits import Desk
from orchestrator.studio.design.forms import yaml_of
from orchestrator.studio.design.manifest_problems import offline, types_for
from orchestrator.studio.pages.hosts import FleetHosts
from orchestrator.studio.path_guard import problem_text, refusal
from orchestrator.studio.quiet_reporter import QuietReporter
from orchestrator.support.state_directory import make_private
from remote_runtime.errors import CcmError, UsageError
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.planning import Planner
    from orchestrator.runs.result import RunResult

MAX_TEXT = 2 << 20  # characters of a rendered manifest
_MAX_START_WAIT = 10.0  # seconds that a browser waits for the run to begin
_MAX_INSPECTED_BYTES = 1 << 20  # bytes of a file
_MAX_FILES = 5_000  # of a directory
_KEYS = (b"PRIVATE KEY-----", b"AGE-SECRET-KEY-", b"$ANSIBLE_VAULT", b"$argon2")


class Rendering(NamedTuple):
    """A manifest as rendered for a host; ``facts`` are the known facts of the host."""

    text: str
    facts: str
    warnings: list[str]


def render(desk: Desk, draft: Draft, hosts: FleetHosts, name: str) -> Rendering:
    """The manifest of one host, rendered with stored facts. No host is contacted. CcmError."""
    host, inventory = hosts.host(name), hosts.inventory
    if host is None or inventory is None:
        raise UsageError(f"there is no host {name[:80]!r}", hint="choose one from the inventory")
    site, planner = _planned(desk, draft)
    show_hosts([planner], inventory)
    record = hosts.facts(name)
    gathered, facts = (
        HostFacts(),
        f"No facts of {name} are stored. To gather them, run: ccm facts -l {name}",
    )
    if record is not None:
        gathered = HostFacts(record.facts, record.unavailable)
        facts = f"Rendered with the facts of {record.moment}."
    plan = planner.plan(host, gathered)
    document = resolved_manifest(site, plan)
    _require_public(planner, desk, hosts)
    text = yaml_of(document).replace(f"{desk.files.root}/", "")
    if len(text) > MAX_TEXT:
        raise UsageError(f"the rendered manifest is larger than {MAX_TEXT >> 20} MiB")
    return Rendering(
        desk.hide(draft, text), facts, [desk.hide(draft, one) for one in plan.warnings]
    )


def _planned(desk: Desk, draft: Draft, closed: ClosedFiles | None = None) -> tuple[Site, Planner]:
    """The planned draft, which may not read the ``closed`` files. InputError."""
    from orchestrator.planning import Planner

    path = desk.files.path(draft.stored.name)
    site = load_site(
        path,
        types_for(path),
        archives=Archives(contact=False),
        text=draft.text,
        bounds=desk.files.root,
    )
    site.directory.closed = closed.has if closed is not None else None
    return site, Planner(site, offline(desk.data_dir))


def _require_public(planner: Planner, desk: Desk, hosts: FleetHosts) -> None:
    """InputError if a template has read a private file: ccm.yaml, a hidden file, a key or password
    file or, for a user who is limited to some hosts, the inventory.
    """
    closed = ClosedFiles(desk, hosts)
    for part in planner.survey.parts:
        for path in part.site.directory.paths:
            if closed.has(path):
                below = os.path.relpath(os.path.realpath(path), desk.files.root)
                message = f"a template reads {below}, which the studio does not show"
                raise refusal(message, "use ccm render")


class Preview:
    """A preview that somebody has started; ``run`` is its run, "" before the run begins."""

    def __init__(self) -> None:
        self.run = ""
        self.problem = ""
        self.done = threading.Event()


class Previews:
    """Runs previews, one at a time, and stores them in the directory ``runs``.

    ``wait_for`` returns once a run has a page.
    """

    def __init__(
        self,
        sources: Sequence[str],
        runs: Path,
        wait_for: Callable[[str], None] = lambda run_id: None,
    ) -> None:
        self._sources = list(sources)
        self._runs = runs
        self._wait_for = wait_for
        self._busy = threading.Lock()
        self._known: dict[tuple[str, str], Preview] = {}

    def of(self, user: str, name: str) -> Preview | None:
        """The latest preview of a manifest by a user."""
        return self._known.get((user, name))

    def start(
        self, desk: Desk, draft: Draft, *, user: str, pattern: str, hosts: FleetHosts
    ) -> Preview:
        """Preview a draft on the hosts of a pattern. Returns once the run has a page or has failed.

        UsageError while another preview is running, for a pattern that reads a file, and for one
        without a host that the user may see.
        """
        if set(pattern) & set("@~") or not pattern.strip():
            raise UsageError(
                "expected hosts, such as web1", hint="patterns with @ or ~ are not supported here"
            )
        choice = HostChoice(self._sources, [pattern])
        if hosts.visible is not None:
            chosen = hosts.inventory.select(pattern) if hosts.inventory else []
            if not chosen:
                raise UsageError("there is no such host", hint="choose one from the inventory")
            choice = choice._replace(limit=[one.name for one in chosen], visible=hosts.visible)
        if not self._busy.acquire(blocking=False):
            raise UsageError("another preview is running", hint="wait until it has ended")
        preview = self._known[user, draft.stored.name] = Preview()
        began = threading.Event()
        work = threading.Thread(
            target=self._run,
            args=(desk, draft),
            kwargs={
                "closed": ClosedFiles(desk, hosts),
                "hosts": choice,
                "preview": preview,
                "began": began,
            },
            name="studio-preview",
            daemon=True,
        )
        work.start()
        began.wait(_MAX_START_WAIT)
        if preview.run:
            self._wait_for(preview.run)
        return preview

    def _run(
        self,
        desk: Desk,
        draft: Draft,
        *,
        hosts: HostChoice,
        preview: Preview,
        began: threading.Event,
        closed: ClosedFiles,
    ) -> None:
        def start(run_id: str) -> None:
            """Record that the run has begun."""
            preview.run = run_id
            began.set()

        try:
            make_private(self._runs)
            preview_draft(
                desk,
                draft,
                hosts=hosts,
                runs=self._runs,
                began=start,
                closed=closed,
            )
        except (CcmError, OSError) as error:
            text = problem_text(error, desk.files.root, "previewed")
            preview.problem = desk.hide(draft, text)
        except BaseException as error:  # the thread ends: the page shows the error
            preview.problem = f"internal error: {type(error).__name__}"
            raise
        finally:
            self._busy.release()
            preview.done.set()
            began.set()


def preview_draft(
    desk: Desk,
    draft: Draft,
    *,
    hosts: HostChoice,
    runs: Path,
    began: Callable[[str], None],
    closed: ClosedFiles,
) -> RunResult:
    """Preview a draft on hosts; ``began`` receives the ID of the run. The preview reads none of the
    ``closed`` files. CcmError.
    """
    from orchestrator.runs.push_flow import PushFlow
    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.request import RunRequest

    path = str(desk.files.path(draft.stored.name))
    request = RunRequest(
        command="push",
        manifest=path,
        hosts=hosts,
        data=offline(desk.data_dir),
        run=RunOptions(noop=True),
        runs=runs,
    )
    with PushFlow.prepare(request, QuietReporter(began)) as flow:
        site, planner = _planned(desk, draft, closed)
        job = PushJob(
            request.command,
            path,
            site,
            planner,
            identity=identity(path),
            remarks=planner.unmatched,
            data=request.data,
        )
        return flow.run(job)


class ClosedFiles:
    """``ccm.yaml``, hidden files, key and password files and, for users limited to some hosts, the
    inventory.
    """

    def __init__(self, desk: Desk, hosts: FleetHosts) -> None:
        self._root = str(desk.files.root)
        self._closed = set(desk.private)
        self._known: dict[Path, bool] = {}
        if hosts.visible is not None:
            self._closed |= set(map(os.path.realpath, hosts.sources))

    def has(self, path: Path) -> bool:
        """Whether a path is one of them, or a directory with one below it; checked once."""
        if path not in self._known:
            self._known[path] = self._find(path)
        return self._known[path]

    def _find(self, path: Path) -> bool:
        if not os.path.isdir(path):
            return self._is_closed(os.path.realpath(path))
        found = 0
        for at, directories, names in os.walk(path):
            found += len(names)
            places = [os.path.join(at, name) for name in (*names, *directories)]
            if found > _MAX_FILES or any(map(self._is_closed, map(os.path.realpath, places))):
                return True
        return False

    def _is_closed(self, real: str) -> bool:
        below = os.path.relpath(real, self._root)
        is_hidden = any(one.startswith(".") for one in below.split(os.sep))
        is_own = os.path.basename(real) == PROJECT_FILE or real in self._closed
        return is_hidden or is_own or (os.path.isfile(real) and _is_key(real))


def _is_key(path: str) -> bool:
    with open(path, "rb") as file:
        data = file.read(_MAX_INSPECTED_BYTES)
    return any(mark in data for mark in _KEYS)
