"""The identity under which hosts store a manifest, which is the same for every checkout
(controller).
"""

import os

from orchestrator.sources.address import is_url

_REPOSITORIES = (".git", ".hg", ".jj", ".svn")


def identity(path: str) -> str:
    """The name of the repository's top directory with the path below it; the absolute path outside
    of a repository.

    The identity of an archive is its URL without the digest.

    Links are not followed, so a manifest keeps its identity as long as its path does not change.
    """
    if is_url(path):
        return path.partition("#")[0]
    path = os.path.abspath(path)
    top = repository(path)
    if not top:
        return path
    return os.path.join(os.path.basename(top), os.path.relpath(path, top)).lstrip("/")


def repository(path: str) -> str:
    """The top directory of the repository that contains a file; "" for none."""
    if is_url(path):
        return ""
    top = os.path.dirname(os.path.abspath(path))
    while not any(os.path.exists(os.path.join(top, name)) for name in _REPOSITORIES):
        above = os.path.dirname(top)
        if above == top:
            return ""
        top = above
    return top
