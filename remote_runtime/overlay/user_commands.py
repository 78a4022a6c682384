"""Commands of the user in a preview (target): guards, validations, post commands."""

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, List, Mapping, Optional, Sequence, Set

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.overlay.accounts import OverlayAccounts
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.planned_nodes import UNTOLD, Node, shared
from remote_runtime.overlay.predicted_files import OverlayFiles
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.paths import is_within
from remote_runtime.system.process.commands import KEEP, CommandNotStartedError, Commands, Result

if TYPE_CHECKING:
    from remote_runtime.system.process.process_io import Moment, OutputSink


# Commands that query a file system, not its files: over the layer, that is an overlay in memory.
_ABOUT_SYSTEMS = re.compile(
    r"(?:^|[\s;|&(`'\"/])(?:df|lsblk|quota)(?:[\s;|&)`'\"]|$)"
    r"|\bstat\s+(?:-\w+\s+)*(?:-f|--file-system)\b"
    r"|\bfindmnt\b.*(?:FSTYPE|SIZE|USE|AVAIL|\s-t\b)"
)


# Differences between a file and its copy in an overlay: whether two names are one file, and the
# number of names and the device of a file.
# many names, which number and which device a file has.
_ONE_FILE = re.compile(r"\s-(?:ef|samefile)\s")
_ABOUT_INODES = re.compile(
    r"\s-(?:inum|links|xdev|mount)\b|\bmountpoint\b|\bstat\b.*%-?\d*[hidDm]\b|\bls\s+-\w*i"
)
# Commands that print the name of the current user, which only the push creates.
_ABOUT_ITSELF = re.compile(r"(?:^|[\s;|&(`/])(?:id|whoami|logname|groups)(?:[\s;|&)`]|$)|~")
# Tests of what a user may do, which options of mounts forbid.
_ABOUT_ACCESS = re.compile(r"\s-(?:[wx]|writable|executable)\s")
# Tests of nothing but whether a path exists.
_EXISTENCE = {"-c", "-e", "-a", "-o"}
_TESTING = {"sh", "bash", "dash", "test", "[", "true", "false"}
_SCRIPT = 64 << 10  # bytes of a script that is searched for names


