"""Runs post commands on private copies of rendered files (target)."""

import os
from typing import Dict, List, Optional, Tuple

from remote_runtime import requirements
from remote_runtime.base import Missing, Properties
from remote_runtime.content import Chunks, Content
from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.resources.scaffold.rules import POST_TIMEOUT
from remote_runtime.resources.scaffold.tree import Wanted
from remote_runtime.text import duration, shell_words


class Staged(Content):
    """A copy that the commands are done with."""

    def __init__(self, path: str, context: Context) -> None:
        self._files = context.files
        self._path = path
        found = self._files.status(path)
        if found is None or found.kind != "file":
            raise ResourceError("it is no longer a regular file")
        self.size = found.size
        self.executable = bool(found.mode & 0o111)
        self.sha256 = self._files.sha256(path, found)

    def chunks(self) -> Chunks:
        return self._files.blocks(self._path)


class Processing(object):
    """The post commands of one scaffold; ``discard`` it, else the copies go with the run.

    Each file is processed once, however often the scaffold is looked at.
    """

    def __init__(self, properties: Properties, root: str, context: Context) -> None:
        self._context = context
        self._root = root
        self._rules = post_rules(properties)
        self._timeout = duration.parse(str(properties.get("post_timeout") or POST_TIMEOUT))
        self._directory = ""
        self._done: Dict[str, Wanted] = {}

    def matches(self, path: str) -> bool:
        """Whether a command is for this file."""
        return bool(self._rules and commands_for(self._rules, path))

    def lacking(self, files: List[Wanted]) -> List[Missing]:
        """What keeps the first command that is needed and lacks something from being started."""
        for file in files:
            for command in commands_for(self._rules, file.path):
                program = shell_words.split(command)[0]
                what = "cannot process %s" % file.path
                found = requirements.program(self._context, program, what=what)
                if found:
                    return found
        return []

    def __call__(self, file: Wanted) -> Wanted:
        """The file as the commands leave it. ``ResourceError`` when one fails."""
        found = commands_for(self._rules, file.path)
        if not found:
            return file
        if file.path not in self._done:
            self._done[file.path] = self._process(file, found)
        return self._done[file.path]

    def _process(self, file: Wanted, commands: List[str]) -> Wanted:
        before = self._context.doubts
        path = self._stage(file)
        for command in commands:
            self._context.progress("processing %s" % file.path)
            self._run(command, path, file.path)
        try:
            staged = Staged(path, self._context)
        except ResourceError as error:
            raise ResourceError("post %r: %s: %s" % (commands[-1], file.path, error)) from error
        if self._context.doubts > before:
            staged.doubt = self._context.doubt_over(before)
        return Wanted(file.path, staged, staged.executable)

    def _stage(self, file: Wanted) -> str:
        if not self._directory:
            self._directory = self._context.files.private_directory()
        path = os.path.join(self._directory, file.path)
        try:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                for chunk in self._source(file).chunks():
                    self._context.check_cancelled()
                    out.write(chunk)
                os.fchmod(out.fileno(), 0o755 if file.executable else 0o644)
        except OSError as error:
            raise ResourceError("could not stage %s: %s" % (file.path, error.strerror)) from error
        return path

    def _source(self, file: Wanted) -> Content:
        """What is there already need not travel to be processed."""
        full = os.path.join(self._root, file.path)
        return local_copy(self._context, full, file.content) or file.content

    def _run(self, command: str, path: str, name: str) -> None:
        argv = shell_words.split(command)
        if any("{}" in word for word in argv):
            argv = [word.replace("{}", path) for word in argv]
        else:
            argv.append(path)
        result = self._context.user_commands.run(argv, timeout=self._timeout)
        if result.code == 0 and not result.timed_out:
            return
        how = "took longer than %g s" % self._timeout
        if not result.timed_out:
            how = "ended with exit code %d" % result.code
        raise ResourceError(
            "post %r for %s %s" % (command, name, how),
            kind="resource.scaffold.post",
            output=result.tail(),
        )

    def discard(self) -> None:
        """Remove the copies; they are made again if they are needed again."""
        if self._directory:
            self._context.files.remove_private_directory(self._directory)
            self._directory = ""
            self._done = {}


class Local(Content):
    """A file of the target with the same content."""

    def __init__(self, path: str, content: Content, context: Context) -> None:
        self._files = context.files
        self._path = path
        self.sha256, self.size = content.sha256, content.size

    def chunks(self) -> Chunks:
        return self._files.blocks(self._path)


def local_copy(context: Context, full: str, content: Content) -> Optional[Content]:
    """The same bytes from the target itself, where a file has them."""
    status = context.files.status(full)
    if status is None or status.kind != "file" or status.size != content.size:
        return None
    if context.files.sha256(full, status) != content.sha256:
        return None
    return Local(full, content, context)


def post_rules(properties: Properties) -> List[Tuple[str, str]]:
    """Pattern and command, in the order written."""
    return [pair for entry in properties.get("post") or [] for pair in entry.items()]


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
