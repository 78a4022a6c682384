"""Checkouts of Git repositories on the machine (target)."""

import os
import stat
from typing import TYPE_CHECKING, Callable, List, NoReturn, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.host import checkout_ports as port
from remote_runtime.host import file_ports
from remote_runtime.host.checkout_ports import (
    BRANCH,
    COMMIT,
    TAG,
    Checkout,
    Source,
    Target,
    commit_of,
    refused,
)
from remote_runtime.host.machine import git
from remote_runtime.host.machine.writable_directories import require_own_way
from remote_runtime.system.accounts import own_group

if TYPE_CHECKING:
    from remote_runtime.host.account_reader import AccountReader
    from remote_runtime.host.file_ports import FileReader, Node
    from remote_runtime.host.machine.files import Files
    from remote_runtime.system.process.commands import Commands, Result

_HEAD = "refs/ccm/checkout"
_OWNER = "resource.git.owner"
_EVERY = "*"  # no name of a branch
_MAX_SHOWN = 3
_ASKING = 60  # seconds for a question to a remote
# One call of a shell answers all; each answer is one line.
_LOOK = """\
git_() { git "$@"; }
skipped() {  # whether the settings keep the submodule at a path from being updated
    top=$1
    while test "$top" != . && ! test -e "$top/.gitmodules"; do
        case $top in */*) top=${top%/*} ;; *) top=. ;; esac
    done
    git_ -C "$top" config -f .gitmodules --name-only --get-regexp '[.]path$' |
        while IFS= read -r key; do
            at=$(git_ -C "$top" config -f .gitmodules --get "$key")
            test "$1" = "$at" || test "$1" = "$top/$at" || continue
            key=${key%.path}.update
            git_ -C "$top" config --get "$key" || git_ -C "$top" config -f .gitmodules --get "$key"
        done | grep -qx none
}
git_ rev-parse --git-dir >/dev/null || exit 1
git_ rev-parse -q --verify 'HEAD^{commit}' || echo
git_ symbolic-ref -q --short HEAD || echo
git_ config --get remote.origin.url || echo
for ref in "refs/tags/$1" "refs/remotes/origin/$1" "$1"; do
    git_ rev-parse -q --verify "$ref^{commit}" || echo
done
git_ rev-parse -q --verify 'refs/ccm/pending^{commit}' || echo
if test "$2" = yes && test -e .gitmodules; then
    git_ submodule status --recursive | while IFS= read -r line; do
        case $line in
            " "*) ;;
            -*) skipped "${line#* }" || printf - ;;
            *) printf + ;;
        esac
    done
fi
echo
"""
_ANSWERS = 8


