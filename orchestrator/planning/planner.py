"""Creates the plans of one run (controller)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from orchestrator.expressions import Scope
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.language.errors import NEEDS
from orchestrator.manifest.site import Site
from orchestrator.planning.facts import FactOverlay
from orchestrator.planning.plan_options import PlanOptions
from orchestrator.planning.run_data import RunData, plan_error
from orchestrator.planning.site.lookups import Lookups, ManifestLookups
from orchestrator.planning.site.manifests import (
    AppliedManifest,
    RunManifest,
    RunManifests,
    RunSources,
)
from orchestrator.planning.site.overview import SiteOverview
from orchestrator.sources.address import display_name
from remote_runtime.errors import CcmError, InputError, PlanError, Problem
from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from inventory import Inventory
    from orchestrator.expressions.inventory_view import InventoryView
    from orchestrator.language.facts import Facts
    from orchestrator.planning.compiled_resource import CompiledResource
    from orchestrator.planning.explanation import Explanation
    from orchestrator.planning.host_plan import HostPlan
    from orchestrator.planning.host_secrets import HostSecrets
    from orchestrator.planning.implied_members import Implications
    from orchestrator.planning.site.manifest_walk import Walk
    from orchestrator.planning.site.secret_use import ExaminedResources
    from orchestrator.planning.site.selection_filter import SelectionFilter
    from orchestrator.planning.site.site_check import HostCheck
    from orchestrator.secrets.lookup import SecretLookup
    from orchestrator.secrets.reference import InlineRead, SecretRead


_CALL = r"\bsecret\s*\("
_ROUNDS = 8
"""The maximum number of times that a host's plan is repeated because it needs more secrets."""


