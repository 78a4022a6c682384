"""control: exists, absent, command, as the controller reads and renders them."""

from pathlib import Path
from typing import Any

import pytest

from tests.orchestrator.planning.planned import entries, plan, refused, refused_host
from tests.texts import expect_text


def text(control: str, more: str = "", name: str = "x") -> str:
    """A manifest with one resource under this control."""
    resource = f"{{'{name}': {{control: {control}{more}}}}}"
    return f"data: {{d: srv, u: 33}}\nccm: {{resources: [{{exec: [{resource}]}}]}}"


def asked(directory: Path, control: str, more: str = "", name: str = "x") -> list[list[Any]]:
    """What the plan of a host asks, resource by resource."""
    return [one.get("control", []) for one in entries(plan(directory, text(control, more, name)))]


def test_what_is_asked_travels_in_the_plan(tmp_path: Path) -> None:
    """Beside the expressions, which the controller has judged."""
    assert asked(tmp_path, "{if: 'true', exists: /a, absent: /b, command: test -f /c}") == [
        [{"exists": "/a"}, {"absent": "/b"}, {"command": "test -f /c"}]
    ]
    assert asked(tmp_path, "{if: 'false', exists: /a}") == [[]]


def test_templates_are_rendered(tmp_path: Path) -> None:
    """With the names of a foreach too; a number becomes text."""
    found = asked(
        tmp_path,
        "{exists: '/{{ Data.d }}/{{ item }}', command: {command: id, user: '{{ Data.u }}'}}",
        ", foreach: '[1, 2]', alias: a",
        "echo {{ item }}",
    )
    command = {"command": {"command": "id", "user": "33"}}
    assert found == [[{"exists": f"/srv/{n}"}, command] for n in (1, 2)]
    assert asked(tmp_path, "{exists: '/{{ x }}'}", ", render: false") == [[{"exists": "/{{ x }}"}]]


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ("{exists: a/b}", "control.exists must be an absolute path, not 'a/b'"),
        ("{absent: ''}", "control.absent"),
        ("{exists: 5}", "control.exists must be text"),
        ("{command: 'echo \"x'}", "control.command: "),
        ("{command: {command: id, timeout: soon}}", "control.command: timeout: "),
        ("{command: {command: id, cwd: here}}", "'here' is not an absolute path"),
        ("{command: {cwd: /}}", "command"),
        ("{command: {command: id, usr: x}}", "usr"),
        ("{exist: /a}", "did you mean exists?"),
        ("{exists: '/{{ nope }}'}", "nope"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, control: str, message: str) -> None:
    """Before any host is contacted, with its place."""
    found = refused(tmp_path, text(control))
    assert message in found
    assert found.count("site.yaml:2:") == 1


def test_what_comes_out_wrong_refuses_the_host(tmp_path: Path) -> None:
    """Where only rendering shows it."""
    error = refused_host(tmp_path, text("{exists: '{{ Data.d }}'}"))
    expect_text(str(error))
    assert "site.yaml:2:" in str(error)
