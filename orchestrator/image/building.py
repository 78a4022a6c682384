"""Makes the runtime image from the installed ``remote_runtime`` package (controller).

The zip is the same byte for byte whenever the sources are the same: members are sorted, with a
fixed time and mode, and nothing but Python modules goes in, ours without what only people read.
Beside it stands the payload of compiled modules for targets whose interpreter is like the
controller's; they need no zip and compile nothing (see ``remote_runtime.bootstrap``).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

import remote_runtime
from orchestrator.image import keeping
from orchestrator.image.program import program
from orchestrator.image.stripping import stripped
from remote_runtime import bootstrap
from remote_runtime.errors import InputError, Problem

_ROOT = Path(remote_runtime.__file__).parent
_BUILDERS = Path(__file__).parent
_EPOCH = (1980, 1, 1, 0, 0, 0)
_TYPE_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


class Image(NamedTuple):
    """The runtime as a zip with its hash, and compiled for interpreters of ``tag``.

    ``program`` is the text of the bootstrap, compressed with zlib.
    """

    archive: bytes
    sha256: str
    code: bytes
    code_sha256: str
    tag: str
    program: bytes


def build(extra_types: Path | None = None) -> Image:
    """The image of the installed runtime, with the types below ``extra_types`` added.

    Built once per state of the sources and kept in the user's cache folder. ``InputError`` where
    ``extra_types`` is no folder or names a type that exists.
    """
    files = _sources(extra_types)
    tag = bootstrap.interpreter_tag()
    # What builds an image says as much about it as what goes in.
    key = keeping.key({**files, **{path.name: path for path in sorted(_BUILDERS.glob("*.py"))}})
    names = tuple(f"{key}.{suffix}" for suffix in ("zip", f"{tag}.code", "program"))
    kept = keeping.load(names)
    if kept is None:
        archive = _zip(files)
        kept = (archive, bootstrap.compiled(archive), program())
        keeping.save(names, kept)
    archive, code, text = kept
    return Image(archive, _sha256(archive), code, _sha256(code), tag, text)


def _sources(extra_types: Path | None) -> dict[str, Path]:
    """Member name to file, sorted by name."""
    files = {f"{_ROOT.name}/{path.relative_to(_ROOT).as_posix()}": path for path in _modules(_ROOT)}
    if extra_types is not None:
        files.update(_extra(extra_types, files))
    return dict(sorted(files.items()))


def _modules(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]


def _extra(folder: Path, existing: dict[str, Path]) -> dict[str, Path]:
    if not folder.is_dir():
        raise InputError([Problem(f"{folder} is not a folder of resource types")])
    problems: list[Problem] = []
    files: dict[str, Path] = {}
    for home in sorted(path.parent for path in folder.glob("*/__init__.py")):
        prefix = f"remote_runtime/resources/{home.name}/"
        if not _TYPE_NAME.match(home.name):
            problems.append(Problem(f"{home}: {home.name!r} cannot be the name of a type"))
        elif prefix + "__init__.py" in existing:
            hint = "give the folder another name"
            problems.append(Problem(f"{home}: the type {home.name} exists already", None, hint))
        for path in _modules(home):
            files[prefix + path.relative_to(home).as_posix()] = path
    if problems:
        raise InputError(problems)
    return files


def _zip(files: dict[str, Path]) -> bytes:
    import io
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, path in files.items():
            member = zipfile.ZipInfo(name, _EPOCH)
            member.create_system = 3
            member.external_attr = 0o100644 << 16
            archive.writestr(member, _content(path), zipfile.ZIP_DEFLATED, 9)
    return target.getvalue()


def _content(path: Path) -> bytes:
    """A member's bytes; the user's own types are left as they are."""
    source = path.read_bytes()
    return stripped(source) if _ROOT in path.parents else source


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
