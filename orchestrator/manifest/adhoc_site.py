"""Creates a site with one resource and no manifest, for ``ccm ensure``, its pipe and ``ccm status``
(controller).

The caller passes nodes, regardless of where it read the properties. Problems are reported with the
positions of these nodes.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from inventory.yaml_document import Mapping, Scalar, Source
from orchestrator.manifest.checks.references import check_names, named
from orchestrator.manifest.checks.resource_checks import declare, known_properties, warnings
from orchestrator.manifest.checks.schema_errors import suggestion
from orchestrator.manifest.data_source import DataSource
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.loader import read_child
from orchestrator.manifest.resource_types import BUILT_IN, Type, Types
from orchestrator.manifest.site import Children, EarlierResults, Site
from remote_runtime.errors import InputError, Position, Problem

NOWHERE = Source("", "")


class Argument(Source):
    """One word of a command line; its position is its name there, such as ``--mode``."""

    def position(self, line: int, column: int) -> Position:
        return _Called(self.name, line, column)


class _Called(Position):
    def __str__(self) -> str:
        return self.file


def text_node(text: str, source: Source = NOWHERE) -> Scalar:
    """A node with exactly this text, even if YAML would read it as another type."""
    return Scalar(source, 1, column=1, text=text, kind="str", value=text, plain=False)


def known_type(name: str, where: Position | None = None, types: Types = BUILT_IN) -> Type:
    """The type with that name; InputError with the most similar name for an unknown one."""
    type_ = types.get(name)
    if type_ is None:
        message = f"there is no resource type {name[:60]!r}"
        hint = suggestion(name, types.names())
        raise InputError([Problem(message, where, hint, "input.unknown")])
    return type_


def adhoc_site(
    type_: Type,
    name: Scalar,
    *,
    properties: Mapping,
    directory: Path,
    earlier: EarlierResults | None = None,
    types: Types = BUILT_IN,
) -> Site:
    """The checked site of one resource; InputError with every problem.

    ``properties`` has the form that follows a name in a manifest. Relative paths start at
    ``directory``. ``earlier`` has the results of earlier commands of the session. ``types`` are the
    types that are sent with the runtime.
    """
    problems: list[Problem] = []
    if "foreach" in properties:
        message = "foreach works only in manifests"
        problems.append(Problem(message, properties.key("foreach").position, "", "input"))
    declared = declare(
        type_, name, nodes=known_properties(type_, properties, problems), problems=problems
    )
    site = _site([declared], directory, types.needed_by(type_), problems)
    if not declared.faulty:
        site.warnings += warnings(declared)
    site.earlier = earlier
    known = site.earlier_names() if declared.require or declared.subscribe else None
    problems += check_names([named(declared)], earlier=known)
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return site


def observed_site(
    type_: Type,
    names: Iterable[Scalar],
    *,
    directory: Path,
    provider: str = "",
    types: Types = BUILT_IN,
    properties: dict[str, Any] | None = None,
) -> Site:
    """A site of resources that are only observed: no property is required; InputError.

    ``properties`` identify a resource, such as the virtual environment of a package.
    """
    given = properties or {}
    problems = _problems_of_properties(type_, given)
    resources = []
    for name in names:
        declared = DeclaredResource(type_, name, {})
        if provider:
            declared.values["provider"] = declared.raw["provider"] = provider
        declared.values.update(given)
        declared.raw.update(given)
        complaints = [(wrong.message, wrong.hint) for wrong in type_.name_complaints(name.text)]
        if not complaints:
            checked = type_.check(name.text, {**given})
            about = type_.hint_for("")
            complaints = [(text, about) for key, text in checked if key == "name"]
        for text, hint in complaints:
            problems.append(Problem(f"{declared.id}: {text}", name.position, hint))
        if provider and provider not in type_.providers:
            message = f"there is no provider {provider!r} for {type_.name}"
            hint = suggestion(provider, list(type_.providers))
            problems.append(Problem(message, None, hint, "input.unknown"))
        resources.append(declared)
    site = _site(resources, directory, types.needed_by(type_), problems)
    site.is_observed = True
    if problems:
        raise InputError(problems)
    return site


def _problems_of_properties(type_: Type, properties: dict[str, Any]) -> list[Problem]:
    """The problems of properties that do not come from a file, such as those of ``ccm status``."""
    problems = []
    for key, value in properties.items():
        kind = type_.properties.get(key)
        if kind is None or key in ("ensure", "provider"):
            known = sorted(type_.properties.keys() - {"ensure", "provider"})
            hint = suggestion(key, known)
            problems.append(Problem(f"{type_.name} has no property {key!r} here", None, hint))
        else:
            problems += [
                Problem(complaint.message, None, complaint.hint or type_.hint_for(""))
                for complaint in kind.complaints(value)
            ]
    return problems


def _site(
    resources: list[DeclaredResource], directory: Path, types: Types, problems: list[Problem]
) -> Site:
    warnings: list[Problem] = []
    source = DataSource(Mapping(NOWHERE, 1, 1), problems, warnings)
    site = Site(
        directory / "command line",
        source,
        warnings=warnings,
        types=types,
        children=Children(read_child),
    )
    site.resources = resources
    return site
