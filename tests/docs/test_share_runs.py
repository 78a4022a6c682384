"""The commands of the page about sharing runs do what they are shown for."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from orchestrator.studio.sharing.webhook import signature
from tests.docs.pages import DOCS
from tests.push.command import Ccm

PAGE = DOCS / "howto" / "share-runs.md"
_BLOCK = re.compile(r"<!-- executed -->\n```console\n(.*?)```", re.DOTALL)


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    """A project as the page has it, whose paths are below a scratch directory."""
    found = Ccm(tmp_path)
    project = re.search(r"```yaml\n# ccm.yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert project is not None
    (tmp_path / "ccm.yaml").write_text(project[1].replace("/srv", str(tmp_path)), "utf-8")
    (tmp_path / "hosts.yaml").write_text("hosts: {web1: {connection: local}}\n", "utf-8")
    (tmp_path / "site.yaml").write_text("ccm: {resources: [{exec: [{/bin/true: {}}]}]}\n", "utf-8")
    return found


def test_the_receiver_of_a_webhook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function of the page accepts a delivery once, and no changed, forged or old one."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    accept, secret, body = names["accept"], "s" * 32, b"{}"

    def headers(at: float, delivery: str) -> dict[str, str]:
        signed = signature(secret, str(int(at)), delivery, body)
        return {
            "X-Ccm-Timestamp": str(int(at)),
            "X-Ccm-Delivery": delivery,
            "X-Ccm-Signature": signed,
        }

    now = time.time()
    assert not accept(headers(now, "1"), b"{} ", secret)
    assert not accept(headers(now, "1"), body, "t" * 32)
    assert not accept({**headers(now, "1"), "X-Ccm-Timestamp": str(int(now) + 1)}, body, secret)
    assert accept(headers(now, "1"), body, secret)
    assert not accept(headers(now, "1"), body, secret)
    assert not accept(headers(now - 1_000, "2"), body, secret)


def test_the_commands_of_a_shared_directory(ccm: Ccm) -> None:
    """Each command of the page succeeds, and the run is shown from the shared directory."""
    (text,) = _BLOCK.findall(PAGE.read_text("utf-8"))
    said = ""
    for line in text.splitlines():
        words = line.removeprefix("$ ").split()
        if words[0] == "install":
            (ccm.scratch / "ccm").mkdir()
            (ccm.scratch / "ccm").chmod(int(words[3], 8))
            continue
        done = ccm.run(*words[1:])
        assert done.code == 0, line + done.stderr
        said = done.stdout if words[1] == "runs" else said
    (run,) = (ccm.scratch / "ccm" / "runs").iterdir()
    assert run.name in said
