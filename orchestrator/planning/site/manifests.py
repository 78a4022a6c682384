"""The manifests of a run, each prepared once for all hosts and all places where it is applied."""

import posixpath
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.expressions import EvaluationError, Expression, Scope
from orchestrator.expressions.template_files import TEXT, check_call, templates_of_call
from orchestrator.language.builtin_names import LOOP_VARIABLES
from orchestrator.manifest.data_files import DataFiles
from orchestrator.manifest.data_source import DataSource, ValueContainer
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site, applies
from orchestrator.manifest.value_compiler import expressions_in
from orchestrator.planning.content.blob_references import SOURCE, BlobReferences
from orchestrator.planning.resources import GeneratedResources, Resources
from orchestrator.planning.run_data import ManifestData, RunData
from orchestrator.planning.shared_resources import SharedResources
from orchestrator.planning.site.lookups import Reads
from orchestrator.sources.address import is_url
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.secrets.reference import SecretRead

_JINJA, _JET = ("jinja", ("{{", "}}")), ("jet", ("[[", "]]"))
"""The engines Jinja2 and Jet, each with the delimiters of its code."""


class RunManifest:
    """One manifest of a run. ``problems`` are those visible before any host is contacted."""

    def __init__(self, site: Site, run_data: RunData, is_child: bool = False) -> None:
        self.site = site
        self.problems: list[Problem] = []
        self.secret_calls: list[SecretRead] = []
        """The secrets that local templates name."""
        self.data = ManifestData(site.source, site.directory, run_data)
        self.travel = BlobReferences(site.directory)
        self.alike = SharedResources()
        self.declared = Resources(site.resources, self.travel, self.problems)
        template = site.resources_template
        self._generated = (
            GeneratedResources(
                template,
                self.travel,
                types=site.types,
                defaults=site.defaults,
                is_child=is_child,
            )
            if template
            else None
        )
        for part in template.reached if template else ():
            self._note_secrets(part.text, part.name)
            self.problems += self._undeclared(part.text, part.name, _JET)
        self._check_files()

    @cached_property
    def reads(self) -> Reads:
        """The lookups that its entries read."""
        return Reads(self.site)

    @property
    def is_generated(self) -> bool:
        """Whether a template generates the resources of each host."""
        return self._generated is not None

    def files(self) -> Iterator[Path]:
        """The manifest and the local files that were read so far."""
        yield self.site.path
        yield from self.site.directory.paths
        yield from self.travel.files()

    @property
    def file_count(self) -> int:
        """The number of these files, which increases with each file read."""
        return 1 + len(self.site.directory.paths) + self.travel.count

    def resources(self, scope: Scope) -> tuple[Resources, list[Problem]]:
        """The resources of one host, and their problems."""
        return self._generated.of(scope) if self._generated else (self.declared, [])

    @property
    def warnings(self) -> list[Problem]:
        """The warnings for the user."""
        return list(self.site.warnings)

    def _check_files(self) -> None:
        """Check that local files with literal names exist.

        Files of resources that control or a selection may leave out are needed only when these run.
        """
        self._check_own()
        for declared in self.site.resources:
            problems = self._check_tree(declared) if declared.type.tree else []
            self._check_conditions(declared)
            if not declared.is_static:  # otherwise its files were opened when it was compiled
                problems += self._unreadable(declared)
                for key in declared.templated:
                    self._check_texts(declared, key)
            self.problems += [
                problem for problem in problems if not (declared.control and problem.kind == SOURCE)
            ]

    def _check_tree(self, declared: DeclaredResource) -> list[Problem]:
        """Check a directory of templates, which may read only lookups of their manifest."""
        problems = self.travel.trees.check(declared)
        if not problems:
            texts, syntax = self.travel.trees.templates(declared)
            for name, text in texts:
                self._note_secrets(text, name)
                problems += self._undeclared(text, name, syntax)
        return problems

    def _undeclared(
        self, text: str, name: str, syntax: tuple[str, tuple[str, str]]
    ) -> list[Problem]:
        """The lookups that a template reads but the manifest does not declare; ``syntax``: its
        engine and the delimiters of its code.
        """
        if "Asked" not in text:
            return []
        from orchestrator.manifest.checks.lookups import unknown_in_template

        return unknown_in_template(text, name, self.site.asks, syntax)

    def _note_secrets(self, text: str, name: str) -> None:
        """Record the secrets that a template names."""
        if "secret" not in text or name == TEXT:
            return
        from orchestrator.language.cursor import Positions
        from orchestrator.secrets.reference import SecretRead, calls_in

        directory, place = str(self.site.directory.path), Positions(name, text)
        reads = (SecretRead(one, directory, place.of(at)) for one, at in calls_in(text))
        self.secret_calls += reads

    def _unreadable(self, declared: DeclaredResource) -> list[Problem]:
        plain = {k: v for k, v in declared.values.items() if k not in declared.templated}
        try:
            self.travel.replace(declared, plain)
        except EvaluationError as error:
            return [Problem(f"{declared.id}: {error.message}", error.where, "", error.kind)]
        return []

    def _check_texts(self, declared: DeclaredResource, key: str) -> None:
        deferred = key in declared.type.deferred
        for expression in expressions_in(declared.values[key]):
            spared = deferred and (bool(declared.control) or expression.chooses())
            self._check_calls(expression, f"{declared.id}: {key}: ", _loop(declared), spared)

    def _check_conditions(self, declared: DeclaredResource) -> None:
        """Check the conditions that decide whether a resource exists, and its name."""
        for expression in expressions_in(declared.name):
            spared = bool(declared.control) or expression.chooses()
            self._check_calls(expression, f"{declared.id}: name: ", _loop(declared), spared)
        for expression in declared.control.expressions() if declared.control else ():
            spared = expression.chooses()
            self._check_calls(expression, f"{declared.id}: control: ", _loop(declared), spared)
        if declared.foreach:
            spared = declared.foreach.chooses()
            self._check_calls(declared.foreach, f"{declared.id}: foreach: ", (), spared)

    def _check_own(self) -> None:
        """Check the templates of data, assertions and lookups.

        Files that data names are needed only on hosts that have the value.
        """
        for expression in self.site.source.expressions():
            self._check_calls(expression, "", (), True)
        for assertion in self.site.assertions:
            for expression in assertion.expressions():
                self._check_calls(expression, "assert: ", (), expression.chooses())
        for ask in self.site.asks.values():
            for expression in ask.expressions():
                self._check_calls(expression, f"{ask.told}: ", (), expression.chooses())

    def _check_calls(
        self, expression: Expression, prefix: str, added: tuple[str, ...], spared: bool
    ) -> None:
        """Check the templates and files that an expression names literally.

        ``prefix`` begins the message about a missing file, which ``spared`` allows.
        """
        directory = self.site.directory
        try:
            for path in expression.controller_files():
                directory.read(path, literal=True)
            for call in expression.template_calls():
                check_call(directory, call, added, spared)
                syntax = _JET if call.is_jet else _JINJA
                for name, text in templates_of_call(directory, call, added):
                    self._note_secrets(text, name)
                    problems = self._undeclared(text, name, syntax)
                    self.problems += [_placed(problem, expression) for problem in problems]
        except InputError as error:
            placed = [_placed(problem, expression) for problem in error.problems]
            self.problems += [one for one in placed if one not in self.problems]
        except EvaluationError as error:
            if not spared:
                text = f"{prefix}{error.message}"
                self.problems.append(Problem(text, expression.where, "", error.kind))


