"""By what hosts remember a manifest, wherever a copy of it is pushed from (controller)."""

import os

from orchestrator.sources.address import is_url

_REPOSITORIES = (".git", ".hg", ".jj", ".svn")


def identity(path: str) -> str:
    """The name of its repository's top folder and the path below that, without a repository the
    absolute path.

    That of an archive is its URL without the digest.

    Links are not followed: a manifest keeps its identity where it is reached by the same path.
    """
    if is_url(path):
        return path.partition("#")[0]
    path = os.path.abspath(path)
    top = repository(path)
    if not top:
        return path
    return os.path.join(os.path.basename(top), os.path.relpath(path, top)).lstrip("/")


def repository(path: str) -> str:
    """The top folder of the repository that a file stands in; "" for none."""
    if is_url(path):
        return ""
    top = os.path.dirname(os.path.abspath(path))
    while not any(os.path.exists(os.path.join(top, name)) for name in _REPOSITORIES):
        above = os.path.dirname(top)
        if above == top:
            return ""
        top = above
    return top
