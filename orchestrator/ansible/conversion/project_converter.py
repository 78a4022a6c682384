"""The conversion of a whole project: roles, plays, inventory, data files (controller)."""

import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.ansible.conversion import handlers, uncertain_variables
from orchestrator.ansible.conversion.duplicates import resolve_duplicates
from orchestrator.ansible.conversion.manifest_builder import Builder
from orchestrator.ansible.conversion.manifest_context import Handler
from orchestrator.ansible.conversion.omitted_resources import leave_out
from orchestrator.ansible.conversion.variables import DataPlan, Layer, write_data
from orchestrator.ansible.jinja import fact_names, text_rewriter
from orchestrator.ansible.jinja.printing import as_list
from orchestrator.ansible.jinja.scope import Fleet, Sample, Scope
from orchestrator.ansible.jinja.template_files import template_text
from orchestrator.ansible.modules.files.templates import look_up_file
from orchestrator.ansible.modules.mapping_context import Files
from orchestrator.ansible.output.manifest_entries import Comment, Entry, Manifest, Record, numbered
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.inventories import Hosts
from orchestrator.ansible.source.roles import Role, find_role, main_file, read_role
from orchestrator.ansible.source.tasks import Block, Task, listed, read_tasks
from orchestrator.ansible.source.yaml_reader import Map, VaultFileError, read, read_map
from remote_runtime.errors import CcmError

_MAX_NESTING = 9


@dataclass
class RoleManifest:
    """A converted role, and the variables that it gets from the manifest that applies it."""

    path: str
    builder: Builder
    plan: DataPlan
    ends_with: list[str]  # the handlers that run at its end


