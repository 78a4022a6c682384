"""Contents of the plan, and post commands on private copies of them (target).

Commands run on copies in a preview as in a push, so both have the same port.
"""

import os
from typing import TYPE_CHECKING, Any, Sequence, Tuple

from remote_runtime.changes import Missing
from remote_runtime.content import Chunks, Content, Text
from remote_runtime.errors import ResourceError
from remote_runtime.text import shell_words

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.protocol.blobs import Blobs
    from remote_runtime.system.files import Files


class Blob(Content):
    """Content on the controller; it is sent when it is read."""

    def __init__(self, value: Any, blobs: "Blobs") -> None:
        self.sha256 = value["$blob"]
        self.size = value["size"]
        self._blobs = blobs

    @property
    def at_hand(self) -> bool:
        return self._blobs.holds(self.sha256)

    def chunks(self) -> Chunks:
        return self._blobs.chunks(self.sha256, self.size)

    def read(self) -> bytes:
        return self._blobs.read(self.sha256, self.size)


class LocalContent(Content):
    """A file on the target; symlinks are followed."""

    def __init__(self, source: str, files: "Files") -> None:
        status = files.status(source, follow=True)
        if status is None:
            raise Missing(
                "the source %s does not exist on this host" % source,
                hint=(
                    "a relative source is relative to the manifest; an absolute one is a "
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


class Contents(object):
    """The contents of the plan and of files on the host."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def of(self, value: Any) -> Content:
        """The content in the plan with this hash; it is sent when it is read."""
        return self._of_plan(Blob(value, self._context.blobs))

    def text(self, text: str) -> Content:
        """A text of the plan, in UTF-8."""
        return self._of_plan(Text(text))

    def local(self, path: str) -> Content:
        """The content of a file on the host, following symlinks. ``Missing`` if it does
        not exist.
        """
        context = self._context
        before = 0 if context.rendered else context.uncertainties
        return self._as_sure(LocalContent(path, context.files), before)

    def _of_plan(self, content: Content) -> Content:
        """A content of the plan, which is as certain as the templates of the resource."""
        return self._as_sure(content, 0) if self._context.rendered else content

    def _as_sure(self, content: Content, before: int) -> Content:
        """A content that is as certain as the reads on which it depends."""
        if self._context.uncertainties > before:
            content.uncertainty = self._context.uncertainty_since(before)
        return content

    def require(self, command: str, what: str) -> None:
        """``Missing`` if a command cannot start; ``what`` is the start of the message."""
        program = shell_words.split(command)[0]
        reason, hint = self._context.user_commands.lacking(program)
        if reason:
            raise Missing("%s: %s" % (what, reason), hint=hint)

    def copies(self) -> "Copies":
        """A place for private copies of contents, on which commands run."""
        return Copies(self._context)


class _Copy(Content):
    """A copy after all commands."""

    def __init__(self, path: str, context: "Context") -> None:
        self._files, self._path = context.files, path
        status = self._files.status(path)
        if status is None or status.kind != "file":
            raise ResourceError("it is no longer a regular file")
        self.size, self.mode = status.size, status.mode & 0o777
        self.sha256 = self._files.sha256(path, status)

    def chunks(self) -> Chunks:
        return self._files.blocks(self._path)


class Copies(object):
    """The results of commands on private copies of contents."""

    def __init__(self, context: "Context") -> None:
        self._context, self._directory = context, ""

    def processed(
        self,
        content: Content,
        name: str,
        *,
        at: str,
        mode: int,
        commands: Sequence[str],
        timeout: float,
    ) -> Tuple[Content, int]:
        """A content and the mode of its file, after commands have run on a copy with this name.

        In a command, ``{}`` is replaced with the path of the copy; without ``{}``, the path is the
        last argument. They run in a preview, too. ``ResourceError`` for one that fails; ``timeout``
        in seconds. If the file ``at`` a path already has this content, it is copied, so that it
        need not be sent.
        """
        context = self._context
        before = context.uncertainties
        path = self._copied(self._at_hand(content, at), name, mode)
        for command in commands:
            context.progress("processing %s" % name)
            self._run(command, path, name=name, timeout=timeout)
        try:
            copy = _Copy(path, context)
        except ResourceError as error:
            raise ResourceError("post %r: %s: %s" % (commands[-1], name, error)) from error
        if context.uncertainties > before:
            copy.uncertainty = context.uncertainty_since(before)
        return copy, copy.mode

    def _at_hand(self, content: Content, path: str) -> Content:
        """Return existing content that need not be sent for the commands."""
        status = self._context.files.status(path)
        if status is None or status.kind != "file" or status.size != content.size:
            return content
        there = LocalContent(path, self._context.files)
        return there if there.sha256 == content.sha256 else content

    def _copied(self, content: Content, name: str, mode: int) -> str:
        if not self._directory:
            self._directory = self._context.files.private_directory()
        path = os.path.join(self._directory, name)
        try:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                for chunk in content.chunks():
                    self._context.check_cancelled()
                    out.write(chunk)
                os.fchmod(out.fileno(), mode)
        except OSError as error:
            raise ResourceError("could not stage %s: %s" % (name, error.strerror)) from error
        return path

    def _run(self, command: str, path: str, *, name: str, timeout: float) -> None:
        argv = shell_words.split(command)
        if any("{}" in word for word in argv):
            argv = [word.replace("{}", path) for word in argv]
        else:
            argv.append(path)
        result = self._context.user_commands.run(argv, timeout=timeout)
        if result.code == 0 and not result.timed_out:
            return
        how = "took longer than %g s" % timeout
        if not result.timed_out:
            how = "ended with exit code %d" % result.code
        raise ResourceError(
            "post %r for %s %s" % (command, name, how),
            kind="resource.scaffold.post",
            output=result.tail(),
        )

    def discard(self) -> None:
        """Remove the copies; otherwise, they are removed at the end of the run."""
        if self._directory:
            self._context.files.remove_private_directory(self._directory)
            self._directory = ""
