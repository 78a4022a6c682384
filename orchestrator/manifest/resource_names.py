"""Resource names of all manifests of a run, before any host is contacted (controller)."""

from pathlib import Path

from orchestrator.language.errors import NEEDS
from orchestrator.manifest.checks.references import NamedResource, named
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site, applies
from remote_runtime.errors import Problem

MAX_RESOURCES = 100_000


def names_of_run(site: Site, problems: list[Problem]) -> tuple[list[NamedResource], list[Problem]]:
    """Every resource of the run in run order, if it is known without a host, and the problems of
    child manifests that no ``control`` can leave out.
    """
    walk = _Walk(problems)
    walk.site(site, (), certain=True)
    return walk.found, walk.broken


class _Walk:
    """Visits a manifest and the manifests that it applies."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._places = 0
        self.found: list[NamedResource] = []
        self.broken: list[Problem] = []

    def site(self, site: Site, above: tuple[Path, ...], certain: bool) -> None:
        """Record the names of a manifest and of those below it, in run order.

        ``above``: the paths of the manifests through which it is applied. ``certain``: no
        ``control`` can leave it out.
        """
        place = self._places
        self._places += 1
        for declared in site.resources:
            opens, begin = declared.type.applies, len(self.found)
            if declared.type.applies and declared.child is not None:
                sure = certain and not declared.control
                opens = not self._enter(
                    site, declared, path=declared.child, above=above, certain=sure
                )
                opens = opens or declared.foreach is not None
            if len(self.found) >= MAX_RESOURCES:
                message = f"the run has more than {MAX_RESOURCES} resources"
                hint = "look for a manifest that is applied repeatedly"
                if not self._problems or self._problems[-1].message != message:
                    self._problems.append(Problem(message, declared.position, hint))
                return
            entry = named(declared)._replace(place=place, opens=opens)
            self.found.append(entry._replace(begin=begin) if declared.type.applies else entry)

    def _enter(
        self,
        parent: Site,
        declared: DeclaredResource,
        *,
        path: str,
        above: tuple[Path, ...],
        certain: bool,
    ) -> bool:
        """Record the resources of the child; return whether all of them are known."""
        found = parent.children.of(parent, declared, path, above)
        child = found.site or (found.draft if certain else None)
        if certain:
            self.broken += [one for one in found.problems if one.kind not in NEEDS]
        if child is None or (declared.raw.get("allow_apply") is False and applies(child)):
            return False
        self.site(child, (*above, parent.path), certain)
        return found.site is not None and child.resources_template is None
