"""The steps of "Design a manifest in a browser" give the text that the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks
from tests.orchestrator.studio.design.designer import designer, project

PAGE = DOCS / "howto" / "design.md"
_ROW = re.compile(r"^\| +(?:`([^`]+)`)? +\| +`([^`]+)` +\| +`(.+)` +\|$", re.MULTILINE)


def test_the_table_becomes_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value is entered into its form; the manifest is valid and saved."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "ccm").mkdir(0o700)
    root = project(tmp_path)
    site, browser = designer(tmp_path / "ccm", root)
    browser.edit("site.yaml")
    number = -1
    for resource, key, value in _ROW.findall(PAGE.read_text(encoding="utf-8")):
        if resource:
            type_, _, name = resource.partition("#")
            browser.send("site.yaml", f"add:{type_}", name=name)
            number += 1
        browser.set("site.yaml", number, **{key: value})
    assert browser.errors() == []
    browser.send("site.yaml", "save")
    site.close()
    (wanted,) = blocks(PAGE, "yaml")
    assert (root / "site.yaml").read_text(encoding="utf-8") == wanted.text
