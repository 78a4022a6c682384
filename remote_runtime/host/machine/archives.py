"""Extracts archives on the machine, with the standard library (target)."""

import errno
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, Callable, List

from remote_runtime import missing_parents
from remote_runtime.archives import member_filter, member_reader, staging
from remote_runtime.changes import HASHED, Missing, Unknowable
from remote_runtime.downloads.time_limit import Limit, ProgressCheck
from remote_runtime.errors import ResourceError
from remote_runtime.host import download_ports
from remote_runtime.host.download_ports import Extraction
from remote_runtime.stdlib_light.sha256_digest import sha256
from remote_runtime.system.errno_messages import failure, refusal
from remote_runtime.system.pending_fsyncs import sync_now

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.files import Files
    from remote_runtime.system.process.commands import Commands
    from remote_runtime.system.temporary_file import Temporary
    from remote_runtime.system.walk import Directory

_BLOCK = 256 << 10
PARENT_MODE = 0o755
_OTHERS_WRITE = 0o022


class ArchiveReader(object):
    """Reads archives through the adapters of the machine or of an overlay."""

    def __init__(self, context: "Context", files: "Files", commands: "Commands") -> None:
        self._context, self._files, self._commands = context, files, commands

    def require(self, how: Extraction) -> None:
        """``ResourceError`` if nothing can be extracted into the directory, or this host cannot
        unpack archives of this kind."""
        if not self._files.exists(how.parent):
            missing_parents.parents(self._files, os.path.normpath(how.parent), PARENT_MODE)
            if self._files.is_there(how.parent):  # a symlink that leads nowhere
                raise refusal("create the directory", how.parent, errno.EEXIST)
        elif not self._files.is_directory(how.parent):
            raise ResourceError(
                "extract_parent %s is not a directory" % how.parent,
                hint="choose another directory; ccm does not change the existing file",
            )
        program = member_reader.needs_program(how.kind)
        if not program:
            member_reader.require(how.kind)
            return
        reason, _ = self._commands.lacking(program)
        if reason:
            hint = "install the package %s in an earlier resource, or use a .tar.gz archive"
            raise Missing("%s archives: %s" % (how.kind, reason), hint=hint % program)

    def survey(self, archive: str, how: Extraction) -> None:
        """Check every member of the file ``archive``; ``ResourceError`` if the file is incomplete,
        or a member would be refused."""
        with os.fdopen(self._files.opened(archive, "read"), "rb") as file:
            self._survey(file, archive, how, self._pulse("reading", archive, how))

    def _pulse(self, action: str, archive: str, how: Extraction) -> ProgressCheck:
        what = "the extraction of %s" % archive
        limit = Limit(self._context, how.timeout, what, "extract_timeout")
        return ProgressCheck(self._context, limit, "%s %s" % (action, archive))

    def _survey(self, file: Any, archive: str, how: Extraction, pulse: ProgressCheck) -> Any:
        """Check every member without writing anything; return the kinds by path."""
        admission = member_filter.MemberFilter(archive, how.max_size, how.max_members)
        members = self._members(file, how, pulse.beat)
        with member_reader.ArchiveErrors(archive, how.kind), closing(members):
            for member in members:
                admission.admit(member)
        return admission.kinds

    def _members(
        self, file: Any, how: Extraction, heartbeat: Callable[[], None]
    ) -> member_filter.Members:
        program = member_reader.needs_program(how.kind)
        program_path = program and self._context.commands.find(program)
        if program and not program_path:
            raise Unknowable("%s is not installed yet: an earlier resource installs it" % program)
        return member_reader.members(
            how.kind,
            file,
            heartbeat=heartbeat,
            maximum=how.max_size,
            most=how.max_members,
            program=program_path,
        )


