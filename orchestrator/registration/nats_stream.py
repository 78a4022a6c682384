"""Registrations in a NATS JetStream stream, and values of its buckets (controller). Only this
module imports nats-py.

The stream keeps the last message of each subject, so it is a table of endpoints. A server of
version 2.11 or newer expires messages by their ``Nats-TTL``; with an older server, the time in the
entry itself is used.
"""

import asyncio
import json
import logging
import math
import os
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoServersError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StreamConfig
from nats.js.errors import (
    APIError,
    BucketNotFoundError,
    KeyNotFoundError,
    NoStreamResponseError,
    NotFoundError,
)

from orchestrator.registration.bucket_key import Key
from orchestrator.registration.entry import PREFIX, Query, Registration, in_order
from orchestrator.registration.errors import RegistrationError
from orchestrator.registration.nats_url import StreamAddress

CONNECT_TIMEOUT = 5
ANSWER_TIMEOUT = 10.0
MAX_BYTES = 64 << 20
"""Of all entries that a lookup reads."""
_BATCH = 256
_MARKER = "Nats-Marker-Reason"
_TTL_SINCE = (2, 11)

_INVALID = (AttributeError, LookupError, RecursionError, TypeError)
"""What nats-py raises for answers of another form; the entries are checked elsewhere."""

T = TypeVar("T")

