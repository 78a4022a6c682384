"""The architecture rules, held against the code's own imports."""

import ast
import sys
from pathlib import Path

import pytest

from tests.architecture.source import LAYERS, ROOT, imports, modules, nodes, shown


def offenders(paths: list[Path], bad: set[str]) -> list[str]:
    return [
        f"{shown(path)}:{line} imports {name}"
        for path in paths
        for line, name, _ in imports(path)
        if name.split(".")[0] in bad
    ]


@pytest.mark.parametrize("layer", range(len(LAYERS)))
def test_layers_import_downwards_only(layer: int) -> None:
    """orchestrator imports inventory, schemas and remote_runtime, and nothing imports back."""
    assert offenders(modules(LAYERS[layer]), set(LAYERS[layer + 1 :]) | {"tests"}) == []


def test_the_runtime_uses_the_standard_library_only() -> None:
    """What is shipped to a target imports the standard library and itself."""
    allowed = set(sys.stdlib_module_names) | {"remote_runtime"}
    foreign = [
        f"{shown(path)}:{line} imports {name}"
        for path in modules("remote_runtime")
        for line, name, _ in imports(path)
        if name.split(".")[0] not in allowed
    ]
    assert foreign == []


def test_the_runtime_parses_as_python_3_6() -> None:
    """No module of the runtime uses syntax that Python 3.6 does not know."""
    newer = []
    for path in modules("remote_runtime"):
        try:
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 6))
        except SyntaxError as error:
            newer.append(f"{shown(path)}:{error.lineno} {error.msg}")
    assert newer == []


def test_only_the_ssh_modules_import_the_ssh_libraries() -> None:
    """fabric, paramiko and invoke are imported by orchestrator/transport/ssh*.py."""
    elsewhere = [
        path
        for path in modules("orchestrator", "inventory", "schemas")
        if not ("transport" in path.parts and path.name.startswith("ssh"))
    ]
    assert offenders(elsewhere, {"fabric", "paramiko", "invoke"}) == []


def test_only_the_stream_of_registrations_imports_nats() -> None:
    """nats is imported by orchestrator/registration/nats_stream.py alone."""
    elsewhere = [p for p in modules(*LAYERS) if p.name != "nats_stream.py"]
    assert offenders(elsewhere, {"nats"}) == []


def test_only_one_module_imports_dask() -> None:
    """dask and distributed are imported by orchestrator/cluster/dask_api.py alone."""
    elsewhere = [p for p in modules(*LAYERS) if p.name != "dask_api.py"]
    assert offenders(elsewhere, {"dask", "distributed"}) == []


def test_only_the_web_part_of_the_studio_serves() -> None:
    """starlette and uvicorn are imported below orchestrator/studio/web, argon2 by its users.py."""
    others = list(modules(*LAYERS))
    outside = [p for p in others if p.parts[-3:-1] != ("studio", "web")]
    assert offenders(outside, {"starlette", "uvicorn", "h11"}) == []
    assert offenders([p for p in others if p.name != "users.py"], {"argon2"}) == []


def test_only_the_index_of_the_studio_imports_sqlite() -> None:
    """On the controller, sqlite3 is imported below orchestrator/studio/index alone."""
    elsewhere = [
        p
        for p in modules("orchestrator", "inventory", "schemas")
        if p.parts[-3:-1] != ("studio", "index")
    ]
    assert offenders(elsewhere, {"sqlite3"}) == []


def test_only_the_live_report_imports_rich() -> None:
    """rich is imported by orchestrator/report/terminal/live_view.py alone."""
    elsewhere = [p for p in modules(*LAYERS) if p.parts[-2:] != ("terminal", "live_view.py")]
    assert offenders(elsewhere, {"rich"}) == []


def test_only_the_adapters_reach_the_system() -> None:
    """In the runtime, only ``system/`` (and the facts, which start nothing) may start a process."""
    inside = [p for p in modules("remote_runtime") if "system" not in p.relative_to(ROOT).parts]
    assert offenders(inside, {"subprocess", "pty"}) == []


def test_the_adapters_do_not_import_resources() -> None:
    """What ``system/`` finds means something only to who asked: it imports no ``Missing``."""
    below = ("cancellation", "errors", "stdlib_light.", "system.")
    beyond = [
        f"{shown(path)}:{line} imports {name}"
        for path in modules("remote_runtime/system")
        for line, stem, taken in imports(path)
        for name in ([f"{stem}.{word}" for word in taken] or [stem])
        if stem.startswith("remote_runtime")
        and not name.startswith(tuple(f"remote_runtime.{part}" for part in below))
    ]
    assert beyond == []


# These end processes that are no command: copies of one, and one that stands for a controller.
PROGRAMS = ("orchestrator/workers/forked_worker.py", "orchestrator/cluster/remote_worker.py")


def test_only_the_cli_and_the_reports_print_and_only_the_cli_exits() -> None:
    """Rooms below the command line neither print nor end the process."""
    found = []
    for path in modules("orchestrator", "inventory", "schemas"):
        room = path.relative_to(ROOT).parts[1] if path.parts[-2] != "schemas" else "schemas"
        for node in nodes(path):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "print" and room not in {"cli", "report"}:
                found.append(f"{shown(path)}:{node.lineno} prints")
            exits = called in {"sys.exit", "exit", "os._exit"}
            if exits and room != "cli" and shown(path) not in PROGRAMS:
                found.append(f"{shown(path)}:{node.lineno} exits")
    assert found == []


def test_the_controller_has_no_code_per_resource_type() -> None:
    """No room of the controller imports one particular resource type."""
    named = [
        f"{shown(path)}:{line} imports {name}"
        for path in modules("orchestrator", "inventory", "schemas")
        for line, stem, taken in imports(path)
        for name in [stem, *(f"{stem}.{word}" for word in taken)]
        if name.startswith("remote_runtime.resources.")
    ]
    assert named == []
