"""Visits the manifest of one host and the manifests that it applies (controller)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.expressions import Scope
from orchestrator.fleet.host.host_facts import NeedAnswersError, Question
from orchestrator.fleet.outcome import applied_as
from orchestrator.language.errors import NEEDS
from orchestrator.language.facts import Facts
from orchestrator.manifest.checks.references import NamedResource, check_names
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.merge import merge_deep
from orchestrator.manifest.resource_names import MAX_RESOURCES
from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.content.blob_references import BlobReferences
from orchestrator.planning.content.hash_redaction import redact_hashes
from orchestrator.planning.implied_members import masked_texts
from orchestrator.planning.partial_data import PartialData, UnknownData
from orchestrator.planning.rendering import Rendering, filled, names_vary
from orchestrator.planning.resources import Resources
from orchestrator.planning.run_data import INHERIT, plan_error
from orchestrator.planning.site.duplicates import differences
from orchestrator.planning.site.lookups import Lookups, ManifestLookups, entries
from orchestrator.planning.site.loops import Groups, at_iteration, iterations
from orchestrator.planning.site.manifests import AppliedManifest, Refusal, RunManifest
from remote_runtime.errors import Problem
from remote_runtime.reporting.masking import SHORTEST, strings_of
from remote_runtime.text.suggestions import nearest

if TYPE_CHECKING:
    from orchestrator.planning.site.unknown_manifests import UnknownManifest


class _Row(NamedTuple):
    """The data about a resource that reference checks need; ``entry`` is None if its name is
    unknown or if there is no resource (``is_none``).

    ``runs``: it will run. The other fields are as in ``NamedResource``, which is created on demand.
    """

    declared: DeclaredResource
    entry: CompiledResource | None
    place: int
    runs: bool = False
    opens: bool = False
    begin: int = -1
    is_none: bool = False

    @property
    def named(self) -> NamedResource:
        """The names that references can use; a resource that is left out or not planned
        has none.
        """
        item = self.entry.outline.item if self.entry else None
        if self.is_none:
            alias = self.declared.values.get("alias")
            return NamedResource(
                self.declared, "", alias if isinstance(alias, str) else None, self.place
            )
        name, alias = (item.name, item.alias or None) if item else (None, None)
        opens = self.opens or (item is None and self.declared.type.applies)
        return NamedResource(
            self.declared, name, alias=alias, place=self.place, opens=opens, begin=self.begin
        )

    @property
    def expected(self) -> NamedResource:
        """The names before facts are known: a resource that waits for facts has a literal name."""
        declared = self.declared
        if self.entry or self.is_none or declared.foreach or not isinstance(declared.name, str):
            return self.named
        alias = declared.values.get("alias")
        return self.named._replace(
            name=declared.name,
            alias=alias if isinstance(alias, str) else None,
            opens=declared.type.applies,
        )


class Walk:
    """Compiles every resource of one host (an inventory's ``Host``).

    ``resources`` and ``declared`` have all resources in pre-order, ``secrets`` the strings to mask,
    ``deferred_templates`` the templates that are rendered on demand, by index in ``resources``.
    """

    def __init__(
        self,
        host: Any,
        facts: Facts,
        secrets_before: Sequence[str] = (),
        *,
        answers: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._host = host
        self._look_ups = Lookups(answers)
        self._asked: list[ManifestLookups] = []  # of each place
        self._handed_on: tuple[
            Question, ...
        ] = ()  # the lookups on which the data of the current manifest depends
        self._facts = facts
        self._secrets_before = secrets_before
        self.resources: list[CompiledResource] = []
        self.declared: list[DeclaredResource] = []
        self.deferred_templates: dict[int, tuple[DeclaredResource, Scope, BlobReferences]] = {}
        self.warnings: list[str] = []
        self.secrets: dict[str, None] = {}
        self._problems: list[Problem] = []
        self._rows: list[_Row] = []
        self._names_vary = False
        self._is_checked = False  # whether the rows are checked at the end
        self._types_hide = False
        self._groups = Groups()
        self._places = 0
        self._within = ""  # the name of the current manifest in events
        self._is_denied = False  # whether the manifest that was visited last may not apply others
        self.unread = 0
        """The number of resources in manifests whose data is not known."""
        self.needs: Counter[str] = Counter()
        """The number of unknown resources, by the kind of the first thing that they need."""
        self.unseen: dict[UnknownManifest, None] = {}
        """The manifests whose resources, or whose use, are not known."""
        self.partial = 0
        """The number of ``resources`` that pass unknown data to their child."""
        self._is_examined = False  # whether values that need the host are still unknown

    def examine(self, root: AppliedManifest) -> tuple[tuple[CompiledResource, ...], list[Problem]]:
        """The resources of the manifest if known, and every problem found."""
        self._is_examined = True
        compiled = self._manifest(root, None, {}, True)
        wrong = [one for one in self._problems if one.kind not in NEEDS]
        if not wrong and self._names_vary:
            self._problems += check_names([row.expected for row in self._rows], final=True)
        self._problems += [] if wrong else self._disagreements()
        return compiled or (), self._problems

    def unknown(self) -> list[DeclaredResource]:
        """The resources that could not be compiled."""
        return [row.declared for row in self._rows if row.entry is None and not row.is_none]

    def run(
        self, root: AppliedManifest, earlier: frozenset[str] | None
    ) -> tuple[CompiledResource, ...]:
        """The resources of the manifest itself; PlanError with every problem found,
        NeedAnswersError if the host must answer lookups first.
        """
        compiled = self._manifest(root, None, {}, True)
        if self._look_ups.open:
            raise NeedAnswersError(self._look_ups.open)
        if not self._problems and self._names_vary:
            names = [row.named for row in self._rows]
            self._problems = check_names(names, final=True, earlier=earlier)
        if not self._problems:
            self._problems = self._disagreements()
        if self._problems or compiled is None:
            raise plan_error(self._problems, list(self.secrets))
        own = masked_texts(compiled) if self._types_hide else ()
        known = dict.fromkeys((*self.secrets, *own, *self._secrets_before))
        return redact_hashes(compiled, self.resources, tuple(known))

    def _disagreements(self) -> list[Problem]:
        """The resources that manifests of the run declare with different properties."""
        managed = [(row.declared, row.entry.item) for row in self._rows if row.entry and row.runs]
        return differences(managed) if self._places > 1 else []

    def _manifest(
        self,
        place: AppliedManifest,
        by: DeclaredResource | None,
        handed: Mapping[str, Any],
        managed: bool,
    ) -> tuple[CompiledResource, ...] | None:
        """The resources of one manifest; None if they are unknown.

        ``by`` applies it and passes data. If it is not ``managed``, none of it will run; its
        resources then only supply names for references, and their problems are ignored.
        """
        number, self._places = self._places, self._places + 1
        look_ups = self._look_ups.of(place.part.site.asks, managed)
        self._asked.append(look_ups)
        scope, resolved = place.part.data.of(
            self._host,
            self._facts,
            by=by,
            handed=handed,
            secrets_read=self.secrets,
            look_ups=look_ups,
        )
        self.warnings += look_ups.warnings
        self.secrets.update(dict.fromkeys(resolved.secrets))
        problems = resolved.problems + look_ups.problems
        if managed and not problems and place.part.site.assertions:
            from orchestrator.manifest.assertions import failing

            self._problems += failing(place.part.site.assertions, scope)
        if not problems:
            resources, problems = place.part.resources(scope)
        if problems:
            count = len(place.part.declared.declared) if managed else 0
            self._lack(problems if managed else [], count)
            self.unread += count
            if managed and problems[0].kind in NEEDS:
                from orchestrator.planning.site.unknown_manifests import unknown_in

                self.unseen.update(dict.fromkeys(unknown_in(place.part, by, problems[0].kind)))
            return None
        if by and place.denies(resources):
            self._is_denied = True
            return None
        self._note(place.part, resources, by is not None)
        compiled = self._resources(
            place, scope, resources=resources, number=number, managed=managed
        )
        if by and len(self.resources) > MAX_RESOURCES:
            message = f"the plan has more than {MAX_RESOURCES} resources"
            hint = "look for a manifest that is applied repeatedly"
            raise plan_error([Problem(message, by.position, hint, "plan")])
        return compiled

    def _resources(
        self,
        place: AppliedManifest,
        scope: Scope,
        *,
        resources: Resources,
        number: int,
        managed: bool,
    ) -> tuple[CompiledResource, ...]:
        """Compile the resources of one manifest, which has the index ``number`` in the run."""
        compiled: list[CompiledResource] = []
        for index, declared in enumerate(resources.declared):
            if self._look_ups.open and not declared.type.applies:
                continue  # planning is repeated, so only further questions matter
            made = []
            once = declared.foreach is None
            for iteration in (
                (scope,) if once else self._iterations(declared, scope, number, managed)
            ):
                entry = resources.shared(index) or self._render(
                    place.part, iteration, index=index, declared=declared, managed=managed
                )
                own = None
                if entry is None and declared.type.applies and self._is_examined:
                    entry, own = self._without_data(
                        place, iteration, index=index, declared=declared, managed=managed
                    )
                if entry is None:
                    self._rows.append(_Row(declared, None, number))
                else:
                    made.append(
                        self._placed(
                            place, iteration, declared=declared, entry=entry, number=number,
                            managed=managed, own=own,
                        )
                    )  # fmt: skip
            self._groups.add(declared, made)
            compiled += made
        return tuple(compiled)

    def _iterations(
        self, declared: DeclaredResource, scope: Scope, number: int, managed: bool
    ) -> list[Scope]:
        """The variables of each resource that an entry creates."""
        scopes, problems = iterations(declared, scope)
        self._lack(problems if managed else [])
        if managed and problems and problems[0].kind in NEEDS and declared.type.applies:
            self._not_seen(problems[0].kind, declared)
        if not scopes:
            self._rows.append(_Row(declared, None, number, is_none=not problems))
        return scopes

    def _placed(
        self,
        place: AppliedManifest,
        scope: Scope,
        *,
        declared: DeclaredResource,
        entry: CompiledResource,
        number: int,
        managed: bool,
        own: Mapping[str, Any] | None = None,
    ) -> CompiledResource:
        """Append a resource, with the resources that it applies, to the resources so far.

        ``own`` is the data that it passes on, if its properties do not contain that data.
        """
        entry = self._groups.expand_aliases(entry)
        at, begin, opens = len(self.resources), -1, False
        self.resources.append(entry)
        self.declared.append(declared)
        if declared.type.secrets:
            self._types_hide = True
        for kind in declared.type.partly_secret:
            hidden = kind.secrets_in(entry.item.properties.get(kind.name))
            self.secrets.update(dict.fromkeys(hidden))
        runs = managed and entry.outline.item.managed
        stands_on: tuple[Question, ...] = ()
        if managed and (self._handed_on or self._asked[number].questions):
            stands_on = self._stands_on(place.part, declared, number, runs)
        if stands_on:
            self.resources[at] = entry = entry.extended(asked=stands_on)
        if declared.type.applies:
            begin = len(self._rows)
            properties = entry.item.properties
            properties = properties if own is None else {**properties, "data": own}
            handed = self._handed(declared, properties, scope.data, runs)
            above, self._handed_on = self._handed_on, stands_on
            entry, opens = self._apply(place, declared, entry=entry, handed=handed, managed=runs)
            self._handed_on = above
            self.resources[at] = entry
        if runs and entry.outline.item.deferred_render:
            self.deferred_templates[at] = (declared, scope, place.part.travel)
            late = repr(declared.raw)
            scope.environ.report_named(late)
            if "secret" in late:
                scope.hear_secrets(late)
        if self._is_checked:
            row = _Row(declared, entry, place=number, runs=runs, opens=opens, begin=begin)
            self._rows.append(row)
        return entry

    def _without_data(
        self,
        place: AppliedManifest,
        scope: Scope,
        *,
        index: int,
        declared: DeclaredResource,
        managed: bool,
    ) -> tuple[CompiledResource | None, Mapping[str, Any] | None]:
        """Return a resource that applies a manifest and cannot be compiled yet, and its data.

        The resource itself has no data. Each value of the returned data is either known or needs
        the host. Both are None if more than the data is unknown.
        """
        from orchestrator.planning.site.partial_apply import data_of, without_data

        own = data_of(declared, scope)
        entry = own and without_data(declared, scope, place.part, index)
        if entry and own is not None:
            self.partial += managed
            return entry, own
        kind = self._problems[-1].kind if self._problems else ""
        if managed and kind in NEEDS:
            self._not_seen(kind, declared)
        return None, None

    def _stands_on(
        self, part: RunManifest, declared: DeclaredResource, number: int, runs: bool
    ) -> tuple[Question, ...]:
        """The lookups that a resource reads, directly or through data; if it does not run, those
        that decide this.
        """
        names, reads_data = part.reads.of(declared)
        if not runs:
            return tuple(entries(part.reads.of_control(declared), self._asked[number]))
        own = entries(names, self._asked[number])
        return (*own, *(self._handed_on if reads_data else ()))

    def _note(self, part: RunManifest, resources: Resources, is_child: bool) -> None:
        """Record the resources of a manifest for reference checks."""
        if part.is_generated:
            self._names_vary |= is_child or resources.applies
        self._names_vary |= resources.names_vary
        self._is_checked |= self._names_vary or resources.applies

    def _render(
        self,
        part: RunManifest,
        scope: Scope,
        *,
        index: int,
        declared: DeclaredResource,
        managed: bool,
    ) -> CompiledResource | None:
        known = filled(declared, scope, part.alike, index)
        if known is not None:
            return known
        rendering = Rendering(declared, scope, blob_references=part.travel, alike=part.alike)
        entry = rendering.compile(index)
        if managed:
            self._lack([at_iteration(problem, scope) for problem in rendering.problems])
        elif entry is None and not names_vary(declared):
            entry = rendering.name_only(index)
        return entry

    def _not_seen(self, kind: str, declared: DeclaredResource) -> None:
        """Record that the child manifest of an apply is not known because it needs an input of this
        kind.
        """
        from orchestrator.planning.site.unknown_manifests import UnknownManifest

        self.unseen[UnknownManifest(kind, declared.id)] = None

    def _lack(self, problems: list[Problem], count: int = 1) -> None:
        """Record problems. The first one names the input that ``count`` resources need."""
        self._problems += problems
        if problems:
            self.needs[problems[0].kind] += count

    def _handed(
        self, declared: DeclaredResource, properties: Mapping[str, Any], data: Any, managed: bool
    ) -> Mapping[str, Any]:
        """The data that an apply passes to its child: the inherited part of its manifest's
        ``data``, overridden by its own.
        """
        own: Mapping[str, Any] = properties.get("data") or {}
        inherited = {}
        known = not isinstance(data, UnknownData)
        for number, key in enumerate((properties.get(INHERIT) or ()) if known else ()):
            if isinstance(data, PartialData) and key in data.reasons:
                inherited[key] = data.handed(key)
            elif key in data:
                inherited[key] = data[key]
            elif managed:
                likely = nearest(key, list(dict.keys(data)))
                hint = f"did you mean {likely}?" if likely else "list top-level keys of the data"
                message = f"{declared.id}: {INHERIT}: the manifest has no data {key!r}"
                where = declared.where((INHERIT, number))
                self._problems.append(Problem(message, where, hint, "plan.inherit"))
        return merge_deep(inherited, own) if inherited else own

    def _apply(
        self,
        place: AppliedManifest,
        declared: DeclaredResource,
        *,
        entry: CompiledResource,
        handed: Mapping[str, Any],
        managed: bool,
    ) -> tuple[CompiledResource, bool]:
        """Return the resource with the resources that it applies, and whether these are unknown."""
        item = entry.item
        properties = item.properties
        may_apply = properties.get("allow_apply") is not False
        if item.sensitive:
            texts = [t for t in strings_of(handed) if len(t) >= SHORTEST]
            self.secrets.update(dict.fromkeys(texts))
        child = place.child(declared, properties.get("manifest") or item.name, may_apply)
        if not isinstance(child, Refusal):
            shared = child.part.data.shared(declared, handed)
            if shared and shared.problems:
                child = Refusal(tuple(shared.problems))
        if isinstance(child, Refusal):
            return self._refused(place, declared, entry=entry, refusal=child, managed=managed), True
        within, self._within = self._within, applied_as(self._within, item.name)
        label = self._within
        children = self._manifest(child, declared, handed, managed)
        self._within = within
        is_denied, self._is_denied = self._is_denied, False
        if is_denied and managed:
            return self._refused(
                place, declared, entry=entry, refusal=child.denial(declared), managed=managed
            ), True
        return entry.extended(
            children or (),
            applies=label,
            fail_on_error=child.part.site.fail_on_error,
            noop=properties.get("noop") is True,
            monitor_only=properties.get("health_check_only") is True,
        ), children is None

    def _refused(
        self,
        place: AppliedManifest,
        declared: DeclaredResource,
        *,
        entry: CompiledResource,
        refusal: Refusal,
        managed: bool,
    ) -> CompiledResource:
        item = entry.item
        kind = refusal.problems[0].kind
        if self._is_examined and kind in NEEDS:
            if managed:
                self._not_seen(kind, declared)
            return entry
        if managed and not refusal.denied:
            self._problems += refusal.problems
        elif managed and declared not in place.reported:
            self.warnings.append(f"{item.id} will fail: {refusal.text}")
        return entry.extended(
            applies=item.name,
            deferred_error=refusal.text,
            noop=item.properties.get("noop") is True,
            monitor_only=item.properties.get("health_check_only") is True,
        )
