"""The effects of a transaction that dnf has resolved (target; in previews only)."""

from typing import TYPE_CHECKING, Callable, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.effects import Effect, PackageEffect, UnknownEffect
from remote_runtime.packages import package_coverage
from remote_runtime.packages.destination_checks import DestinationChecks
from remote_runtime.packages.dnf import isolated_run
from remote_runtime.packages.dnf.transaction import NewPackage, Table
from remote_runtime.packages.package_info import Operation, VersionChange
from remote_runtime.packages.rpm.effects import RpmEffects
from remote_runtime.packages.rpm.installed_packages import Ask, RpmInstallations
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.dpkg.package_contents import Contents

_LIMIT = 16 << 20  # bytes of a query's output


class Resolved(NamedTuple):
    """What dnf would do for an operation: its ``table`` without the changes of earlier resources,
    None if something in it is not clear, and the ``names`` of all packages in it.
    """

    table: Optional[Table]
    names: Sequence[str]


def asking(context: "Context") -> Ask:
    """Return a function that runs a query of rpm. ``Unknowable`` if a preview cannot run it."""

    def ask(argv: Sequence[str]) -> str:
        found = context.commands.run(isolated_run.isolated(context, argv), limit=_LIMIT)
        if context.noop and isolated_run.has_failed(found):
            raise isolated_run.not_begun(found.stderr)
        return found.stdout

    return ask


def registry_of(context: "Context", table: Table) -> RpmInstallations:
    """Return rpm's records of packages that change. ``Unknowable`` if they are not clear."""
    return RpmInstallations(installed_names(table), asking(context))


def installed_names(table: Table) -> List[str]:
    """Return the names of the installed packages that change."""
    return [one.name for one in [*table.changed, *table.removed]]


def of(
    context: "Context",
    table: Table,
    registry: RpmInstallations,
    contents: "Callable[[Sequence[NewPackage]], Dict[str, Contents]]",
) -> List[Effect]:
    """Return the effects on packages, files, units and accounts. ``contents`` returns those of new
    packages, as far as they are known.
    """
    new = [*table.added, *table.changed]
    known = contents(new) if new else {}
    DestinationChecks(context.files).refuse(known)
    version = registry.version
    changes = [VersionChange(one.name, "", one.evr) for one in table.added]
    changes += [VersionChange(one.name, version(one.name), one.evr) for one in table.changed]
    changes += [VersionChange(one.name, version(one.name), "") for one in table.removed]
    return RpmEffects(context, registry, known.get, {}).of(changes)


def named(operation: Operation, package: str, table: Table) -> List[Effect]:
    """Return the effect on the name of an operation if it is not that of its ``package``, as with
    an architecture.
    """
    new = [*table.added, *table.changed]
    if operation.name in [one.name for one in [*new, *table.removed]]:
        return []
    if operation.removal:
        return [PackageEffect(operation.name, "")]
    own = [one for one in new if one.name == package]
    return [PackageEffect(operation.name, [*own, *new][0].evr)]


def unclear(context: "Context", what: str, names: Sequence[str]) -> UnknownEffect:
    """Return the effect if these installed packages get another version, or are replaced
    or removed.
    """
    uncertainty = Uncertainty(UNKNOWN, "the changes of %s are not known yet" % what)
    return UnknownEffect(uncertainty, package_coverage.of_rpms(context, names))