@dataclass
class Project:
    """The input and output of a conversion. ``directories`` has the roles."""

    directories: list[Path]
    hosts: Hosts = field(default_factory=Hosts)
    layers: list[Layer] = field(default_factory=list)
    play_vars: Map = field(default_factory=Map)
    manifests: list[Manifest] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    play_handlers: list[Handler] = field(default_factory=list)
    in_play: list[str] = field(default_factory=list)
    is_root: bool = True
    started: bool = False
    environment: dict[str, Any] = field(default_factory=dict)
    fleet: Fleet = field(default_factory=Fleet)
    # for each role, and "" for the play: the names of the play's hosts and their expressions
    play_hosts: dict[str, dict[str, str]] = field(default_factory=dict)
    included: int = 0
    earlier: dict[str, uncertain_variables.Earlier] = field(default_factory=dict)
    _roles: dict[str, Role | None] = field(default_factory=dict)
    _converted: dict[tuple[str, str], RoleManifest] = field(default_factory=dict)
    _active: list[tuple[str, str]] = field(default_factory=list)

    def role(self, name: str) -> Role | None:
        """A role by its name, None if the project does not have it."""
        if name not in self._roles:
            path = find_role(name, self.directories)
            self._roles[name] = read_role(path, name) if path is not None else None
            role = self._roles[name]
            if role is not None:
                self.notes += role.problems
        return self._roles[name]

    # --- roles

    def role_manifest(self, name: str, entry: str = "main") -> RoleManifest:
        """The manifest of a role. NotConvertible if it is missing or contains itself."""
        key = (name, entry)
        if key in self._converted:
            return self._converted[key]
        if key in self._active or len(self._active) >= _MAX_NESTING:
            raise NotConvertible(f"the role {name} contains itself, or is nested too deeply")
        role = self.role(name)
        if role is None:
            raise NotConvertible(f"the role '{name}' is not in the project")
        tasks, path = role.tasks(entry)
        if path is None and entry != "main":
            raise NotConvertible(f"the role {name} has no tasks/{entry}.yml")
        self._active.append(key)
        try:
            self._converted[key] = self._convert_role(role, entry, tasks, path)
        finally:
            self._active.pop()
        return self._converted[key]

    def _convert_role(
        self, role: Role, entry: str, tasks: list[Task | Block], path: Path | None
    ) -> RoleManifest:
        word = file_word(role.name)
        name = word if entry == "main" else f"{word}-{file_word(entry)}"
        manifest = Manifest(f"roles/{name}.yaml", [f"The role {role.name}"])
        files = Files(role.path, word)
        plan = self.plan_of(role)
        values = plan.values()
        for one in (role.path / "vars").glob("*.y*ml") if (role.path / "vars").is_dir() else ():
            if one.stem != "main":
                _add_values(values, one)
        late = {key: list(one) for key, one in values.items()}
        set_by_tasks = _add_facts(values, tasks, role.path)
        builder = Builder(
            manifest, Scope(values, late=late, role=role.name, files=f"{word}/files",
                            templates=f"{word}/templates", fleet=self.fleet,
                            play_hosts=self.play_hosts.get(role.name, {})),
            files, self, role.name, not self.started, self.is_root, role.sources(),
        )  # fmt: skip
        builder.scope.locate = partial(look_up_file, files)
        builder.scope.statements = template_text
        builder.project_variables = set(plan.values())
        builder.set_by_tasks = set_by_tasks
        builder.scope.uses.broken.update(
            uncertain_variables.unreadable(plan.values(), builder.scope)
        )
        builder.environment = self.environment
        builder.handlers = self._handlers(role)
        builder.stack = [str(path)] if path is not None else []
        for one in role.dependencies if entry == "main" else ():
            self._dependency(builder, one)
        self.started = True
        uncertain_variables.recall(builder)
        builder.run(tasks)
        last = handlers.last_ones(builder)
        builder.flush()
        uncertain_variables.remember(builder)
        self.finish(builder, plan)
        builder.manifest.asks = asks_that_are_read(builder)
        return RoleManifest(manifest.path, builder, plan, last)

    def plan_of(self, role: Role | None) -> DataPlan:
        """The sources of the data of a role or a play."""
        others: dict[str, tuple[str, Any]] = {}
        for name in self.in_play:
            other = self.role(name)
            if other is None or other is role:
                continue
            for source in (other.defaults, other.variables):
                for key, value in source.items():
                    others[key] = (other.name, value)
        plan = DataPlan(layers=self.layers, passed=self.play_vars, others=others)
        if role is not None:
            plan.defaults, plan.own = role.defaults, role.variables
        return plan

    def _handlers(self, role: Role) -> list[Handler]:
        found = handlers.read(role.handlers, role.name)
        for name in [*filter(None, map(role_name, role.dependencies)), *self.in_play]:
            other = self.role(name)
            if other is not None and other is not role:
                found += handlers.read(other.handlers, other.name)
        return [*found, *self.play_handlers]

    def _dependency(self, builder: Builder, value: Any) -> None:
        name = role_name(value)
        variables = parameters(value) if isinstance(value, dict) else {}
        try:
            entry = self.role_entry(builder, name, "main", variables)
        except NotConvertible as error:
            builder.manifest.items.append(
                Comment([f"NOT CONVERTED: the dependency {name}: {error.reason}"])
            )
            self.notes.append(f"{builder.manifest.path}: the dependency {name}: {error.reason}")
            return
        entry.comments.append("a dependency")
        builder.manifest.items.append(entry)
        uncertain_variables.recall(builder)

    def role_entry(
        self, builder: Builder, name: str, tasks_from: str, variables: dict[str, Any]
    ) -> Entry:
        """The resource that applies a role. NotConvertible."""
        uncertain_variables.remember(builder)
        found = self.role_manifest(name, tasks_from)
        if variables:
            uncertain_variables.forget_values(builder, name)
        path = found.path
        if builder.manifest.path.startswith("roles/"):
            path = path.removeprefix("roles/")
        properties: dict[str, Any] = {}
        inherited = self._inherited(found, variables)
        renamed = _inherit(builder, inherited, properties)
        data = {key: text_rewriter.value(one, builder.scope) for key, one in variables.items()}
        data = {**renamed, **data}
        if data:
            properties["data"] = data
        known = {one.name for one in builder.manifest.entries() if one.type == "apply"}
        title = path
        if path in known:
            title = numbered(name, {name, *known}, "{} ({})")
            properties = {"manifest": path, **properties}
        return Entry("apply", title, properties, ends_with=list(found.ends_with))

    def file_entry(
        self, builder: Builder, path: Path, *, name: str, sample: Sample,
        variables: dict[str, tuple[Any, Any]],
    ) -> Entry:  # fmt: skip
        """The resource that applies a task file for one element of a loop. NotConvertible.

        Its manifest gets all variables that it reads from the manifest that applies it.
        ``variables`` are further variables of each element, in the syntax of Ansible and of ccm.
        """
        if len(self._active) >= _MAX_NESTING:
            raise NotConvertible("task files that are nested too deeply")
        word = file_word(f"{builder.role or 'play'}-{path.stem}")
        folder = "roles/" if builder.manifest.path.startswith("roles/") else ""
        known = {one.path.removeprefix(folder).removesuffix(".yaml") for one in self.manifests}
        word = numbered(word, known)
        manifest = Manifest(f"{folder}{word}.yaml", [f"{path.name}, applied for each element"])
        further = {key: [one] for key, (one, _) in variables.items()}
        values = {**builder.scope.values, name: list(sample.values), **further}
        scope = Scope(
            values,
            late=builder.scope.late,
            place=builder.scope.place | {name, *variables},
            role=builder.role,
            files=builder.scope.files,
            templates=builder.scope.templates,
            locate=builder.scope.locate,
            statements=template_text,
            play_hosts=builder.scope.play_hosts,
        )
        inner = Builder(
            manifest, scope, builder.files, self, builder.role, False, builder.is_root,
            builder.sources,
        )  # fmt: skip
        inner.environment, inner.handlers = builder.environment, builder.handlers
        inner.stack = [*builder.stack, str(path)]
        inner.element = name
        inner.element_key = _key_of(name, sample)
        uncertain_variables.hide(builder, inner)
        inner.run(read_tasks(read(path), str(path)))
        notifies = {
            index: set(found) >= {one.reference for one in manifest.entries() if one.changes}
            for index, found in inner.pending.items()
        }
        inner.pending, inner.pending_tests = {}, {}
        missing = self.finish(inner, DataPlan())
        builder.scope.uses.in_place |= inner.scope.uses.in_place
        manifest.asks = asks_that_are_read(inner)
        properties: dict[str, Any] = {"manifest": f"{word}.yaml"}
        renamed = _inherit(builder, sorted(missing - {name, *variables}), properties)
        written = {key: one for key, (_, one) in variables.items()}
        properties["data"] = {name: "{{ item }}", **written, **renamed}
        key = _key_of("item", sample).removeprefix("Data.")
        title = f"{path.stem} {{{{ {key} }}}}"
        entry = Entry("apply", title, properties)
        entry.notifies = notifies
        return entry

    def _inherited(self, role_manifest: RoleManifest, variables: dict[str, Any]) -> list[str]:
        """The variables of the play that the role reads and that nothing in the role overrides."""
        stronger = set(role_manifest.plan.own) | set(role_manifest.builder.facts)
        includes = [one for one in role_manifest.builder.includes if not one.weak]
        stronger |= {k for c in includes for m in c.files.values() for k in m}
        read = role_manifest.builder.scope.uses.data | set(role_manifest.builder.manifest.data)
        return [
            key
            for key in self.play_vars
            if key in read and key not in stronger and key not in variables
        ]

    # --- what every manifest has

    def finish(self, builder: Builder, plan: DataPlan) -> set[str]:
        """Resolve duplicates, collect the files and records of a manifest, and write its data.

        Returns the names that nothing sets.
        """
        resolve_duplicates(builder)
        leave_out(builder)
        for entry in builder.manifest.entries():
            entry.foreach = as_list(entry.foreach)
            if entry.record is not None:
                entry.record.resources.append(entry.reference)
        prefix = "roles/" if builder.manifest.path.startswith("roles/") else ""
        for written, original in builder.files.used.items():
            self.files[prefix + written] = original
        for written, text in builder.files.texts.items():
            self.texts[prefix + written] = text
        self.records += builder.records
        self.manifests.append(builder.manifest)
        return write_data(builder, plan, self.notes)


