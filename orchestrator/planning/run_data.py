"""The data of a run, and the variables that the templates of each host see (controller)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.expressions import (
    RENDERERS,
    EvaluationError,
    NeedFileError,
    Scope,
    render_value,
)
from orchestrator.expressions.environment_variables import Environ
from orchestrator.expressions.inventory_view import NO_INVENTORY, InventoryView
from orchestrator.language.facts import Facts
from orchestrator.language.hash_record import noting_hashes
from orchestrator.language.manifest_directory import Directory
from orchestrator.manifest.annotations import Annotation, check_annotations, secrets
from orchestrator.manifest.data_files import DataFiles, is_encrypted
from orchestrator.manifest.data_source import BASE, DataSource, Layer, ValueContainer, load_source
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.deferred_values import CIRCLE, Resolver, plain, raw_items
from orchestrator.manifest.merge import merge_deep, merge_source
from orchestrator.planning.partial_data import (
    NotContactedError,
    PartialData,
    UnknownData,
    resolve_known,
)
from orchestrator.planning.plan_options import PlanOptions, assignments, load_environ
from orchestrator.planning.site.lookups import NO_LOOKUPS, ManifestLookups
from orchestrator.sources.address import display_name, is_url
from remote_runtime.errors import CcmError, InputError, PlanError, Problem
from remote_runtime.reporting.masking import Mask

MAX_PROBLEMS = 20
_MAY_READ = "(?i)data|asked|template|jet"
"""Matches in any expression of data that may read other values of the data."""
_KEY_OF_PATH = r"\bdata\.([\w-]+)"
INHERIT = "inherit_data"
"""The property of an apply that names keys of its manifest's data."""

if TYPE_CHECKING:
    from inventory import Inventory
    from orchestrator.manifest.lookups import Asks
    from orchestrator.planning.explanation import Explanation
    from orchestrator.registration.key_value import Buckets, KeyValueLookup
    from orchestrator.registration.lookup import RegistrationLookup
    from orchestrator.registration.store import Store
    from orchestrator.secrets.key_sources import KeySources
    from orchestrator.secrets.lookup import SecretLookup


class RunData:
    """The inputs of every manifest of a run: ``--hiera``, ``--data``, environ and the ``files`` of
    the project's data directory.

    ``problems`` receives their problems. ``inventory`` is the view of all hosts for templates.
    """

    def __init__(
        self,
        options: PlanOptions,
        problems: list[Problem],
        warnings: list[Problem],
        root: str = "",
    ) -> None:
        self.data = merge_deep(options.handed, assignments("--data", options.data))
        environ = options.environ
        self.environ = Environ(load_environ() if environ is None else environ)
        options = self._fetched(options, problems)
        self.unread = [
            name for name in options.hiera if is_url(name) and name not in options.fetched
        ]
        """The sources of ``--hiera`` that were not read."""
        self._reads_secrets = options.contact
        self._secret_keys = options.secret_keys
        self._secrets: SecretLookup | None = None
        self._elsewhere: Callable[[Any], Any] | None = None
        self._lock = Lock()
        self.root = root
        """The directory of the manifest that is pushed."""
        self.sealed = [one for one in options.hiera if not is_url(one) and is_encrypted(one)]
        """The files of ``--hiera`` that are encrypted."""
        if not self._reads_secrets:
            self.unread += self.sealed
        sources = [
            load_source(
                display_name(path),
                problems,
                warnings=warnings,
                text=options.fetched.get(path),
                opened=self._opened(path, problems) if path in self.sealed else None,
            )
            for path in options.hiera
            if path not in self.unread
        ]
        self.sources = [source for source in sources if source]
        opener = self.open_whole if self._reads_secrets else None
        self.files = DataFiles(options.data_dir, problems, warnings, opener)
        self.registry = _registry(options.registration)
        self.buckets = _buckets(options)
        self.inventory: InventoryView = NO_INVENTORY

    def open_whole(self, path: str) -> str:
        """The text of an encrypted data file; EvaluationError."""
        try:
            return self.secret_lookup().whole(path)
        except CcmError as error:
            raise EvaluationError(f"{path}: {error}", kind=error.kind) from error

    def _opened(self, path: str, problems: list[Problem]) -> str:
        try:
            return self.secret_lookup().whole(path)
        except CcmError as error:
            problems.append(Problem(f"--hiera {path}: {error.message}", None, error.hint))
            return ""

    def secrets(self) -> "SecretLookup | None":
        """The reader of the run's secrets; None for a command that reads no secrets."""
        if not (self._reads_secrets or self._elsewhere):
            return None
        return self.secret_lookup()

    def use_secrets(self, secrets: "SecretLookup") -> None:
        """Use this source of secrets."""
        self._secrets, self._reads_secrets = secrets, True

    def secret_lookup(self) -> "SecretLookup":
        """The reader of the run's secrets, created on first use."""
        with self._lock:
            if self._secrets is None:
                from orchestrator.secrets.lookup import SecretLookup

                self._secrets = SecretLookup(self.keys, self.root)
                if self._elsewhere is not None:
                    self._secrets.forward_to(self._elsewhere)
            return self._secrets

    @property
    def keys(self) -> "KeySources":
        """The sources of the keys of secrets."""
        if self._secret_keys is None:
            from orchestrator.secrets.key_sources import KeySources

            self._secret_keys = KeySources()
        return self._secret_keys

    def forward_to(self, ask: Callable[[Any], Any]) -> None:
        """Forward the requests that are sent once per run to another process."""
        self.registry.forward_to(ask)
        self.buckets.forward_to(ask)
        self._elsewhere = ask

    @staticmethod
    def _fetched(options: PlanOptions, problems: list[Problem]) -> PlanOptions:
        if not any(is_url(name) for name in options.hiera):
            return options
        from orchestrator.planning.remote_data import fetched

        try:
            return fetched(options)
        except InputError as error:
            problems += error.problems
            return options._replace(contact=False)

    def see(self, inventory: "Inventory | InventoryView") -> None:
        """Set the hosts that templates can read as ``Groups`` and ``Hosts``."""
        if isinstance(inventory, InventoryView):
            self.inventory = inventory
        else:
            self.inventory = InventoryView.of(inventory)


