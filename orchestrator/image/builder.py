"""Builds the runtime image from the installed ``remote_runtime`` package (controller).

Equal sources result in equal bytes: members are sorted, with a fixed time and mode. The zip
contains only Python modules, and ccm's own modules are stripped of comments and docstrings. Its
comment names the modules that are needed together.

The image also has a payload of compiled modules, for targets with the controller's version of
Python. These targets need neither the zip nor compilation (see ``remote_runtime.bootstrap``).
"""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import remote_runtime
from orchestrator.image import image_cache
from orchestrator.support.hashing import sha256
from remote_runtime import bootstrap

_ROOT = Path(remote_runtime.__file__).parent
_BUILDERS = Path(__file__).parent
_TYPES = f"{_ROOT.name}/resources/"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Image(NamedTuple):
    """The runtime as a zip, which ``sha256`` names, and compiled for interpreters of ``tag``.

    ``code_digest`` identifies the compiled form, see ``remote_runtime.bootstrap``, and ``program``
    the bootstrap as a word of a command, see ``orchestrator.image.bootstrap_source``. The sent
    part, ``zip`` or ``code``, is read by ``payload`` when a host does not have it.
    """

    sha256: str
    code_digest: str
    tag: str
    program: str
    payload: Callable[[str], bytes]

    @property
    def archive(self) -> bytes:
        """The zip."""
        return self.payload("zip")

    @property
    def code(self) -> bytes:
        """The compiled form, as it is sent."""
        return self.payload("code")


def build(own_types: Mapping[str, bytes] | None = None) -> Image:
    """The image of the installed runtime, with a site's own types.

    ``own_types`` are their modules by path, such as ``cron/resource.py``. Built once per state of
    the sources and stored in the user's cache directory. ``ValueError`` if they would replace
    existing modules.
    """
    files = _sources()
    added = {_TYPES + path: source for path, source in sorted((own_types or {}).items())}
    if files.keys() & added.keys():
        raise ValueError(f"these modules exist: {', '.join(files.keys() & added.keys())}")
    tag = bootstrap.interpreter_tag()
    # An image depends on the code that builds it as much as on its content.
    key = image_cache.key([*files.values(), *_modules(_BUILDERS).values()], added)
    names = {"zip": f"{key}.zip", "code": f"{key}.{tag}.code", "names": f"{key}.{tag}.names"}

    @functools.cache
    def made() -> dict[str, bytes]:
        """Build all parts, and store them in the cache."""
        contents = _made(files, added)
        image_cache.save({name: contents[kind] for kind, name in names.items()})
        return contents

    @functools.cache
    def payload(kind: str) -> bytes:
        """One part, from the cache if possible."""
        kept = image_cache.load(names[kind])
        return made()[kind] if kept is None else kept

    known = payload("names")
    program = known[64:].decode("ascii")
    return Image(known[:32].hex(), known[32:64].hex(), tag=tag, program=program, payload=payload)


def _made(files: Mapping[str, str], added: Mapping[str, bytes]) -> dict[str, bytes]:
    """The stored parts of an image: its two forms, and their names with the bootstrap."""
    from orchestrator.image.bootstrap_source import program  # what writes Python takes long to load
    from orchestrator.image.bytecode import extended, payload

    if added:  # custom types stay unchanged, and our modules equal those of an image without them
        ours = build()
        archive = _joined(ours.archive, added)
        code = extended(ours.code, _written(added, b""))
    else:
        archive = _zip(_stripped(files))
        code = payload(archive)
    digest = bootstrap.sum_of(bootstrap.unpacked(code))
    return {
        "zip": archive,
        "code": code,
        "names": sha256(archive).digest() + digest + program().encode(),
    }


def _sources() -> dict[str, str]:
    """The modules of the runtime."""
    return _modules(_ROOT)


def _modules(root: Path) -> dict[str, str]:
    """Member name to file of the modules in a package, sorted by name."""
    found: dict[str, str] = {}
    left = [(root.name, str(root))]
    # Every run looks through them, and Path objects of so many files cost more than the look.
    for member, directory in left:
        with os.scandir(directory) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    found[f"{member}/{name}"] = entry.path
                elif "." not in name and name != "__pycache__" and entry.is_dir():
                    left.append((f"{member}/{name}", entry.path))
    return dict(sorted(found.items()))


def _stripped(files: Mapping[str, str]) -> dict[str, bytes]:
    from orchestrator.image.minifier import stripped

    return {name: stripped(Path(path).read_bytes()) for name, path in files.items()}


def _zip(members: Mapping[str, bytes]) -> bytes:
    from orchestrator.image.member_order import import_groups

    return _written(members, "\n".join(" ".join(row) for row in import_groups(members)).encode())


def _joined(archive: bytes, added: Mapping[str, bytes]) -> bytes:
    """An image with additional modules, which none of its modules imports, so its order does not
    change.
    """
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(archive)) as ours:
        members = {name: ours.read(name) for name in ours.namelist()}
        return _written({**members, **added}, ours.comment)


def _written(members: Mapping[str, bytes], comment: bytes) -> bytes:
    import io
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.comment = comment
        for name, content in sorted(members.items()):
            member = zipfile.ZipInfo(name, _EPOCH)
            member.create_system = 3
            member.external_attr = 0o100644 << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED, 9)
    return target.getvalue()
