"""Archives over HTTP and HTTPS, extracted with the standard library (target)."""

import os
from typing import TYPE_CHECKING, Any, Callable, List, Optional

from remote_runtime import requirements
from remote_runtime.base import Properties
from remote_runtime.base import Provider as BaseProvider
from remote_runtime.changes import HASHED
from remote_runtime.downloads.limit import Limit, Pulse
from remote_runtime.errors import ResourceError
from remote_runtime.lean.digest import sha256
from remote_runtime.resources.archive.settings import Settings
from remote_runtime.system.attributes import Attributes
from remote_runtime.system.errno_messages import failure

if TYPE_CHECKING:
    from remote_runtime.resources.archive.members import Admission, Members
    from remote_runtime.resources.archive.staging import Staging
    from remote_runtime.system.files import Status
    from remote_runtime.system.temporary import Temporary
    from remote_runtime.system.walk import Directory

_BLOCK = 256 << 10
_LARGEST = 10 << 30  # bytes of an archive, unless more may be extracted from it
_PARENT_MODE = 0o755
_OTHERS_WRITE = 0o022


class Provider(BaseProvider):
    """Downloads beside the destination; extracts beside what is there."""

    name = "http"
    priority = 1

    def unsupported_reason(self, properties: Properties) -> str:
        return ""

    # -- download ---------------------------------------------------------------------------------

    def download(self, path: str, settings: Settings) -> "Temporary":
        """Return a whole and checked download beside ``path``, for ``place`` or ``discard``."""
        from remote_runtime.downloads import receiving

        checksum = settings.checksum and HASHED + settings.checksum
        return receiving.download(
            self.context,
            path,
            request=settings.request,
            checksum=checksum,
            most=max(_LARGEST, settings.max_size),
        ).file

    def probe(self, path: str, settings: Settings) -> None:
        """Raise what ``download`` would, as far as a server tells without sending it."""
        from remote_runtime.downloads import probing

        checksum = settings.checksum and HASHED + settings.checksum
        probing.require(self.context, path, settings.request, checksum)

    def place(self, temporary: "Temporary", uid: int, gid: int, mode: int) -> None:
        """Give a download its attributes and put it where it belongs."""
        try:
            temporary.finish(uid, gid, mode, Attributes(self.context.commands))
            temporary.commit()
        finally:
            temporary.discard()

    def require(self, settings: Settings) -> None:
        """``ResourceError`` where this host cannot unpack archives of this kind."""
        from remote_runtime.resources.archive import reading

        program = reading.needs_program(settings.kind)
        if not program:
            reading.require(settings.kind)
            return
        missing = requirements.program(self.context, program, what="%s archives" % settings.kind)
        if missing:
            raise missing[0]

    def _program(self, settings: Settings) -> str:
        """The program that unpacks this kind of archive here, "" for none; ``ResourceError``."""
        from remote_runtime.resources.archive import reading

        program = reading.needs_program(settings.kind)
        if not program:
            return ""
        found = self.context.commands.find(program)
        if not found:
            raise ResourceError(
                "%s archives require the program %s or Python 3.14; this host has neither"
                % (settings.kind, program),
                kind="resource.archive.kind",
                hint="install the package %s in an earlier resource, or use a .tar.gz archive"
                % program,
            )
        return found

    def remove(self, path: str) -> None:
        """Remove the archive file."""
        self.context.files.remove(path)

    # -- extraction -------------------------------------------------------------------------------

    def survey(self, archive: str, settings: Settings) -> None:
        """Look at every member of the file ``archive``; ``ResourceError`` where that is not whole,
        or one would not be extracted."""
        pulse = Pulse(self.context, self._limit(archive, settings), "reading %s" % archive)
        with os.fdopen(self.context.files.opened(archive, "read"), "rb") as file:
            self._survey(file, archive, settings, pulse)

    def _limit(self, archive: str, settings: Settings) -> Limit:
        return Limit(
            self.context,
            settings.extract_timeout,
            "the extraction of %s" % archive,
            "extract_timeout",
        )

    def extract(
        self,
        archive: str,
        settings: Settings,
        fetched: Optional["Temporary"] = None,
        known: Optional["Status"] = None,
    ) -> List[str]:
        """Extract the file ``archive``, or the download of it; return the paths written.

        Nothing is written before all members are found harmless, nothing below ``extract_parent``
        is replaced before all of them are written. ``known``: its checksum was that of the manifest
        when this was its status. The file may be another one by now, by the swap of a directory on
        its way, so the checksum is that of what is opened here. Where others can change that since,
        a copy is extracted.
        """
        if fetched is not None:
            return self._extract(archive, settings, fetched.reopened())
        descriptor = self.context.files.opened(archive, "read")
        if known is None:
            return self._extract(archive, settings, descriptor)
        with os.fdopen(descriptor, "rb") as file:
            if not self._open_to_others(archive, os.fstat(file.fileno())):
                self._verified(file, archive, settings=settings, size=known.size)
                file.seek(0)
                return self._extract(archive, settings, os.dup(file.fileno()))
            self.survey(archive, settings)
            self._make_parent(settings.extract_parent)
            copy = self._copied(file, archive, settings=settings, size=known.size)
            try:
                return self._extract(archive, settings, copy.reopened())
            finally:
                copy.discard()

    def _open_to_others(self, archive: str, found: os.stat_result) -> bool:
        """Whether a user who is neither root nor ours can change what is in this file."""
        others = found.st_uid not in (0, os.geteuid()) or bool(found.st_mode & _OTHERS_WRITE)
        return others or self.context.files.in_shared_directory(archive)

    def _copied(self, file: Any, archive: str, *, settings: Settings, size: int) -> "Temporary":
        """A copy of so many bytes, ours alone and with the checksum that it must have; it is where
        its members go, since there is room to be."""
        name = os.path.join(settings.extract_parent, os.path.basename(archive))
        copy = self.context.files.temporary(name)
        try:
            self._verified(file, archive, settings=settings, size=size, take=copy.write)
        except BaseException:
            copy.discard()
            raise
        return copy

    def _verified(
        self,
        file: Any,
        archive: str,
        *,
        settings: Settings,
        size: int,
        take: Callable[[bytes], None] = lambda block: None,
    ) -> None:
        """``take`` all of a file; ``ResourceError`` where that is not so many bytes with the
        checksum of the manifest."""
        pulse = Pulse(self.context, self._limit(archive, settings), "reading %s" % archive)
        digest, read = sha256(size=size), 0
        while read <= size:
            block = file.read(_BLOCK)
            if not block:
                break
            read += len(block)
            pulse.beat(read)
            digest.update(block)
            take(block)
        if read != size or str(digest.hexdigest()) != settings.checksum:
            raise ResourceError(
                "%s changed during the run" % archive,
                kind="resource.archive.checksum",
                hint="nothing was extracted; find out what changes it",
            )

    def _make_parent(self, parent: str) -> None:
        if not self.context.files.exists(parent):
            self.context.files.create_directory(parent, _PARENT_MODE)

    def _extract(self, archive: str, settings: Settings, descriptor: int) -> List[str]:
        """Extract what is opened there, and close it."""
        from remote_runtime.resources.archive import staging

        limit = self._limit(archive, settings)
        pulse = Pulse(self.context, limit, "extracting %s" % archive)
        files, parent = self.context.files, settings.extract_parent
        with os.fdopen(descriptor, "rb") as file:
            try:
                kinds = self._survey(file, archive, settings, pulse)
                self._make_parent(parent)
                directory = files.directory(parent)
                staging.in_the_way(archive, directory, kinds)
                return self._write(file, directory, archive=archive, settings=settings, pulse=pulse)
            except OSError as error:
                raise failure("extract into", parent, error) from error

    def _survey(self, file: Any, archive: str, settings: Settings, pulse: Pulse) -> Any:
        """Look at every member and write nothing; return what they are, by path."""
        from contextlib import closing

        from remote_runtime.resources.archive import reading

        admission = _admission(archive, settings)
        found = self._members(file, settings, pulse.beat)
        with reading.Reading(archive, settings.kind), closing(found):
            for member in found:
                admission.admit(member)
        return admission.kinds

    def _members(self, file: Any, settings: Settings, beat: Callable[[], None]) -> "Members":
        from remote_runtime.resources.archive import reading

        program = self._program(settings)
        most = settings.max_size
        return reading.members(settings.kind, file, beat=beat, most=most, program=program)

    def _write(
        self, file: Any, parent: "Directory", *, archive: str, settings: Settings, pulse: Pulse
    ) -> List[str]:
        from contextlib import closing

        from remote_runtime.resources.archive import members, reading, staging
        from remote_runtime.system.directory_syncs import sync_now

        # Once more: what was looked at need not be what is read now.
        admission = _admission(archive, settings)
        written = [0]

        def beat(size: int = 0) -> None:
            written[0] += size
            pulse.beat(written[0])

        files = self.context.files
        name = files.stage(parent.path)
        directory = staging.Staging(parent, name, files.unfinished.made)
        try:
            found = self._members(file, settings, beat)
            with reading.Reading(archive, settings.kind), closing(found):
                for member in found:
                    path = admission.admit(member)
                    if path:
                        hard = member.kind == members.HARDLINK
                        linked = admission.linked(member) if hard else ""
                        directory.add(path, member, linked, beat)
            directory.finish(beat)
            last = _below(settings.creates, settings.extract_parent)
            with self.context.unkillable():
                moved = directory.move(last, files.sync_directory or sync_now)
        finally:
            self._discard(directory)
            files.staged(name)
        return [os.path.join(settings.extract_parent, path) for path in moved]

    def _discard(self, directory: "Staging") -> None:
        """A large directory takes its time to remove; a cancelled run waits for that as well."""
        with self.context.cancellation.protected(begun=True):
            directory.discard()


def _admission(archive: str, settings: Settings) -> "Admission":
    from remote_runtime.resources.archive.members import Admission

    return Admission(archive, settings.max_size, settings.max_members)


def _below(path: str, parent: str) -> str:
    """A path relative to the directory that it is in, "" where it is not."""
    top = parent.rstrip("/") + "/"
    return path[len(top) :] if path.startswith(top) else ""
