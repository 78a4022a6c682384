"""Predicts how commands in maintainer scripts change paths (target; in previews only)."""

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content, Text
from remote_runtime.effects import PathEffect
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.shell import Call
from remote_runtime.packages.maintainer_scripts.syntax import ParseError
from remote_runtime.stdlib_light.sha256_digest import sha256
from remote_runtime.system.paths import resolved

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files
    from remote_runtime.system.paths import Status

_OCTAL = re.compile(r"[0-7]{3,4}\Z")
_LIMIT = 1 << 16  # bytes of a file that is read
_MAX_COPIED = 64 << 20  # bytes of a file that is hashed
_MAX_DIRECTORIES = 100  # of one path
_MAX_LOOKED_UP = 50_000  # directories of all paths that one script has looked up
_PRINTING = ("echo", "printf", "cat", ":")

PathHandler = Callable[[Sequence[str], Call], Optional[List[PathEffect]]]


class Copy(Content):
    """The content of a copy: the bytes of the original file, as far as they are known."""

    def __init__(self, path: str, status: "Status", files: "Files") -> None:
        if status.size > _MAX_COPIED:  # another host may have reported the script
            raise Unknowable("%s is too large to be read in a preview" % path)
        self.sha256, self.size = files.sha256(path, status), status.size
        self._files, self._path, self._data = files, path, b""
        if status.size <= _LIMIT:
            try:
                self._data = b"".join(files.blocks(path))
            except Unknowable:
                pass  # of a package only the hash is known

    def fetch(self) -> None:
        """See the base class. The file may have changed since it was copied."""
        if len(self._data) == self.size or self.size > _LIMIT:
            return
        data = self._files.read(self._path, _LIMIT)
        if sha256(data).hexdigest() == self.sha256:
            self._data = data

    def chunks(self) -> Chunks:
        if len(self._data) != self.size:
            raise Unknowable("the contents of %s are not known yet" % self._path)
        yield self._data


class LookupBudget(object):
    """Limits the time for the paths of one script, which another host may have reported."""

    def __init__(self) -> None:
        self._left = _MAX_LOOKED_UP

    def spend(self, paths: Iterable[str]) -> None:
        """Count paths that are looked up. ``ParseError`` for too many of them, or a deep one."""
        for path in paths:
            directories = path.count("/") + 1
            self._left -= directories
            if self._left < 0 or directories > _MAX_DIRECTORIES:
                raise ParseError("its paths have too many directories")