class OverlayCommands(Commands):
    """Runs commands on the predicted host: if the layer contains paths, the host is shown with
    these paths over it.

    ``beyond`` has the names of planned things that have no path: packages, units, accounts.
    ``unverified_packages`` are packages whose planned files another host reported; each has a
    function that checks this report. No command runs over such files before that check.
    """

    def __init__(
        self,
        host: Commands,
        layer: FileOverlay,
        *,
        files: OverlayFiles,
        accounts: OverlayAccounts,
        unknown_regions: UnknownRegions,
        beyond: Callable[[], Set[str]],
        unverified_packages: Dict[str, Callable[[], bool]],
    ) -> None:
        self._host, self._layer, self._files = host, layer, files
        self._theirs, self._unknown_regions, self._beyond = accounts, unknown_regions, beyond
        self._unverified_packages = unverified_packages

    def _texts_of_units(self) -> Set[str]:
        """Return the units with planned files, or with planned files next to theirs."""
        units = [path.partition("/systemd/system/")[2] for path in self._layer.nodes]
        return {name.partition("/")[0] for name in units if name}

    def _ask(self, argv: Sequence[str], planned: Set[str], path: Optional[str]) -> None:
        """Record the uncertainty of values that a command looks up by name. ``Unknowable`` if they,
        or anything else that it finds, are planned.
        """
        from remote_runtime.overlay.probe_commands import looked_up_names, names_looked_up_by_script

        things = looked_up_names(argv, planned)
        if things is None:
            script = self._text(argv[:1]).partition("\n")[2]
            things = names_looked_up_by_script(script, planned)
        if things is None:
            raise Unknowable(
                "the output of %s depends on something that does not exist yet" % argv[0]
            )
        for kind, name in things:
            if kind in ("user", "group"):
                self._theirs.number(kind, name)
            elif kind == "program":
                self.find(name, path)
            else:
                full = name if kind == "package" or "." in name else name + ".service"
                for present in (True, False):
                    self._unknown_regions.record_read(kind, full, present)

    def _record_reads(
        self, argv: Sequence[str], cwd: str, path: Optional[str]
    ) -> Optional[List[str]]:
        """Record the uncertainty of a command's reads: the things that it names, or anything.
        Return the paths that it reads; None if it may read others.
        """
        from remote_runtime.overlay.probe_commands import parse_command

        names = parse_command(argv)
        if names is not None:
            words = [os.path.join(cwd, word) for word in names.links + names.words]
            try:
                programs = [self.find(program, path, cwd) for program in names.programs]
                for word in words:
                    self._files.status(word, follow=False)
                for word in words[len(names.links) :]:
                    self._files.status(word, follow=True)
                    found = self._layer.find(word, True)
                    self._unknown_regions.record_read("content", found.path, True, found.since)
                return [program for program in programs if program] + words
            except ResourceError:
                self._require_kinds(argv, names.programs, words)
        self._unknown_regions.record_read("host", "", True)
        self._unknown_regions.record_read("text", self._text(argv), True)
        return None

    def _require_kinds(
        self, argv: Sequence[str], programs: Sequence[str], words: Sequence[str]
    ) -> None:
        """Raise ``Unknowable`` for a command that asks for more than the existence of a path whose
        kind is not known.
        """
        options = {word for word in " ".join(argv).split() if word.startswith("-")}
        if options <= _EXISTENCE and {os.path.basename(name) for name in programs} <= _TESTING:
            return
        for word in words:
            found = self._layer.find(word, True)
            node = found.within or found.node
            if node is not None and node.kind == UNTOLD:
                raise Unknowable("the result of %s at %s is not known" % (node.by, word))

    def _is_as_today(self, path: str) -> bool:
        """Return whether no planned change affects a path or its parents."""
        for follow in (False, True):
            planned_path = self._layer.find(path, follow)
            if (
                planned_path.node is not None
                or planned_path.laid
                or self._layer.is_touched(planned_path.path)
            ):
                return False
        return True

    def _sees_today(
        self, argv: Sequence[str], cwd: str, path: Optional[str], read: Optional[List[str]]
    ) -> bool:
        """Return whether a command reads and writes nothing that is planned, so it can run on the
        real host.
        """
        from remote_runtime.overlay.probe_commands import may_write, parse_command

        names = parse_command(argv)
        if read is None or names is None or _ABOUT_INODES.search(" ".join(argv)):
            return False
        programs = [self.find(program, path, cwd) for program in names.programs]
        if may_write(argv, list(filter(None, programs))):
            return False
        return all(map(self._is_as_today, read)) and not self._layer.find(cwd, True).laid

    def _require_same_in_overlay(self, argv: Sequence[str]) -> None:
        """Raise ``Unknowable`` for a command whose output differs in an overlay."""
        text = " ".join(argv)
        if _ONE_FILE.search(text) or _ABOUT_INODES.search(text):
            raise Unknowable("%s would see files other than the planned ones" % argv[0])
        if _ABOUT_SYSTEMS.search(text):
            raise Unknowable("%s would see file systems other than the actual ones" % argv[0])
        mounts = [node.mount for node in self._layer.nodes.values() if node.mount is not None]
        if any(mount.source for mount in mounts):
            raise Unknowable(
                "a preview cannot run commands on a directory that would be mounted twice"
            )

    def _nodes(self, argv: Sequence[str], cwd: str, read: Optional[List[str]]) -> Dict[str, Node]:
        """Return the nodes of the layer, with the other names of files with planned attributes.

        ``Unknowable`` for a command that may read names that were not found.
        """
        nodes = dict(self._layer.nodes)
        words = [os.path.join(cwd, word) for word in self._text(argv).split()]
        missing = ""
        for path, node in self._layer.nodes.items():
            if node.inode is None:
                continue
            directory = os.path.dirname(path)
            entries = os.listdir(directory) if os.path.isdir(directory) else []
            beside = [os.path.join(directory, name) for name in entries]
            names = [
                name for name in {*beside, *words, *(read or ())} if shared(name) == node.inode
            ]
            nodes.update((os.path.realpath(name), node) for name in names)
            same = [one for one, its in nodes.items() if its.inode == node.inode]
            missing = path if len(same) < os.lstat(path).st_nlink else missing
        if missing and read is None:
            raise Unknowable("%s may read %s under another name" % (argv[0], missing))
        return nodes

    def _text(self, argv: Sequence[str]) -> str:
        """Return the words of a command, with the script that it runs if that can be read."""
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

    def _as_planned(self, argv: Sequence[str], user: Optional[str]) -> bool:
        """Return whether a program runs as a user that only the push creates. ``Unknowable`` if it
        would read its own name from the host."""
        planned = self._theirs.planned_identity(user) is not None
        if planned and _ABOUT_ITSELF.search(" ".join(argv)):
            raise Unknowable("%s cannot resolve the user %s yet" % (argv[0], user))
        return planned

    def _settle_unverified_packages(self) -> None:
        for package in list(self._unverified_packages):
            if not self._unverified_packages[package]():
                raise Unknowable(
                    "a preview cannot run commands on contents of %s that another host reported"
                    % package
                )
            del self._unverified_packages[package]

    def _require_options(self, argv: Sequence[str]) -> None:
        """``Unknowable`` for a command that may depend on the planned options of mounts."""
        remounted = self._layer.remounted
        asks = remounted and _ABOUT_ACCESS.search(" ".join(argv))
        points = [point for point, mount in remounted.items() if "exec" in mount.gains]
        if asks or any(is_within(word, point) for word in argv for point in points):
            raise Unknowable("%s would see mounts without their new options" % argv[0])

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
        until: Optional["Moment"] = None,
    ) -> Result:
        """Run it as ``Commands.run`` does. ``Unknowable`` if it would not see the
        predicted state.
        """
        self._require_options(argv)
        beyond = self._beyond()
        if any("systemctl" in word for word in argv):  # it asks who sees no layer
            beyond.update(self._texts_of_units())
        if beyond:
            self._ask(argv, beyond, path)
        read = self._record_reads(argv, cwd or "/", path)
        identity = self._theirs.identity(user, group)
        today = not self._layer.nodes or self._sees_today(argv, cwd or "/", path, read)
        if not self._as_planned(argv, user) and today:
            return self._host.run(
                argv,
                cwd=cwd,
                env=env,
                path=path,
                timeout=timeout,
                user=user,
                group=group,
                umask=umask,
                input=input,
                limit=limit,
                on_output=on_output,
                until=until,
            )
        self._require_same_in_overlay(argv)
        from remote_runtime.overlay.overlay_command import OverlayCommand, Start

        program = self._program(argv, path, cwd)
        # Unknowable for a program that only the push makes.
        self._files.blocks(os.path.join(cwd or "/", program), follow=True)
        if cwd is not None and not self._files.is_directory(cwd):
            raise CommandNotStartedError("the working directory %s does not exist" % cwd)
        env = self.environment(identity, env, path)
        self._settle_unverified_packages()
        start = Start(
            argv, program, cwd=cwd or "/", env=env, identity=identity, umask=umask, input=input
        )
        nodes = self._nodes(argv, cwd or "/", read)
        layered = OverlayCommand(self._host, nodes, sorted(self._files.own_directories))
        return layered.run(start, timeout, limit, on_output)
