"""The output of ``ccm inventory --host`` (controller)."""

import json
from typing import Any

from inventory import Inventory
from inventory.explanation import ExplainedValue


def host_values(loaded: Inventory, name: str) -> str:
    """Every value of a host, aligned, with the position where it is set."""
    host = loaded.host(name)
    lines = [f"{host.name}  (first defined at {host.position})"]
    lines.append(f"groups: {', '.join(host.groups) or '-'}")
    rows = [(e.property, _shown(e.value), _place(e)) for e in loaded.explain(host.name)]
    keys = max(len(row[0]) for row in rows)
    values = min(40, max(len(row[1]) for row in rows))
    lines += [f"  {key:<{keys}}  {value:<{values}}  {place}".rstrip() for key, value, place in rows]
    lines += _unhonoured(loaded, name)
    return "\n".join(lines) + "\n"


def _unhonoured(loaded: Inventory, name: str) -> list[str]:
    """The directives of the SSH configuration for the host that ccm does not support;
    InputError."""
    from orchestrator.transport import Settings
    from orchestrator.transport.route import ignored_directives, unsupported_directives

    host, settings = loaded.host(name), Settings(loaded.hosts)
    lines = [f"  {one.message}  ({one.where})" for one in unsupported_directives(host, settings)]
    if lines:
        lines.insert(0, "in the SSH configuration, preventing the login:")
    if ignored := ignored_directives(host, settings):
        lines.append("in the SSH configuration, ignored by ccm:")
        lines += [f"  {line.key} {line.value}  ({line.where})" for line in ignored]
    return lines


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _place(explained: ExplainedValue) -> str:
    where = f", {explained.position}" if explained.position else ""
    return f"({explained.origin}{where})"
