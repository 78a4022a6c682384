"""Groups the modules of the runtime that are needed together, after their imports (controller).

A target unpacks and verifies a group in one go.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence, Set

_COMMAND = ("remote_runtime.system.process.process_io", "remote_runtime.stdlib_light.spawning")
# Modules of a preview that the next groups need, too.
_PREVIEW = ("remote_runtime.system.machine_id", "remote_runtime.system.inode_flags")
_LOCK = ("remote_runtime.system.push_lock", "remote_runtime.state.run_record")
_PORTS = (
    "remote_runtime.managed_resources",
    "remote_runtime.host.account_reader",
    "remote_runtime.host.host_reader",
    "remote_runtime.host.machine.contents",
)
_STEPS = ("remote_runtime.tasks", "remote_runtime.managed_resources.task_resource")
_ACTIONS = ("remote_runtime.managed_resources.action_resource",)
_CHANGES = (
    "remote_runtime.host.machine.machine_host",
    "remote_runtime.host.machine.write_ahead",
    "remote_runtime.plans.observed_state",
    "remote_runtime.reporting.content_diffs",
    "remote_runtime.reporting.log_summary",
    "remote_runtime.state.last_applied",
    "remote_runtime.state.pending_refreshes",
    "remote_runtime.system.extended_attributes",
    "remote_runtime.system.temp_journal",
    "remote_runtime.system.temporary_file",
)
_RUNNING = ("remote_runtime.host.machine.commands", "remote_runtime.system.process.run_as")
_PLANNED = (
    "remote_runtime.host.preview.preview_host",
    "remote_runtime.overlay.host_overlay",
    "remote_runtime.reporting.effects",
    "remote_runtime.reporting.operations",
)
_PACKAGES = ("remote_runtime.host.package_ports", "remote_runtime.packages")
_MANAGERS = ("remote_runtime.packages.managers.apt", "remote_runtime.packages.managers.dnf")
_TYPES = "remote_runtime.resources."
# Modules that are imported in functions that every run calls.
_ROOTS = (
    "remote_runtime.session",
    "remote_runtime.resources",
    *(
        f"remote_runtime.facts.{family}"
        for family in ("host", "cpu", "memory", "network", "partition", "custom", "size_limit")
    ),
)


def import_groups(members: Mapping[str, bytes]) -> list[list[str]]:
    """The groups of modules that are needed together, in this order: modules of every run, of the
    first command, of a preview, of a run that may change something, of the ports of a state type,
    of types with several steps, of types that act, of a run that changes files, of running
    commands, of a preview with changes, of package managers, of each type, and single ones.

    ``members`` has the sources of an image by path.
    """
    sources = {
        _name(path): tuple(_imported(source))
        for path, source in members.items()
        if path.endswith(".py")
    }
    rows = [_behind(sources, _ROOTS)]
    taken = set(rows[0])
    for roots in (
        _COMMAND,
        _PREVIEW,
        _LOCK,
        _PORTS,
        _STEPS,
        _ACTIONS,
        _CHANGES,
        _RUNNING,
        _PLANNED,
    ):
        rows.append([name for name in _behind(sources, roots) if name not in taken])
        taken.update(rows[-1])
    for root in (_PACKAGES[0], *_MANAGERS):
        behind = [name for name in _behind(sources, [root]) if name not in taken]
        # Types without packages import the rest, too.
        rows.append([name for name in behind if name.startswith(_PACKAGES)])
        taken.update(rows[-1])
    along: dict[str, None] = {}
    for name in sources:
        directory, _, last = name.rpartition(".")
        if last != "resource" or not directory.startswith(_TYPES):
            continue
        behind = _behind(sources, [directory, name, f"{directory}.provider"])
        rows.append(_within(directory, behind, taken))
        taken.update(rows[-1])
        along.update(dict.fromkeys(behind))
    rows += [[name] for name in along if not any(name in row for row in rows)]
    return [row for row in rows if row]


def _within(directory: str, names: list[str], taken: Set[str]) -> list[str]:
    """The modules that a type excludes, because other modules may be imported without the type."""
    return [name for name in names if f"{name}.".startswith(f"{directory}.") and name not in taken]


def _behind(sources: Mapping[str, Sequence[str]], roots: Sequence[str]) -> list[str]:
    """The roots and their imports."""
    found: dict[str, None] = {}
    seen: set[str] = set()

    def visit(name: str) -> None:
        """Add the modules that a module imports, then the module."""
        if name in seen or name not in sources:
            return
        seen.add(name)
        visit(name.rpartition(".")[0])
        for other in sources[name]:
            visit(other)
        found[name] = None

    for root in roots:
        visit(root)
    return list(found)


def _name(path: str) -> str:
    return path[: -len(".py")].removesuffix("/__init__").replace("/", ".")


def _imported(source: bytes) -> Iterator[str]:
    """The modules that a module may import during its own import, in order."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
