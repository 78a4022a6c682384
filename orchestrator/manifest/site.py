"""A checked manifest, and the manifests that its resources apply (controller)."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from orchestrator.language.errors import NEEDS_ARCHIVE
from orchestrator.language.manifest_directory import Directory, is_file_name
from orchestrator.manifest.data_source import DataSource
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.defaults import NO_DEFAULTS, Defaults
from orchestrator.manifest.resource_types import Types
from orchestrator.sources.address import SourceError, is_url
from orchestrator.sources.archives import Archives
from remote_runtime.errors import Problem

if TYPE_CHECKING:
    from orchestrator.expressions import Expression
    from orchestrator.language import jet
    from orchestrator.manifest.assertions import Assertion
    from orchestrator.manifest.lookups import Asks

DEEPEST = 10


class EarlierResults(Protocol):
    """The results of earlier commands of the same session, by host."""

    def names(self) -> frozenset[str]:
        """Every ``type#name`` and ``type#alias`` that any host has had."""

    def of(self, host: str, references: frozenset[str]) -> dict[str, Any]:
        """The ``earlier`` member of one host's plan, for these references."""


class Site:
    """One manifest: its data, its resources in file order, and other data for the run.

    ``directory`` contains the manifest. ``warnings`` are for the user and do not stop the run. With
    ``resources_template`` there are no ``resources``: the template generates those of each host.
    ``assertions`` must be true on a host before it is changed, and ``asks`` are looked up there
    first. ``defaults`` are its own merged over inherited ones; its children inherit them. ``types``
    are the types that it may use; custom types among them are sent with the runtime. ``children``
    are the manifests that resources of this run apply. ``is_observed``: ccm only reads
    the resources.
    """

    def __init__(
        self,
        path: Path,
        source: DataSource,
        *,
        warnings: list[Problem],
        types: Types,
        children: "Children",
        bounds: Path | None = None,
        parent: "Site | None" = None,
    ) -> None:
        self.path = path
        above = parent.directory if parent is not None else None
        self.directory: Directory = Directory(path.absolute().parent, bounds, above=above)
        self.source = source
        self.warnings = warnings
        self.types = types
        self.children = children
        self.resources: list[DeclaredResource] = []
        self.resources_template: jet.Template | None = None
        self.defaults: Defaults = NO_DEFAULTS
        self.assertions: list[Assertion] = []
        self.asks: Asks = {}
        self.fail_on_error = False
        self.is_observed = False
        self.pre_message = ""
        self.post_message = ""
        self.earlier: EarlierResults | None = None

    def expressions(self) -> "Iterator[Expression]":
        """Every expression of the manifest, without those of templates that it renders."""
        yield from self.source.expressions()
        yield from self.expressions_outside_data()

    def expressions_outside_data(self) -> "Iterator[Expression]":
        """The expressions of assertions, lookups and resources."""
        for assertion in self.assertions:
            yield from assertion.expressions()
        for ask in self.asks.values():
            yield from ask.expressions()
        for declared in self.resources:
            yield from declared.expressions()

    def earlier_names(self) -> frozenset[str] | None:
        """The names that ``require`` and ``subscribe`` may use in addition to those of this run;
        None without a session.
        """
        return self.earlier.names() if self.earlier else None


class Child(NamedTuple):
    """The target of an apply: a manifest, or the ``problems`` that prevent it.

    ``draft`` is what could be read of a manifest with problems: only its names count.
    """

    site: Site | None
    problems: tuple[Problem, ...] = ()
    draft: Site | None = None


class Children:
    """The child manifests of one run. Each is read once per set of defaults. Thread-safe.

    ``read`` reads the manifest at a path that another manifest names. The path must be inside a
    directory (the third argument; None for the directory of the other manifest).
    ``archives`` are the archives at URLs in manifests.
    """

    def __init__(
        self, read: Callable[[Path, Site, Path | None], Child], archives: Archives | None = None
    ) -> None:
        self._read = read
        self.archives = archives or Archives()
        self._lock = Lock()
        self._known: dict[tuple[str, int], Child] = {}

    def of(
        self, parent: Site, declared: DeclaredResource, name: str, above: tuple[Path, ...] = ()
    ) -> Child:
        """The manifest that a resource of ``parent`` applies by this name.

        ``above``: the paths of the manifests through which the first one applies ``parent``.
        """
        if len(above) >= DEEPEST:
            message = f"{name} is nested deeper than {DEEPEST} levels of apply"
            return _refused(declared, message, "apply it from a manifest at a higher level")
        child = self._named(parent, declared, name)
        line = map(os.path.abspath, (*above, parent.path))
        known = child.site or child.draft
        if known is not None and os.path.abspath(known.path) in line:
            message = f"{name} applies itself"
            return _refused(declared, message, "remove one apply of the cycle")
        return child

    def _named(self, parent: Site, declared: DeclaredResource, name: str) -> Child:
        if is_url(name):
            return self._remote(parent, declared, name)
        if not is_file_name(name):
            return _refused(declared, f"{name!r} is not a file name", "check the name")
        path = parent.path.parent / name
        below = os.path.realpath(parent.directory.path)
        if os.path.commonpath([os.path.realpath(path), below]) != below:
            message = f"{name} is outside the directory of {parent.path}"
            hint = "a child manifest must be inside its parent's directory"
            return _refused(declared, message, hint)
        return self._child(parent, declared, path, None)

    def _remote(self, parent: Site, declared: DeclaredResource, url: str) -> Child:
        """The manifest in an archive on another machine."""
        if url != declared.child:
            message = "the URL of a manifest is computed; only a literal one is read"
            return _refused(declared, message, "write a literal URL, or set it with manifest:")
        try:
            child = self.archives.get(url)
        except SourceError as error:
            return _refused(declared, error.message, error.hint)
        if child is None:
            message = f"the archive {url.partition('#')[0]} was not checked"
            hint = "this command contacts no other machine"
            return Child(
                None, (Problem(message, declared.where(("manifest",)), hint, NEEDS_ARCHIVE),)
            )
        return self._child(parent, declared, child.path, Path(child.directory))

    def _child(
        self, parent: Site, declared: DeclaredResource, path: Path, bounds: Path | None
    ) -> Child:
        key = os.path.abspath(path), id(parent.defaults)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._read(path, parent, bounds)
            child = self._known[key]
        # A problem without its own position is reported at the resource that names the child.
        problems = (
            p if p.where else p._replace(where=declared.where(("manifest",)))
            for p in child.problems
        )
        return child._replace(problems=tuple(problems))


def applies(site: Site) -> bool:
    """Whether a manifest has resources that apply other manifests."""
    return any(declared.type.applies for declared in site.resources)


def _refused(declared: DeclaredResource, message: str, hint: str) -> Child:
    where = declared.where(("manifest",))
    return Child(None, (Problem(message, where, hint, "input.child"),))