class RunSources(NamedTuple):
    """The sources of a run: its manifests so far, the data of ``--hiera``, and the project's data
    files.
    """

    parts: Sequence[RunManifest]
    sources: Sequence[DataSource]
    files: DataFiles

    @property
    def data(self) -> list[DataSource]:
        """The data of ``--hiera`` and of the manifests."""
        return [*self.sources, *(part.site.source for part in self.parts)]

    @property
    def containers(self) -> list[ValueContainer]:
        """Everything that sets data."""
        return [*self.data, self.files]

    @property
    def known_keys(self) -> list[str]:
        """The top-level keys that any data has."""
        return list(dict.fromkeys(key for one in self.containers for key in one.known_keys()))


def _loop(declared: DeclaredResource) -> tuple[str, ...]:
    """The names that a loop adds to an entry."""
    return LOOP_VARIABLES if declared.foreach is not None else ()


class Refusal(NamedTuple):
    """The reason why a child manifest cannot be applied.

    This refuses the run, or each host that reaches the child. If ``allow_apply`` denies it
    (``denied``), it fails the resource that applies it.
    """

    problems: tuple[Problem, ...]
    denied: bool = False

    @property
    def text(self) -> str:
        """The reason in one line, for the event."""
        texts = list(map(str, self.problems[:3]))
        rest = len(self.problems) - len(texts)
        return "; ".join([*texts, f"and {rest} more"] if rest > 0 else texts)


