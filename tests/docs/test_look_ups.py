"""The manifest of the how-to on lookups has the results that the page shows."""

import re
from pathlib import Path
from typing import Any

from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions
from tests.docs.pages import DOCS
from tests.orchestrator.planning.site.test_lookups import made

PAGE = (DOCS / "howto" / "look-ups.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANSWERS: dict[str, dict[str, Any]] = {
    "java -version": {"exit_code": 0, "stdout": "", "stderr": 'openjdk version "17.0.9" 2023\n'},
    "/etc/app.conf": {"exists": True, "content": "name = app\nport = 8080\n"},
    "/srv/data": {"exists": True, "owner": "app"},
    "ls /srv": {"exit_code": 0, "stdout": "data\nlogs\n", "stderr": ""},
    "nginx": {"installed": False, "version": ""},
}


def test_the_manifest_comes_out(tmp_path: Path) -> None:
    """With the answers that the page describes, in one round."""
    for name, text in BLOCK.findall(PAGE):
        (tmp_path / name).write_text(text)
    planner = Planner(load_site(tmp_path / "site.yaml"), PlanOptions(environ={}))
    plan, rounds = made(planner, lambda question: ANSWERS[question["of"]])
    assert len(rounds) == 1
    shown = re.search(r"shows:\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    lines = []
    for item in plan.items:
        assert not item.deferred_error, item.deferred_error
        if not item.managed:
            lines.append(f"{item.name} is left out")
            continue
        blob = item.properties["content"]["$blob"]
        text = b"".join(plan.blob(blob).chunks()).decode()
        lines.append(f"{item.name:<21} {' '.join(text.split())}")
    assert "\n".join(lines) + "\n" == shown[1]
