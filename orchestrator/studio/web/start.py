"""Assembles the studio and serves it (controller)."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from starlette.types import Scope

from orchestrator.history.location import is_loopback
from orchestrator.studio.design.draft_preview import Previews
from orchestrator.studio.design.form_edits import Desk
from orchestrator.studio.index.reader import IndexReader
from orchestrator.studio.index.updater import IndexKeeper
from orchestrator.studio.pages.design import Designer
from orchestrator.studio.pages.hosts import FleetHosts
from orchestrator.studio.pages.page_context import RUN_COLUMNS, Studio
from orchestrator.studio.pages.plan import PlanDesk
from orchestrator.studio.plans.plan_cache import PlanPolicy, StoredPlans
from orchestrator.studio.plans.pushes import Pushes
from orchestrator.studio.sharing.feed import readable_runs, run_item
from orchestrator.studio.sharing.inbox import KEEP, MAX_STORED_BYTES, RunInbox
from orchestrator.studio.sharing.tokens import TokenFile
from orchestrator.studio.sharing.webhook import Webhook, WebhookTarget
from orchestrator.studio.web.api import HistoryApi
from orchestrator.studio.web.app import StudioApp
from orchestrator.studio.web.audit import AuditLog
from orchestrator.studio.web.authentication import Access, Origin, TrustedProxy
from orchestrator.studio.web.request_checks import BodyLimit, Guard
from orchestrator.studio.web.server import listen, serve
from remote_runtime.errors import UsageError

SWEEP = 30.0  # seconds between two looks for clients that are silent


class StudioOptions(NamedTuple):
    """The addresses and logins of a studio; ``names`` are additional values of the Host header.

    The studio keeps the newest ``keep`` runs that clients post. ``project`` is the directory of the
    designer, with data files in ``data_dir``; or None. ``private`` are files with keys or
    passwords, which the designer does not show. The studio posts each run that ends to the
    ``webhook``. ``policy`` has the requirements for plans, and ``push_command`` starts a push;
    without it, there are no pushes. With ``public_badges``, badges need no login. The runs of one
    token have at most ``token_space`` bytes. The ``proxy`` logs users in.
    """

    state: Path
    host: str
    port: int
    inventory: tuple[str, ...] = ()
    auth: Path | None = None
    tls: tuple[str, str] | None = None
    names: tuple[str, ...] = ()
    user: str = ""
    keep: int = KEEP
    project: Path | None = None
    data_dir: str = ""
    private: tuple[str, ...] = ()
    webhook: WebhookTarget | None = None
    public_badges: bool = False
    policy: PlanPolicy = PlanPolicy()
    push_command: tuple[str, ...] = ()
    token_space: int = MAX_STORED_BYTES
    proxy: TrustedProxy | None = None


def check_options(options: StudioOptions) -> None:
    """UsageError if others could reach pages without a password or without encryption."""
    if options.proxy and options.auth is None:
        hint = "set --auth to the file with the roles of the users"
        raise UsageError("--proxy requires --auth", hint=hint)
    if is_loopback(options.host):
        return
    missing = ["--auth"] if options.auth is None else []
    missing += [] if options.tls else ["--tls-cert and --tls-key"]
    if missing:
        raise UsageError(
            f"--listen {options.host} is not a loopback address and requires {', '.join(missing)}",
            hint="set them, or listen on 127.0.0.1 and forward the port:"
            " ssh -L 8700:127.0.0.1:8700 HOST",
        )


def host_values(options: StudioOptions, port: int) -> list[str]:
    """The accepted values of the Host header; the first is that of the login link."""
    named = f"[{options.host}]" if ":" in options.host else options.host
    names = [named, *options.names]
    if is_loopback(options.host):
        names += ["localhost", "127.0.0.1", "[::1]"]
    elif options.host in ("0.0.0.0", "::"):
        names = [*options.names, os.uname().nodename, named]
    standard = 443 if options.tls else 80
    found = [f"{name}:{port}" for name in names]
    if port == standard:
        return [*found, *names]
    return [*found, *options.names] if options.proxy else found


class StudioParts(NamedTuple):
    """The application and its parts."""

    app: Guard
    keeper: IndexKeeper
    access: Access
    pages: StudioApp
    inbox: RunInbox
    webhook: Webhook | None = None


def assemble(options: StudioOptions, port: int, tell: Callable[[str], None]) -> StudioParts:
    """The studio on a port, before its index is updated. UsageError."""
    users = None
    if options.auth:
        from orchestrator.studio.web.users import UserFile  # argon2 takes its time to load

        users = UserFile(options.auth)
        users.users()  # reports an unusable file now
    hosts = FleetHosts(options.inventory, options.state)
    webhook: Webhook | None = None

    def ended(run_id: str) -> None:
        """Queue a run for the webhook."""
        if webhook is not None:
            webhook.add(run_id)

    keeper = IndexKeeper(options.state, hosts.names, ended)
    audit = AuditLog(keeper.path.parent)
    values = host_values(options, port)
    scheme = "https" if options.tls else "http"
    secure = bool(options.tls or options.proxy)
    origin = Origin(f"{scheme}://{values[0]}", secure, f"ccm_studio_{port}")
    access = Access(origin, audit, users=users, user=options.user, tell=tell, proxy=options.proxy)
    reader = IndexReader(keeper.path)
    webhook = _webhook(options.webhook, reader, audit) if options.webhook else None
    studio = Studio(options.state, keeper, reader, hosts)
    inbox = RunInbox(
        options.state,
        hosts.of_groups,
        keep=options.keep,
        max_stored=options.token_space,
        indexed=lambda names: readable_runs(reader, names),
    )
    api = HistoryApi(
        studio,
        access,
        audit=audit,
        tokens=TokenFile(keeper.path.parent),
        inbox=inbox,
        public_badges=options.public_badges,
    )
    private = [*options.private, *map(str, filter(None, (options.auth, *(options.tls or ()))))]
    desk = Desk(options.project, options.data_dir, private) if options.project else None
    runs = options.state / "runs"
    previews = Previews(options.inventory, runs, keeper.wait_for)
    designer = Designer(desk, hosts, previews)
    plans = _plans(options, runs, keeper)
    pages = StudioApp(studio, access, audit=audit, api=api, designer=designer, plans=plans)

    def limit(scope: Scope) -> BodyLimit:
        """The size limit of a request: designers send whole manifests, clients whole runs."""
        return pages.design.limit(scope) or api.limit(scope)

    behind = options.names if options.proxy else ()
    app = Guard(pages.starlette(), values, scheme=scheme, limit=limit, behind_proxy=behind)
    return StudioParts(app, keeper, access=access, pages=pages, inbox=inbox, webhook=webhook)


def _plans(options: StudioOptions, runs: Path, keeper: IndexKeeper) -> PlanDesk:
    """The plans of the project, and their pushes if these are allowed."""
    if options.project is None:
        return PlanDesk()
    stored_plans = StoredPlans(options.project, options.policy)
    if not options.push_command:
        return PlanDesk(stored_plans)
    return PlanDesk(stored_plans, Pushes(stored_plans, options.push_command, runs, keeper.wait_for))


def _webhook(target: WebhookTarget, reader: IndexReader, audit: AuditLog) -> Webhook:
    """The webhook, which writes each delivery to the audit log."""

    def item(run_id: str) -> dict[str, Any] | None:
        """The posted data of a run."""
        row = reader.row(f"SELECT {RUN_COLUMNS} FROM runs WHERE id = ?", (run_id,))
        return None if row is None else run_item(row)

    def delivered(run_id: str, problem: str) -> None:
        """Log a delivery."""
        action = "webhook failed" if problem else "webhook"
        audit.write(action, user="", address="", run=run_id, problem=problem)

    return Webhook(target, item, delivered)


def _sweep(inbox: RunInbox) -> None:
    while True:
        time.sleep(SWEEP)
        inbox.sweep()


def run_studio(options: StudioOptions, tell: Callable[[str], None]) -> None:
    """Serve until a signal ends the process; ``tell`` receives the login address.

    UsageError if it cannot be used.
    """
    check_options(options)
    with listen(options.host, options.port) as listener:
        parts = assemble(options, listener.getsockname()[1], tell)
        parts.keeper.start()
        if parts.webhook:
            parts.webhook.start()
        Thread(target=_sweep, args=(parts.inbox,), name="studio-inbox", daemon=True).start()
        try:
            parts.access.announce()
            Thread(target=parts.pages.prepare, name="studio-pages", daemon=True).start()
            serve(parts.app, listener, tls=options.tls)
        finally:
            if parts.webhook:
                parts.webhook.stop()
            parts.inbox.close()
            parts.keeper.stop()
