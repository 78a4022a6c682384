"""What a run on a target has to load."""

import grp
import hashlib
import importlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from orchestrator.image import builder
from remote_runtime.packages.dpkg import database as dpkg
from remote_runtime.protocol import wire
from tests.remote_runtime.controller import events_of

_SERVE = """
import sys
sys.path.insert(0, sys.argv[1])
from remote_runtime.session import serve
serve("0" * 32, "0" * 64, {lock!r}, {state!r})
"""

# Each takes a target time, some of them milliseconds; most of them import others of them.
HEAVY = {
    "bisect", "collections", "contextlib", "enum", "functools", "hashlib", "importlib", "inspect",
    "json", "re", "shutil", "signal", "socket", "subprocess", "tempfile", "threading", "typing",
}  # fmt: skip


def converged(directory: Path) -> list[dict[str, Any]]:
    """Resources of which this machine has everything already."""
    content = b"listen = 127.0.0.1\n"
    path = directory / "app.conf"
    path.write_bytes(content)
    path.chmod(0o644)
    status = path.stat()
    owner = {"owner": str(status.st_uid), "group": str(status.st_gid)}
    blob = {"$blob": hashlib.sha256(content).hexdigest(), "size": len(content)}
    properties = {"ensure": "present", "content": blob, "mode": "0644", **owner}
    found: list[dict[str, Any]] = [
        {"type": "file", "name": str(path), "properties": properties},
        {"type": "exec", "name": "x", "properties": {"command": "true", "creates": str(path)}},
    ]
    if dpkg.is_used():
        shown = subprocess.run(["apt-mark", "showmanual"], stdout=subprocess.PIPE, check=True)
        for name in shown.stdout.decode().split()[:2]:  # one marked as automatic would change
            found.append({"type": "package", "name": name, "properties": {"ensure": "present"}})
    return found


def imported(resources: list[dict[str, Any]], status: str, directory: Path, noop: bool) -> set[str]:
    """What a run of these resources imports, each of which comes out with that status."""
    plan = {"t": "plan", "noop": noop, "diff": True, "manifest": "site", "resources": resources}
    frames, found = session(plan, directory)
    events = events_of([f for f in frames if isinstance(f, dict)], plan)
    told = [(e["type"], e["name"], e["status"], e["error"]) for e in events]
    assert told == [(one["type"], one["name"], status, []) for one in resources]
    return found


def session(message: dict[str, Any], directory: Path) -> tuple[list[Any], set[str]]:
    """The frames of a session that receives one message, and what it imports."""
    runtime = directory / "runtime"
    zipfile.ZipFile(io.BytesIO(builder.build().archive)).extractall(runtime)
    program = _SERVE.format(lock=str(directory / "lock"), state=str(directory / "state"))
    command = [sys.executable, "-I", "-S", "-B", "-X", "importtime", "-c", program, str(runtime)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(wire.encode(message))
        process.stdin.flush()
        out = process.stdout.read()
        err = process.stderr.read().decode()
    frames = list(wire.Decoder(wire.MAX_FROM_TARGET).feed(out[out.index(b"\n") + 1 :]))
    found = {line.rpartition("|")[2].strip() for line in err.splitlines() if "|" in line}
    assert "remote_runtime.session" in found
    return frames, found


def test_what_a_push_needs_is_loaded_while_its_plan_is_made(tmp_path: Path) -> None:
    """The modules of a push do not wait for the plan, but those of types do."""
    _, found = session({"t": "bye"}, tmp_path)
    assert {"remote_runtime.system.push_lock", "remote_runtime.host.host_reader"} <= found
    assert "remote_runtime.resources.file.resource" not in found
    assert found & HEAVY == set()


def test_a_converged_run_imports_nothing_heavy(tmp_path: Path) -> None:
    """From its start to its end a run that changes nothing does without the costly modules."""
    assert imported(converged(tmp_path), "stable", tmp_path, noop=True) & HEAVY == set()


def test_a_preview_of_a_group_imports_nothing_heavy(tmp_path: Path) -> None:
    """So does one that reads the overlay, as a preview does for most types."""
    resources = [{"type": "group", "name": grp.getgrgid(0).gr_name, "properties": {}}]
    found = imported(resources, "stable", tmp_path, noop=True)
    assert "remote_runtime.overlay.host_overlay" in found
    assert found & HEAVY == set()


def test_a_run_that_writes_files_imports_nothing_heavy(tmp_path: Path) -> None:
    """So does one that makes files, as the first push to a host does."""
    resources = converged(tmp_path)[:1]
    properties = {**resources[0]["properties"], "content": "listen = ::1\n"}
    names = [str(tmp_path / name) for name in ("new.conf", "other.conf")]
    resources = [{**resources[0], "name": name, "properties": properties} for name in names]
    found = imported(resources, "changed", tmp_path, noop=False)
    assert "remote_runtime.system.temporary_file" in found
    assert found & HEAVY == set()


@pytest.mark.parametrize("kind", ["exec", "file", "package", "service"])
def test_what_a_converged_run_has_of_a_type_imports_nothing_heavy(
    kind: str, tmp_path: Path
) -> None:
    """A type and its providers."""
    directory = f"remote_runtime.resources.{kind}"
    names = [f"{directory}.resource"]
    if hasattr(importlib.import_module(directory), "PROVIDERS"):
        names.append(f"{directory}.provider")
    zipfile.ZipFile(io.BytesIO(builder.build().archive)).extractall(tmp_path)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {', '.join(names)}"
    command = [sys.executable, "-I", "-S", "-B", "-X", "importtime", "-c", program]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    found = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    assert set(names) <= found
    assert found & HEAVY == set()
