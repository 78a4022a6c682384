"""Values of NATS key-value buckets, for ``kv://BUCKET/KEY`` and ``kvGet()`` (controller)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.registration.errors import RegistrationError
from remote_runtime.errors import CcmError, UsageError

if TYPE_CHECKING:
    from orchestrator.registration.bucket_key import Key

MAX_VALUE = 1 << 20
MAX_PER_RUN = 64 << 20
OPTION = "nats"
VARIABLE = "CCM_NATS"
_SERVER_HINT = f"set {VARIABLE}, or {OPTION} in ccm.yaml: nats://host:4222"


class Buckets(Protocol):
    """The buckets of a server. ``shown`` names it without credentials."""

    shown: str

    def get(self, key: Key) -> bytes | None:
        """The value of a key; None if the bucket has none. RegistrationError."""


def open_buckets(server: str, registration: str | None = None) -> Buckets:
    """The buckets of the server with this URL, or of the server of the registrations.

    No connection is made yet. UsageError.
    """
    from orchestrator.registration.nats_url import SCHEMES, parse_url

    text = server or registration or ""
    if text.partition("://")[0] not in SCHEMES:
        if server:
            raise UsageError(f"{OPTION}: this is not the URL of a server", hint=_SERVER_HINT)
        raise UsageError("no NATS server is configured", hint=_SERVER_HINT)
    place = parse_url(text, OPTION if server else "--registration")
    try:
        from orchestrator.registration.nats_stream import NatsBuckets
    except ImportError as error:
        raise UsageError(
            f"values of {place.server} require Python's NATS client",
            kind="usage.extra",
            hint="install it with: pip install 'ccm-push[nats]'",
        ) from error
    return NatsBuckets(place)


def value_of(buckets: Buckets, key: Key, maximum: int = MAX_VALUE) -> str | None:
    """Return the value of a key, None if it is missing; RegistrationError."""
    data = buckets.get(key)
    if data is None:
        return None
    if len(data) > maximum:
        message = f"{key} is larger than {maximum >> 20} MiB"
        raise RegistrationError(message, hint="split it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RegistrationError(f"{key} is not UTF-8 text") from error


class KeyValueLookup:
    """The values of buckets in one run: each key is read once, on first use.

    See ``RegistrationLookup``, whose rules also apply here. Thread-safe.
    """

    def __init__(self, opener: Callable[[], Buckets]) -> None:
        self._opener = opener
        self._buckets: Buckets | None = None
        self._lock = Lock()
        self._left = MAX_PER_RUN
        self._answers: dict[Key, str | CcmError | None] = {}
        self._elsewhere: Callable[[Any], Any] | None = None

    def __call__(self, key: Key) -> str | None:
        """Return the value of a key, None if it is missing; CcmError, the same for every host."""
        answer = self._answer(key)
        if isinstance(answer, CcmError):
            raise answer
        return answer

    def forward_to(self, ask: Callable[[Any], Any]) -> None:
        """Forward requests to another process; ``ask`` returns the result of its ``answer``."""
        self._elsewhere = ask

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer for another process, as JSON."""
        from orchestrator.registration.bucket_key import Key

        answer = self._answer(Key(str(question["bucket"]), str(question["key"])))
        if isinstance(answer, CcmError):
            return {"error": [answer.message, answer.kind, answer.advice]}
        return {"value": answer}

    def _answer(self, key: Key) -> str | CcmError | None:
        with self._lock:
            if key not in self._answers:
                self._answers[key] = self._bounded(self._ask(key))
            return self._answers[key]

    def _ask(self, key: Key) -> str | CcmError | None:
        try:
            if self._elsewhere is not None:
                told = self._elsewhere(key._asdict())
                if "error" in told:
                    return CcmError(*told["error"])
                return None if told["value"] is None else str(told["value"])
            self._buckets = self._buckets or self._opener()
            return value_of(self._buckets, key)
        except CcmError as error:
            return error

    def _bounded(self, answer: str | CcmError | None) -> str | CcmError | None:
        if not isinstance(answer, str):
            return answer
        self._left -= len(answer)
        if self._left < 0:
            limit = MAX_PER_RUN >> 20
            return RegistrationError(f"the values of this run are larger than {limit} MiB")
        return answer
