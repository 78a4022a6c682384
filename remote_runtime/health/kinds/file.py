"""``file``: the attributes and content of a path (target)."""

import os
import stat
from typing import Any, Dict, List, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import (
    BOOLEAN,
    LINES,
    NUMBER,
    TEXT,
    Kind,
    ObservedValues,
    Probe,
    Rule,
    nothing,
)
from remote_runtime.health.matchers import Lines
from remote_runtime.system.errno_messages import failure

_LIMIT = 16 << 20
_TYPES = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "symlink"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISCHR, "character-device"),
    (stat.S_ISBLK, "block-device"),
)
_DIGESTS = ("md5", "sha256", "sha512")


class _File(Kind):
    identity = "path"
    attributes = {
        "exists": BOOLEAN,
        "filetype": TEXT,
        "mode": TEXT,
        "size": NUMBER,
        "owner": TEXT,
        "uid": NUMBER,
        "group": TEXT,
        "gid": NUMBER,
        "linked-to": TEXT,
        "contents": LINES,
        "md5": TEXT,
        "sha256": TEXT,
        "sha512": TEXT,
    }

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        """See the base class. The path must be absolute, and the file type a known one."""
        problems = []
        if not subject.startswith("/"):
            problems.append(("path", "a path must be absolute", ""))
        wanted = rule.get("filetype")
        known = [name for _, name in _TYPES]
        if isinstance(wanted, str) and wanted not in known:
            hint = "known: " + ", ".join(known)
            problems.append(("filetype", "there is no file type %r" % wanted, hint))
        return problems

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the attributes of the path itself; its content is read only when a rule compares
        it.
        """
        try:
            status = os.lstat(subject)
        except (FileNotFoundError, NotADirectoryError):
            return nothing("%s does not exist" % subject, self.attributes)
        except OSError as error:
            raise failure("inspect", subject, error) from error
        accounts, files = probe.context.accounts, probe.context.files
        # Contents and digests are those of a symlink's target, as when opening it.

        def contents() -> Lines:
            return Lines(files.read(subject, _LIMIT, follow=True).decode("utf-8", "replace"))

        values: Dict[str, Any] = {
            "exists": True,
            "filetype": next((name for test, name in _TYPES if test(status.st_mode)), "other"),
            "mode": "%04o" % stat.S_IMODE(status.st_mode),
            "size": status.st_size,
            "owner": lambda: accounts.user_name(status.st_uid),
            "uid": status.st_uid,
            "group": lambda: accounts.group_name(status.st_gid),
            "gid": status.st_gid,
            "linked-to": lambda: _target(subject),
            "contents": contents,
        }
        for name in _DIGESTS:
            values[name] = _digest(name, subject, probe)
        return values


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError as error:
        if not os.path.islink(path):
            raise ResourceError("%s is not a symlink" % path) from error
        raise failure("read the link", path, error) from error


def _digest(name: str, path: str, probe: Probe) -> Any:
    def digest() -> str:
        import hashlib

        hasher = hashlib.new(name)
        for block in probe.context.files.blocks(path, follow=True):
            probe.context.check_cancelled()
            hasher.update(block)
        return hasher.hexdigest()

    return digest


KIND = _File()