def _registry(text: str | None) -> "RegistrationLookup":
    """The source of ``registrations()``, opened on first use."""
    from orchestrator.registration.lookup import RegistrationLookup

    def opener() -> "Store":
        """Open the registry."""
        from orchestrator.registration.store import open_store

        return open_store(text)

    return RegistrationLookup(opener)


def _buckets(options: PlanOptions) -> "KeyValueLookup":
    """The source of ``kvGet()``, opened on first use."""
    from orchestrator.registration.key_value import KeyValueLookup, open_buckets

    def opener() -> "Buckets":
        """Open the buckets, if other machines may be contacted."""
        if not options.contact:
            raise NotContactedError
        return open_buckets(options.nats or "", options.registration)

    return KeyValueLookup(opener)


class ResolvedData(NamedTuple):
    """The data of a manifest, its problems, and its secret strings."""

    data: dict[str, Any]
    problems: list[Problem]
    secrets: list[str]


class ManifestData:
    """A manifest's own hierarchy, the data from its apply, ``--hiera`` and ``--data``, in that
    order.

    Data that is the same on all hosts is resolved once.
    """

    def __init__(self, source: DataSource, directory: Directory, run_data: RunData) -> None:
        self._own = source
        self._directory = directory
        self._run_data = run_data
        self._annotations = [a for s in self._sources(remote=False) for a in s.annotations]
        self._remote_annotations = [a for s in self._sources(remote=True) for a in s.annotations]
        self._is_static = not run_data.unread and (
            source.is_static(run_data.files) and all(one.is_static() for one in run_data.sources)
        )
        containers: list[ValueContainer] = [source, *run_data.sources, run_data.files]
        self._reads_data = any(
            re.search(_MAY_READ, expression.source)
            for one in containers
            for expression in one.expressions()
        )
        self._reads_answers = any(
            "Asked" in expression.source for one in containers for expression in one.expressions()
        )
        self._shared: dict[DeclaredResource | None, ResolvedData] = {}

    def _sources(self, *, remote: bool) -> list[DataSource]:
        return [one for one in (self._own, *self._run_data.sources) if one.is_remote == remote]

    def shared(self, by: DeclaredResource | None, handed: Mapping[str, Any]) -> ResolvedData | None:
        """The data if it is the same on every host; otherwise None.

        ``by`` is the resource that applies the manifest, and ``handed`` is the data that it passes.
        """
        if not self._is_static or (by and _varies(by)):
            return None
        if by not in self._shared:
            nobody = self._scope(Facts({}, {}), data={}, names={}, secrets_read={}, lenient=True)
            self._shared[by] = self._resolve(nobody, handed)
        return self._shared[by]

    def circles(self) -> list[Problem]:
        """The circular references in ``data`` that exist on every host, regardless of its facts.

        Values that an override, a data file or another source may replace are checked per host.
        """
        run_data = self._run_data
        if self._is_static or not self._reads_data or run_data.unread:
            return []
        unknown: Any = UnknownData()
        scope = self._scope(unknown, data={}, names={}, secrets_read={}, lenient=True)
        scope = scope._replace(host=unknown, secrets=None)
        resolver = Resolver(scope)
        data = merge_source(self._own.merging, resolver.bind(self._own.data, BASE), run_data.data)
        dict.update(resolver.root, raw_items(data))
        replaced = {*self._own.keys_above(), *run_data.files.known_keys()}
        replaced.update(key for one in run_data.sources for key in one.known_keys())
        problems: dict[str, Problem] = {}
        for key in list(dict.keys(resolver.root)):
            try:
                plain(dict.__getitem__(resolver.root, key))
            except EvaluationError as error:
                path = re.findall(_KEY_OF_PATH, error.message)
                if error.kind == CIRCLE and not replaced.intersection(path):
                    circle = " ".join(sorted(set(path)))
                    problem = Problem(error.message, error.where, error.hint, error.kind)
                    problems.setdefault(circle, problem)
            except NeedFileError:
                continue
        return list(problems.values())

    def undeclared(self, asks: "Asks", handed: Iterable[str] = ()) -> list[Problem]:
        """The problems of lookups that the data of every host reads but ``asks`` does not contain.

        ``handed`` has the keys of the data from its apply.
        """
        if not self._reads_answers:
            return []
        from orchestrator.planning.site.undeclared_lookups import undeclared_everywhere

        run_data = self._run_data
        data_keys = [*run_data.data, *handed]
        return undeclared_everywhere(
            self._own, asks, sources=run_data.sources, files=run_data.files, data_keys=data_keys
        )

    def of(
        self,
        host: Any,
        facts: Facts,
        *,
        by: DeclaredResource | None,
        handed: Mapping[str, Any],
        secrets_read: dict[str, None] | None = None,
        look_ups: ManifestLookups = NO_LOOKUPS,
    ) -> tuple[Scope, ResolvedData]:
        """The variables of one host's templates (an inventory's ``Host``), with its ``look_ups``.

        ``secrets_read`` receives the secrets that they read.
        """
        secrets_read = {} if secrets_read is None else secrets_read
        names = {
            "name": host.name,
            "address": host.address,
            "groups": list(host.groups),
            "vars": host.vars,
        }
        resolved = self.shared(by, handed)
        if resolved is None:
            own = self._scope(facts, data={}, names=names, secrets_read={}, lenient=True)
            resolved = self._resolve(own._replace(asked=look_ups.asked), handed, look_ups)
        scope = self._scope(facts, data=resolved.data, names=names, secrets_read=secrets_read)
        if look_ups is NO_LOOKUPS:
            return scope, resolved
        look_ups.see(scope)
        if not resolved.problems:
            look_ups.collect()
        return scope._replace(asked=look_ups.asked), resolved

    def explain(
        self,
        host: Any,
        facts: Facts,
        keys: Sequence[str],
        look_ups: ManifestLookups = NO_LOOKUPS,
    ) -> "tuple[Explanation, list[str]]":
        """Return the origin of each part of a value in a host's data, and its secret strings.

        ``keys`` lead to the value. PlanError.
        """
        from orchestrator.planning.explanation import Explainer

        scope, resolved = self.of(host, facts, by=None, handed={}, look_ups=look_ups)
        if resolved.problems:
            raise plan_error(resolved.problems, resolved.secrets)
        explainer = Explainer(scope._replace(lenient=True), keys)
        explainer.read(self._own, self._run_data.files)
        for source in self._run_data.sources:
            explainer.over(source)
        explainer.assign(self._run_data.data)
        explanation = explainer.explanation()
        # A value that another source replaces is not in the data, but is just as secret.
        annotations = [*self._annotations_of(explainer.scope), *self._remote_annotations]
        whole = (_below(keys, one.value) for one in explanation.sources if one.found)
        texts = [text for tree in whole for text in secrets(annotations, tree)]
        texts += explainer.scope.environ.secrets_read
        return explanation, list(dict.fromkeys([*resolved.secrets, *texts]))

    def reached(self, host: Any, facts: Facts) -> list[str]:
        """Return the override names of the manifest's order on a host; EvaluationError."""
        names = {"name": host.name, "address": host.address, "groups": list(host.groups)}
        names["vars"] = host.vars
        scope = self._scope(facts, data={}, names=names, secrets_read={}, lenient=True)
        return self._own.reached(scope, self._run_data.files)

    def _scope(
        self,
        facts: Facts,
        *,
        data: Any,
        names: dict[str, Any],
        secrets_read: dict[str, None],
        lenient: bool = False,
    ) -> Scope:
        run_data = self._run_data
        return Scope(
            facts,
            data,
            environ=run_data.environ.reporting_to(secrets_read),
            host=names,
            directory=self._directory,
            renderers=RENDERERS,
            lenient=lenient,
            registry=run_data.registry,
            buckets=run_data.buckets,
            inventory=run_data.inventory,
            secrets=run_data.secrets,
        )

    def _resolve(
        self, scope: Scope, handed: Mapping[str, Any], look_ups: ManifestLookups = NO_LOOKUPS
    ) -> ResolvedData:
        with noting_hashes() as hashes:
            resolved = self._resolved(scope, handed, look_ups)
        hidden = dict.fromkeys(resolved.secrets)
        for text, hashed in hashes:  # in order, because one may derive from the hash of another
            if any(secret in text for secret in hidden):
                hidden[hashed] = None
        return resolved._replace(secrets=list(hidden))

    def _resolved(
        self, scope: Scope, handed: Mapping[str, Any], look_ups: ManifestLookups
    ) -> ResolvedData:
        if self._run_data.unread:
            return ResolvedData(UnknownData(), [], [])
        resolver = Resolver(scope)
        is_partial = scope.facts.are_partial
        if look_ups is not NO_LOOKUPS:
            look_ups.see(scope._replace(data=resolver.root))

        def bind(layer: Layer, key: str, value: Any) -> Any:
            """A value of a layer, with templates rendered; deferred if data reads data."""
            if not (self._reads_data or is_partial):
                return render_value(value, scope)
            return resolver.bind(value, f"data.{key}" if key else BASE)

        try:
            merging = self._own.merging
            data = merge_source(
                merging, self._own.resolve(scope, bind, self._run_data.files), handed
            )
            for source in self._run_data.sources:
                data = merge_source(merging, data, source.resolve(scope, bind))
            data = merge_source(merging, data, self._run_data.data)
            if self._reads_answers and look_ups is not NO_LOOKUPS:
                resolver.begin(data)
                look_ups.collect()
            data = resolver.finish(data) if not is_partial else self._partly(resolver, data)
        except EvaluationError as error:
            problem = Problem(error.message, error.where, error.hint, error.kind)
            return ResolvedData({}, [problem], list(scope.environ.secrets_read))
        except NeedFileError as error:
            message = f"data cannot read {error.path!r}, a file on the target"
            hint = "use a path next to the manifest"
            return ResolvedData({}, [Problem(message, None, hint, error.kind)], [])
        annotations, remote = self._annotations_of(scope), self._remote_annotations
        values = data
        if isinstance(data, PartialData):
            values = dict(dict.items(data))
            annotations = [one for one in annotations if one.path[0] not in data.reasons]
            remote = [one for one in remote if one.path[0] not in data.reasons]
        problems = check_annotations(annotations, values, scope)
        problems += check_annotations(remote, values, scope.outside())
        hidden = dict.fromkeys(
            [*secrets([*annotations, *remote], values), *scope.environ.secrets_read]
        )
        return ResolvedData(data, problems, list(hidden))

    @staticmethod
    def _partly(resolver: Resolver, data: dict[str, Any]) -> PartialData:
        """The data, if it is known without the host."""
        resolver.begin(data)
        return resolve_known(resolver.root)

    def _annotations_of(self, scope: Scope) -> list[Annotation]:
        """The annotations of the user's own sources and of the data files that the order names."""
        files = self._run_data.files
        if not files.has_annotations:
            return list(self._annotations)
        reached = map(files.get, self._own.reached(scope, files))
        return [*self._annotations, *(one for file in reached if file for one in file.annotations)]


def _below(keys: Sequence[str], value: Any) -> Any:
    """The subtree at the keys."""
    for key in reversed(keys):
        value = {key: value}
    return value


def _varies(by: DeclaredResource) -> bool:
    """Whether the data from an apply may differ by host or by the inputs of its manifest."""
    return "data" in by.templated or INHERIT in by.values or by.written is not None


def plan_error(problems: list[Problem], secrets: Sequence[str] = ()) -> PlanError:
    """All problems of one host in one error; its kind is facts.timeout if that is the cause."""
    kinds = [problem.kind for problem in problems]
    kind = "facts.timeout" if "facts.timeout" in kinds else kinds[0]
    lines = [str(problem) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        lines.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return PlanError(Mask(secrets).text("\n".join(lines)), kind)