class Planner:
    """The shared parts of the hosts of a run; ``plan`` may be called from many threads.

    InputError with every problem that is visible before a host is contacted, including those of
    child manifests; UsageError. ``survey`` reports the problems of children that ``control`` may
    leave out. ``host_secrets`` are those of a stage, None for a manifest that is pushed alone.
    """

    def __init__(self, site: Site, options: PlanOptions | None = None) -> None:
        options = options or PlanOptions()
        problems: list[Problem] = []
        self.site = site
        self.host_secrets: HostSecrets | None = None
        self._overlay = FactOverlay(options.facts, options.fact)
        self._implications: Implications | None = None
        self._lock = Lock()
        self._examined: set[str] = set()  # hosts for which all manifests are known
        run_data = RunData(options, problems, site.warnings, str(site.directory.path))
        self._may_read_secrets = False
        self._searched = 0  # the manifests that were searched for secrets
        self._run_data = run_data
        root = RunManifest(site, run_data)
        problems += [*_mistakes(root, problems), *root.problems]
        self._parts = RunManifests(run_data)
        self._root = AppliedManifest(root, self._parts)
        self.survey = survey = SiteOverview(self._root, options.run)
        problems += survey.problems
        problems += [] if options.secrets_elsewhere else self._secret_problems()
        self._marker = self._selected(options, problems)
        site.warnings = survey.warnings + [
            Problem(
                f"{declared.id} {_outcome(problem, survey)}: {problem.message}",
                problem.where,
                problem.hint,
            )
            for declared, problem in survey.failing
        ]
        unread = run_data.unread or run_data.files.unopened
        is_known = survey.is_whole and not (survey.failing or unread or problems)
        if options.data and is_known:
            from orchestrator.planning.site.unknown_data import unknown_data

            site.warnings += unknown_data(
                options.data, self._sources()._replace(parts=[*survey.parts])
            )
        self._references = frozenset(
            reference for d in site.resources for reference in (*d.require, *d.subscribe)
        )
        if problems:
            raise InputError(problems)

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of one host (an inventory's ``Host``); PlanError with every problem found,
        NeedAnswersError if the host must answer lookups first.
        """
        # Loaded with the first answer of a host: time is short before it.
        from orchestrator.planning.host_plan import HostPlan

        facts, warnings = self._overlay(host, gathered)
        warnings += [
            f"the facts {family!r} are not available: {reason}"
            for family, reason in facts.unavailable.items()
        ]
        secrets = self.host_secrets
        before = secrets.before(host.name) if secrets is not None else ()
        walk, resources = self._walked(host, facts, before, gathered)
        everything = walk.resources
        if self._marker is not None:
            resources, everything = self._marker.mark(resources, walk.declared)
        mask = Mask(walk.secrets)
        plan = HostPlan(
            resources,
            everything,
            declared=walk.declared,
            secrets=walk.secrets,
            warnings=list(map(mask.text, warnings + walk.warnings)),
            fail_on_error=self.site.fail_on_error,
        )
        plan.implications = self._implied()
        if not self.site.is_observed:
            _refuse_own_reboot(host, plan)
        if self.site.earlier:
            plan.earlier = self.site.earlier.of(host.name, self._references)
        for index, (declared, scope, travel) in walk.deferred_templates.items():
            plan.defer(index, declared, scope, travel)
        if secrets is not None:
            secrets.share(host.name, plan)
        return plan

    def _walked(
        self, host: Any, facts: Facts, before: Sequence[str], gathered: HostFacts
    ) -> tuple[Walk, tuple[CompiledResource, ...]]:
        """The visit of a host's manifests. It is repeated after the missing secrets have been read
        in parallel.
        """
        from orchestrator.planning.site.manifest_walk import Walk

        earlier = self.site.earlier_names()
        for _ in range(_ROUNDS if self._reads_secrets else 0):
            from orchestrator.secrets.lookup import collecting, open_all

            walk = Walk(host, facts, before, answers=gathered.answers)
            with collecting() as missed:
                try:
                    resources = walk.run(self._root, earlier)
                except CcmError:
                    if not missed:
                        raise
            if not missed:
                return walk, resources
            open_all(missed)
        walk = Walk(host, facts, before, answers=gathered.answers)
        return walk, walk.run(self._root, earlier)

    @property
    def _reads_secrets(self) -> bool:
        """Whether anything in the site may read a secret."""
        run = self._sources()
        if not self._may_read_secrets and self._searched != len(run.parts):
            self._searched = len(run.parts)
            texts = [one.text for one in run.data]
            texts += [one.source for one in run.files.expressions()]
            self._may_read_secrets = (
                any(part.secret_calls for part in run.parts)
                or any(one.encrypted for one in run.data)
                or any(True for _ in run.files.encrypted())
                or any("secret" in text and re.search(_CALL, text) for text in texts)
            )
        return self._may_read_secrets

    def _secret_problems(self) -> list[Problem]:
        """The problems of secrets that are visible without a key."""
        if not self._reads_secrets:
            return []
        from orchestrator.planning.site.secret_reads import inline_problems, secret_problems

        return [
            *secret_problems(self.secret_reads(), self._run_data.keys),
            *inline_problems(self.inline_reads()),
        ]

    def secret_reads(self) -> list[SecretRead]:
        """Return each literal call of ``secret()`` in the manifests read so far."""
        from orchestrator.planning.site.secret_reads import secret_reads

        return list(secret_reads(self._sources()))

    def inline_reads(self) -> list[InlineRead]:
        """Return each encrypted value in the data."""
        from orchestrator.planning.site.secret_reads import inline_reads

        return list(inline_reads(self._sources()))

    def require_answers(self, host: Any, gathered: HostFacts) -> None:
        """NeedAnswersError if the host must answer lookups before its plan can be made."""
        asks = any(part.site.asks for part in self._all())
        if asks or not self.survey.is_whole:
            with suppress(PlanError):  # which planning reports
                self.plan(host, gathered)

    def see(self, inventory: Inventory | InventoryView) -> None:
        """Set the hosts that templates can read as ``Groups`` and ``Hosts``, before any plan is
        made.
        """
        self._run_data.see(inventory)

    @property
    def inventory(self) -> InventoryView:
        """The view of all hosts for templates."""
        return self._run_data.inventory

    def texts(self) -> Iterator[str]:
        """Yield the sources of the site, if known: its expressions and local templates."""
        from orchestrator.planning.site.expression_sources import texts_of

        for part in self._all():
            yield from texts_of(part.site)
        for source in self._run_data.sources:
            yield from (expression.source for expression in source.expressions())
        yield from (expression.source for expression in self._run_data.files.expressions())

    def _implied(self) -> Implications:
        """The implied members of events, for all hosts."""
        with self._lock:
            if self._implications is None:
                from orchestrator.planning.implied_members import Implications

                self._implications = Implications()
            return self._implications

    def _selected(self, options: PlanOptions, problems: list[Problem]) -> SelectionFilter | None:
        """The filter of resources; None if the whole manifest is selected."""
        if not options.selection():
            return None
        from orchestrator.planning.site.selection import Selection, refusals
        from orchestrator.planning.site.selection_filter import SelectionFilter

        wrong: list[Problem] = []
        selection = Selection(options, self.site.types.names(), wrong)
        is_whole = self.survey.is_whole and not self.survey.failing
        problems += wrong or refusals(selection, self.survey.rows, is_whole)
        return SelectionFilter(selection)

    def notes(self) -> list[Problem]:
        """The positions that YAML 1.1 would read differently, in all files read so far."""
        run = self._sources()
        sources = [*(part.site.source for part in run.parts), *run.sources]
        notes = [note for source in sources for note in source.notes]
        return list(dict.fromkeys([*notes, *run.files.notes, *self._overlay.notes]))

    def examine(self, host: Any) -> HostCheck:
        """Check a host's plan without contacting it: with the inventory's variables, its groups and
        ``--fact``.
        """
        from orchestrator.manifest.assertions import needs_host
        from orchestrator.planning.site.manifest_walk import Walk
        from orchestrator.planning.site.site_check import HostCheck, UnknownFacts

        walk = Walk(host, UnknownFacts(self._overlay(host, HostFacts())[0]))
        resources, problems = walk.examine(self._root)
        unknown = walk.unknown()
        if self._marker is not None:
            self._marker.mark(resources, walk.declared)
            self._marker.note(unknown, is_whole=not (walk.unread or walk.unseen))
        mask = Mask(walk.secrets)
        items = [entry.outline.item for entry in walk.resources]
        failing = [
            mask.text(f"{item.id} will fail: {item.deferred_error}")
            for item in items
            if item.managed and item.deferred_error
        ]
        if not (walk.unread or walk.unseen):
            self._examined.add(host.name)
        wrong = [one for one in problems if one.kind not in NEEDS]
        return HostCheck(
            host.name,
            tuple(one._replace(message=mask.text(one.message)) for one in wrong),
            tuple(failing),
            known=len(items) - walk.partial,
            unknown=walk.needs,
            unchecked_assertions=Counter(one.kind for one in problems if needs_host(one)),
            unseen=tuple(walk.unseen),
            deferred=sum(item.managed and item.deferred_render for item in items),
        )

    def data_warnings(self, hosts: Sequence[Any] = ()) -> list[Problem]:
        """Warnings about data that no host can reach, and about missing data that templates read.

        The variables of the inventory's ``hosts`` decide which overrides are reached.
        """
        from orchestrator.planning.site.site_check import (
            unknown_facts,
            unknown_merges,
            unknown_reads,
            unreachable_files,
            unreachable_overrides,
        )
        from orchestrator.planning.site.undeclared_lookups import undeclared_lookups
        from orchestrator.planning.site.unknown_data import unknown_overrides
        from orchestrator.planning.site.unknown_keys import misspelled_keys

        warnings, named = [], []
        run = self._sources()
        for part in run.parts:
            source = part.site.source
            reached = self._reached(part, hosts) if hosts else None
            warnings += unreachable_overrides(source, reached)
            named.append((source, reached))
        facts = frozenset(key for host in hosts for key in self._known_facts(host))
        warnings += unknown_facts(run, facts) if hosts else []
        is_whole = self.survey.is_whole or (
            bool(hosts) and all(host.name in self._examined for host in hosts)
        )
        unread = self._run_data.unread or run.files.unopened
        if is_whole and not (self.survey.failing or unread):
            # A manifest without an order leaves the files to other manifests of the project.
            orders = any(source.order != ["default"] for source, _ in named)
            warnings += unreachable_files(run.files, named) if hosts and orders else []
            warnings += unknown_reads(run, self._run_data.data)
            warnings += unknown_merges(run)
            warnings += unknown_overrides(run)
            sites = [part.site for part in run.parts]
            warnings += undeclared_lookups(sites, run.sources, run.files)
            places = {problem.where for problem in warnings}
            misspelled = misspelled_keys(run)
            warnings += [problem for problem in misspelled if problem.where not in places]
        return list(dict.fromkeys(warnings))

    def _known_facts(self, host: Any) -> Iterator[str]:
        """The names of facts that a host has from the inventory and the command line."""
        yield from dict.keys(self._overlay(host, HostFacts())[0])

    def _reached(self, part: RunManifest, hosts: Sequence[Any]) -> set[str] | None:
        """Return the names of a manifest's order on these hosts; None if they depend on facts."""
        from orchestrator.expressions import EvaluationError, NeedFileError
        from orchestrator.planning.site.site_check import UnknownFacts

        names: set[str] = set()
        for host in hosts:
            facts = UnknownFacts(self._overlay(host, HostFacts())[0])
            try:
                names.update(part.data.reached(host, facts))
            except (EvaluationError, NeedFileError):
                return None
        return names

    def unread(self) -> list[str]:
        """The remote sources that were not read because no other machine may be contacted,
        as text.
        """
        run_data = self._run_data
        sealed = [
            *(one for one in run_data.unread if one in run_data.sealed),
            *run_data.files.unopened,
        ]
        data = [
            (
                f"the data of {display_name(name)} was not checked: this command contacts no "
                "other machine"
            )
            for name in run_data.unread
            if name not in run_data.sealed
        ]
        data += [f"the data of {one} was not checked: it is encrypted" for one in sealed]
        return [*data, *map(str, dict.fromkeys(self.survey.unread))]

    def unmatched(self) -> list[str]:
        """The parts of the selection that matched nothing on any planned host."""
        return self._marker.unmatched() if self._marker else []

    @property
    def sees_all(self) -> bool:
        """Whether ``unmatched`` covers every resource of the checked hosts."""
        return self._marker is None or not self._marker.is_partial

    def remembered(self) -> Any:
        """The data of ``unmatched``, for JSON."""
        return self._marker.remembered() if self._marker else None

    def remember(self, data: Any) -> None:
        """Merge the ``remembered`` data of a planner of the same manifest in another process.

        TypeError or ValueError for invalid data.
        """
        if self._marker is not None:
            self._marker.remember(data)

    def forward_to(self, ask: Callable[[Any], Any]) -> None:
        """Let a planner of the same manifest in another process ``answer`` the requests that are
        made once per run.
        """
        self._run_data.forward_to(ask)

    def answer(self, question: Any) -> Any:
        """The known registrations and bucket values, for JSON."""
        if isinstance(question, dict):  # from a worker, which may only ask for values of the site
            if question.keys() & {"secret", "inline", "whole"}:
                return self._secret_answer(question)
            if not any(str(question["bucket"]) in text for text in self.texts()):
                return {"error": ["the site reads no such bucket", "template.kv", ""]}
            return self._run_data.buckets.answer(question)
        return self._run_data.registry.answer(question)

    def use_secrets(self, secrets: SecretLookup) -> None:
        """Use this source of secrets."""
        self._run_data.use_secrets(secrets)

    def examined(self, host: Any) -> ExaminedResources:
        """The results of a host's resources, if known without contacting it."""
        from orchestrator.planning.site.manifest_walk import Walk
        from orchestrator.planning.site.secret_use import examine_resources
        from orchestrator.planning.site.site_check import UnknownFacts

        facts = UnknownFacts(self._overlay(host, HostFacts())[0])
        return examine_resources(Walk(host, facts), self._root)

    @property
    def sealed_data(self) -> list[str]:
        """The encrypted files among those of ``--hiera``."""
        return list(self._run_data.sealed)

    def _secret_answer(self, question: Any) -> Any:
        """A secret for a worker, if the site reads it."""
        if "whole" in question:
            whole = os.path.realpath(os.path.join(self._run_data.root, str(question["whole"])))
            read = whole in {os.path.realpath(path) for path in self._run_data.files.sealed()}
        elif "secret" in question:
            quoted = {f"{sign}{question['secret']}{sign}" for sign in "'\"`"}  # not a part of one
            read = any(one in text for text in self.texts() for one in quoted)
            place = os.path.realpath(os.path.join(self._run_data.root, str(question["place"])))
            directories = [part.site.directory for part in self._all()]
            at_place = [one for one in directories if os.path.realpath(one.path) == place]
            read = read and bool(at_place)
            # the worker must not decide what these manifests may read
            question = {**question, "bounded": any(one.bounds is not None for one in at_place)}
        else:
            read = any(one.text == question["inline"] for one in self.inline_reads())
        if not read:
            return {"error": ["the site reads no such secret", "secret", ""]}
        return self._run_data.secret_lookup().answer(question)

    def files(self) -> set[Path]:
        """The manifests and local files that were read so far."""
        paths = {path for part in self._all() for path in part.files()}
        return paths | {file.path for file in self._run_data.files.all()}

    def reach(self) -> set[Path] | None:
        """The files that plans can need for any host; None if a template may name others."""
        from orchestrator.planning.site.local_files import is_literal

        is_complete = self.survey.is_whole and not self.survey.failing
        files = self.files()
        return files if is_complete and is_literal(self._all(), files) else None

    @property
    def file_count(self) -> int:
        """A number that increases with each file read."""
        return sum(part.file_count for part in self._all())

    def _look_ups(self, gathered: HostFacts) -> ManifestLookups:
        """The lookups of the manifest itself."""
        return Lookups(gathered.answers).of(self.site.asks)

    def _all(self) -> list[RunManifest]:
        return [self._root.part, *self._parts.all()]

    def _sources(self) -> RunSources:
        return RunSources(self._all(), self._run_data.sources, self._run_data.files)

    def explanations(self, host: Any, gathered: HostFacts) -> list[Explanation]:
        """The origin of each value of the manifest's data on a host, masked; PlanError."""
        from orchestrator.planning.explanation import hidden

        facts, _ = self._overlay(host, gathered)
        data = self._root.part.data
        look_ups = self._look_ups(gathered)
        resolved = data.of(host, facts, by=None, handed={}, look_ups=look_ups)[1]
        explained = (data.explain(host, facts, (key,), look_ups) for key in resolved.data)
        return [hidden(one, secrets) for one, secrets in explained]

    def scope(self, host: Any, gathered: HostFacts) -> tuple[Scope, list[str]]:
        """Return the facts and data that a host's templates see, and their secret strings.

        PlanError.
        """
        facts, _ = self._overlay(host, gathered)
        look_ups, data = self._look_ups(gathered), self._root.part.data
        scope, resolved = data.of(host, facts, by=None, handed={}, look_ups=look_ups)
        if resolved.problems:
            raise plan_error(resolved.problems, resolved.secrets)
        return scope, resolved.secrets


def _mistakes(root: RunManifest, problems: list[Problem]) -> list[Problem]:
    """The problems of a manifest's data on every host; none if it could not be read."""
    if problems:
        return []
    shared = root.data.shared(None, {})
    if shared:
        return shared.problems
    return [*root.data.circles(), *root.data.undeclared(root.site.asks)]


def _outcome(problem: Problem, survey: SiteOverview) -> str:
    """The outcome of a resource that cannot apply its child."""
    if problem in survey.conditional:
        return "fails on every host where its control allows it"
    return "will fail"


def _refuse_own_reboot(host: Any, plan: HostPlan) -> None:
    """PlanError if a plan would reboot this machine, which runs ccm itself."""
    if host.connection != "local":
        return
    for item, declared in zip(plan.items, plan.declared, strict=True):
        if declared.type.reboots and item.managed and not (item.noop or item.left_out):
            raise PlanError(
                f"{item.id} would reboot this machine, on which ccm is running "
                f"({declared.position})",
                kind="plan.reboot",
                hint="push to it over SSH from another machine, or exclude the resource with "
                "control",
            )
