"""A tiny runtime that answers, and hosts as the transport sees them."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.fleet.host.phases import Phase
from orchestrator.image import Image
from orchestrator.image.bootstrap_source import bootstrap_text, program
from remote_runtime import bootstrap

SESSION = """
import os, sys
def serve(nonce, sha):
    if os.environ.get("CCM_TEST_DIE"):
        raise RuntimeError("boom")
    os.write(1, ("ccm1 %s ready \\n" % nonce).encode())
    about = "%s|%s|%s|%s|%d" % (
        sys.executable, ".".join(map(str, sys.version_info[:2])), sha, __name__, os.getuid())
    os.write(1, about.encode() + b"\\n")
    os.write(2, b"noise of the runtime\\n")
    while True:
        data = os.read(0, 65536)
        if not data:
            return 0
        os.write(1, data)
"""


def archive(session: str = SESSION) -> bytes:
    """The zip of a runtime that tells about itself and then echoes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as members:
        members.writestr(zipfile.ZipInfo("remote_runtime/__init__.py"), "")
        members.writestr(zipfile.ZipInfo("remote_runtime/session.py"), session)
    return target.getvalue()


def image(home: Path, session: str = SESSION, tag: str | None = None) -> Image:
    """An image of that runtime whose cache is below ``home`` instead of the user's directory."""
    data = archive(session)
    code = bootstrap.compiled(data)
    redirect = (
        f"import pwd\npwd.getpwuid = lambda uid: type('P', (), {{'pw_dir': {str(home)!r}}})\n"
    )
    return Image(
        hashlib.sha256(data).hexdigest(),
        bootstrap.sum_of(code).hex(),
        tag=bootstrap.interpreter_tag() if tag is None else tag,
        program=program(redirect + bootstrap_text()),
        payload={"zip": data, "code": zlib.compress(code)}.__getitem__,
    )


@dataclass
class Host:
    """A host of an inventory."""

    name: str = "web1"
    address: str = "127.0.0.1"
    port: int | None = None
    user: str | None = None
    key_file: str | None = None
    known_hosts: str | None = None
    become: bool | str | None = None
    python: str | None = None
    connection: Literal["ssh", "local"] = "ssh"
    connect_timeout: float | None = None
    jump: str | None = None


def local(**changes: Any) -> Host:
    """The controller itself as a host."""
    return Host(connection="local", **changes)


class Phases(list[Phase]):
    """Remembers what ``on_phase`` was told."""

    def __call__(self, phase: Phase) -> None:
        self.append(phase)
