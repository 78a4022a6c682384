"""Commands of the user in a preview (target): guards, validations, post commands."""

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, Mapping, Optional, Sequence, Set

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.system.commands import KEEP, CommandNotStarted, Commands, Result
from remote_runtime.world.accounts import WorldAccounts
from remote_runtime.world.clouds import Clouds
from remote_runtime.world.files import WorldFiles
from remote_runtime.world.layer import Layer

if TYPE_CHECKING:
    from remote_runtime.system.conversation import OutputSink


# What is asked of a file system and not of its files: over the layer it is an overlay in memory.
_ABOUT_SYSTEMS = re.compile(
    r"(?:^|[\s;|&(`'\"/])(?:df|lsblk|quota)(?:[\s;|&)`'\"]|$)"
    r"|\bstat\s+(?:-\w+\s+)*(?:-f|--file-system)\b"
    r"|\bfindmnt\b.*(?:FSTYPE|SIZE|USE|AVAIL|\s-t\b)"
)


_SCRIPT = 64 << 10  # bytes of one that is read for what it names


class WorldCommands(Commands):
    """Runs them on the host as it will be: where the layer holds paths, with these over it.

    ``beyond`` has the names of what is planned that no path shows: packages, units, accounts.
    ``hearsay`` has the packages whose files in the layer are another host's word, each with what
    looks whether it is so: nothing is run over them before.
    """

    def __init__(
        self,
        host: Commands,
        layer: Layer,
        *,
        files: WorldFiles,
        accounts: WorldAccounts,
        clouds: Clouds,
        beyond: Callable[[], Set[str]],
        hearsay: Dict[str, Callable[[], bool]],
    ) -> None:
        self._host, self._layer, self._files = host, layer, files
        self._theirs, self._clouds, self._beyond = accounts, clouds, beyond
        self._hearsay = hearsay

    def _texts_of_units(self) -> Set[str]:
        """The units whose files are planned, or files beside them."""
        found = [path.partition("/systemd/system/")[2] for path in self._layer.nodes]
        return {name.partition("/")[0] for name in found if name}

    def _ask(self, argv: Sequence[str], planned: Set[str], path: Optional[str]) -> None:
        """Note the doubt over what a command asks for by name. ``Unknowable`` where that, or what
        else it finds, is planned."""
        from remote_runtime.world.looking import asked

        things = asked(argv, planned)
        if things is None:
            raise Unknowable("what %s says depends on what is not there yet" % argv[0])
        for kind, name in things:
            if kind in ("user", "group"):
                self._theirs.number(kind, name)
            elif kind == "program":
                self.find(name, path)
            else:
                full = name if kind == "package" or "." in name else name + ".service"
                for present in (True, False):
                    self._clouds.heed(kind, full, present)

    def _heed(self, argv: Sequence[str], cwd: str, path: Optional[str]) -> None:
        """Note the doubt over what a command reads: what it names, or anything whatever."""
        from remote_runtime.world.looking import named

        found = named(argv) if self._clouds else None
        if found is not None:
            try:
                for program in found.programs:
                    self.find(program, path, cwd)
                for word in found.links + found.words:
                    self._files.status(os.path.join(cwd, word), follow=False)
                for word in found.words:
                    self._files.status(os.path.join(cwd, word), follow=True)
                return
            except ResourceError:
                pass  # it is there, and nobody can tell what it is
        self._clouds.heed("host", "", True)
        self._clouds.heed("text", self._text(argv), True)

    def _text(self, argv: Sequence[str]) -> str:
        """The words of a command, with the script that it runs where that can be read."""
        texts = [" ".join(argv)]
        for word in argv[:2]:
            try:
                status = self._files.status(word, True) if word.startswith("/") else None
                if status is not None and status.kind == "file" and status.size <= _SCRIPT:
                    texts.append(self._files.read(word, _SCRIPT, True).decode("utf-8", "replace"))
            except ResourceError:
                pass
        return "\n".join(texts)

    def is_program(self, path: str) -> bool:
        return self._files.is_program(path)

    def is_there(self, path: str) -> bool:
        return self._files.exists(path)

    def run(
        self,
        argv: Sequence[str],
        cwd: Optional[str] = None,
        *,
        env: Optional[Mapping[str, str]] = None,
        path: Optional[str] = None,
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        group: Optional[str] = None,
        umask: Optional[int] = None,
        input: Optional[bytes] = None,  # noqa: A002 - as in the base class
        limit: int = KEEP,
        on_output: Optional["OutputSink"] = None,
    ) -> Result:
        """Run it as ``Commands.run`` does. ``Unknowable`` where it would not see what there will
        be."""
        beyond = self._beyond()
        if any("systemctl" in word for word in argv):  # it asks who sees no layer
            beyond.update(self._texts_of_units())
        if beyond:
            self._ask(argv, beyond, path)
        self._heed(argv, cwd or "/", path)
        identity = self._theirs.identity(user, group)
        if not self._layer.nodes:
            return self._host.run(
                argv,
                cwd,
                env=env,
                path=path,
                timeout=timeout,
                user=user,
                group=group,
                umask=umask,
                input=input,
                limit=limit,
                on_output=on_output,
            )
        if _ABOUT_SYSTEMS.search(" ".join(argv)):
            raise Unknowable("%s would see other file systems than there are" % argv[0])
        mounts = [node.mount for node in self._layer.nodes.values() if node.mount is not None]
        if any(mount.source for mount in mounts):
            raise Unknowable("nothing can be run on what is planned to be mounted twice")
        from remote_runtime.world.layered import Layered, Start

        program = self._program(argv, path, cwd)
        # Unknowable for a program that only the push makes.
        self._files.blocks(os.path.join(cwd or "/", program), follow=True)
        if cwd is not None and not self._files.is_directory(cwd):
            raise CommandNotStarted(argv[0], "the working directory %s does not exist" % cwd)
        env = self.environment(identity, env, path)
        for package in list(self._hearsay):
            if not self._hearsay[package]():
                raise Unknowable("nothing can be run on what another host says of %s" % package)
            del self._hearsay[package]
        start = Start(
            argv, program, cwd=cwd or "/", env=env, identity=identity, umask=umask, input=input
        )
        layered = Layered(self._host, self._layer.nodes, sorted(self._files.own_folders))
        return layered.run(start, timeout, limit, on_output)
