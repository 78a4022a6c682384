"""The metadata in an RPM file (target)."""

from typing import TYPE_CHECKING

from remote_runtime.errors import ResourceError
from remote_runtime.packages.package_info import PackageFile

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Result

_FORM = "%{name}\\t%{epoch}\\t%{version}\\t%{release}\\t%{arch}\\n"
QUERY = ("rpm", "-qp", "--nosignature", "--nodigest", "--queryformat", _FORM)


def parse(path: str, result: "Result") -> PackageFile:
    """Parse the output of the query for a file. ``ResourceError`` if the file is not an RPM."""
    fields = (result.stdout.splitlines() or [""])[-1].split("\t")
    if result.code != 0 or len(fields) != 5:
        raise ResourceError("the source is not an RPM: %s" % result.tail(1))
    name, epoch, version, release, architecture = fields
    evr = "%s:%s-%s" % (epoch if epoch.isdigit() else "0", version, release)
    return PackageFile(path, name, evr, architecture=architecture)
