"""The metadata in a Debian package file (target)."""

from typing import TYPE_CHECKING, Mapping

from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.packages.package_info import PackageFile

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands

_LIMIT = 1 << 20  # bytes of its control file


def read(commands: "Commands", path: str, env: Mapping[str, str]) -> PackageFile:
    """Return name, version and architecture, and the complete control file, which starts with the
    name.

    ``ResourceError`` if the file is not a package.
    """
    result = commands.run(("dpkg-deb", "-f", path), env=env, limit=_LIMIT)
    lines = [line for line in result.stdout.splitlines() if line.strip()]
    stanza = "\n".join(lines)
    name, version, architecture = (
        apt_simulation.field(stanza, key) for key in ("Package", "Version", "Architecture")
    )
    if result.code != 0 or not (name and version):
        reason = result.tail(1) or "it has no name"
        raise ResourceError("the source is not a Debian package: %s" % reason)
    rest = [line for line in lines if not line.startswith("Package:")]
    control = "\n".join(["Package: " + name, *rest])
    return PackageFile(path, name, version, architecture=architecture, control=control)
