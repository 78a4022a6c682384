"""Packs ccm and the wheels that it needs into one file that Python runs (build machine).

Each wheel is carried as it is. `python3.N.json` says which of them that Python needs and what comes
of them; `launcher.py` is the program of the file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_NOT_IN_PLACE = re.compile(r"\.data/(?!headers/)")  # headers are for those who compile
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DOWNLOAD = """
import platform, sys
version = sys.argv.pop(1)
# pip judges markers by the Python that runs it, whatever its option --python-version says.
platform.python_version = lambda: version + ".0"
platform.python_version_tuple = lambda: (*version.split("."), "0")
from pip._internal.cli.main import main
sys.exit(main())
"""


def main() -> None:
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(prog="scripts/pyz", description="Make ccm.pyz.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist/ccm.pyz")
    parser.add_argument(
        "--python", action="append", choices=PYTHONS, help="carry what this one needs only"
    )
    arguments = parser.parse_args()
    build(arguments.output, arguments.python or PYTHONS)
    print(arguments.output)


def build(target: Path, pythons: Sequence[str]) -> None:
    """Write the file for these Pythons; the package index provides the wheels."""
    with tempfile.TemporaryDirectory() as scratch:
        own = _own_wheel(Path(scratch))
        wheels = {python: _wheels(python, own, Path(scratch) / python) for python in pythons}
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        write(part, wheels)
        part.chmod(0o755)
        part.replace(target)


def _pip(*words: str, program: Sequence[str] = ("-m", "pip")) -> None:
    subprocess.run([sys.executable, *program, *words], check=True)


def _own_wheel(directory: Path) -> Path:
    _pip("wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(directory), str(ROOT))
    return next(directory.glob("*.whl"))


def _wheels(python: str, own: Path, directory: Path) -> list[Path]:
    """Download what ccm with all its extras needs on one Python of the targeted platform."""
    words = ["download", "-q", "--only-binary=:all:", "--implementation=cp", f"--dest={directory}"]
    words += [f"--python-version={python}", *(f"--platform={name}" for name in PLATFORMS)]
    _pip(*words, f"ccm-push[all] @ {own.as_uri()}", program=("-c", _DOWNLOAD, python))
    return sorted(directory.glob("*.whl"))


def write(target: Path, wheels: Mapping[str, Sequence[Path]]) -> None:
    """Write the file with the wheels of each Python."""
    with target.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            program = Path(__file__).with_name("launcher.py").read_bytes()
            _add(archive, "__main__.py", program)
            for python, paths in wheels.items():
                index = json.dumps(_index(paths), separators=(",", ":")).encode()
                _add(archive, f"python{python}.json", index)
            for path in {path.name: path for paths in wheels.values() for path in paths}.values():
                _add(archive, f"wheels/{path.name}", path.read_bytes(), zipfile.ZIP_STORED)


def _add(
    archive: zipfile.ZipFile, name: str, content: bytes, method: int = zipfile.ZIP_DEFLATED
) -> None:
    """Add a member that is the same byte for byte whenever its content is."""
    member = zipfile.ZipInfo(name, _EPOCH)
    member.create_system = 3
    member.external_attr = 0o100644 << 16
    archive.writestr(member, content, method)


def _index(wheels: Sequence[Path]) -> dict[str, object]:
    """What one Python needs: wheels, the size of each file in them, a digest of all that."""
    digest = hashlib.sha256()
    files: dict[str, int] = {}
    for path in wheels:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
        with zipfile.ZipFile(path) as wheel:
            members = [member for member in wheel.infolist() if not member.is_dir()]
        if any(_NOT_IN_PLACE.search(member.filename) for member in members):
            raise SystemExit(f"{path.name} has to be installed; ccm.pyz can only unpack wheels")
        files.update({member.filename: member.file_size for member in members})
    return {
        "sha256": digest.hexdigest(),
        "wheels": [path.name for path in wheels],
        "files": files,
    }


if __name__ == "__main__":
    main()
