"""Requests the keys of many hosts in parallel, without logging in (controller)."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from orchestrator.transport.connection_settings import Settings, Target
from orchestrator.transport.credentials import Credentials
from orchestrator.transport.host_keys.key_trust import ScanFailure, ScannedKey, compare_key
from orchestrator.transport.route import Route, Router
from remote_runtime.errors import CcmError, InputError, UnreachableError


def scan(
    hosts: Iterable[Target], settings: Settings, credentials: Credentials, forks: int
) -> list[ScannedKey | ScanFailure]:
    """The key of every host, in order; hosts without SSH are omitted.

    Hosts behind a jump host are scanned through it, which requires a login there and a trusted key
    of the jump host; jump hosts are scanned, too. Hosts that share address, port and name are
    queried once.
    """
    from orchestrator.transport.ssh_connect import Dialer

    router = Router(settings)
    routes: dict[tuple[object, ...], Route | ScanFailure] = {}
    for host in hosts:
        if host.connection == "local":
            continue
        try:
            route = router.route(host)
            for one in (*route.hops(), route):
                routes.setdefault((one.address, one.port, one.key_name, one.jumps), one)
        except InputError as error:
            failed = UnreachableError(str(error), "transport.config")
            routes[(host.name,)] = ScanFailure(host.name, failed)
    dialer = Dialer(credentials)

    def shown(route: Route | ScanFailure) -> ScannedKey | ScanFailure:
        """The key of one host, or the reason why it has none."""
        if isinstance(route, ScanFailure):
            return route
        try:
            return compare_key(route, *dialer.host_key(route))
        except UnreachableError as error:
            return ScanFailure(route.label, error)
        except CcmError as error:
            return ScanFailure(route.label, UnreachableError(str(error), error.kind))

    try:
        with ThreadPoolExecutor(max(1, forks)) as pool:
            return list(pool.map(shown, routes.values()))
    finally:
        dialer.close()
