"""The manifest as one checked whole (controller)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from inventory.document import Mapping, Node, Scalar, read_document
from orchestrator.language.files import Folder
from orchestrator.manifest.children import Children
from orchestrator.manifest.data import DataSource, refuse_unknown_keys
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.generated import resources_template
from orchestrator.manifest.references import check_names, duplicates, named
from orchestrator.manifest.structure import ResourceReader
from orchestrator.manifest.types import BUILT_IN, Types, types_beside
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.language import jet

_TOP = ("data", "hierarchy", "overrides", "ccm")
_CCM = ("resources", "resources_jet_file", "fail_on_error", "pre_message", "post_message")


class Earlier(Protocol):
    """What earlier commands of the same session came to, host by host."""

    def names(self) -> frozenset[str]:
        """Every ``type#name`` and ``type#alias`` that any host has had."""
        ...

    def of(self, host: str, references: frozenset[str]) -> dict[str, Any]:
        """The ``earlier`` of one host's plan, as far as these references go."""
        ...


class Site:
    """One manifest: its data, its resources in the order written, and what the run should know.

    ``folder`` is where the manifest stands; ``warnings`` are for the user and end nothing. With
    ``resources_template`` there are no ``resources``: each host's come of that template. ``types``
    are those that it may use; the site's own among them travel with the runtime. ``children`` are
    the manifests that resources of this run apply.
    """

    def __init__(
        self,
        path: Path,
        source: DataSource,
        warnings: list[Problem],
        bounds: Path | None = None,
    ) -> None:
        self.path = path
        self.folder = Folder(path.absolute().parent, bounds)
        self.source = source
        self.warnings = warnings
        self.resources: list[Declared] = []
        self.resources_template: jet.Template | None = None
        self.fail_on_error = False
        self.pre_message = ""
        self.post_message = ""
        self.earlier: Earlier | None = None
        self.types: Types = BUILT_IN
        self.children = Children(read_site)

    def earlier_names(self) -> frozenset[str]:
        """What ``require`` and ``subscribe`` may name beside the resources of this run."""
        return self.earlier.names() if self.earlier else frozenset()


def load_site(path: str | Path, types: Types | None = None) -> Site:
    """Read and check a manifest. InputError with every problem, in the order of the file.

    A child that is missing or broken is no problem of it: see ``children``.
    """
    path = Path(path)
    problems: list[Problem] = []
    site = _read(path, problems, types)
    problems += check_names(site.children.names(site, problems))
    if problems:
        raise InputError(_in_order(problems))
    return site


def read_site(path: Path, parent: Site) -> Site:
    """A child manifest, its references not checked; InputError with every problem.

    It has the types of the manifest that was pushed, and brings none.
    """
    problems: list[Problem] = []
    bounds = parent.folder.bounds or parent.folder.path
    site = _read(path, problems, parent.types, bounds)
    site.children = parent.children
    problems += duplicates([named(declared) for declared in site.resources])
    if problems:
        raise InputError(_in_order(problems))
    return site


def _read(
    path: Path, problems: list[Problem], types: Types | None, bounds: Path | None = None
) -> Site:
    warnings: list[Problem] = []
    root = read_document(path, problems)
    if not isinstance(root, Mapping):
        hint = "a manifest begins with 'ccm:' or 'data:'"
        message = f"a manifest must be a map, not {root.describe()}"
        raise InputError([*problems, Problem(message, root.position, hint, "input.type")])
    refuse_unknown_keys(root, _TOP, "a manifest", problems)
    site = Site(path, DataSource(root, problems, warnings), warnings, bounds)
    site.types = types or types_beside(site.path)
    _read_ccm(site, root, problems)
    return site


def _read_ccm(site: Site, root: Mapping, problems: list[Problem]) -> None:
    ccm = root.get("ccm")
    if ccm is None:
        hint = "add 'ccm:' with 'resources:' below it"
        problems.append(Problem("the manifest has no ccm section", root.position, hint))
        return
    if not isinstance(ccm, Mapping):
        message = f"ccm must be a map with resources, not {ccm.describe()}"
        problems.append(Problem(message, ccm.position, "", "input.type"))
        return
    refuse_unknown_keys(ccm, _CCM, "ccm", problems)
    site.fail_on_error = _flag(ccm.get("fail_on_error"), "fail_on_error", problems)
    site.pre_message = _text(ccm.get("pre_message"), "pre_message", problems)
    site.post_message = _text(ccm.get("post_message"), "post_message", problems)
    resources = ccm.get("resources")
    if "resources_jet_file" in ccm:
        site.resources_template = resources_template(ccm, site.folder, problems)
    if resources is not None:
        reader = ResourceReader(problems, types=site.types)
        reader.read(resources)
        site.resources = reader.resources
    elif "resources_jet_file" not in ccm:
        hint = "add 'resources:' with at least one resource"
        problems.append(Problem("ccm has no resources", ccm.position, hint))


def _flag(node: Node | None, name: str, problems: list[Problem]) -> bool:
    if node is None:
        return False
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    message = f"{name} must be true or false, not {node.describe()}"
    problems.append(Problem(message, node.position, "", "input.type"))
    return False


def _text(node: Node | None, name: str, problems: list[Problem]) -> str:
    if node is None:
        return ""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return node.value
    message = f"{name} must be text, not {node.describe()}"
    hint = "quote it" if isinstance(node, Scalar) else ""
    problems.append(Problem(message, node.position, hint, "input.type"))
    return ""


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Each problem once (defaults are checked for every entry), sorted by where it stands."""
    return sorted(
        dict.fromkeys(problems),
        key=lambda problem: problem.where[1:] if problem.where else (0, 0),
    )
