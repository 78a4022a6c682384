"""Commits a saved manifest to a branch of the project's repository (controller).

Neither the files nor the checked-out branch change: the commit is the tip of the branch, or HEAD
for a new branch, with one file replaced. No hook runs, and nothing is pushed.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from orchestrator.studio.path_guard import refusal

_SECONDS = 30
_OFF = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")


def has_repository(root: Path) -> bool:
    """Whether a directory is in a Git repository."""
    return any((above / ".git").exists() for above in (root, *root.parents))


class Commit(NamedTuple):
    """A commit to create; ``author`` is the user of the studio, the committer comes from git."""

    branch: str
    message: str
    author: str


def commit(root: Path, name: str, data: bytes, wanted: Commit) -> str:
    """Commit ``data`` as the file ``name`` below ``root`` to a branch; the commit's ID.

    InputError.
    """
    branch = wanted.branch
    if not branch or _git(root, "check-ref-format", "--branch", branch, check=False) != branch:
        raise refusal(f"{branch[:80]!r} is not a valid branch name", "such as design/web")
    if branch == _git(root, "symbolic-ref", "--quiet", "--short", "HEAD", check=False):
        hint = "save without a commit and commit there, or choose another branch"
        raise refusal(f"the branch {branch} is checked out", hint)
    ref = f"refs/heads/{branch}"
    old = _git(root, "rev-parse", "--verify", "--quiet", ref, check=False)
    parent = old or _git(root, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    if not parent:
        raise refusal("the repository has no commits yet", "create the first one with git")
    top = Path(_git(root, "rev-parse", "--show-toplevel"))
    path = os.path.relpath(root / name, os.path.realpath(top))
    with tempfile.TemporaryDirectory(prefix="ccm-studio-") as private:
        index = {"GIT_INDEX_FILE": str(Path(private, "index"))}
        _git(top, "read-tree", parent, more=index)
        blob = _git(top, "hash-object", "-w", "--no-filters", "--stdin", data=data)
        mode = _mode(_git(top, "ls-tree", parent, "--", path))
        _git(top, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", more=index)
        tree = _git(top, "write-tree", more=index)
    if tree == _git(top, "rev-parse", f"{parent}^{{tree}}"):
        raise refusal(f"{branch} already has this content", "change something first")
    author = wanted.author
    who = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": f"{author}@ccm-studio"}
    text = (wanted.message.strip() or f"Change {name}").encode()
    made = _git(top, "commit-tree", tree, "-p", parent, data=text, more=who)
    _git(top, "update-ref", "-m", "ccm studio", ref, made, old or "0" * len(made))
    return made


def _mode(listed: str) -> str:
    mode = listed.partition(" ")[0]
    return mode if mode in ("100644", "100755") else "100644"


def _git(
    directory: Path,
    *words: str,
    data: bytes = b"",
    more: dict[str, str] | None = None,
    check: bool = True,
) -> str:
    command = ["git", *_OFF, "-C", str(directory), *words]
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_TERMINAL_PROMPT": "0",
        **(more or {}),
    }
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=_SECONDS, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise refusal(f"git cannot be run: {error}", "install git") from error
    if done.returncode and check:
        said = done.stderr.decode("utf-8", "replace").strip()[:300]
        raise refusal(f"git {words[0]} failed: {said}", "commit with git instead")
    return "" if done.returncode else done.stdout.decode("utf-8", "replace").strip()
