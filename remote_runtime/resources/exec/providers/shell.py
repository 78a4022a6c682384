"""Runs a command with /bin/sh -c (target)."""

from typing import List

from remote_runtime.base import Properties
from remote_runtime.resources.exec.running import ExecProvider


class Provider(ExecProvider):
    """The whole text is one argument of the shell; chosen only when it is asked for."""

    name = "shell"
    priority = 99

    def unmanageable(self, properties: Properties) -> str:
        return "" if self.context.files.exists("/bin/sh") else "/bin/sh does not exist"

    def words(self, command: str) -> List[str]:
        return ["/bin/sh", "-c", command]