# The client logs every failed attempt, asyncio how TLS was closed; here there is one error.
for _name in ("nats", "asyncio"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class NatsStream:
    """See ``Store``. Each call opens a connection; there are few calls, because entries
    are sent in batches.
    """

    def __init__(self, place: StreamAddress) -> None:
        self._place = place
        self.shown = place.shown

    def publish(self, entries: Sequence[Registration]) -> None:
        """Publish each entry to its subject and wait until the stream has it."""

        async def work(client: Client, stream: JetStreamContext) -> None:
            """Publish the entries."""
            for entry in entries:
                data = json.dumps(entry.payload(), ensure_ascii=False).encode()
                await stream.publish(
                    entry.subject, data, ANSWER_TIMEOUT, headers=self._headers(entry)
                )

        self._run(work)

    def _headers(self, entry: Registration) -> dict[str, Any]:
        headers = {"Nats-Rollup": "sub", "Nats-Expected-Stream": self._place.stream}
        seconds = entry.seconds()
        if entry.ttl:
            never = seconds == math.inf
            headers["Nats-TTL"] = "never" if never else f"{max(1, math.ceil(seconds))}s"
        return headers

    def lookup(self, query: Query) -> list[Registration]:
        """The last message of every subject that matches."""

        async def work(client: Client, stream: JetStreamContext) -> list[Registration | None]:
            """Read the last messages."""
            config = ConsumerConfig(
                deliver_policy=DeliverPolicy.LAST_PER_SUBJECT, ack_policy=AckPolicy.NONE
            )
            messages = await stream.pull_subscribe(
                query.subject, stream=self._place.stream, config=config
            )
            found: list[Registration | None] = []
            left = (await messages.consumer_info()).num_pending or 0
            size = 0
            while left > 0:
                batch = await messages.fetch(min(left, _BATCH), timeout=ANSWER_TIMEOUT)
                left -= len(batch)
                size += sum(len(message.data) for message in batch)
                if size > MAX_BYTES:
                    raise RegistrationError(
                        f"the registrations in {self.shown} are larger than {MAX_BYTES >> 20} MiB",
                        hint="find out who publishes them, and remove the stream's messages",
                    )
                found += [_entry(m) for m in batch if _MARKER not in (m.headers or {})]
            await messages.unsubscribe()
            return found

        now = time.time()
        found = [entry for entry in self._run(work) if entry is not None]
        return in_order([e for e in found if query.selects(e) and e.is_valid(now)])

    def remove(self, entries: Sequence[Registration]) -> None:
        """Purge the subjects of these endpoints."""

        async def work(client: Client, stream: JetStreamContext) -> None:
            """Purge each subject."""
            for entry in entries:
                await stream.purge_stream(self._place.stream, subject=entry.subject)

        self._run(work)

    def initialize(self, replicas: int, max_age: float) -> None:
        """Create or update the stream; ``max_age`` in seconds, 0 for no limit."""

        async def work(client: Client, stream: JetStreamContext) -> None:
            """Create or update the stream."""
            version = client.connected_server_version
            expires = (version.major, version.minor) >= _TTL_SINCE
            config = StreamConfig(
                name=self._place.stream,
                subjects=[f"{PREFIX}.>"],
                max_msgs_per_subject=1,
                max_age=max_age,
                num_replicas=replicas,
                allow_rollup_hdrs=True,
                deny_delete=True,
                allow_msg_ttl=True if expires else None,
                subject_delete_marker_ttl=max_age if expires and max_age else None,
            )
            try:
                await stream.stream_info(self._place.stream)
            except NotFoundError:
                await stream.add_stream(config)
            else:
                await stream.update_stream(config)

        self._run(work)

    def _run(self, work: Callable[[Client, JetStreamContext], Awaitable[T]]) -> T:
        try:
            return asyncio.run(self.connected(work))
        except (NotFoundError, NoStreamResponseError) as error:
            raise RegistrationError(
                f"stream {self._place.stream} does not exist in {self.shown}",
                hint="create it with: ccm registration init",
            ) from error
        except ImportError as error:  # nats-py imports it only for such a file
            raise RegistrationError(
                f"{self.shown}: creds requires the Python package {error.name}",
                hint=f"install it with: pip install {error.name}",
            ) from error
        except APIError as error:
            reason = error.description or type(error).__name__
            raise RegistrationError(f"{self.shown}: {reason}") from error
        except (NatsError, OSError, asyncio.TimeoutError, ValueError) as error:
            file = getattr(error, "filename", None)
            raise RegistrationError(
                f"{self.shown} cannot be used: {f'{file}: ' * bool(file)}{_reason(error)}",
                hint="check the file"
                if file
                else "is the server up, and are the credentials correct?",
            ) from error

    async def connected(self, work: Callable[[Client, JetStreamContext], Awaitable[T]]) -> T:
        """Return the result of ``work`` with its own connection."""
        errors: list[Exception] = []
        client = _encrypted() if self._place.encrypted else Client()

        async def note(error: Exception) -> None:
            """Record a connection error."""
            errors.append(error)

        try:
            await client.connect(list(self._place.servers), **self._options(note))
            try:
                return await work(client, client.jetstream(timeout=ANSWER_TIMEOUT))
            finally:
                with suppress(NatsError, OSError):
                    await client.close()
        except NoServersError as error:
            raise errors[-1] if errors else error from None
        except _INVALID as error:
            raise RegistrationError(
                f"{self.shown} sent an invalid answer", hint="check that it is a NATS server"
            ) from error

    def _options(self, note: Callable[[Exception], Awaitable[None]]) -> dict[str, Any]:
        place = self._place
        options: dict[str, Any] = {
            "name": "ccm",
            "connect_timeout": CONNECT_TIMEOUT,
            "allow_reconnect": False,
            "max_reconnect_attempts": 1,
            "error_cb": note,
        }
        if place.user:
            options.update(user=place.user, password=place.password)
        if place.token:
            options["token"] = place.token
        if place.creds:
            options["user_credentials"] = place.creds
        if place.encrypted:
            try:
                options["tls"] = ssl.create_default_context(cafile=place.ca or None)
            except OSError as error:  # it does not name the file
                raise OSError(error.errno, error.strerror, place.ca) from error
        return options


class NatsBuckets:
    """See ``Buckets``. Each call opens a connection; a run reads a key once."""

    def __init__(self, place: StreamAddress) -> None:
        self._place = place
        self.shown = place.server

    def get(self, key: Key) -> bytes | None:
        """The value of a key; None if it is missing or was deleted."""

        async def work(client: Client, stream: JetStreamContext) -> bytes | None:
            """Read the value."""
            bucket = await stream.key_value(key.bucket)
            try:
                return (await bucket.get(key.key)).value or b""
            except KeyNotFoundError:
                return None

        try:
            return asyncio.run(NatsStream(self._place).connected(work))
        except BucketNotFoundError as error:
            raise RegistrationError(
                f"{self.shown} has no bucket {key.bucket}",
                hint=f"create it with: nats kv add {key.bucket}",
            ) from error
        except (NatsError, OSError, asyncio.TimeoutError, ValueError) as error:
            reason = getattr(error, "description", "") or str(error) or type(error).__name__
            raise RegistrationError(
                f"{key} of {self.shown} cannot be read: {reason}",
                hint="is the server up with JetStream, and are the credentials correct?",
            ) from error


def _reason(error: Exception) -> str:
    """The reason of a failed connection, without a number of the system; asyncio puts the numbers
    of several attempts into one message.
    """
    number = re.search(r"\[Errno ([1-9][0-9]*)\]", str(error))
    if number:
        return os.strerror(int(number[1]))
    return str(getattr(error, "strerror", None) or str(error) or type(error).__name__)


class _Encrypted(Client):  # type: ignore[misc,unused-ignore]  # not all of its versions have types
    """A client that logs in over TLS or not at all.

    nats-py trusts the server's greeting, which an attacker on the network can change, and would
    send the password unencrypted if the greeting does not require TLS.
    """

    def _process_info(self, info: dict[str, Any], *more: Any, **named: Any) -> Any:
        if not info.get("tls_required"):
            raise NatsError("the server does not offer TLS")
        return super()._process_info(info, *more, **named)


def _encrypted() -> Client:
    if not hasattr(Client, "_process_info"):  # or the check above would be no check
        raise NatsError("this version of nats-py may fall back to plain text without TLS")
    return _Encrypted()


def _entry(message: Msg) -> Registration | None:
    """The entry in a message; None for an invalid one, which is not an endpoint.

    An entry that is about another endpoint than its subject is invalid, too: a server may let
    clients publish to some subjects only.
    """
    try:
        entry = Registration.from_payload(json.loads(message.data))
    except (ValueError, RecursionError):
        return None
    return entry if entry.is_about(message.subject) else None