class CheckoutReader(port.CheckoutReader):
    """Queries git on the machine, as the owner of the checkout."""

    def __init__(self, files: "FileReader", adapter: "Commands") -> None:
        self._files, self._adapter = files, adapter

    # -- what is there ----------------------------------------------------------------------------

    def find(self, path: str, source: Source) -> Optional[Checkout]:
        """See the base class. One shell script queries git for everything, as the owner of the
        checkout.
        """
        node = self._repository(path)
        if node is None:
            return None
        ref, wants = source.ref, "yes" if source.submodules else "no"
        call = git.local(os.path.dirname(path))
        script = _LOOK.replace("git_() { git", "git_() { %s" % git.quoted(call.words), 1)
        done = self._as_owner(node, path, ["sh", "-c", script, "sh", ref, wants], call)
        lines = done.stdout.split("\n")
        if done.code != 0 or len(lines) < _ANSWERS:
            self._fail("read the checkout %s" % path, done)
        commit, branch, url, tag, remote, exact, cut, states = lines[:_ANSWERS]
        at_ref = (
            not ref
            or (bool(branch) and ref in (branch, "refs/heads/" + branch))
            or bool(commit and commit in (tag, ref))
            or bool(not branch and commit and commit in (remote, exact))
        )
        return Checkout(
            url=url,
            commit=commit,
            branch=branch,
            uid=node.uid,
            gid=node.gid,
            is_at_ref=at_ref,
            is_current=not states.strip(),
            was_cut=bool(cut),
        )

    def _repository(self, path: str) -> "Optional[Node]":
        """The directory of a checkout, None if one can be created."""
        node = self._files.lstat(path)
        if node is None:
            return None
        if node.kind != "directory":
            raise _not_a_checkout(path, "it is a %s" % node.kind)
        inside = self._files.lstat(os.path.join(path, ".git"))
        if inside is None:
            names = self._files.entries(path)
            if not names:
                return None
            if {"HEAD", "objects", "refs"} <= set(names):
                raise _not_a_checkout(path, "it is a bare repository, which is not supported")
            more = " and %d more" % (len(names) - _MAX_SHOWN) if names[_MAX_SHOWN:] else ""
            name_list = ", ".join(names[:_MAX_SHOWN])
            raise _not_a_checkout(path, "it contains %s%s" % (name_list, more))
        if inside.kind != "directory":
            reason = "its .git is a %s, as in a submodule or linked worktree" % inside.kind
            raise _not_a_checkout(path, reason)
        self._require_own(path, node, inside)
        return node

    def _require_own(self, path: str, node: "Node", inside: "Node") -> None:
        """``ResourceError`` for a repository in which git must not be run."""
        if os.geteuid() not in (0, node.uid):
            raise ResourceError(
                "%s belongs to the user %d, and ccm runs as %d" % (path, node.uid, os.geteuid()),
                kind=_OWNER,
                hint="set become: true for this host, or push as the owner",
            )
        if node.uid == 0:
            require_own_way(self._files, path, _OWNER)
        config = self._files.lstat(os.path.join(path, ".git", "config"))
        for name, node_below in (("", node), (".git", inside), (".git/config", config)):
            if node_below is None:
                continue
            at = os.path.join(path, name).rstrip("/")
            if node_below.uid != node.uid:
                raise ResourceError(
                    "%s belongs to the user %d, but %s belongs to the user %d"
                    % (at, node_below.uid, path, node.uid),
                    kind=_OWNER,
                    hint="make one user the owner of the whole checkout",
                )
            shared = node_below.mode & stat.S_IWOTH or (
                node_below.mode & stat.S_IWGRP and node_below.gid != 0
            )
            if node.uid == 0 and shared:
                raise ResourceError(
                    "users other than root can change %s, and git would run as root" % at,
                    kind=_OWNER,
                    hint=(
                        "allow only root to write to it, or make a regular user the "
                        "owner of the checkout"
                    ),
                )

    def changes(self, path: str) -> str:
        node = self._repository(path)
        return "" if node is None else _shown(self._changed(node, path))

    def _changed(self, node: "Node", path: str, untracked: bool = False) -> List[str]:
        """The tracked files that differ from HEAD, with ``untracked`` also others."""
        words = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"]
        words.append("--untracked-files=%s" % ("normal" if untracked else "no"))
        done = self._git(node, path, words)
        if done.code != 0:
            self._fail("look for local changes in %s" % path, done)
        return [entry[3:] for entry in done.stdout.split("\0") if entry]

    def _has_own_commits(self, node: "Node", path: str, branch: str = "") -> bool:
        """Return whether HEAD, or a local branch, has commits that are not on a known remote
        branch.

        ``*`` means every local branch.
        """
        born = self._git(node, path, ["rev-parse", "-q", "--verify", "HEAD^{commit}"])
        refs = ["HEAD"] if born.code == 0 else []
        if branch == _EVERY:
            refs.append("--branches")
        elif branch:
            there = self._git(node, path, ["show-ref", "-q", "--verify", "refs/heads/" + branch])
            refs += ["refs/heads/" + branch] if there.code == 0 else []
        if not refs:
            return False
        words = ["rev-list", "--max-count=1", *refs, "--not", "--remotes", "--tags"]
        done = self._git(node, path, [*words, "--glob=refs/ccm/*"])
        if done.code != 0:
            self._fail("look for local commits in %s" % path, done)
        return bool(done.stdout.strip())

    # -- what the remote has ----------------------------------------------------------------------

    def resolve(self, path: str, source: Source) -> Target:
        """See the base class. Runs ``git ls-remote`` unless the ref is a commit. A branch takes
        precedence over a tag.
        """
        commit = commit_of(source.ref)
        if commit:
            return Target(commit)
        ref = source.ref
        patterns = ["HEAD"]
        if ref.startswith("refs/"):
            patterns = [ref, ref + "^{}"]
        elif ref:
            patterns = ["refs/heads/" + ref, "refs/tags/" + ref, "refs/tags/%s^{}" % ref]
        call = git.remote("/", source)
        words = [*call.words, "ls-remote", "-q", "--upload-pack=git-upload-pack", "--symref"]
        user, group = self._asking_as(path, source)
        done = self._run(
            [*words, "--", source.url, *patterns],
            call,
            cwd="/",
            user=user,
            group=group,
            timeout=min(source.timeout, _ASKING),
        )
        if done.timed_out or done.code != 0:
            self._unreachable(source, done)
        hashes, head = {}, ""
        for line in done.stdout.splitlines():
            value, _, name = line.partition("\t")
            if value.startswith("ref: ") and name == "HEAD":
                head = value[len("ref: ") :]
            elif name in patterns:
                hashes[name] = value
        if not ref:
            if "HEAD" not in hashes:
                raise _missing(source, "has no commits on its default branch")
            return _target(hashes["HEAD"], head)
        for name in patterns:
            if name in hashes and not name.endswith("^{}"):
                return _target(hashes.get(name + "^{}", hashes[name]), name)
        raise _missing(source, "has no branch or tag %s" % ref)

    def _asking_as(self, path: str, source: Source) -> Tuple[Optional[str], Optional[str]]:
        """Return the user who contacts the remote: the owner of the existing checkout, or else the
        desired owner.

        Only the desired owner uses credentials.
        """
        node = self._files.lstat(path)
        if node is not None and source.user is None:
            _require_trusted(node, path, source, os.geteuid())
            return _identity(node)
        if node is not None and not _has_secrets(source) and self._files.entries(path):
            return _identity(node)
        return source.user, source.group

    def _unreachable(self, source: Source, done: "Result") -> NoReturn:
        self._fail("list the refs of %s" % source.url, done, min(source.timeout, _ASKING))

    # -- calls ------------------------------------------------------------------------------------

    def _git(self, node: "Node", path: str, words: Sequence[str]) -> "Result":
        """Call git in a checkout without contacting a remote."""
        call = git.local(os.path.dirname(path))
        return self._as_owner(node, path, [*call.words, *words], call)

    def _as_owner(self, node: "Node", path: str, argv: List[str], call: git.Call) -> "Result":
        user, group = _identity(node)
        return self._run(argv, call, cwd=path, user=user, group=group, timeout=_ASKING * 10)

    def _run(
        self,
        argv: List[str],
        call: git.Call,
        *,
        cwd: str,
        user: Optional[str],
        group: Optional[str],
        timeout: float,
    ) -> "Result":
        self._require_git()
        return self._adapter.run(
            argv,
            cwd=cwd,
            env=call.environment,
            user=user,
            group=group,
            timeout=timeout,
            limit=4 << 20,
        )

    def _require_git(self) -> None:
        reason, hint = self._adapter.lacking("git")
        if reason:
            raise ResourceError(reason, kind="resource.command", hint=hint)

    def _fail(self, action: str, done: "Result", timeout: Optional[float] = None) -> NoReturn:
        raise ResourceError(
            "could not %s: git: %s" % (action, done.ending(timeout)),
            kind="resource.git",
            hint=_hint(done.stderr),
            output=done.tail(),
        )


