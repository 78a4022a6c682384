"""What the page on rollouts says that commands are told is what they are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.docs.pages import DOCS, blocks
from tests.push.command import Ccm

SITE = """\
ccm:
  resources:
    - exec:
        - "true": {provider: shell}
"""
INVENTORY = """\
defaults: {connection: local, user: deploy}
hosts:
  web1: {address: 192.0.2.10, port: 2222, vars: {role: web}}
groups:
  web: {hosts: [web1]}
"""


def missing(shown: Any, told: Any, path: str = "") -> list[str]:
    """The places of an example that the real input does not have, or has of another type."""
    if isinstance(shown, dict) and isinstance(told, dict):
        lacking = [f"{path}.{name}" for name in shown if name not in told]
        inside = [missing(shown[n], told[n], f"{path}.{n}") for n in shown if n in told]
        return [*lacking, *(one for each in inside for one in each)]
    if isinstance(shown, list) and isinstance(told, list) and shown and told:
        return missing(shown[0], told[0], f"{path}[0]")
    return [] if type(shown) is type(told) else [path]


def test_commands_are_told_what_the_page_shows(tmp_path: Path) -> None:
    """A gate, --before-host and --after-host get the members that their JSON examples have."""
    ccm = Ccm(tmp_path)
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text(INVENTORY, encoding="utf-8")
    gate, before, after = (tmp_path / f"{name}.json" for name in ("gate", "before", "after"))
    options = ("--gate", f"cat > {gate}", "--before-host", f"cat > {before}")
    done = ccm.push(inventory, ccm.site(SITE), *options, "--after-host", f"cat > {after}")
    assert done.code == 0, done.output
    shown = [json.loads(block.text) for block in blocks(DOCS / "howto/rollout.md", "json")]
    told = [json.loads(path.read_text(encoding="utf-8")) for path in (gate, before, after)]
    assert [missing(*pair) for pair in zip(shown, told, strict=True)] == [[], [], []]
    assert told[1].keys() == shown[1].keys()
    assert told[1]["host"].keys() == shown[1]["host"].keys()
