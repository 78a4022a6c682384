"""Lists, reads and replaces the manifests in a project (controller).

The names come from a browser, so each directory of a path is opened without following links. Only
manifests are read, created or replaced: not ``ccm.yaml``, an inventory or a hidden file.
"""

import contextlib
import hashlib
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from inventory.yaml_document import Mapping, parse_data
from orchestrator.project.discovery import FILE as PROJECT_FILE
from orchestrator.studio.path_guard import content_of, folder_below, is_name, names_below, refusal
from remote_runtime.errors import InputError

MAX_BYTES = 1 << 20
MAX_FILES = 2_000
_ENDINGS = (".yaml", ".yml")
_KEYS = frozenset(("data", "hierarchy", "overrides", "ccm"))


class StoredFile(NamedTuple):
    """A manifest on disk; ``stamp`` is the hash of its content, "" for a new one."""

    name: str
    text: str
    stamp: str


class ProjectFiles:
    """The manifests below ``root``. InputError if it cannot be used."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def names(self) -> list[str]:
        """The manifests, by their path below the root."""
        found = list[str]()
        for path in names_below(self.root):
            if len(found) >= MAX_FILES:
                break
            if _is_possible(path) and self._is_manifest(path):
                found.append(path)
        return sorted(found, key=lambda one: (one.count("/"), one))

    def path(self, name: str) -> Path:
        """The path for a name, whether or not the file exists."""
        _check(name)
        return self.root / name

    def read(self, name: str) -> StoredFile:
        """A manifest, with an empty stamp if it does not exist yet."""
        with self._folder(name) as folder:
            if folder is None:
                return StoredFile(name, "", "")
            found = _content(folder, name)
        if found is None:
            return StoredFile(name, "", "")
        text = _decoded(found, name)
        _require_manifest(text, name)
        return StoredFile(name, text, _stamp(found))

    def write(self, name: str, text: str, stamp: str) -> StoredFile:
        """Replace a manifest atomically if it still has this stamp.

        Its mode and owner are kept. A new file and its directories are created. OSError.
        """
        _require_manifest(text, name)
        data = text.encode()
        if len(data) > MAX_BYTES:
            raise refusal(f"{name} would be larger than {MAX_BYTES >> 20} MiB", "split it")
        with self._folder(name, create=True) as folder:
            assert folder is not None
            base = os.path.basename(name)
            before = _content(folder, name)
            if (_stamp(before) if before is not None else "") != stamp:
                raise _changed(name)
            _replace(folder, base, data, is_new=before is None)
        return StoredFile(name, text, _stamp(data))

    def require_current(self, name: str, stamp: str) -> None:
        """InputError if the file no longer has this stamp."""
        if self.read(name).stamp != stamp:
            raise _changed(name)

    def _is_manifest(self, name: str) -> bool:
        try:
            return bool(self.read(name).stamp)
        except (InputError, OSError):
            return False

    def _folder(self, name: str, create: bool = False) -> AbstractContextManager[int | None]:
        """Yield the open directory of a file; None if it does not exist."""
        _check(name)
        return folder_below(self.root, name, create)


def _is_possible(name: str) -> bool:
    is_file = os.path.basename(name) not in (PROJECT_FILE, "ccm.yml")
    return name.endswith(_ENDINGS) and is_file and is_name(name)


def _check(name: str) -> None:
    if not _is_possible(name):
        hint = "such as site.yaml or roles/web.yaml; ccm.yaml and hidden files are not edited here"
        raise refusal(f"{name[:100]!r} is not the name of a manifest", hint)


def _content(folder: int, name: str) -> bytes | None:
    return content_of(folder, name, MAX_BYTES, "use a text editor")


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal(f"{name} is not UTF-8 text", "save it as UTF-8") from error


def _require_manifest(text: str, name: str) -> None:
    """Raise InputError unless the document has the keys of a manifest."""
    root = parse_data(text, name, [])
    keys = set(root) if isinstance(root, Mapping) else set()
    if not keys or not keys & {"ccm", "data"} or {"hosts", "groups", "stages"} & keys:
        raise refusal(f"{name} is not a manifest", "a manifest has 'ccm:' with resources")
    if not keys <= _KEYS and "ccm" not in keys:
        raise refusal(f"{name} is not a manifest", "a manifest has 'ccm:' with resources")


def _stamp(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(folder: int, base: str, data: bytes, *, is_new: bool) -> None:
    temporary = f".{base[:100]}.{os.urandom(6).hex()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    handle = os.open(temporary, flags, 0o666 if is_new else 0o600, dir_fd=folder)
    try:
        with open(handle, "wb") as out:
            out.write(data)
            out.flush()
            if not is_new:
                before = os.stat(base, dir_fd=folder, follow_symlinks=False)
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(handle, before.st_uid, before.st_gid)
                os.fchmod(handle, before.st_mode & 0o7777)
            os.fsync(handle)
        if is_new:  # a link, because it fails where somebody has created the file in the meantime
            os.link(temporary, base, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            os.unlink(temporary, dir_fd=folder)
        else:
            os.replace(temporary, base, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def _changed(name: str) -> InputError:
    message = f"{name} was changed by another program since it was opened"
    return refusal(message, "copy what you need, discard the changes here and open it again")
