"""Posts each run that ends to another program, with a signature (controller).

``X-Ccm-Signature`` is ``v1=`` and the HMAC-SHA256 of ``TIMESTAMP.DELIVERY.BODY``, with the first
two also sent as headers. A receiver should refuse an old timestamp and a repeated delivery.
Redirects are never followed.
"""

import hashlib
import hmac
import http.client
import json
import queue
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from orchestrator.history.location import check_address
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import UsageError

PAUSES = (5.0, 30.0)  # seconds before the second and the third attempt
PATIENCE = 10.0  # seconds for an answer
MAX_WAITING_RUNS = 1_000
LEAST_SECRET = 32  # characters
_MAX_LENGTH = 200  # characters of a problem

Report = Callable[[str, str], None]
"""Receives the ID of a run, and the reason why its delivery failed; "" after success."""


class WebhookTarget(NamedTuple):
    """The address to post to, and the signing secret."""

    url: str
    secret: str


def webhook_target(url: str, secret: str) -> WebhookTarget:
    """A target. UsageError if it is not safe."""
    check_address(url, "--webhook", "use an https address without credentials")
    secret = secret.strip()
    if len(secret) < LEAST_SECRET:
        raise UsageError(
            f"the secret of --webhook-secret has fewer than {LEAST_SECRET} characters",
            hint="create it with: openssl rand -hex 32",
        )
    return WebhookTarget(url, secret)


def signature(secret: str, timestamp: str, delivery: str, body: bytes) -> str:
    """The signature of a delivery."""
    signed = f"{timestamp}.{delivery}.".encode() + body
    return "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Webhook:
    """Posts in its own thread, one run after the other; ``item`` returns the posted data of a run,
    None if there is no such run.
    """

    def __init__(
        self,
        target: WebhookTarget,
        item: Callable[[str], Mapping[str, Any] | None],
        report: Report,
        *,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._target = target
        self._item = item
        self._report = report
        self._pauses = pauses
        self._due: queue.Queue[str] = queue.Queue(MAX_WAITING_RUNS)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="studio-webhook", daemon=True)

    def start(self) -> None:
        """Start posting."""
        self._thread.start()

    def add(self, run_id: str) -> None:
        """Queue a run that has ended; a full queue drops it."""
        try:
            self._due.put_nowait(run_id)
        except queue.Full:
            self._report(run_id, "too many runs are waiting for the webhook")

    def stop(self) -> None:
        """Stop posting."""
        self._over.set()

    def _work(self) -> None:
        while not self._over.is_set():
            try:
                run_id = self._due.get(timeout=0.5)
            except queue.Empty:
                continue
            try:
                item = self._item(run_id)
                if item is None:
                    continue
                document = {"type": "run.ended", "run": item}
                problem = self._delivered(json.dumps(document).encode("ascii"))
            except Exception as error:  # whatever it is: the next run is posted
                problem = one_line(f"{type(error).__name__}: {error}", _MAX_LENGTH)
            self._report(run_id, problem)

    def _delivered(self, body: bytes) -> str:
        """Deliver with a limited number of attempts; return the reason of a failure, "" after
        success.
        """
        delivery = secrets.token_hex(16)
        problem, again = self._attempt(delivery, body)
        for pause in self._pauses:
            if not again or self._over.wait(pause):
                break
            problem, again = self._attempt(delivery, body)
        return problem

    def _attempt(self, delivery: str, body: bytes) -> tuple[str, bool]:
        """Why an attempt failed, and whether another one may succeed."""
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "X-Ccm-Timestamp": timestamp,
            "X-Ccm-Delivery": delivery,
            "X-Ccm-Signature": signature(self._target.secret, timestamp, delivery, body),
        }
        try:
            status = _posted(self._target.url, headers, body)
        except (OSError, http.client.HTTPException) as error:
            return one_line(str(getattr(error, "strerror", "") or error), _MAX_LENGTH), True
        if 200 <= status < 300:
            return "", False
        return f"the receiver responded with {status}", status >= 500 or status in (408, 429)


def _posted(url: str, headers: dict[str, str], body: bytes) -> int:
    """The status of the response. OSError, HTTPException."""
    found = urlsplit(url)
    host, port = found.hostname or "", found.port
    connection: http.client.HTTPConnection
    if found.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=PATIENCE, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    try:
        connection.request("POST", found.path or "/", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()
