"""Which Python a host has: another version, none, or one without json. For `prepare` of a Lab.

The other versions come from this machine: pyenv's (`$PYENV_ROOT`, else ~/.pyenv), else
/usr/bin/python3.N. On a host they are below /opt, where every user can run them.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from .machine import LabError, run_tool
from .rootfs import Prepare, inside

_LEFT_OUT = shutil.ignore_patterns(
    "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "config-*",
    "site-packages", "dist-packages", "*.opt-1.pyc", "*.opt-2.pyc", "*.a", "*.exe", "_tkinter*",
)  # fmt: skip
"""Parts of the standard library that no target needs: three quarters of it by size."""


def interpreter_path(version: str) -> str:
    """Return where `with_interpreter(version)` puts Python on a host; the version is like 3.6."""
    return f"/opt/python{version}/bin/python{version}"


def find_interpreter(version: str) -> Path | None:
    """Return the prefix of a Python of this machine, such as `3.6`, or None if it has none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [path for path in pyenv.glob(f"{version}.*") if _patch_level(path.name) is not None]
    for prefix in [*sorted(found, key=lambda path: _patch_level(path.name) or 0), Path("/usr")]:
        library = prefix / f"lib/python{version}/os.py"
        if (prefix / f"bin/python{version}").exists() and library.exists():
            return prefix
    return None


def _patch_level(name: str) -> int | None:
    match = re.fullmatch(r"\d+\.\d+\.(\d+)", name)
    return int(match.group(1)) if match else None


def with_interpreter(version: str) -> Prepare:
    """Return a `prepare` that gives a host this Python, at `interpreter_path(version)`.

    Raises LabError at once if this machine has none; `find_interpreter` tells.
    """
    prefix = find_interpreter(version)
    if prefix is None:
        raise LabError(f"this machine has no Python {version}")
    return lambda root: _copy(prefix, version, root)


def _copy(prefix: Path, version: str, root: Path) -> None:
    program = root / interpreter_path(version).lstrip("/")
    program.parent.mkdir(parents=True)
    shutil.copy2((prefix / f"bin/python{version}").resolve(), program)
    library = program.parents[1] / f"lib/python{version}"
    shutil.copytree(prefix / f"lib/python{version}", library, ignore=_LEFT_OUT, symlinks=True)
    for needed in _shared_libraries([program, *library.glob("lib-dynload/*.so")]):
        # A library of the prefix itself goes where the loader looks anyway.
        own = prefix != Path("/usr") and prefix in needed.parents
        target = inside(root, f"/usr/lib/{needed.name}" if own else str(needed))
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(needed.resolve(), target)


def _shared_libraries(programs: list[Path]) -> set[Path]:
    """Return the shared libraries that programs load, as found on this machine."""
    listing = run_tool(["ldd", *programs]).stdout
    return {Path(path) for path in re.findall(r"=> (/\S+) \(0x", listing)}


def without_python(root: Path) -> None:
    """Leave a host without any Python: a `prepare`."""
    for pattern in ("usr/bin/python*", "usr/bin/py3*", "usr/local/bin/python*"):
        for path in root.glob(pattern):
            path.unlink()
    for directory in root.glob("usr/lib/python3*"):
        shutil.rmtree(directory)


def with_minimal_python(root: Path) -> None:
    """Leave a host with what Debian's python3-minimal has, which lacks json: a `prepare`."""
    for cached in root.glob("usr/lib/python3*/**/__pycache__"):
        shutil.rmtree(cached)
    for listing in root.glob("var/lib/dpkg/info/libpython3.*-stdlib*.list"):
        for line in reversed(listing.read_text().splitlines()):
            path = root / line.lstrip("/")
            if not line.startswith("/usr/lib/python3"):
                continue
            if path.is_file():
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()  # an empty directory could still be imported


def in_order(*steps: Prepare) -> Prepare:
    """Return a `prepare` that does several things, one after the other."""

    def prepare(root: Path) -> None:
        for step in steps:
            step(root)

    return prepare