class Checkouts(CheckoutReader, port.Checkouts):
    """Clones and updates; ``files`` are those of the machine."""

    _files: "Files"

    def __init__(
        self,
        files: "Files",
        accounts: "AccountReader",
        adapter: "Commands",
        tell: Callable[[str], object],
    ) -> None:
        super().__init__(files, adapter)
        self._accounts, self._tell = accounts, tell

    def clone(self, path: str, source: Source, target: Optional[Target]) -> None:
        """See the base class. Fetches into a directory next to the path, and renames it when it is
        complete.
        """
        wanted = target or self.resolve(path, source)
        self._require_git()
        mode, uid, gid = new_attributes(self._files, self._accounts, path, source)
        self._files.build_tree(
            path,
            lambda staged: self._fill(staged, source, wanted),
            mode=mode,
            uid=uid,
            gid=gid,
        )

    def _fill(self, path: str, source: Source, target: Target) -> None:
        """Create a checkout in an empty directory."""
        node = self._files.lstat(path)
        if node is None:
            raise ResourceError("%s was removed in the meantime" % path, kind="resource.git")
        for words in (["init", "-q"], ["remote", "add", "origin", source.url]):
            self._must(node, path, words, "create a repository")
        self._fetch(node, path, source, target)
        self._check_out(node, path, source=source, target=target, force=True)

    def update(
        self, path: str, source: Source, target: Optional[Target], force: bool = False
    ) -> None:
        """See the base class. Refuses local changes and commits. Records the target, so that the
        next run can complete the update.
        """
        node = self._repository(path)
        checkout = self.find(path, source)
        if node is None or checkout is None:
            raise ResourceError("there is no checkout at %s" % path, kind="resource.git")
        self._require_git()
        if checkout.url != source.url:
            doing = (
                ["set-url", "origin", source.url] if checkout.url else ["add", "origin", source.url]
            )
            self._must(node, path, ["remote", *doing], "set the URL")
        if target is None:
            self._submodules(node, path, source, force)
            return
        discards = force or self._is_left_half(node, path, checkout)
        changed = [] if discards else self._changed(node, path)
        if changed:
            raise refused(path, _shown(changed))
        branch = target.name if target.kind == BRANCH else ""
        own = not force and self._has_own_commits(node, path, branch)
        self._fetch(node, path, source, target)
        if own and self._has_own_commits(node, path, branch):
            raise refused(path, "local commits that its remote does not have")
        self._must(node, path, ["update-ref", git.CUT, target.commit], "record the update")
        with self._adapter.protected(begun=True):
            try:
                self._check_out(node, path, source=source, target=target, force=discards)
            except ResourceError:
                if not discards and self._is_untouched(node, path, checkout):
                    self._must(node, path, ["update-ref", "-d", git.CUT], "record the update")
                raise
            self._must(node, path, ["update-ref", "-d", git.CUT], "record the update")

    def _is_untouched(self, node: "Node", path: str, checkout: Checkout) -> bool:
        """Return whether git refused before it changed anything."""
        at = self._git(node, path, ["rev-parse", "-q", "--verify", "HEAD^{commit}"])
        return at.stdout.strip() == checkout.commit and not self._changed(node, path)

    def _is_left_half(self, node: "Node", path: str, checkout: Checkout) -> bool:
        """Return whether the only differences were left by an interrupted update by ccm."""
        if not checkout.was_cut:
            return False
        from remote_runtime.host.machine import interrupted_update

        lock = os.path.join(path, ".git", "index.lock")
        if self._files.lstat(lock) is not None:
            self._files.unlink(lock, kind="file")
        return interrupted_update.is_harmless(self, self._files, node, path)

    def _fetch(self, node: "Node", path: str, source: Source, target: Target) -> None:
        """Get the commit of the target and, without a depth, every branch and tag."""
        fetch = ["fetch", "-q", "--force", "--no-recurse-submodules"]
        fetch.append("--upload-pack=git-upload-pack")
        self._tell("fetching %s" % source.url)
        if source.depth:
            refs = {
                BRANCH: "+refs/heads/%s:refs/remotes/origin/%s",
                TAG: "+refs/tags/%s:refs/tags/%s",
            }
            spec = target.commit
            if target.kind in refs:
                spec = refs[target.kind] % (target.name, target.name)
            words = [*fetch, "--no-tags", "--depth=%d" % source.depth, "origin", spec]
            done = self._reach(node, path, source, words)
            if done.code == 0 and self._has(node, path, target):
                return
        whole = [*fetch, "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"]
        if self._files.lstat(os.path.join(path, ".git", "shallow")) is not None:
            whole.insert(1, "--unshallow")
        done = self._reach(node, path, source, whole)
        if done.code != 0 or done.timed_out:
            self._fail("fetch from %s" % source.url, done, source.timeout)
        if not self._has(node, path, target):
            done = self._reach(node, path, source, [*fetch, "origin", target.commit])
            if done.code != 0:
                self._fail("fetch %s from %s" % (target.commit, source.url), done, source.timeout)

    def _has(self, node: "Node", path: str, target: Target) -> bool:
        return self._git(node, path, ["cat-file", "-e", target.commit + "^{commit}"]).code == 0

    def _check_out(
        self, node: "Node", path: str, *, source: Source, target: Target, force: bool
    ) -> None:
        words = ["checkout", "-q", "--no-recurse-submodules", *(["--force"] if force else [])]
        words += ["-B", target.name] if target.kind == BRANCH else ["--detach"]
        done = self._reach(node, path, source, [*words, target.commit, "--"])
        if done.code != 0:
            self._fail("check out %s in %s" % (target.commit, path), done, source.timeout)
        if target.kind == BRANCH:
            for key, value in (("remote", "origin"), ("merge", "refs/heads/" + target.name)):
                name = "branch.%s.%s" % (target.name, key)
                self._must(node, path, ["config", name, value], "set the upstream")
        self._must(node, path, ["update-ref", _HEAD, target.commit], "record the commit")
        self._submodules(node, path, source, force)

    def _submodules(self, node: "Node", path: str, source: Source, force: bool) -> None:
        modules = os.path.join(path, ".gitmodules")
        if not source.submodules or self._files.lstat(modules) is None:
            return
        self._must(node, path, ["submodule", "-q", "sync", "--recursive"], "update submodules")
        words = ["submodule", "-q", "update", "--init", "--recursive"]
        done = self._reach(node, path, source, [*words, *(["--force"] if force else [])])
        if done.code != 0 or done.timed_out:
            self._fail("update the submodules of %s" % path, done, source.timeout)

    def remove(self, path: str, force: bool = False) -> None:
        require_removable(self, path, force)
        self._files.remove_tree(path)

    def _reach(self, node: "Node", path: str, source: Source, words: Sequence[str]) -> "Result":
        """Call git in a checkout with possible contact to its remote."""
        wanted = os.geteuid() if source.user is None else self._accounts.uid(source.user)
        _require_trusted(node, path, source, wanted)
        call = git.remote(os.path.dirname(path), source)
        user, group = _identity(node)
        group = source.group if user and source.group else group
        return self._run(
            [*call.words, *words], call, cwd=path, user=user, group=group, timeout=source.timeout
        )

    def _must(self, node: "Node", path: str, words: Sequence[str], action: str) -> None:
        done = self._git(node, path, words)
        if done.code != 0:
            self._fail("%s in %s" % (action, path), done)


