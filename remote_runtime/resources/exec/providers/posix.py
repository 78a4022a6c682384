"""Runs a command without a shell (target)."""

from typing import List

from remote_runtime.errors import ResourceError
from remote_runtime.resources.exec.running import ExecProvider
from remote_runtime.text import shell_words


class Provider(ExecProvider):
    """The command line is split as a POSIX shell quotes; nothing in it is expanded."""

    name = "posix"
    priority = 1

    def words(self, command: str) -> List[str]:
        try:
            return shell_words.split(command)
        except ValueError as error:
            raise ResourceError(
                "cannot parse the command: %s" % error, kind="resource.command"
            ) from error