class PathCommands(object):
    """The effects of commands on the files and accounts at the time they run."""

    def __init__(self, files: "Files", accounts: "Accounts", budget: LookupBudget) -> None:
        self._files, self._accounts, self._budget = files, accounts, budget
        self._doers: Dict[str, PathHandler] = {
            "mkdir": self._mkdir,
            "install": self._install,
            "ln": self._ln,
            "touch": self._touch,
            "chown": self._chown,
            "chgrp": self._chgrp,
            "chmod": self._chmod,
            "cp": self._cp,
            "rm": self._rm,
            "rmdir": self._rmdir,
            "echo": self._print,
            "printf": self._print,
            "cat": self._print,
            ":": self._print,
        }

    def done(self, call: Call) -> Optional[List[PathEffect]]:
        """Return the effects of a call that certainly runs; None if they are unknown."""
        doer = self._doers.get(call.words[0]) if call.words else None
        if doer is None or any(UNKNOWN in word for word in (*call.words, *call.writes)):
            return None
        if call.name in _PRINTING:
            return doer(call.words, call) if call.writes and call.umask == "022" else None
        if call.writes or (call.umask != "022" and call.name in ("mkdir", "touch", "cp")):
            return None
        return doer(call.words[1:], call)

    def fails(self, call: Call) -> bool:
        """Return whether a call that certainly runs also certainly fails, before any change."""
        words = call.words[1:]
        if any(UNKNOWN in word for word in (*words, *call.writes)):
            return False
        options = {word for word in words if word.startswith("-")}
        paths = self._paths([word for word in words if not word.startswith("-")], call)
        if paths is None or len(paths) != 1:
            return False
        if call.name == "touch" and not options:
            return not self._is_placed(paths[0])
        if call.name == "mkdir" and options <= {"-v"}:
            return self._files.is_there(paths[0]) or not self._is_placed(paths[0])
        if call.name == "rmdir" and not options and self._files.is_directory(paths[0]):
            return bool(self._files.entries(paths[0]))
        if call.name in ("rm", "rmdir") and options <= {"-r", "-R", "-v"}:
            return not self._files.is_there(paths[0])
        return False

    def succeeds(self, call: Call) -> Optional[bool]:
        """Return whether a call with unknown effects is assumed to succeed; None if unknown."""
        if call.name in ("mkdir", "chmod", "touch"):
            return True
        owner = next((word for word in call.words[1:] if not word.startswith("-")), "")
        user, _, group = owner.replace(".", ":").partition(":")
        named = [("user", user), ("group", group)] if call.name == "chown" else []
        lacking = [
            name
            for kind, name in named
            if name and UNKNOWN not in name and self._accounts.number(kind, name) is None
        ]
        return True if named and not lacking else None

    def _is_placed(self, path: str) -> bool:
        return self._files.is_directory(os.path.dirname(path))

    def _paths(self, words: Sequence[str], call: Call) -> Optional[List[str]]:
        """Return absolute paths; None if one of them is not plain."""
        paths = []
        for word in words:
            path = os.path.join(call.directory, word)
            if UNKNOWN in path or os.path.normpath(path) != path.rstrip("/") or path == "/":
                return None
            paths.append(path.rstrip("/"))
        self._budget.spend(paths)
        return paths

    def _split(
        self, words: Sequence[str], call: Call, known: Sequence[str], first: int = 0
    ) -> Optional[Tuple[List[str], List[str], List[str]]]:
        """Return the options, the first words and the paths; None for unknown options."""
        options = [word for word in words if word.startswith("-") and word != "--"]
        arguments = [word for word in words if not word.startswith("-")]
        paths = self._paths(arguments[first:], call)
        if paths is None or not set(options) <= set(known):
            return None
        return options, arguments[:first], paths

    def _mkdir(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        mode = 0o755
        words = list(words)
        if "-m" in words[:-1] and _OCTAL.match(words[words.index("-m") + 1]):
            at = words.index("-m")
            mode = int(words[at + 1], 8)
            del words[at : at + 2]
        parts = self._split(words, call, ("-p", "--parents", "-v"))
        if parts is None:
            return None
        effects: List[PathEffect] = []
        for path in parts[2]:
            missing = self._missing(path)
            if missing and missing[-1].path == path:
                missing[-1] = missing[-1]._replace(mode=mode)
            effects += missing
        return effects

    def _missing(self, path: str) -> List[PathEffect]:
        effects: List[PathEffect] = []
        while not self._files.exists(path):
            self._budget.spend((path,))
            effects.insert(0, PathEffect(path, "directory", 0o755, uid=0, gid=0))
            path = os.path.dirname(path)
        return effects

    def _install(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        """Predict ``install -d`` with owner and mode, or ``install`` of one file to a path that
        does not exist.
        """
        values = {"-m": "755", "-o": "root", "-g": "root"}
        rest: List[str] = []
        words = list(words)
        while words:
            word = words.pop(0)
            name, equals, value = word.partition("=")
            long = {"--mode": "-m", "--owner": "-o", "--group": "-g"}.get(name, "")
            if long:
                values[long] = value if equals else words.pop(0) if words else ""
            elif word[:2] in values:
                values[word[:2]] = word[2:] or (words.pop(0) if words else "")
            else:
                rest.append(word)
        parts = self._split(rest, call, ("-d", "-D", "-p"))
        uid = self._accounts.number("user", values["-o"])
        gid = self._accounts.number("group", values["-g"])
        if parts is None or uid is None or gid is None or not _OCTAL.match(values["-m"]):
            return None
        options, _, paths = parts
        mode = int(values["-m"], 8)
        if "-d" in options:
            effects: List[PathEffect] = []
            for path in paths:
                effects += self._missing(os.path.dirname(path))
                effects.append(PathEffect(path, "directory", mode, uid=uid, gid=gid))
            return effects
        return self._copied(paths, mode, uid=uid, gid=gid)

    def _copied(
        self, paths: Sequence[str], mode: int, uid: int, gid: int
    ) -> Optional[List[PathEffect]]:
        if len(paths) != 2 or self._files.is_there(paths[1]):
            return None
        if paths[0] == "/dev/null":
            return [PathEffect(paths[1], "file", mode, uid=uid, gid=gid, content=Text(""))]
        status = self._files.status(paths[0], follow=True)
        if status is None or status.kind != "file":
            return None
        return [self._copy(paths, status, PathEffect(paths[1], "file", mode, uid=uid, gid=gid))]

    def _copy(self, paths: Sequence[str], status: "Status", effect: PathEffect) -> PathEffect:
        try:
            return effect._replace(content=Copy(paths[0], status, self._files))
        except Unknowable:
            return effect

    def _ln(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        options = [word for word in words if word.startswith("-")]
        arguments = [word for word in words if not word.startswith("-")]
        if len(options) != 1 or options[0] not in ("-s", "-sf", "-fs", "-sfn", "-sn"):
            return None
        paths = self._paths(arguments[1:], call)
        if len(arguments) != 2 or not paths or self._files.is_directory(paths[0]):
            return None
        if not self._is_placed(paths[0]):
            return None
        if "f" not in options[0] and self._files.is_there(paths[0]):
            return None  # it fails
        return [PathEffect(paths[0], "symlink", target=arguments[0])]

    def _touch(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        parts = self._split(words, call, ())
        if parts is None:
            return None
        new = [path for path in parts[2] if not self._files.exists(path)]
        if not all(map(self._is_placed, new)):
            return None
        return [PathEffect(p, "file", 0o644, uid=0, gid=0, content=Text("")) for p in new]

    def _print(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        """Predict text that is written to one file."""
        text = _printed(words, call.given)
        paths = self._paths(call.writes, call)
        if text is None or not paths or len(paths) != 1 or self._files.is_directory(paths[0]):
            return None
        status = self._files.status(paths[0], follow=True)
        if status is not None and status.kind != "file":
            return None
        if status is None and not self._is_placed(paths[0]):
            return None
        if status is None:
            return [PathEffect(paths[0], "file", 0o644, uid=0, gid=0, content=Text(text))]
        if self._files.link(paths[0]):
            return None
        if call.appends:
            if status.size > _LIMIT:
                return None
            text = self._files.read(paths[0], _LIMIT).decode("utf-8", "surrogateescape") + text
            if any("\udc80" <= char <= "\udcff" for char in text):
                return None
        return [PathEffect(paths[0], "file", content=Text(text))]

    def _cp(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        parts = self._split(words, call, ("-p", "-a"))
        if parts is None:
            return None
        options, _, paths = parts
        if len(options) > 1 or len(paths) != 2 or self._files.is_there(paths[1]):
            return None
        if not self._is_placed(paths[1]):
            return None
        status = self._files.status(paths[0], follow=options != ["-a"])
        if status is None or status.kind != "file":
            return None
        effect = PathEffect(paths[1], "file", status.mode & 0o755, uid=0, gid=0)
        if options:
            effect = effect._replace(mode=status.mode, uid=status.uid, gid=status.gid)
        return [self._copy(paths, status, effect)]

    def _rm(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        parts = self._split(words, call, ("-f", "-r", "-rf", "-fr", "-R", "-v", "--force"))
        if parts is None:
            return None
        directories = any("r" in option.lower() for option in parts[0] if option != "--force")
        for path in parts[2]:
            status = self._files.status(path)
            if status is not None and status.kind == "directory" and not directories:
                return None
        return [PathEffect(path, "absent") for path in parts[2] if self._files.is_there(path)]

    def _rmdir(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        parts = self._split(words, call, ("--ignore-fail-on-non-empty",))
        if parts is None:
            return None
        effects = []
        for path in parts[2]:
            status = self._files.status(path)
            if status is not None and status.kind == "directory" and not self._files.entries(path):
                effects.append(PathEffect(path, "absent"))
        return effects

    def _chown(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        parts = self._split(words, call, ("-h", "--no-dereference", "-f", "-c", "-v"), first=1)
        if parts is None or not parts[1]:
            return None
        owner, _, group = parts[1][0].replace(".", ":").partition(":")
        uid = self._number("user", owner)
        gid = self._number("group", group)
        if (owner and uid is None) or (group and gid is None):
            return None
        effects: List[PathEffect] = []
        if {"-h", "--no-dereference"} & set(parts[0]):
            links = [(path, self._files.link(path)) for path in parts[2]]
            effects = [
                PathEffect(path, "symlink", target=target) for path, target in links if target
            ]
        linked = [effect.path for effect in effects]
        others = self._ends([path for path in parts[2] if path not in linked])
        if others is None:
            return None
        return [effect._replace(uid=uid, gid=gid) for effect in effects + others]

    def _number(self, kind: str, name: str) -> Optional[int]:
        return self._accounts.number(kind, name) if name else None

    def _chgrp(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        return self._chown([":" + words[0], *words[1:]], call) if words else None

    def _chmod(self, words: Sequence[str], call: Call) -> Optional[List[PathEffect]]:
        parts = self._split(words, call, ("-f", "-c", "-v"), first=1)
        if parts is None or not parts[1] or not _OCTAL.match(parts[1][0]):
            return None
        mode = int(parts[1][0], 8)
        effects = self._ends(parts[2])
        return effects and [effect._replace(mode=mode) for effect in effects]

    def _ends(self, paths: Sequence[str]) -> Optional[List[PathEffect]]:
        """Return the files and directories at the ends of paths; None for anything else."""
        effects = []
        for path in paths:
            status = self._files.status(path, follow=True)
            if status is None or status.kind not in ("file", "directory"):
                return None
            effects.append(PathEffect(resolved(path, self._files.link), status.kind))
        return effects


def _printed(words: Sequence[str], stdin: str) -> Optional[str]:
    """Return the output of ``echo``, ``printf`` or ``cat``; None if it is unknown."""
    if words[0] == ":":
        return ""
    if words[0] == "cat":
        return stdin if stdin and len(words) == 1 else None
    rest = list(words[1:])
    if words[0] == "echo":
        end = "\n"
        if rest[:1] == ["-n"]:
            end = ""
            rest = rest[1:]
        text = " ".join(rest)
        return None if "\\" in text or rest[:1] in (["-e"], ["-E"]) else text + end
    if not rest or "%" in rest[0].replace("%s", "") or rest[0].count("%s") != len(rest) - 1:
        return None
    text = rest[0].replace("\\n", "\n").replace("\\t", "\t")
    if "\\" in text or any("\\" in word for word in rest[1:]):
        return None
    parts = text.split("%s")
    return "".join(part + word for part, word in zip(parts, [*rest[1:], ""]))