def require_removable(reader: CheckoutReader, path: str, force: bool) -> None:
    """``ResourceError`` for a checkout that contains local work."""
    node = reader._repository(path)
    if force or node is None:
        return
    changed = reader._changed(node, path, untracked=True)
    if changed:
        raise refused(path, _shown(changed))
    if reader._has_own_commits(node, path, _EVERY):
        raise refused(path, "local commits that its remote does not have")
    if reader._git(node, path, ["show-ref", "-q", "--verify", "refs/stash"]).code == 0:
        raise refused(path, "stashed changes")


def new_attributes(
    files: "FileReader", accounts: "AccountReader", path: str, source: Source
) -> Tuple[int, int, int]:
    """The mode, owner and group of a new checkout; ``OURS`` for those of the run. An existing empty
    directory keeps its own.
    """
    node = files.lstat(path)
    mode = 0o755 if node is None else node.mode
    uid, gid = (file_ports.OURS, file_ports.OURS) if node is None else (node.uid, node.gid)
    if source.user is not None:
        known = accounts.uid(source.user)
        if known is None:
            raise _unknown("user", source.user)
        uid = known
        entry = accounts.user(source.user)
        gid = entry.gid if entry is not None else _primary(uid)
    if source.group is not None:
        known = accounts.gid(source.group)
        if known is None:
            raise _unknown("group", source.group)
        gid = known
    if os.geteuid() == 0 and uid in (0, file_ports.OURS):
        require_own_way(files, path, _OWNER)
    return mode, uid, gid


