"""What the commands of a maintainer script do to paths, where that can be told (target)."""

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.content import Chunks, Content
from remote_runtime.effects import PathEffect
from remote_runtime.resources.package.deb_steps import Step, steps

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files

_TEST = re.compile(r"\[{1,2} (?P<no>! )?(?P<what>.+?) \]{1,2}\Z")
_SAME = re.compile(r"\"?\$\{?1\}?\"? (?P<not>!?)={1,2} \"?(?P<word>[\w-]+)\"?\Z")
_SECOND = re.compile(r"-(?P<kind>[nz]) \"?\$\{?2\}?\"?\Z")
_PATH = re.compile(r"-(?P<kind>[efdLh]) \"?(?P<path>/[\w./+@:-]+)\"?\Z")
_OVERRIDE = re.compile(r"(?P<no>! )?dpkg-statoverride --list \"?(?P<path>/[^\s\"]+)\"?( *>.*)?\Z")
_OVERRIDES = "/var/lib/dpkg/statoverride"
_OCTAL = re.compile(r"[0-7]{3,4}\Z")

Lay = Callable[[PathEffect], None]


class Empty(Content):
    """A file that is made empty."""

    size = 0

    def chunks(self) -> Chunks:
        return iter(())  # type: ignore[return-value]  # nothing has to be closed


class Told(NamedTuple):
    """``effects`` on paths, and the text of the commands of which nobody can tell."""

    effects: List[PathEffect]
    rest: str


