"""The store of registrations, selected by ``--registration`` (controller)."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from orchestrator.registration.entry import Query, Registration
from orchestrator.support.state_directory import make_private, state_directory
from remote_runtime.errors import UsageError

FILE_NAME = "registrations.json"


class Store(Protocol):
    """Keeps the newest entry of each endpoint. Thread-safe; every method may raise
    ``RegistrationError``. ``shown`` names it without credentials."""

    shown: str

    def publish(self, entries: Sequence[Registration]) -> None:
        """Add entries; each replaces an older one of the same endpoint."""

    def lookup(self, query: Query) -> list[Registration]:
        """The matching entries that are still valid, by address and port."""

    def remove(self, entries: Sequence[Registration]) -> None:
        """Remove these endpoints."""

    def initialize(self, replicas: int, max_age: float) -> None:
        """Prepare it; safe to repeat. ``max_age`` in seconds, 0 for no limit."""


def open_store(text: str | None = None, *, new: bool = False) -> Store:
    """The store named by a URL or a file, by default a file in the state directory.

    No connection is made yet. UsageError, also if a named file does not exist, unless it is
    ``new``.
    """
    from orchestrator.registration.nats_url import SCHEMES, parse_url

    text = text or ""
    scheme, mark, _ = text.partition("://")
    if mark and scheme in SCHEMES:
        place = parse_url(text)
        try:
            from orchestrator.registration.nats_stream import NatsStream
        except ImportError as error:
            raise UsageError(
                f"registrations in {place.shown} require Python's NATS client",
                kind="usage.extra",
                hint="install it with: pip install 'ccm-push[nats]'",
            ) from error
        return NatsStream(place)
    if mark:
        raise UsageError(
            f"--registration {scheme}://... is not supported",
            hint="use nats://host:4222/STREAM, tls://host:4222/STREAM or a file",
        )
    from orchestrator.registration.json_file import JsonFile

    if text:
        path = Path(text)
        if not new and not path.exists():
            raise UsageError(
                f"the registry {text} does not exist: it is neither a file nor the URL of a stream",
                hint="a stream has the form nats://host:4222/STREAM; to create a file, "
                f"run: ccm registration init --registration {shlex.quote(text)}",
            )
        return JsonFile(path)
    return JsonFile(state_directory() / FILE_NAME, make_private)