def _primary(uid: int) -> int:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_gid
    except (KeyError, OverflowError):
        return uid


def _unknown(kind: str, name: str) -> ResourceError:
    return ResourceError(
        "the %s %s does not exist" % (kind, name),
        kind="resource.account",
        hint="create it in an earlier resource",
    )


def _identity(node: "Node") -> Tuple[Optional[str], Optional[str]]:
    """The owner of a checkout, as commands are run; None for the run's own user."""
    if node.uid == os.geteuid():
        return None, None
    return str(node.uid), own_group(node.uid, node.gid)


def _has_secrets(source: Source) -> bool:
    return bool(source.ssh_key or source.token)


def _require_trusted(node: "Node", path: str, source: Source, uid: Optional[int]) -> None:
    """``ResourceError`` if the owner of a directory would get credentials for another user."""
    if _has_secrets(source) and node.uid != uid:
        raise ResourceError(
            "%s belongs to the user %d, who would get the credentials" % (path, node.uid),
            kind=_OWNER,
            hint="set owner to that user if the user is trusted, or use another path",
        )


def _shown(paths: Sequence[str]) -> str:
    """Local changes as text; "" if there are none."""
    if not paths:
        return ""
    more = " and %d more" % (len(paths) - _MAX_SHOWN) if paths[_MAX_SHOWN:] else ""
    return "local changes: %s%s" % (", ".join(paths[:_MAX_SHOWN]), more)


def _target(commit: str, name: str) -> Target:
    for kind, prefix in ((BRANCH, "refs/heads/"), (TAG, "refs/tags/")):
        if name.startswith(prefix):
            return Target(commit, kind, name[len(prefix) :])
    return Target(commit, COMMIT)


def _missing(source: Source, what: str) -> ResourceError:
    hint = "check url and ref; a commit needs its full hash of 40 digits"
    return ResourceError("%s %s" % (source.url, what), kind="resource.git.ref", hint=hint)


def _not_a_checkout(path: str, reason: str) -> ResourceError:
    return ResourceError(
        "%s is not a git checkout: %s" % (path, reason),
        kind="resource.git.path",
        hint="move it away, or use another path",
    )


def _hint(stderr: str) -> str:
    """Return a hint for a failure of git."""
    if "Host key verification failed" in stderr:
        return "set known_host to the host key of the server, in the format of known_hosts"
    if "Permission denied (publickey" in stderr:
        return "set ssh_key to a private key that the server accepts"
    if "could not read Username" in stderr or "Authentication failed" in stderr:
        return "set token, and username if the server needs one"
    if "dubious ownership" in stderr:
        return "the repository on the host belongs to another user: set owner to that user"
    return ""
