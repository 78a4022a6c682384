"""Becomes another user, in a child process before its program is executed (target)."""

import os
from typing import Any, Dict, Optional

from remote_runtime.system.accounts import Identity


class RunAs(object):
    """The user, the groups and the umask of one command; with ``identity`` None, those of this
    process.
    """

    def __init__(self, identity: Optional[Identity], umask: Optional[int]) -> None:
        self._identity = identity
        self._umask = 0o022 if umask is None else umask

    def arguments(self) -> Dict[str, Any]:
        """Return the arguments for ``Popen``."""
        import sys

        identity = self._identity
        if sys.version_info < (3, 9):
            return {"preexec_fn": self._apply}
        extra: Dict[str, Any] = {"umask": self._umask}
        if identity is not None and not identity.current:
            extra.update(user=identity.uid, group=identity.gid, extra_groups=list(identity.groups))
        return extra

    def hint(self) -> str:
        """Return a hint for a command that could not be started with this identity; "" for none."""
        identity = self._identity
        if identity is None or identity.current or os.geteuid() == 0:
            return ""
        return "only root can run commands as another user or group: run with become"

    def _apply(self) -> None:
        # Between fork and exec: system calls only, everything was looked up before.
        os.umask(self._umask)
        identity = self._identity
        if identity is not None and not identity.current:
            os.setgroups(identity.groups)
            os.setgid(identity.gid)
            os.setuid(identity.uid)
