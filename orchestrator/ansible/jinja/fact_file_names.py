"""Names of files that depend on facts, such as ``{{ ansible_os_family }}.yml`` (controller)."""

from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import fact_names
from orchestrator.ansible.jinja.fact_names import fact_of
from orchestrator.ansible.jinja.filter_substitutes import filtered
from orchestrator.ansible.jinja.parsing import outputs, path_of
from orchestrator.ansible.problems import NotConvertible

_WORDS = {
    "os_family": ("Facts.host.info.platformFamily", fact_names.FAMILIES),
    "distribution": ("Facts.host.info.platform", fact_names.DISTRIBUTIONS),
    "pkg_mgr": ("Facts.host.info.platformFamily", fact_names.MANAGERS),
    "distribution_major_version": ("Facts.host.info.platformVersion.split('.')[0]", None),
    "distribution_version": ("Facts.host.info.platformVersion", None),
    "distribution_file_variety": ("Facts.host.info.platform", fact_names.VARIETIES),
    "distribution_release": ("Facts.host.info.platformVersion", None),
    "system": ("'Linux'", {"Linux": "Linux"}),
    "architecture": ("Facts.host.info.kernelArch", None),
    "service_mgr": ("'systemd'", {"systemd": "systemd"}),
}


def parts_of_name(name: str) -> list[tuple[str, str]]:
    """Return a file name as strings and facts: ``("text", "-")``, ``("fact", "os_family")``."""
    parts = outputs(name)
    if parts is None:
        raise NotConvertible("a file name with statements")
    found: list[tuple[str, str]] = []
    for one in [each for part in parts for each in _joined(part)]:
        cased = isinstance(one, nodes.Filter) and one.name in CASES
        inner = _whole_version(one.node if cased else one)
        if isinstance(inner, (nodes.TemplateData, nodes.Const)):
            text = inner.data if isinstance(inner, nodes.TemplateData) else str(inner.value)
            found.append(("text", text))
            continue
        path = path_of(inner)
        fact = _fact(path) if path is not None else ""
        if fact == "role_path":
            continue
        if fact not in _WORDS:
            raise NotConvertible(f"a file name that depends on more than known facts: {name}")
        found.append((one.name if cased else "fact", fact))
    return found


def _joined(node: Any) -> list[Any]:
    """The parts of strings that are joined, also in ``(a ~ b) | lower``."""
    if isinstance(node, nodes.Concat):
        return [each for one in node.nodes for each in _joined(one)]
    if isinstance(node, nodes.Add):
        return [each for one in (node.left, node.right) for each in _joined(one)]
    is_cased = isinstance(node, nodes.Filter) and node.name in ("lower", "upper")
    if not is_cased or isinstance(node.node, (nodes.Name, nodes.Getattr, nodes.Getitem)):
        return [node]
    inner = _joined(node.node)
    texts = [one.value if isinstance(one, nodes.Const) else None for one in inner]
    return [
        filtered(one, node.name) if text is None else nodes.Const(CASES[node.name](str(text)))
        for one, text in zip(inner, texts, strict=True)
    ]


def has_known_facts(name: str) -> bool:
    """Whether a name consists of text and known facts."""
    try:
        return bool(parts_of_name(name))
    except NotConvertible:
        return False


CASES = {"lower": str.lower, "title": str.title, "upper": str.upper, "capitalize": str.capitalize}


def _whole_version(node: Any) -> Any:
    """``ansible_distribution_version.split('.')[0]`` is the major version."""
    if not isinstance(node, nodes.Getitem) or not isinstance(node.arg, nodes.Const):
        return node
    call = node.node
    if node.arg.value != 0 or not isinstance(call, nodes.Call) or len(call.args) != 1:
        return node
    method, dot = call.node, call.args[0]
    if not isinstance(method, nodes.Getattr) or method.attr != "split":
        return node
    path = path_of(method.node)
    is_dot = isinstance(dot, nodes.Const) and dot.value == "."
    if path is None or not is_dot or _fact(path) != "distribution_version":
        return node
    return nodes.Name("ansible_distribution_major_version", "load")


def _fact(path: tuple[str, list[Any]]) -> str:
    return "role_path" if path == ("role_path", []) else fact_of(path)


def own_values(kind: str, value: str) -> list[str]:
    """The values in ccm that correspond to Ansible's value of the fact."""
    how, fact = kind.split(":")
    table = _WORDS[fact][1]
    if fact == "distribution_release":
        return [fact_names.RELEASES[value]] if value in fact_names.RELEASES else []
    if table is None:
        is_version = fact.endswith("version")
        return [value] if value[:1].isdigit() or not is_version else []
    return [own for own, other in table.items() if CASES.get(how, str)(other) == value]


def own_expression(name: str) -> str:
    """The facts of a name, as an expression with ccm's values joined by dashes."""
    return " ~ '-' ~ ".join(_WORDS[fact][0] for kind, fact in parts_of_name(name) if kind != "text")
