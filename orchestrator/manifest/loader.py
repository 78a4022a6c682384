"""Reads a manifest and checks it (controller)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inventory.yaml_document import (
    EncryptedScalar,
    Mapping,
    Node,
    Scalar,
    Sequence,
    parse_data,
    read_data,
    refuse_encrypted,
)
from orchestrator.manifest.checks.contradictions import contradictions
from orchestrator.manifest.checks.references import check_names, duplicates, named
from orchestrator.manifest.checks.resource_checks import warnings
from orchestrator.manifest.checks.script_line_endings import script_warnings
from orchestrator.manifest.data_source import DataSource, refuse_unknown_keys
from orchestrator.manifest.defaults import NO_DEFAULTS, read_defaults
from orchestrator.manifest.generated_resources import resources_template
from orchestrator.manifest.resource_list import ResourceReader
from orchestrator.manifest.resource_names import names_of_run
from orchestrator.manifest.resource_types import BUILT_IN, Types, types_beside
from orchestrator.manifest.site import Child, Children, Site
from orchestrator.manifest.value_compiler import flag
from orchestrator.sources.archives import Archives
from remote_runtime.errors import InputError, Problem

_TOP = ("data", "hierarchy", "overrides", "ccm")
_CCM = (
    "resources",
    "resources_jet_file",
    "defaults",
    "assert",
    "ask",
    "fail_on_error",
    "pre_message",
    "post_message",
)


def load_site(
    path: str | Path,
    types: Types | None = None,
    *,
    archives: Archives | None = None,
    text: str | None = None,
    bounds: Path | None = None,
) -> Site:
    """Read and check a manifest. InputError with every problem, in file order.

    A missing or broken child is not a problem of its parent: see ``children``. A manifest in one of
    the ``archives`` has no custom types, and reads nothing outside its directory. ``text`` is read
    instead of the file; ``bounds`` limits reading to a directory.
    """
    path = Path(path)
    problems: list[Problem] = []
    own = archives.holding(path) if archives else None
    site = _read(
        path,
        problems,
        types=BUILT_IN if own else types,
        children=Children(read_child, archives),
        bounds=own or bounds,
        text=text,
    )
    names, broken = names_of_run(site, problems)
    problems += check_names(names)
    if problems:  # otherwise the survey reports it, together with problems of data and files
        known = {problem.where for problem in problems}
        problems += [problem for problem in broken if problem.where not in known]
        raise InputError(_in_order(problems, path))
    return site


def read_child(path: Path, parent: Site, bounds: Path | None = None) -> Child:
    """Read a child manifest, without checking its references.

    It uses the types of the manifest that is pushed, and adds none. It reads nothing outside
    ``bounds``, by default those of its parent.
    """
    problems: list[Problem] = []
    bounds = bounds or parent.directory.bounds or parent.directory.path
    try:
        site = _read(
            path,
            problems,
            types=parent.types,
            children=parent.children,
            bounds=bounds,
            parent=parent,
        )
    except InputError as error:
        return Child(None, tuple(error.problems))
    problems += duplicates([named(declared) for declared in site.resources])
    return Child(None, tuple(_in_order(problems, path)), draft=site) if problems else Child(site)


def read_site(path: Path, parent: Site) -> Site:
    """Read a child manifest, without checking its references; InputError with every problem."""
    child = read_child(path, parent)
    if child.site is None:
        raise InputError(list(child.problems))
    return child.site


def read_unchecked(path: Path) -> Site | None:
    """Read a manifest without checks, to find its children; None for a file that is not
    a manifest.
    """
    try:
        children = Children(read_child, Archives(contact=False))
        return _read(path, [], types=None, children=children)
    except InputError:
        return None


_OTHERS = (
    (
        "stages",
        "a stages file",
        "input.stages",
        "specify the manifest of one stage; only ccm push, plan and validate accept a stages file",
    ),
    *(
        (
            key,
            "an inventory",
            "input.inventory",
            "specify the inventory with -i, and the manifest without an option",
        )
        for key in ("hosts", "groups")
    ),
)
"""Keys that identify other kinds of documents, and what to do with these."""


def _read(
    path: Path,
    problems: list[Problem],
    *,
    types: Types | None,
    children: Children,
    bounds: Path | None = None,
    parent: Site | None = None,
    text: str | None = None,
) -> Site:
    warnings: list[Problem] = []
    root = read_data(path, problems) if text is None else parse_data(text, str(path), problems)
    _refuse_others(root)
    if not isinstance(root, Mapping):
        hint = "a manifest starts with 'ccm:' or 'data:'"
        what = "an empty file" if root.describe() == "null" else root.describe()
        message = f"a manifest must be a map, not {what}"
        raise InputError([*problems, Problem(message, root.position, hint, "input.type")])
    refuse_unknown_keys(root, _TOP, what="the manifest", problems=problems)
    if root.source.encrypted:
        _refuse_encrypted(root, problems)
    source = DataSource(root, problems, warnings)
    site = Site(
        path,
        source,
        warnings=warnings,
        types=types or types_beside(path),
        children=children,
        bounds=bounds,
        parent=parent,
    )
    site.defaults = parent.defaults if parent is not None else NO_DEFAULTS
    _read_ccm(site, root, problems)
    return site


def _refuse_encrypted(root: Mapping, problems: list[Problem]) -> None:
    """Report encrypted values outside the data, because only data is decrypted."""
    held = {id(node) for key in ("data", "overrides") for node in _encrypted(root.get(key))}
    refuse_encrypted((n for n in root.source.encrypted if id(n) not in held), problems)


def _encrypted(node: Node | None) -> Iterator[Node]:
    if isinstance(node, EncryptedScalar):
        yield node
    elif isinstance(node, Mapping):
        for _, below in node.pairs():
            yield from _encrypted(below)
    elif isinstance(node, Sequence):
        for below in node.nodes:
            yield from _encrypted(below)


def _refuse_others(root: Node) -> None:
    """InputError for another known document that is not a manifest."""
    if isinstance(root, Mapping):
        for key, what, kind, hint in _OTHERS:
            if key in root and (key == "stages" or "ccm" not in root):
                where = root.key(key).position
                message = f"this is {what}, not a manifest"
                raise InputError([Problem(message, where, hint, kind)])
    elif isinstance(root, Sequence) and any(map(_is_play, root)):
        hint = "write its tasks as resources; see 'Coming from Ansible' in the documentation"
        message = "this is an Ansible playbook, not a manifest"
        raise InputError([Problem(message, root.position, hint, "input.playbook")])


def _is_play(node: Node) -> bool:
    return isinstance(node, Mapping) and ("hosts" in node or "import_playbook" in node)


def _read_ccm(site: Site, root: Mapping, problems: list[Problem]) -> None:
    ccm = root.get("ccm")
    if ccm is None:
        hint = "add 'ccm:' with 'resources:' under it"
        problems.append(Problem("the manifest has no ccm section", root.position, hint))
        return
    if not isinstance(ccm, Mapping):
        message = f"ccm must be a map with resources, not {ccm.describe()}"
        problems.append(Problem(message, ccm.position, "", "input.type"))
        return
    refuse_unknown_keys(ccm, _CCM, what="the ccm section", problems=problems)
    site.fail_on_error = flag(ccm.get("fail_on_error"), "fail_on_error", problems)
    site.pre_message = _text(ccm.get("pre_message"), "pre_message", problems)
    site.post_message = _text(ccm.get("post_message"), "post_message", problems)
    site.defaults = read_defaults(ccm, site.types, site.defaults, problems)
    asserted = ccm.get("assert")
    if asserted is not None:
        from orchestrator.manifest.assertions import read_assertions

        site.assertions = read_assertions(asserted, problems)
    if "ask" in ccm:
        from orchestrator.manifest.lookups import read_asks

        site.asks = read_asks(ccm.get("ask"), site.types, problems)
    resources = ccm.get("resources")
    if "resources_jet_file" in ccm:
        site.resources_template = resources_template(ccm, site.directory, problems)
    if resources is not None:
        reader = ResourceReader(problems, types=site.types, defaults=site.defaults)
        reader.read(resources)
        site.resources = reader.resources
        sound = [declared for declared in site.resources if not declared.faulty]
        site.warnings += [uncertainty for declared in sound for uncertainty in warnings(declared)]
        site.warnings += [
            warning
            for declared in sound
            for warning in script_warnings(declared, site.directory.path)
        ]
        site.warnings += contradictions(sound)
    elif "resources_jet_file" not in ccm:
        hint = "add 'resources:' with at least one resource"
        problems.append(Problem("the ccm section has no resources", ccm.position, hint))
    read = [expression for expression in site.expressions() if "Asked" in expression.source]
    if read:
        from orchestrator.manifest.checks.lookups import unknown_names

        node = ccm.get("ask")
        problems += unknown_names(
            read, node.entries if isinstance(node, Mapping) else (), site.asks
        )


def _text(node: Node | None, name: str, problems: list[Problem]) -> str:
    if node is None:
        return ""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return node.value
    message = f"{name} must be text, not {node.describe()}"
    hint = "quote it" if isinstance(node, Scalar) else ""
    problems.append(Problem(message, node.position, hint, "input.type"))
    return ""


def _in_order(problems: list[Problem], path: Path) -> list[Problem]:
    """The problems without duplicates (defaults are checked for every entry), by position; those of
    the manifest at ``path`` come first.
    """

    def place(problem: Problem) -> tuple[bool, str, int, int]:
        where = problem.where
        return (where.file != str(path), *where) if where else (False, "", 0, 0)

    return sorted(dict.fromkeys(problems), key=place)
