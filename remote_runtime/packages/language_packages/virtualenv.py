"""Reads Python virtual environments from their files (target).

Installed packages are directories ``NAME-VERSION.dist-info``; older tools create ``.egg-info``.
"""

import os
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.packages.language_packages.directory import KIND
from remote_runtime.packages.language_packages.names import normalized
from remote_runtime.packages.package_info import Installed

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

CONFIGURATION = "pyvenv.cfg"
_OWN = {"bin", "include", "lib", "lib64", "share"}  # that the program makes before its settings
_EXTERNAL = "EXTERNALLY-MANAGED"
_SHOWN = 3
_LARGEST = 1 << 16
HINT = "use the path of a virtual environment, such as /opt/NAME/venv; ccm creates a missing one"


class Environment(NamedTuple):
    """An environment. ``version`` is the version of its Python, as in ``3.11``; ``packages`` is the
    directory of its packages, "" for an incomplete environment. ``is_planned``: it does not exist
    yet. ``full_version`` is as in ``3.11.2``, if it is known.
    """

    path: str
    version: str = ""
    packages: str = ""
    is_planned: bool = False
    full_version: str = ""

    @property
    def python(self) -> str:
        """The path of its interpreter."""
        return os.path.join(self.path, "bin", "python")

    @property
    def reads(self) -> List[str]:
        """The paths that determine what runs in it."""
        if self.is_planned:
            return []
        paths = [os.path.join(self.path, "bin"), self.python]
        paths.append(os.path.join(self.path, CONFIGURATION))
        if self.packages:
            above = os.path.dirname(self.packages)
            paths += [os.path.dirname(above), above, self.packages]
        return paths


def find(files: "Files", path: str) -> Environment:
    """Return the environment in an existing directory. ``ResourceError`` for any
    other directory.
    """
    settings = os.path.join(path, CONFIGURATION)
    if not _is_file(files, settings):
        _require_new(files, path)
        return Environment(path)
    full = _version(files.read(settings, _LARGEST, follow=True).decode("utf-8", "replace"))
    version = ".".join(full.split(".")[:2])
    lib = os.path.join(path, "lib")
    there: Dict[str, str] = {}
    if _is_directory(files, lib):
        for name in files.entries(lib):
            python = _python(name)
            packages = os.path.join(lib, name, "site-packages")
            if python and _is_directory(files, packages):
                there[python] = packages
    series = version if version in there else (sorted(there) or [""])[-1]
    known = full if version == series else ""
    return Environment(path, series or version, there.get(series, ""), full_version=known)


def _version(settings: str) -> str:
    """Return ``3.11.2`` from the settings of an environment; "" if they do not contain it."""
    for line in settings.splitlines():
        key, _, value = line.partition("=")
        if key.strip() in ("version", "version_info"):
            return ".".join(value.strip().split(".")[:3])
    return ""


def _require_new(files: "Files", path: str) -> None:
    """Raise ``ResourceError`` for a directory that contains more than the beginning of an
    environment.
    """
    names = files.entries(path)
    others = [name for name in names if name not in _OWN]
    programs = os.path.join(path, "bin")
    if not others and not (_is_directory(files, programs) and files.entries(programs)):
        return
    what = "it contains %s" % ", ".join((others or names)[:_SHOWN])
    if _is_system(files, path):
        what = "its Python belongs to the package manager of the system (PEP 668)"
    raise ResourceError("%s is not a virtual environment: %s" % (path, what), kind=KIND, hint=HINT)


def _is_system(files: "Files", path: str) -> bool:
    """Return whether a directory has the Python of the system, or one that another tool manages."""
    if path in ("/", "/usr", "/usr/local"):
        return True
    lib = os.path.join(path, "lib")
    names = files.entries(lib) if _is_directory(files, lib) else []
    return any(
        _is_file(files, os.path.join(lib, name, _EXTERNAL)) for name in names if _python(name)
    )


def inventory(files: "Files", environment: Environment) -> Dict[str, Tuple[str, str]]:
    """Return version and directory of each package, by its normalized name."""
    packages: Dict[str, Tuple[str, str]] = {}
    if not environment.packages:
        return packages
    for entry in files.entries(environment.packages):
        name, version = _split(entry)
        if name and normalized(name) not in packages:
            packages[normalized(name)] = (version, entry)
    return packages


def _split(entry: str) -> Tuple[str, str]:
    """Return name and version of an entry; "" for an entry that is not a package."""
    if entry.startswith("~"):
        return "", ""  # what pip leaves of a removal that was cut off
    if entry.endswith(".dist-info"):
        name, _, version = entry[: -len(".dist-info")].partition("-")
        return name, version
    if not entry.endswith(".egg-info"):
        return "", ""
    parts = entry[: -len(".egg-info")].split("-")  # the rest is a Python and a platform
    return (parts[0], parts[1]) if len(parts) > 1 else ("", "")


def _python(name: str) -> str:
    """Return ``3.11`` for a directory such as ``python3.11``; "" for any other."""
    for kind in ("python", "pypy"):
        version = name[len(kind) :] if name.startswith(kind) else ""
        numbers = version.split(".")
        if len(numbers) == 2 and all(number.isdigit() for number in numbers):
            return version
    return ""


def installed(
    files: "Files", environment: Environment, entry_of_inventory: Tuple[str, str]
) -> Installed:
    """Return the installed state from an entry of the inventory. An interrupted installation has no
    file INSTALLER, which is written last."""
    version, entry = entry_of_inventory
    if entry.endswith(".egg-info"):
        return Installed(version, "installed")
    directory = os.path.join(environment.packages, entry)
    if all(_is_file(files, os.path.join(directory, name)) for name in ("METADATA", "INSTALLER")):
        return Installed(version, "installed")
    return Installed("", "half-installed")


def _is_file(files: "Files", path: str) -> bool:
    status = files.status(path, follow=True)
    return status is not None and status.kind == "file"


def _is_directory(files: "Files", path: str) -> bool:
    status = files.status(path, follow=True)
    return status is not None and status.kind == "directory"