class Archives(ArchiveReader, download_ports.Archives):
    """Extracts archives next to existing files."""

    def extract(self, path: str, how: Extraction, checksum: str = "") -> None:
        """See the base class.

        The file may have been exchanged since its checksum was computed, by swapping a directory on
        its path, so the checksum of the file opened here is used. If others can change that file, a
        copy is extracted.
        """
        self.require(how)
        descriptor = self._files.opened(path, "read")
        if not checksum:
            self.unpack(path, how, descriptor)
            return
        with os.fdopen(descriptor, "rb") as file:
            if not self._open_to_others(path, os.fstat(file.fileno())):
                self._verified(file, path, how=how, checksum=checksum)
                file.seek(0)
                self.unpack(path, how, os.dup(file.fileno()))
                return
            self.survey(path, how)
            self._make_parent(how.parent)
            copy = self._copied(file, path, how, checksum)
            try:
                self.unpack(path, how, copy.reopened())
            finally:
                copy.discard()

    def _open_to_others(self, archive: str, status: os.stat_result) -> bool:
        """Return whether a user other than root and this one can change the content of
        this file.
        """
        others = status.st_uid not in (0, os.geteuid()) or bool(status.st_mode & _OTHERS_WRITE)
        return others or self._files.in_shared_directory(archive)

    def _copied(self, file: Any, archive: str, how: Extraction, checksum: str) -> "Temporary":
        """A private copy with the required checksum; it is in the destination directory, which must
        have enough space.
        """
        copy = self._files.temporary(os.path.join(how.parent, os.path.basename(archive)))
        try:
            self._verified(file, archive, how=how, checksum=checksum, take=copy.write)
        except BaseException:
            copy.discard()
            raise
        return copy

    def _verified(
        self,
        file: Any,
        archive: str,
        *,
        how: Extraction,
        checksum: str,
        take: Callable[[bytes], None] = lambda block: None,
    ) -> None:
        """Pass all of a file to ``take``; ``ResourceError`` if its checksum differs."""
        pulse = self._pulse("reading", archive, how)
        size = os.fstat(file.fileno()).st_size
        digest, read = sha256(size=size), 0
        while read <= size:
            block = file.read(_BLOCK)
            if not block:
                break
            read += len(block)
            pulse.beat(read)
            digest.update(block)
            take(block)
        if read != size or HASHED + str(digest.hexdigest()) != checksum:
            raise ResourceError(
                "%s changed during the run" % archive,
                kind="resource.archive.checksum",
                hint="nothing was extracted; find out what changes it",
            )

    def _make_parent(self, parent: str) -> None:
        if not self._files.exists(parent):
            self._files.create_directory(parent, PARENT_MODE)

    def unpack(self, archive: str, how: Extraction, descriptor: int) -> None:
        """Extract the opened archive into the directory, and close it."""
        pulse = self._pulse("extracting", archive, how)
        with os.fdopen(descriptor, "rb") as file:
            try:
                kinds = self._survey(file, archive, how, pulse)
                self._make_parent(how.parent)
                directory = self._files.directory(how.parent)
                staging.refuse_obstacles(archive, directory, kinds)
                written = self._write(file, directory, archive=archive, how=how, pulse=pulse)
            except OSError as error:
                raise failure("extract into", how.parent, error) from error
        self._context.changed_paths.update(written)

    def _write(
        self, file: Any, parent: "Directory", *, archive: str, how: Extraction, pulse: ProgressCheck
    ) -> List[str]:
        # Check again: the archive may have changed since the first check.
        admission = member_filter.MemberFilter(archive, how.max_size, how.max_members)
        written = [0]

        def beat(size: int = 0) -> None:
            written[0] += size
            pulse.beat(written[0])

        files = self._files
        name = files.stage(parent.path)
        directory = staging.Staging(parent, name, files.unfinished.made)
        try:
            members = self._members(file, how, beat)
            with member_reader.ArchiveErrors(archive, how.kind), closing(members):
                for member in members:
                    path = admission.admit(member)
                    if path:
                        hard = member.kind == member_filter.HARDLINK
                        linked = admission.linked(member) if hard else ""
                        directory.add(path, member, linked, beat)
            directory.finish(beat)
            last = _below(how.creates, how.parent)
            with self._context.unkillable():
                moved = directory.move(last, files.sync_directory or sync_now)
        finally:
            self._discard(directory)
            files.staged(name)
        return [os.path.join(how.parent, path) for path in moved]

    def _discard(self, directory: staging.Staging) -> None:
        """Remove a directory, which may take long if it is large; a cancelled run waits for this,
        too.
        """
        with self._context.cancellation.protected(begun=True):
            directory.discard()


def _below(path: str, parent: str) -> str:
    """Return a path relative to the directory that contains it, "" for a path outside."""
    top = parent.rstrip("/") + "/"
    return path[len(top) :] if path.startswith(top) else ""