class AppliedManifest:
    """A manifest where it is applied, at ``path`` from the first one's directory.

    ``above``: the paths of the manifests through which it is applied. ``may_apply``: whether it
    may apply others. ``reported`` has its resources whose children cannot be applied and that were
    already reported.
    """

    def __init__(
        self,
        part: RunManifest,
        parts: "RunManifests",
        *,
        above: tuple[Path, ...] = (),
        path: str = "",
        may_apply: bool = True,
    ) -> None:
        self.part = part
        self.path = path
        self._parts = parts
        self._above = above
        self._may_apply = may_apply
        self.reported: set[DeclaredResource] = set()
        self._children: dict[tuple[str, bool], AppliedManifest | Refusal] = {}

    def child(
        self, declared: DeclaredResource, name: str, may_apply: bool
    ) -> "AppliedManifest | Refusal":
        """The child that a resource of this manifest applies under its final name."""
        key = (name, may_apply)
        if key not in self._children:
            self._children[key] = self._enter(declared, name, may_apply)
        return self._children[key]

    def _enter(
        self, declared: DeclaredResource, name: str, may_apply: bool
    ) -> "AppliedManifest | Refusal":
        site = self.part.site
        child = site.children.of(site, declared, name, self._above)
        if child.site is None:
            return Refusal(child.problems)
        part = self._parts.of(child.site)
        if part.problems:
            return Refusal(tuple(part.problems))
        path = posixpath.join(posixpath.dirname(self.path), name)
        path = name if is_url(name) else posixpath.normpath(path)
        place = AppliedManifest(
            part,
            self._parts,
            above=(*self._above, site.path),
            path=path,
            may_apply=may_apply,
        )
        return place.denial(declared) if applies(child.site) and not may_apply else place

    def denies(self, resources: Resources) -> bool:
        """Whether it applies others although it is not allowed to."""
        return not self._may_apply and any(entry.type.applies for entry in resources.declared)

    def denial(self, declared: DeclaredResource) -> Refusal:
        """The refusal of a manifest that ``denies``; ``declared`` applies it."""
        message = f"{self.path} contains apply resources: denied by allow_apply: false"
        where = declared.where(("allow_apply",))
        problem = Problem(message, where, "none of its resources run", "input.child")
        return Refusal((problem,), denied=True)


class RunManifests:
    """The child manifests of a run, by their content. Thread-safe."""

    def __init__(self, run_data: RunData) -> None:
        self._run_data = run_data
        self._lock = Lock()
        self._known: dict[Site, RunManifest] = {}

    def all(self) -> list[RunManifest]:
        """The manifests created so far."""
        with self._lock:
            return list(self._known.values())

    def of(self, site: Site) -> RunManifest:
        """The prepared form of a child manifest."""
        with self._lock:
            if site not in self._known:
                self._known[site] = RunManifest(site, self._run_data, is_child=True)
            return self._known[site]


def _placed(problem: Problem, expression: Expression) -> Problem:
    """Return a problem of a literal string in the manifest, at the position of the expression."""
    if problem.where is None or problem.where.file != TEXT:
        return problem
    message = f"{problem.where}: {problem.message}"
    return problem._replace(message=message, where=expression.where)