def _inherit(builder: Builder, names: list[str], properties: dict[str, Any]) -> dict[str, str]:
    """Make an ``apply`` inherit variables; return those that have a different name here.

    A variable that nothing sets cannot be inherited. The child tests whether it is defined.
    """
    renames = builder.scope.renames
    new = {key: renames[key] for key in names if renames.get(key, "").startswith("Data.")}
    builder.scope.uses.data |= set(names) - set(new)
    known = {*builder.scope.values, *builder.facts, *builder.manifest.data}
    inherited = [key for key in names if key not in new and key in known]
    if inherited:
        properties["inherit_data"] = inherited
    return {key: "{{ " + text + " }}" for key, text in new.items()}


def asks_that_are_read(builder: Builder) -> dict[str, dict[str, Any]]:
    """The lookups whose answers something in the manifest reads."""
    manifest = builder.manifest
    text = repr([
        [(one.name, one.all_properties()) for one in manifest.entries()],
        [one.value for one in manifest.data.values()], manifest.overrides, manifest.order,
        manifest.assertions, sorted(builder.files.texts.values()),
    ])  # fmt: skip
    read = set(re.findall(r"\bAsked\.(\w+)", text))
    return {name: one for name, one in builder.scope.uses.asks.items() if name in read}


def _key_of(name: str, sample: Sample) -> str:
    kinds = sample.all_kinds()
    if kinds == {"text"} and not sample.open:
        return f"Data.{name}"
    maps = [one for one in sample.values if isinstance(one, dict)]
    for key in ("name", "username", "user", "key", "path", "dest", "domain", "id"):
        if maps and all(isinstance(one.get(key), str) for one in maps):
            return f"Data.{name}.{key}"
    return f"Data.{name} | to_json | hash"