class Deeds(object):
    """Follows a ``postinst configure``.

    ``files`` and ``accounts`` are those that there will be when it runs, ``lay`` has an effect seen
    by what comes later. ``fresh``: no version was installed before.
    """

    def __init__(self, files: "Files", accounts: "Accounts", lay: Lay, fresh: bool) -> None:
        self._files, self._accounts, self._lay, self._fresh = files, accounts, lay, fresh
        self._told: Dict[int, Optional[bool]] = {}
        self._doers: Dict[str, Callable[[Sequence[str]], Optional[List[PathEffect]]]] = {
            "mkdir": self._mkdir,
            "ln": self._ln,
            "touch": self._touch,
            "chown": self._chown,
            "chgrp": self._chgrp,
            "chmod": self._chmod,
            "cp": self._cp,
        }

    def of(self, script: str) -> Told:
        """What it does."""
        found: List[PathEffect] = []
        rest: List[str] = []
        sure = True
        for step in steps(script):
            holds = self._holds(step)
            if holds is False:
                continue
            if step.words[:1] in (("exit",), ("return",)):
                if holds and sure:
                    break
                sure = False
            holds = holds if sure else None
            effects = self._done(step.words) if holds else None
            if effects is None:
                rest.append(step.text)
                continue
            for effect in effects:
                self._lay(effect)
            found += effects
        return Told(found, "\n".join(rest))

    # -- conditions -------------------------------------------------------------------------------

    def _holds(self, step: Step) -> Optional[bool]:
        """Whether all around it holds; None where one of them may."""
        for number, text in step.conditions:
            if number not in self._told:
                self._told[number] = None if text is None else self._any(text)
        return _every([self._told[number] for number, _ in step.conditions])

    def _any(self, text: str) -> Optional[bool]:
        told = [self._all(part) for part in text.split("||")]
        if True in told:
            return True
        return None if None in told else False

    def _all(self, text: str) -> Optional[bool]:
        return _every([self._test(part.strip()) for part in text.split("&&")])

    def _test(self, text: str) -> Optional[bool]:
        override = _OVERRIDE.match(text)
        if override:
            return self._overridden(override.group("path")) is not bool(override.group("no"))
        test = _TEST.match(text)
        found = self._asked(test.group("what")) if test else None
        return found if found is None or test is None else found is not bool(test.group("no"))

    def _asked(self, what: str) -> Optional[bool]:
        same, second, path = _SAME.match(what), _SECOND.match(what), _PATH.match(what)
        if same:
            return (same.group("word") == "configure") is not bool(same.group("not"))
        if second:
            return self._fresh is (second.group("kind") == "z")
        if not path:
            return None
        kind, at = path.group("kind"), path.group("path")
        if kind in "Lh":
            return bool(self._files.link(at))
        if kind == "d":
            return self._files.is_directory(at)
        if kind == "e":
            return self._files.exists(at)
        status = self._files.status(at, follow=True)
        return status is not None and status.kind == "file"

    def _overridden(self, path: str) -> bool:
        if not self._files.exists(_OVERRIDES):
            return False
        lines = self._files.read(_OVERRIDES, 1 << 20).decode("utf-8", "replace").splitlines()
        return any(line.endswith(" " + path) for line in lines)

    # -- commands: None is what nobody can tell ---------------------------------------------------

    def _done(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        doer = self._doers.get(words[0]) if words else None
        if doer is None:
            return None
        options = [word for word in words[1:] if word.startswith("-")]
        given = [word.rstrip("/") for word in words[1:] if not word.startswith("-")]
        first = 1 if words[0] in ("chown", "chgrp", "chmod", "ln") else 0
        if not all(path.startswith("/") for path in given[first:]):
            return None
        if any(word.startswith("/") and os.path.normpath(word) != word for word in given):
            return None
        known = {"mkdir": ("-p",), "ln": ("-s", "-sf", "-fs"), "cp": ("-p", "-a")}
        if not set(options) <= set(known.get(words[0], ())):
            return None
        return doer(options[:1] + given if words[0] in ("ln", "cp") else given)

    def _mkdir(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        found: List[PathEffect] = []
        for path in words:
            while not self._files.exists(path):
                found.insert(0, PathEffect(path, "directory", 0o755, uid=0, gid=0))
                path = os.path.dirname(path)
        return found

    def _ln(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        if len(words) != 3 or not words[0].startswith("-"):
            return None
        target, link = words[1:]
        if self._files.is_directory(link):
            return None
        if words[0] == "-s" and self._files.is_there(link):
            return None  # it fails
        return [PathEffect(link, "symlink", target=target)]

    def _touch(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        new = [path for path in words if not self._files.exists(path)]
        return [PathEffect(path, "file", 0o644, uid=0, gid=0, content=Empty()) for path in new]

    def _cp(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        option = words[0] if words and words[0].startswith("-") else ""
        paths = words[1:] if option else words
        if len(paths) != 2 or self._files.is_there(paths[1]):
            return None
        status = self._files.status(paths[0], follow=option != "-a")
        if status is None or status.kind != "file":
            return None
        if not option:
            return [PathEffect(paths[1], "file", status.mode & 0o755, uid=0, gid=0)]
        return [PathEffect(paths[1], "file", status.mode, uid=status.uid, gid=status.gid)]

    def _chown(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        owner, _, group = words[0].partition(":") if words else ("", "", "")
        uid = self._accounts.number("user", owner) if owner else None
        gid = self._accounts.number("group", group) if group else None
        if (owner and uid is None) or (group and gid is None):
            return None
        return self._changed(words[1:], lambda at: at._replace(uid=uid, gid=gid))

    def _chgrp(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        return self._chown([":" + words[0], *words[1:]]) if words else None

    def _chmod(self, words: Sequence[str]) -> Optional[List[PathEffect]]:
        if not words or not _OCTAL.match(words[0]):
            return None
        return self._changed(words[1:], lambda at: at._replace(mode=int(words[0], 8)))

    def _changed(
        self, paths: Sequence[str], change: Callable[[PathEffect], PathEffect]
    ) -> Optional[List[PathEffect]]:
        found = []
        for path in paths:
            status = self._files.status(path, follow=True)
            if status is None or status.kind not in ("file", "directory"):
                return None
            found.append(change(PathEffect(path, status.kind)))
        return found


def _every(told: Sequence[Optional[bool]]) -> Optional[bool]:
    """Whether all hold; None where one of them may, and no other does not."""
    if False in told:
        return False
    return None if None in told else True
