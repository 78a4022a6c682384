"""Syncs changes to disk before they are reported to the controller (target)."""

from typing import TYPE_CHECKING, Callable, Optional

from remote_runtime.protocol import wire

if TYPE_CHECKING:
    from remote_runtime.system.files import Files
    from remote_runtime.system.pending_fsyncs import DirectorySyncs


class DirectorySync(object):
    """Syncs the directories in which files were renamed, once per batch of events."""

    def __init__(self, files: "Files") -> None:
        self._files = files
        files.sync_directory = self.sync_directory
        self._syncs: Optional["DirectorySyncs"] = None  # once there is something to sync
        self._failed: Optional[OSError] = None  # which is not reported yet

    def sync_directory(self, directory: int) -> None:
        """Record that a file was renamed in this open directory, to report it later. ``OSError``"""
        if self._syncs is None:
            from remote_runtime.system.pending_fsyncs import DirectorySyncs

            self._syncs = DirectorySyncs()
        self._syncs.add(directory)

    def release(self) -> None:
        """Close all directories, because a command that starts may unmount their file systems."""
        self._files.walker.forget()
        if self._syncs is None:
            return
        try:
            self._syncs.sync()
        except OSError as error:
            self._failed = error

    def settle(self, heartbeat: Callable[[], None]) -> bytes:
        """Return once all changes so far are on disk, with a warning for the controller if they may
        not be. ``heartbeat`` is called in the meantime, as often as the controller needs it."""
        if self._syncs is None:
            return b""
        try:
            self._syncs.sync_while(heartbeat, wire.PING_INTERVAL)
        except OSError as error:
            self._failed = error
        failed, self._failed = self._failed, None
        if failed is None:
            return b""
        text = "a directory could not be synced: if this host loses power, files may be lost: %s"
        return wire.encode({"t": "notice", "level": "warning", "text": text % failed.strerror})
