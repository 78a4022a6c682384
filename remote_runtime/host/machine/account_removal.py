"""Removes a user's files once the user is removed (target)."""

import errno
import os
import stat
from contextlib import contextmanager
from typing import Iterator, List, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.system.account_files import User
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.files import Files
from remote_runtime.system.pending_fsyncs import sync_now

_OPEN = (getattr(os, "O_PATH", 0) or os.O_RDONLY) | os.O_NOFOLLOW


@contextmanager
def removed_with(files: Files, user: User, paths: Sequence[str]) -> Iterator[None]:
    """Remove a user's files and directories once the block has removed the user.

    Nothing is removed before, and nothing at all if the user still exists. The journal names the
    paths, so that the next run completes a removal that was interrupted after the user was removed.
    A failed removal is an error, which states that the user is gone.
    """
    for path in paths:
        status = files.status(path)
        files.obstacles(path).removing(tree=status is not None and status.kind == "directory")
    opened_paths: List[_OpenedPath] = []
    try:
        try:
            for path in paths:
                opened_paths.append(_OpenedPath(files, user, path))
            yield
        except BaseException:
            if _is_there(user):
                for each in opened_paths:
                    files.unfinished.settled(each.path)
            else:
                _remove(files, user, opened_paths)
            raise
        error = _remove(files, user, opened_paths)
        if error is not None:
            raise error
    finally:
        for each in opened_paths:
            os.close(each.opened)
        files.walker.forget()


class _OpenedPath(object):
    """A path of the user that still refers to the opened file or directory."""

    def __init__(self, files: Files, user: User, path: str) -> None:
        self.place = files.place(path, "remove")
        self.path = os.path.join(self.place.directory.path, self.place.name)
        try:
            self.opened = os.open(self.place.name, _OPEN, dir_fd=self.place.directory.descriptor)
        except OSError as error:
            raise failure("remove", path, error) from error
        if os.fstat(self.opened).st_uid != user.uid:
            os.close(self.opened)
            raise _replaced(path)
        files.unfinished.leaves(user.name, self.path, self.opened)

    def remove(self) -> None:
        """Remove the opened directory; ResourceError if something else is in its place."""
        from remote_runtime.system.remove_tree import clear

        at = self.place.directory.descriptor
        if stat.S_ISDIR(os.fstat(self.opened).st_mode):
            clear(self.place, self.opened)
        else:
            try:
                status = os.stat(self.place.name, dir_fd=at, follow_symlinks=False)
                if not os.path.samestat(status, os.fstat(self.opened)):
                    raise _replaced(self.path)
                os.unlink(self.place.name, dir_fd=at)
            except FileNotFoundError:
                pass  # the program that removes users may remove it
            except OSError as error:
                raise failure("remove", self.path, error) from error
        try:
            sync_now(at)
        except OSError as error:
            raise failure("remove", self.path, error) from error


def _remove(
    files: Files, user: User, opened_paths: Sequence[_OpenedPath]
) -> Optional[ResourceError]:
    """Return the first error; paths that could not be removed remain in the journal."""
    first: Optional[ResourceError] = None
    for each in opened_paths:
        try:
            each.remove()
            files.unfinished.settled(each.path)
        except ResourceError as error:
            first = first or ResourceError(
                "the user %s was removed, but %s" % (user.name, error.message),
                kind=error.kind,
                hint=error.hint or "check the directory; the next push tries again",
            )
    return first


def _is_there(user: User) -> bool:
    """Return whether the user exists; True if the users cannot be read."""
    import pwd

    try:
        pwd.getpwnam(user.name)
    except KeyError:
        return not pwd.getpwall()
    return True


def _replaced(path: str) -> ResourceError:
    return failure("remove", path, OSError(errno.ESTALE, "it was replaced"))
