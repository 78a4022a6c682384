"""The files of a scaffold after its post commands have run (target)."""

import os
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from remote_runtime.base import Properties
from remote_runtime.host.ports import HostReader
from remote_runtime.resources.scaffold.desired_files import PlannedFile
from remote_runtime.resources.scaffold.rules import POST_TIMEOUT
from remote_runtime.text import duration

if TYPE_CHECKING:
    from remote_runtime.host.machine.contents import Copies


class PostCommands(object):
    """The post commands of one scaffold; call ``discard``, or the copies are removed after the run.

    Each file is processed once, however often the scaffold is read.
    """

    def __init__(self, properties: Properties, root: str) -> None:
        self._root = root
        self._rules = [pair for entry in properties.get("post") or [] for pair in entry.items()]
        self._timeout = duration.parse(str(properties.get("post_timeout") or POST_TIMEOUT))
        self._done: Dict[str, PlannedFile] = {}
        self._copies: Optional[Copies] = None

    def matches(self, path: str) -> bool:
        """Return whether a command applies to this file."""
        return bool(commands_for(self._rules, path))

    def require(self, host: HostReader, files: List[PlannedFile]) -> None:
        """``Missing`` if the first required command cannot start."""
        for file in files:
            for command in commands_for(self._rules, file.path):
                host.contents.require(command, "cannot process %s" % file.path)

    def __call__(self, host: HostReader, file: PlannedFile) -> PlannedFile:
        """Return the file after the commands have run. ``ResourceError`` if one fails."""
        commands = commands_for(self._rules, file.path)
        if not commands:
            return file
        if file.path not in self._done:
            self._copies = self._copies or host.contents.copies()
            content, mode = self._copies.processed(
                file.content,
                file.path,
                at=os.path.join(self._root, file.path),
                mode=0o755 if file.executable else 0o644,
                commands=commands,
                timeout=self._timeout,
            )
            self._done[file.path] = PlannedFile(file.path, content, bool(mode & 0o111))
        return self._done[file.path]

    def discard(self) -> None:
        """Remove the copies; they are created again if they are needed again."""
        if self._copies is not None:
            self._copies.discard()
            self._done = {}


def commands_for(rules: List[Tuple[str, str]], path: str) -> List[str]:
    """The commands for a file; shell patterns match its name without the directory."""
    if not rules:
        return []
    import fnmatch

    name = os.path.basename(path)
    return [
        command
        for pattern, command in rules
        if fnmatch.fnmatchcase(name, pattern.replace("[^", "[!"))
    ]
