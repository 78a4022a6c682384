"""What a run on a target has to load."""

import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from orchestrator.image import building
from remote_runtime import wire
from remote_runtime.resources.package import dpkg
from tests.remote_runtime.controller import events_of

_SERVE = """
import sys
sys.path.insert(0, sys.argv[1])
from remote_runtime.session import serve
serve("0" * 32, "0" * 64)
"""

# Each takes a target from half a millisecond to several; most of them import others of them.
HEAVY = {
    "collections", "contextlib", "enum", "functools", "hashlib", "importlib", "inspect", "json",
    "re", "shutil", "signal", "socket", "subprocess", "tempfile", "threading", "typing",
}  # fmt: skip


def converged(folder: Path) -> list[dict[str, Any]]:
    """Resources of which this machine has everything already."""
    content = b"listen = 127.0.0.1\n"
    path = folder / "app.conf"
    path.write_bytes(content)
    path.chmod(0o644)
    found = path.stat()
    owner = {"owner": str(found.st_uid), "group": str(found.st_gid)}
    blob = {"$blob": hashlib.sha256(content).hexdigest(), "size": len(content)}
    properties = {"ensure": "present", "content": blob, "mode": "0644", **owner}
    found = [
        {"type": "file", "name": str(path), "properties": properties},
        {"type": "exec", "name": "x", "properties": {"command": "true", "creates": str(path)}},
    ]
    if dpkg.is_used():  # what each Debian has
        for name in ("dpkg", "base-files"):
            found.append({"type": "package", "name": name, "properties": {"ensure": "present"}})
    return found


def test_a_converged_run_imports_nothing_heavy(tmp_path: Path) -> None:
    """From its start to its end a run that changes nothing does without the costly modules."""
    runtime = tmp_path / "runtime"
    zipfile.ZipFile(io.BytesIO(building.build().archive)).extractall(runtime)
    resources = converged(tmp_path)
    plan = {"t": "plan", "noop": True, "resources": resources}
    command = [sys.executable, "-I", "-S", "-B", "-X", "importtime", "-c", _SERVE, str(runtime)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(wire.encode(plan))
        process.stdin.flush()
        out = process.stdout.read()
        err = process.stderr.read().decode()
    frames = list(wire.Decoder(wire.MAX_FROM_TARGET).feed(out[out.index(b"\n") + 1 :]))
    events = events_of([f for f in frames if isinstance(f, dict)], plan)
    told = [(e["type"], e["name"], e["status"], e["error"]) for e in events]
    assert told == [(one["type"], one["name"], "stable", []) for one in resources]
    imported = {line.rpartition("|")[2].strip() for line in err.splitlines() if "|" in line}
    assert "remote_runtime.session" in imported
    assert imported & HEAVY == set()
