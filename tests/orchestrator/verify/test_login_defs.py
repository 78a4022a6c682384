"""Which users have a home directory by default, as a verify judges by /etc/login.defs."""

import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.verify.checks import user


@pytest.mark.parametrize(
    ("line", "least"),
    [
        ("UID_MIN 500", 500),
        ('UID_MIN\t"500"', 500),
        ("UID_MIN 0x1f4", 500),
        ("UID_MIN 0764", 500),
        ("UID_MIN 500 # text", 1000),
        ("UID_MIN 09", 1000),
        ("UID_MIN", 1000),
    ],
)
def test_uid_min(line: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are read as shadow reads them; what is none has the usual value."""
    defs = tmp_path / "login.defs"
    defs.write_text(line + "\n")
    monkeypatch.setattr(user, "_LOGIN_DEFS", str(defs))

    def run(command: str, *words: str) -> Any:
        if command.startswith("getent"):
            return SimpleNamespace(rc=0, stdout="anna:x:7:7::/home/anna:/bin/sh\n", stderr="")
        text = command % tuple(shlex.quote(word) for word in words)
        done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False)
        return SimpleNamespace(rc=done.returncode, stdout=done.stdout, stderr=done.stderr)

    host: Any = SimpleNamespace(run=run)
    for uid, homeless in ((least, False), (least - 1, True)):
        subject: Any = SimpleNamespace(name="anna", get={"uid": uid}.get)
        assert user._homeless(host, subject) is homeless
