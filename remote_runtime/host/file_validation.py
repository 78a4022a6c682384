"""Commands that check a finished file before it replaces another (target)."""

import os
from typing import TYPE_CHECKING

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import failure
from remote_runtime.text import shell_words
from remote_runtime.uncertainty import Uncertainty

if TYPE_CHECKING:
    from remote_runtime.overlay.host_overlay import HostOverlay
    from remote_runtime.system.process.commands import Commands

_LAID = 1 << 20  # bytes of a copy next to the file
_NAME_ROOM = 200  # of the 255 bytes of a name
_SURE = Uncertainty()


def run(commands: "Commands", command: str, *, finished: str) -> None:
    """Run the validation of a new file; ``{}`` is replaced with ``finished``.

    ``Missing`` if it cannot start, ``ResourceError`` if it fails.
    """
    words = shell_words.split(command)
    if words and "{}" not in words[0]:
        reason, hint = commands.lacking(words[0])
        if reason:
            raise Missing("it cannot be validated: %s" % reason, hint=hint)
    result = commands.run([word.replace("{}", finished) for word in words])
    if result.code != 0:
        raise ResourceError(
            "the validation %r failed: %s" % (command, result.ending(None)),
            kind="resource.file.validate",
            output=result.tail(),
        )


def preview(overlay: "HostOverlay", command: str, file: PathEffect) -> None:
    """Validate a copy of a planned file; it fails as ``run`` would, and changes nothing.

    For root, the copy is next to the file, visible only to the command; otherwise, it is in a
    private directory.
    """
    assert file.content is not None
    planned = overlay.sequence > 0
    if os.geteuid() == 0 and file.content.size <= _LAID:
        directory, name = os.path.split(file.path)
        beside = os.path.join(directory, ".%s.preview" % name[:_NAME_ROOM])
        other = overlay.fork()
        other.lay((file._replace(path=beside),), _SURE, "")
        try:
            run(other.commands, command, finished=beside)
            return
        except Unknowable:
            if planned:
                raise
    _preview_privately(overlay, command, file)


def _preview_privately(overlay: "HostOverlay", command: str, file: PathEffect) -> None:
    from contextlib import closing

    content = file.content
    assert content is not None  # the caller has checked it
    directory = overlay.files.private_directory()
    try:
        copy = os.path.join(directory, ".%s" % os.path.basename(file.path))
        descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as out, closing(content.chunks()) as chunks:
            for chunk in chunks:
                out.write(chunk)
            os.fchmod(out.fileno(), file.mode or 0)
        run(overlay.commands, command, finished=copy)
    except OSError as error:
        raise failure("copy", file.path, error) from error
    finally:
        overlay.files.remove_private_directory(directory)
