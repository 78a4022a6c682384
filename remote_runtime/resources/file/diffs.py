"""What of a change of content may and can be shown (target)."""

from typing import Optional

from remote_runtime.base import Item
from remote_runtime.changes import HASHED, Unknowable, content_before, text_before
from remote_runtime.content import Content
from remote_runtime.context import Context
from remote_runtime.reporting import difference
from remote_runtime.system.paths import Status

_OTHERS_READ = 0o004


def diff(
    context: Context, item: Item, *, status: Optional[Status], content: Content, mode: int
) -> Optional[str]:
    """The difference between what is there and the new content; None where none may be shown.

    A file that others cannot read, as it is or as it will be, has none unless ``diff_private``.
    """
    if not context.options.diff or item.sensitive:
        return None
    old = status if status is not None and status.kind == "file" else None
    readable = mode & _OTHERS_READ and (old is None or old.mode & _OTHERS_READ)
    if not readable and not context.options.diff_private:
        return None
    if max(old.size if old is not None else 0, content.size) > difference.LARGEST:
        before = None
        if old is not None:
            before = (old.size, content_before(context.files, item.name, old, content.size))
        return difference.summary(before, (content.size, HASHED + content.sha256))
    try:
        text = None if old is None else text_before(context.files, item.name, difference.LARGEST)
        return difference.unified(text, content.read(), item.name)
    except Unknowable:  # of a package that is planned, only the hash may be known
        return None
