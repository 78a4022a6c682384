"""The types of ``./types`` in the commands that take no manifest."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from orchestrator.cli import app
from schemas import load
from tests.orchestrator.site_types.types import EXAMPLE, copy_cron
from tests.texts import expect_text

SITE = {"ccm": {"resources": [{"cronjob": [{"a": {"schedule": "@daily", "command": "true"}}]}]}}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)


def test_the_editor_schema_has_the_types_of_the_site(capsys: pytest.CaptureFixture[str]) -> None:
    """``ccm schema`` accepts a manifest with them, and refuses a property that they do not have."""
    assert app.main(["schema"]) == 0
    checker = Draft202012Validator(json.loads(capsys.readouterr().out))
    assert checker.is_valid(SITE)
    text = json.dumps(SITE).replace("schedule", "shedule")
    assert not checker.is_valid(json.loads(text))


def test_elsewhere_there_are_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the working directory's own ``types/`` counts."""
    monkeypatch.chdir(tmp_path)
    assert app.main(["schema"]) == 0
    assert not Draft202012Validator(json.loads(capsys.readouterr().out)).is_valid(SITE)
    assert app.main(["docs", "cronjob"]) == 2
    expect_text(capsys.readouterr().err)


def test_built_in_types_do_not_need_those_of_the_directory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong in ``./types`` keeps nobody from a built-in type."""
    home = copy_cron(tmp_path)
    (home / "resource.py").write_text("import yaml\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert app.main(["ensure", "exec", "true", "--noop", "-q"]) == 0
    assert app.main(["docs", "exec"]) == 0
    capsys.readouterr()
    assert app.main(["ensure", "cronjob", "a", "absent"]) == 2
    expect_text(capsys.readouterr().err)


def test_the_page_of_a_type_is_made_from_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """``ccm docs TYPE`` shows the example, the values of ensure and every property."""
    assert app.main(["docs", "cronjob"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# cronjob\n\nA job that cron runs")
    assert "- cronjob:\n    - nightly-backup:\n" in text
    assert "| `absent`  | The job does not exist" in text
    for name in (
        "`name`",
        "`schedule`",
        "`command`",
        "`user`",
        "`crontab`",
        "`require`",
        "`health_checks`",
    ):
        assert re.search(f"^(?:[|]|-) {name}", text, re.MULTILINE), name


def test_types_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    """``ccm docs`` has an entry for each type, built in or not."""
    assert app.main(["docs"]) == 0
    shown = capsys.readouterr().out.splitlines()
    lines = dict(line.split(maxsplit=1) for line in shown if not line.startswith(" "))
    expect_text(lines["cronjob"])
    assert {"file", "exec", "package", "service", "archive"} < lines.keys()


def test_the_schema_of_schemas_accepts_the_built_in_types(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``ccm schema type`` is what every type's schema.json fits."""
    assert app.main(["schema", "type"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described == load("type")
    checker = Draft202012Validator(described)
    files = list((EXAMPLE.parents[1] / "remote_runtime" / "resources").glob("*/schema.json"))
    assert len(files) >= 5
    for path in files:
        assert list(checker.iter_errors(json.loads(path.read_text()))) == [], path


def test_the_schema_of_requests_has_every_type(capsys: pytest.CaptureFixture[str]) -> None:
    """``ccm schema request`` accepts what ``ccm ensure api pipe`` does, the site's types too."""
    assert app.main(["schema", "request"]) == 0
    checker = Draft202012Validator(json.loads(capsys.readouterr().out))
    properties = {"name": "a", "schedule": "@daily", "command": "true"}
    request = {
        "protocol": "io.choria.ccm.v1.resource.ensure.request",
        "type": "cronjob",
        "properties": properties,
    }
    assert list(checker.iter_errors(request)) == []
    for change in (
        {"type": "file"},
        {"protocol": "another"},
        {"properties": {"name": "a"}},
        {"properties": {**properties, "shedule": "x"}},
        {"host": "web1"},
    ):
        assert not checker.is_valid({**request, **change}), change
