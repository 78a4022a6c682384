"""The port for checkouts of Git repositories: the common parts of both implementations (target).

A checkout is a directory with a working tree and its repository in ``.git``. The machine queries
and runs git. The overlay of a preview only queries the host for the checkout, and the remote for
the commit.
"""

from typing import NamedTuple, Optional

from remote_runtime.errors import ResourceError

BRANCH, TAG, COMMIT = "branch", "tag", "commit"


class Source(NamedTuple):
    """The origin of a checkout, and how git accesses it.

    ``user`` and ``group`` run git for a new checkout, None for those of the run; for an existing
    checkout, its owner does. ``depth`` is the number of commits, 0 for all. ``timeout`` in seconds,
    for each call. ``ssh_key``, ``known_host``, ``username`` and ``token`` are "" if they are not
    set.
    """

    url: str = ""
    ref: str = ""
    user: Optional[str] = None
    group: Optional[str] = None
    depth: int = 0
    submodules: bool = True
    timeout: float = 600
    ssh_key: str = ""
    known_host: str = ""
    username: str = ""
    token: str = ""


class Target(NamedTuple):
    """The result of a ref: a ``commit``, and the ``name`` of the branch or tag.

    ``kind`` is branch, tag or commit.
    """

    commit: str
    kind: str = COMMIT
    name: str = ""


class Checkout(NamedTuple):
    """The checkout at a path.

    ``url`` is the URL of the remote ``origin``, ``commit`` is "" before the first commit,
    ``branch`` is "" for a detached HEAD. ``is_at_ref``: HEAD is on the branch or tag that the
    source names, as far as the host knows. ``is_current``: every submodule has the commit that the
    tree records. ``was_cut``: an earlier update by ccm did not complete.
    """

    url: str
    commit: str
    branch: str
    uid: int
    gid: int
    is_at_ref: bool
    is_current: bool
    was_cut: bool


class CheckoutReader(object):
    """Reads checkouts, as their owner. Fetches nothing."""

    def find(self, path: str, source: Source) -> Optional[Checkout]:
        """The checkout at a path; None for nothing or an empty directory.

        ``ResourceError`` for anything else.
        """
        raise NotImplementedError

    def resolve(self, path: str, source: Source) -> Target:
        """The current target of the source's ref; queries the remote unless the ref is a commit.
        ``ResourceError``; in a preview, ``Unknowable`` if the remote cannot be queried.
        """
        raise NotImplementedError

    def changes(self, path: str) -> str:
        """The first local changes of tracked files as text, "" for none."""
        raise NotImplementedError


class Checkouts(CheckoutReader):
    """Reads and changes checkouts. Local changes are refused unless ``force`` discards them."""

    def clone(self, path: str, source: Source, target: Optional[Target]) -> None:
        """Create a checkout next to its path and rename it; with ``target`` None, the remote is
        queried.
        """
        raise NotImplementedError

    def update(
        self, path: str, source: Source, target: Optional[Target], force: bool = False
    ) -> None:
        """Set the URL and the submodules of the source, and check out the target; None keeps the
        commit."""
        raise NotImplementedError

    def remove(self, path: str, force: bool = False) -> None:
        """Remove a checkout. Refused for changed, untracked, stashed or unpublished content unless
        ``force`` is set."""
        raise NotImplementedError


def refused(path: str, what: str) -> ResourceError:
    """The error for local content that would be lost."""
    return ResourceError(
        "%s has %s" % (path, what),
        kind="resource.git.local",
        hint="commit and push them, or discard them; see: ccm docs git",
    )


def commit_of(ref: str) -> str:
    """The commit, if a ref is a full commit hash; "" for any other ref."""
    whole = len(ref) in (40, 64) and all(char in "0123456789abcdef" for char in ref)
    return ref if whole else ""
