"""Checkouts of Git repositories in a preview (target): git reads the remote without fetching."""

import os
from typing import TYPE_CHECKING, List, NoReturn, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Below, PathEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host import checkout_ports as port
from remote_runtime.host.checkout_ports import BRANCH, Checkout, Source, Target, refused
from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.machine import git
from remote_runtime.host.machine.checkouts import (
    CheckoutReader as OnHost,
)
from remote_runtime.host.machine.checkouts import (
    new_attributes,
    require_removable,
)
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.host.account_reader import AccountReader
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.preview.change_record import Record
    from remote_runtime.host.preview.commands import Commands
    from remote_runtime.host.preview.files import Files
    from remote_runtime.overlay.host_overlay import HostOverlay
    from remote_runtime.system.process.commands import Result


class CheckoutReader(OnHost):
    """Queries git on the host itself, where planned changes cannot affect the answer."""

    def __init__(self, overlay: "HostOverlay", files: Optional[FileReader] = None) -> None:
        super().__init__(files or FileReader(overlay.files), overlay.host_commands)
        self._overlay = overlay

    def find(self, path: str, source: Source) -> Optional[Checkout]:
        """See the base class. Planned files in a checkout do not affect its submodules."""
        checkout = super().find(path, source)
        if checkout is not None and source.submodules and self._is_planned(path):
            return checkout._replace(is_current=True)  # files in it do not change its submodules
        return checkout

    def _repository(self, path: str) -> "Optional[Node]":
        node = super()._repository(path)
        if node is None:
            return None
        here = os.path.join(path, ".git")
        for name in ("HEAD", "config", "index"):  # what may be changed there is not certain
            self._files.lstat(os.path.join(here, name))
        if self._is_planned(here) or self._is_moved(path):
            raise Unknowable("an earlier resource changes the checkout %s" % path)
        return node

    def _changed(self, node: "Node", path: str, untracked: bool = False) -> List[str]:
        if self._is_planned(path):
            raise Unknowable("an earlier resource changes files in %s" % path)
        return super()._changed(node, path, untracked)

    def _is_planned(self, path: str) -> bool:
        """Return whether something is planned at a path or below it."""
        return self._overlay.layer.is_touched(self._overlay.layer.find(path, True).path)

    def _is_moved(self, path: str) -> bool:
        """Return whether a planned link or directory is part of the way to a path."""
        planned_path = self._overlay.layer.find(path, True)
        return planned_path.node is not None or bool(planned_path.laid)

    def resolve(self, path: str, source: Source) -> Target:
        """See the base class. ``Unknowable`` for a local repository that an earlier resource
        changes.
        """
        at = git.local_path(source.url)
        if at:
            self._overlay.files.exists(at)
            if self._is_planned(at) or self._is_moved(at):
                raise Unknowable("an earlier resource changes %s" % source.url)
        return super().resolve(path, source)

    def _asking_as(self, path: str, source: Source) -> Tuple[Optional[str], Optional[str]]:
        user, group = super()._asking_as(path, source)
        planned = self._overlay.accounts.planned
        if user is None or not any(kind in ("user", "group") for kind, _ in planned):
            return user, group
        if git.is_ssh(source.url) and not (source.ssh_key and source.known_host):
            raise Unknowable("an earlier resource changes the account that queries %s" % source.url)
        return None, None  # what anybody may ask, and with the same credentials

    def _unreachable(self, source: Source, done: "Result") -> NoReturn:
        try:
            super()._unreachable(source, done)
        except ResourceError as error:
            lines = done.stderr.strip().splitlines() or [""]
            message = next((line for line in lines if line.startswith("fatal: ")), lines[-1])
            reason = "%s%s" % (error.message, message and ": " + message)
            raise Unknowable(reason, hint=error.hint) from error

    def _require_git(self) -> None:
        if not self._overlay.commands.find("git"):
            super()._require_git()
        if not self._adapter.find("git"):
            raise Unknowable("git is not installed yet: an earlier resource installs it")


class Checkouts(CheckoutReader, port.Checkouts):
    """Records the changes of a checkout: the directory is certain, but not its content."""

    def __init__(
        self, record: "Record", files: "Files", accounts: "AccountReader", commands: "Commands"
    ) -> None:
        super().__init__(record.overlay, files)
        self._record, self._accounts, self._commands = record, accounts, commands
        self._paths: "Files" = files

    def clone(self, path: str, source: Source, target: Optional[Target]) -> None:
        """See the base class. The content of the new directory is unknown, because a preview clones
        nothing.
        """
        self._commands.require("git")
        mode, uid, gid = new_attributes(self._paths, self._accounts, path, source)
        self._paths.require_building(path, mode, uid, gid)
        uid, gid = self._paths.owned(path, uid, gid)
        self._record.add(PathEffect(path, "directory", mode, uid=uid, gid=gid, firm=False))
        self._leave_unknown(path)

    def update(
        self, path: str, source: Source, target: Optional[Target], force: bool = False
    ) -> None:
        """See the base class. Refuses local changes. The new content of the checkout is unknown."""
        self._commands.require("git")
        node = self._repository(path)
        if node is None:
            raise ResourceError("there is no checkout at %s" % path, kind="resource.git")
        if target is not None and not force:
            self._require_clean(node, path, source, target)
        self._require_unlocked(path, source, target)
        self._leave_unknown(path)

    def _require_unlocked(self, path: str, source: Source, target: Optional[Target]) -> None:
        """``ResourceError`` for a lock of a git process that runs or was killed; a push removes
        the index.lock of its own interrupted update.
        """
        for name in ("config.lock", "HEAD.lock", "index.lock") if target else ("config.lock",):
            lock = os.path.join(path, ".git", name)
            if self._files.lstat(lock) is not None:
                checkout = self.find(path, source) if name == "index.lock" else None
                if checkout is not None and checkout.was_cut:
                    continue
                raise ResourceError(
                    "git cannot change %s: %s exists" % (path, lock),
                    kind="resource.git",
                    hint="check whether another git process is running, or left the lock file",
                )

    def _require_clean(self, node: "Node", path: str, source: Source, target: Target) -> None:
        checkout = self.find(path, source)
        changed = self.changes(path)
        if changed and not (
            checkout is not None and checkout.was_cut and self._is_left(node, path)
        ):
            raise refused(path, changed)
        branch = target.name if target.kind == BRANCH else ""
        if self._has_own_commits(node, path, branch):
            raise Unknowable("%s has commits that its remote may not have" % path)

    def _is_left(self, node: "Node", path: str) -> bool:
        """Return whether the only differences were left by an interrupted update by ccm."""
        from remote_runtime.host.machine import interrupted_update

        return interrupted_update.is_harmless(self, self._files, node, path)

    def remove(self, path: str, force: bool = False) -> None:
        require_removable(self, path, force)
        self._paths.remove_tree(path)

    def _leave_unknown(self, path: str) -> None:
        reason = "%s changes the contents of %s" % (self._record.by, path)
        uncertainty = Uncertainty(UNKNOWN, reason)
        repository = PathEffect(os.path.join(path, ".git"), "something", once=True)
        self._record.add(UnknownEffect(uncertainty, Below(path)), repository)
