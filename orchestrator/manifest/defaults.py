"""``ccm.defaults``: default properties of the resources of a manifest, by type (controller)."""

from collections.abc import Mapping as AnyMapping

from inventory.yaml_document import Mapping
from orchestrator.manifest.checks.resource_checks import Nodes, known_properties, refuse_loop
from orchestrator.manifest.checks.schema_errors import suggestion
from orchestrator.manifest.resource_types import Types
from remote_runtime.errors import Problem

Defaults = AnyMapping[str, Nodes]
NO_DEFAULTS: Defaults = {}


def read_defaults(ccm: Mapping, types: Types, above: Defaults, problems: list[Problem]) -> Defaults:
    """The defaults of a manifest; each property overrides the inherited one from ``above``."""
    node = ccm.get("defaults")
    if node is None:
        return above
    if not isinstance(node, Mapping):
        message = f"defaults must be a map of types, not {node.describe()}"
        hint = "write 'defaults: {file: {owner: root}}'"
        problems.append(Problem(message, node.position, hint, "input.type"))
        return above
    found = dict(above)
    for key, value in node.pairs():
        type_ = types.get(key.text)
        if type_ is None:
            message = f"there is no resource type {key.text!r}"
            hint = suggestion(key.text, types.names())
            problems.append(Problem(message, key.position, hint, "input.unknown"))
        elif not isinstance(value, Mapping):
            message = f"the defaults of {key.text} must be a map, not {value.describe()}"
            problems.append(Problem(message, value.position, "", "input.type"))
        else:
            own = known_properties(type_, value, problems)
            refuse_loop(own, problems)
            found[key.text] = {**above.get(key.text, {}), **own}
    return found
