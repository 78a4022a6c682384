"""Receives blobs from the channel (target)."""

from typing import Any, Dict, Generator, Iterator, List

from remote_runtime.context import Context
from remote_runtime.errors import ProtocolError
from remote_runtime.plan_item import each_of
from remote_runtime.plans.plan import Plan
from remote_runtime.protocol.blobs import Part, is_blob
from remote_runtime.protocol.channel import Channel
from remote_runtime.registry import Registry


class Transfer(object):
    """Requests blobs from the controller and passes them on as they arrive."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def fetch(self, shas: List[str]) -> Generator[Part, None, None]:
        """Yield each blob in order; unread parts are dropped. ``ProtocolError``."""
        self._channel.send({"t": "want", "shas": shas}, now=True)
        for sha in shas:
            message = self._channel.expect("blob")
            if message.get("sha") != sha:
                raise ProtocolError("expected the blob %s" % sha, kind="protocol.blob")
            error, size = str(message.get("error") or ""), message.get("size", 0)
            if type(size) is not int or size < 0:
                raise ProtocolError("a blob without a size", kind="protocol.blob")
            chunks = Chunks(self._channel, 0 if error else size)
            try:
                yield Part(sha, chunks, error)
            finally:
                # Unread chunks still arrive; they must not count as the next message.
                for _ in chunks:
                    pass


class Chunks(object):
    """The raw frames of one blob; iterating receives each of them once from the channel."""

    def __init__(self, channel: Channel, size: int) -> None:
        self._channel = channel
        self._left = size

    def __iter__(self) -> Iterator[bytes]:
        while self._left > 0:
            frame = self._channel.receive()
            if not isinstance(frame, bytes) or len(frame) > self._left:
                raise ProtocolError("a blob of another size was announced", kind="protocol.blob")
            self._left -= len(frame)
            yield frame


def blob_sizes(value: Any) -> Dict[str, int]:
    """SHA-256 and size of every blob in these properties."""
    if is_blob(value):
        return {value["$blob"]: int(value["size"])}
    result: Dict[str, int] = {}
    if isinstance(value, (dict, list)):
        for entry in value.values() if isinstance(value, dict) else value:
            if isinstance(entry, (dict, list)):
                result.update(blob_sizes(entry))
    return result


def announce_blobs(plan: Plan, context: Context, registry: Registry) -> None:
    """Announce the blobs whose destinations differ, if known."""
    for item in each_of(plan.items, managed=True):
        sizes = blob_sizes(item.properties)
        if not sizes or not item.managed or item.left_out or item.deferred_error:
            continue
        try:
            with context.for_resource(item, plan.options.noop or item.noop):
                wanted = registry.create(item, prepare=False).wanted()
        # Any error is reported when the resource runs.
        except (Exception, SystemExit):
            continue
        for sha in wanted:
            context.blobs.announce(sha, sizes[sha])