def role_name(value: Any) -> str:
    """The name of a role in a list of roles."""
    if isinstance(value, dict):
        found = value.get("role") or value.get("name") or value.get("src") or ""
        return str(found)
    return str(value)


_ROLE_WORDS = frozenset(
    [
        "role",
        "name",
        "src",
        "version",
        "scm",
        "become",
        "become_user",
        "tags",
        "when",
        "vars",
        "any_errors_fatal",
        "delegate_to",
        "environment",
        "ignore_errors",
        "no_log",
        "run_once",
        "collections",
        "connection",
        "become_method",
    ]
)


def parameters(value: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of an entry in a list of roles."""
    rest = {key: one for key, one in value.items() if key not in _ROLE_WORDS}
    given = value.get("vars")
    return {**rest, **(given if isinstance(given, dict) else {})}


def file_word(text: str) -> str:
    """A name made suitable as a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.") or "role"


def _add_values(values: dict[str, list[Any]], path: Path) -> None:
    try:
        found = read_map(path)
    except (VaultFileError, CcmError):
        return
    for key, value in found.items():
        values.setdefault(key, []).append(value)


def _add_facts(values: dict[str, list[Any]], tasks: list[Task | Block], base: Path) -> set[str]:
    """Add the values that ``set_fact`` assigns to ``values``; return the names."""
    names: set[str] = set()
    found: list[Task | Block] = list(tasks)
    for one in sorted((base / "tasks").rglob("*.y*ml")):
        if one.is_file() and one != main_file(base / "tasks"):
            try:
                found += read_tasks(read(one), str(one))
            except (VaultFileError, CcmError):
                continue
    while found:
        item = found.pop()
        if isinstance(item, Block):
            found += [*item.tasks, *item.rescue, *item.always]
        elif item.module == "set_fact":
            for key, value in item.args.items():
                names.add(key)
                if not fact_names.is_fact(key):
                    values.setdefault(key, []).append(value)
    return names


def tags_of(value: Any) -> list[str]:
    """The words of a ``tags`` keyword."""
    return [
        part.strip()
        for one in listed(value)
        for part in str(one).split(",")
        if part.strip() and part.strip() != "always"
    ]
