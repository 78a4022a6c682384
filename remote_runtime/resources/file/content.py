"""Where the desired content of a file comes from (target)."""

from typing import TYPE_CHECKING, Any, Optional

from remote_runtime.base import Missing, Properties
from remote_runtime.content import Chunks, Content, Text
from remote_runtime.errors import ResourceError
from remote_runtime.protocol.blobs import is_blob

if TYPE_CHECKING:
    from remote_runtime.context import Context


class Blob(Content):
    """On the controller; it travels when it is read."""

    def __init__(self, value: Any, context: "Context") -> None:
        self.sha256 = value["$blob"]
        self.size = value["size"]
        self._blobs = context.blobs

    @property
    def at_hand(self) -> bool:
        return self._blobs.holds(self.sha256)

    def chunks(self) -> Chunks:
        return self._blobs.chunks(self.sha256, self.size)

    def read(self) -> bytes:
        return self._blobs.read(self.sha256, self.size)


class Local(Content):
    """A file of the target; symlinks are followed."""

    def __init__(self, source: str, context: "Context") -> None:
        files = context.files
        status = files.status(source, follow=True)
        if status is None:
            raise Missing(
                "the source %s does not exist on this host" % source,
                hint=(
                    "a relative source is relative to the manifest, an absolute one is a "
                    "path on the host"
                ),
            )
        if status.kind != "file":
            raise ResourceError("the source %s is not a regular file" % source)
        self.size = status.size
        self.sha256 = files.sha256(source, status, follow=True)
        self._read = files.reader(source, follow=True)

    def chunks(self) -> Chunks:
        return self._read()


def desired(
    properties: Properties, context: "Context", rendered: bool = False
) -> Optional[Content]:
    """The content of a file resource; None when only its attributes are managed.

    ``rendered``: at this turn, so that it is as sure as what was read for it then.
    """
    before = 0 if rendered else context.doubts
    content = _made(properties, context)
    if content is not None and context.doubts > before:
        content.doubt = context.doubt_over(before)
    return content


def _made(properties: Properties, context: "Context") -> Optional[Content]:
    content, source = properties.get("content"), properties.get("source")
    for value in (content, source):
        if is_blob(value):
            return Blob(value, context)
    if content is not None:
        return Text(str(content))
    return None if source is None else Local(str(source), context)
