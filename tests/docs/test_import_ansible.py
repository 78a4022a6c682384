"""The how-to on the import: its project is converted to what the page shows."""

import re
from pathlib import Path

from orchestrator.ansible.importer import import_project
from orchestrator.cli.app import main
from tests.docs.pages import DOCS

PAGE = (DOCS / "howto" / "import-ansible.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```text (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_project_comes_out(tmp_path: Path) -> None:
    """The manifest of the role is that of the page, and the site is valid."""
    shown = {}
    for name, text in BLOCK.findall(PAGE):
        if name.startswith("site/"):
            shown[name] = text
            continue
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = import_project(str(tmp_path / "project"), str(tmp_path / "site"))
    assert {name: (tmp_path / name).read_text() for name in shown} == shown
    assert [one.outcome for one in result.records].count("not converted") == 1
    hosts = str(tmp_path / "site" / "hosts.yaml")
    assert main(["validate", "-i", hosts, str(tmp_path / "site" / "site.yaml")]) == 0
