"""Distinguishes the remains of an interrupted update of a checkout from changes by others (target).

The next update discards the remains and keeps the changes. ``checkouts`` is the calling
``CheckoutReader``, whose module imports this one. Nothing in the checkout changes.
"""

import os
from typing import TYPE_CHECKING, Any, Mapping, Set

from remote_runtime.host.machine import git

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import FileReader, Node

# The index is a copy, so that nothing in the checkout changes; update-index ends with 1 for files
# that differ.
_EDITED = """\
git_() { git "$@"; }
d=$(mktemp -d) || exit
trap 'rm -rf "$d"' EXIT
export GIT_INDEX_FILE="$d/index"
git_ read-tree "$1" || exit
git_ update-index -q --refresh > "$d/said"
git_ diff-files -z --name-only --diff-filter=d --ignore-submodules=all
"""
_BEGUN = """\
git_() { git "$@"; }
git_ hash-object --no-filters -- "$1" || exit 1
git_ cat-file --filters "refs/ccm/pending:$1" | head -c "$2" | git_ hash-object --stdin
"""


def is_harmless(checkouts: Any, files: "FileReader", node: "Node", path: str) -> bool:
    """Return whether every file that the update changes has the content from one of its two
    commits.

    ``ResourceError`` if git cannot determine it.
    """
    words = ["diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=all"]
    done = checkouts._git(node, path, [*words, "--name-status", "HEAD", git.CUT])
    if done.code != 0:
        checkouts._fail("compare the interrupted update in %s" % path, done)
    fields = done.stdout.split("\0")
    left = dict(zip(fields[1::2], fields[::2]))
    if not set(checkouts._changed(node, path)) <= set(left):
        return False
    if any(_is_in_the_way(files, path, name, left) for name in left):
        return False
    old, new = (
        _edited(checkouts, node, path, "HEAD"),
        _edited(checkouts, node, path, git.CUT),
    )
    for name, kind in left.items():
        edited = (kind == "A" or name in old) and (kind == "D" or name in new)
        if edited and not _is_begun(checkouts, files, node=node, path=path, name=name):
            return False
    return True


def _is_in_the_way(files: "FileReader", path: str, name: str, left: Mapping[str, str]) -> bool:
    """Return whether something that the update did not write blocks the path of a file or its
    directory."""
    there = files.lstat(os.path.join(path, name))
    if there is not None and there.kind not in ("file", "symlink"):
        return True
    above = os.path.dirname(name)
    while above:
        there = files.lstat(os.path.join(path, above))
        if there is not None and there.kind != "directory" and above not in left:
            return True
        above = os.path.dirname(above)
    return False


def _edited(checkouts: Any, node: "Node", path: str, commit: str) -> Set[str]:
    """The files of a commit that exist with different content."""
    call = git.local(os.path.dirname(path))
    script = _EDITED.replace("git_() { git", "git_() { %s" % git.quoted(call.words), 1)
    done = checkouts._as_owner(node, path, ["sh", "-c", script, "sh", commit], call)
    if done.code != 0:
        checkouts._fail("compare %s with %s" % (path, commit), done)
    return set(done.stdout.split("\0")) - {""}


def _is_begun(checkouts: Any, files: "FileReader", *, node: "Node", path: str, name: str) -> bool:
    """Return whether a file contains the beginning of the update's new content."""
    there = files.lstat(os.path.join(path, name))
    if there is None or there.kind != "file":
        return False
    call = git.local(os.path.dirname(path))
    script = _BEGUN.replace("git_() { git", "git_() { %s" % git.quoted(call.words), 1)
    done = checkouts._as_owner(node, path, ["sh", "-c", script, "sh", name, str(there.size)], call)
    lines = done.stdout.split()
    return done.code == 0 and len(lines) == 2 and lines[0] == lines[1]
