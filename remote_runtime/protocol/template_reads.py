"""Reads files of the target for templates that the controller renders (target)."""

from typing import Any, Dict, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.errors import ProtocolError, ResourceError
from remote_runtime.plan_item import Item
from remote_runtime.protocol.channel import Channel

LARGEST = 1 << 20


def rendered(item: Item, channel: Channel, context: Context) -> Dict[str, Any]:
    """Request deferred properties from the controller, which may read files of the target in the
    meantime.
    """
    reader = Reader(channel, context)
    channel.send({"t": "render", "id": item.index, "index": item.index}, now=True)
    while True:
        message = channel.expect("read", "rendered")
        if message["t"] == "read":
            reader.answer(message)
            continue
        if message.get("id") != item.index:
            raise ProtocolError("rendered for another resource")
        if message.get("error"):
            raise reader.failure(str(message["error"]))
        properties = message.get("properties")
        if not isinstance(properties, dict):
            raise ProtocolError("rendered without properties")
        return dict(item.properties, **properties)


class Reader(object):
    """Answers the reads of one template, and stores the error that prevented its rendering."""

    def __init__(self, channel: Channel, context: Context) -> None:
        self._channel = channel
        self._context = context
        self._unknowable: Optional[Unknowable] = None

    def answer(self, message: Dict[str, Any]) -> None:
        """Send the content of the file, or the reason why it cannot be read."""
        answer: Dict[str, Any] = {"t": "content", "id": message.get("id")}
        try:
            limit = message.get("limit", LARGEST)
            if type(limit) is not int or limit < 0:
                raise ProtocolError("a file without a size limit")
            limit = min(limit, LARGEST)
            data = self._read(str(message.get("path")), limit)
        except ResourceError as error:
            if isinstance(error, Unknowable):
                self._unknowable = error
            self._channel.send(dict(answer, error=error.message), now=True)
            return
        self._channel.send(dict(answer, size=len(data)), now=True)
        self._channel.send_bytes(data)

    def failure(self, message: str) -> ResourceError:
        """The error of a template that could not be rendered."""
        if self._unknowable is not None:
            return self._unknowable
        return ResourceError(message, kind="resource.template")

    def _read(self, path: str, limit: int) -> bytes:
        if not path.startswith("/"):
            raise ResourceError("%r is not an absolute path" % path)
        status = self._context.files.status(path, follow=True)
        if status is None:
            raise ResourceError("%s does not exist on this host" % path)
        if status.kind != "file":
            raise ResourceError("%s is not a regular file" % path)
        return self._context.files.read(path, limit, follow=True)
