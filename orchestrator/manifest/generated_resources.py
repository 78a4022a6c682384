"""``ccm.resources_jet_file``: resources that a Jet template generates, per host (controller).

The rendered text contains facts, which a host controls, so nothing in it is a template. Values that
select controller files or conditions must be literal in the Jet template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inventory.yaml_document import Mapping, Node, Scalar, Sequence, parse_document
from orchestrator.expressions.scan import holds_expression
from orchestrator.language.errors import EvaluationError
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.resource_list import ResourceReader
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.language import jet
    from orchestrator.language.manifest_directory import Directory
    from orchestrator.manifest.defaults import Defaults
    from orchestrator.manifest.resource_types import Types


def resources_template(
    ccm: Mapping, directory: Directory, problems: list[Problem]
) -> jet.Template | None:
    """The checked template that ``ccm`` names; None with problems."""
    key, node = ccm.key("resources_jet_file"), ccm.get("resources_jet_file")
    if "resources" in ccm:
        message = "resources_jet_file and resources cannot be combined"
        problems.append(Problem(message, key.position, "keep one"))
    if not isinstance(node, Scalar) or node.kind != "str" or not node.text:
        message = f"resources_jet_file must be the name of a file, not {(node or ccm).describe()}"
        problems.append(Problem(message, key.position, "such as resources.jet", "input.type"))
        return None
    from orchestrator.language.jet import Delimiters, library_of

    try:
        template = library_of(directory, Delimiters()).load(node.text)
    except InputError as error:
        problems += error.problems
    except EvaluationError as error:
        problems.append(Problem(error.message, node.position, "check the path", error.kind))
    else:
        problems += _expressions(template)
        return template
    return None


def _expressions(template: jet.Template) -> list[Problem]:
    hint = 'write [[ … ]], or [[ "{{" ]] for literal braces'
    return [
        Problem("{{ }} is not rendered in a resources_jet_file", where, hint, "template")
        for text, where in template.plain_texts()
        if holds_expression(text)
    ]


def generated_resources(
    template: jet.Template, text: str, *, types: Types, defaults: Defaults, problems: list[Problem]
) -> list[DeclaredResource]:
    """The resources of a rendered text; ``problems`` have positions in that text."""
    try:
        root = parse_document(text, f"{template.name} (rendered)", problems)
    except InputError as error:
        problems += error.problems
        return []
    if _holds_nothing(root):
        return []
    written = "\n".join(part.text for part in template.reached)
    reader = ResourceReader(problems, written=written, types=types, defaults=defaults)
    reader.read(root)
    return reader.resources


def _holds_nothing(root: Node) -> bool:
    """Whether the text is empty, as after a loop over nothing."""
    if isinstance(root, Sequence):
        return not root.nodes
    return isinstance(root, Scalar) and root.kind == "null"
