"""The database with the answers to debconf's questions (target): its files, and how ccm changes it.

Reading needs no program: the files are those in debconf's settings, by default
``/var/cache/debconf/config.dat`` and ``passwords.dat``.
"""

import time
from typing import TYPE_CHECKING, Dict, Iterator, List, Mapping, Sequence, Set

from remote_runtime.errors import ResourceError
from remote_runtime.packages import locks

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.package_info import Answer
    from remote_runtime.system.files import Files

SET = "debconf-set-selections"
KIND = "debconf"  # of the values that a preview reads here, see ``UnknownEffect``
_DEFAULTS = ("/var/cache/debconf/config.dat", "/var/cache/debconf/passwords.dat")
_SETTINGS = ("/etc/debconf.conf", "/usr/share/debconf/debconf.conf")
_LIMIT = 64 << 20  # bytes of one file
_LOCKED = "locked by another process"


def databases(files: "Files", home: str) -> Sequence[str]:
    """Return the files that contain answers, in the order of their priority.

    ``ResourceError`` for a database that is not a file.
    """
    for path in (home + "/.debconfrc", *_SETTINGS):
        if files.is_there(path):
            text = files.read(path, _LIMIT, follow=True).decode("utf-8", "replace")
            return _named(path, list(_stanzas(text)))
    return _DEFAULTS


def _named(path: str, stanzas: Sequence[Mapping[str, str]]) -> Sequence[str]:
    by_name = {one.get("name", ""): one for one in stanzas}
    waiting = [one["config"] for one in stanzas if "config" in one][:1]
    file_names: List[str] = []
    seen = set()
    while waiting:
        name = waiting.pop(0)
        one = by_name.get(name, {})
        driver = one.get("driver", "").lower()
        if driver == "stack" and name not in seen:
            waiting[:0] = [part.strip() for part in one.get("stack", "").split(",")]
        elif driver == "file" and one.get("filename"):
            file_names.append(one["filename"])
        else:
            raise ResourceError(
                "%s keeps answers in the database %r, which is not a file" % (path, name),
                kind="package.debconf",
                hint="set the answers with debconf-set-selections in an exec resource",
            )
        seen.add(name)
    return file_names or _DEFAULTS


def answers(files: "Files", paths: Sequence[str], questions: Sequence[str]) -> Dict[str, str]:
    """Return the values of the answered questions, each from the first file that contains the
    question.
    """
    found: Dict[str, str] = {}
    known: Set[str] = set()
    for path in paths:
        if known.issuperset(questions) or not files.is_there(path):
            continue
        text = files.read(path, _LIMIT, follow=True).decode("utf-8", "surrogateescape")
        for one in _stanzas(text):
            name = one.get("name", "")
            if name in questions and name not in known:
                known.add(name)
                if "value" in one:
                    found[name] = one["value"]
    return found


def _stanzas(text: str) -> Iterator[Dict[str, str]]:
    """Yield the stanzas of debconf's files, with the names of fields in lowercase."""
    fields: Dict[str, str] = {}
    for line in [*text.split("\n"), ""]:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif not line.startswith((" ", "\t", "#")):
            key, colon, value = line.partition(":")
            if colon:
                fields[key.lower()] = value[1:] if value[:1] in (" ", "\t") else value


def store(
    context: "Context",
    package: str,
    *,
    answers: "Sequence[Answer]",
    env: Mapping[str, str],
    find_holder: locks.Look,
    lock_timeout: float,
) -> None:
    """Set answers for a package, which may not be installed yet.

    They are not passed on a command line, which others could see. ``ResourceError``;
    ``lock_timeout`` in seconds applies to the locks of the package manager and of debconf itself.
    """
    lines = ["%s %s %s %s\n" % (package, one.question, one.type, one.value) for one in answers]
    text = "".join(lines).encode("utf-8", "surrogateescape")
    deadline = time.monotonic() + lock_timeout
    while True:
        locks.wait(context, find_holder, deadline)
        context.progress("setting the debconf answers for %s" % package)
        with context.unkillable():
            result = context.commands.run([SET], env=env, input=text)
        if result.code == 0:
            return
        busy = _LOCKED in result.stderr
        if not busy or time.monotonic() >= deadline:
            raise ResourceError(
                "debconf did not accept the answers for %s: %s" % (package, result.tail(3)),
                kind=locks.LOCKED if busy else "package.debconf",
                hint=locks.LOCK_HINT if busy else "",
            )
        context.sleep(locks.PAUSE)
