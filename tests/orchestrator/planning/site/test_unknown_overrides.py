"""Keys of overrides that change nothing, and values that need themselves: found without a host."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import FakeHost, planner, refused
from tests.texts import expect_text

RESOURCES = """
ccm:
  resources:
    - exec:
        - "echo {{ Data.port }}": {}
"""
HEAD = """\
data: {port: 80, app: {x: 1}}
hierarchy: {order: ["role:{{ Facts.role }}"]}
overrides:
  "role:web": {KEY: 8}
"""


def warnings(
    directory: Path, head: str, resources: str = RESOURCES, **options: object
) -> list[str]:
    return list(map(str, planner(directory, head + resources, **options).data_warnings()))


def test_a_misspelt_key_of_an_override(tmp_path: Path) -> None:
    """It is reported with its place and the nearest key of the data."""
    (found,) = warnings(tmp_path, HEAD.replace("KEY", "prot"))
    assert found.startswith(f"{tmp_path}/site.yaml:4:16: the key 'prot' of an override has no")
    expect_text(found)
    (other,) = warnings(tmp_path, HEAD.replace("KEY", "zzz"))
    expect_text(other)


@pytest.mark.parametrize(
    ("key", "resource"),
    [
        ("app", "{'true': {}}"),
        ("more", "{'echo {{ Data.more }}': {}}"),
        ("more", "{\"echo {{ lookup('data.more', 1) }}\": {}}"),
        ("more", "{'echo {{ Data }}': {}}"),
        ("more", '{"echo {{ Data | to_json }}": {}}'),
        ("more", "{\"echo {{ template('t.j2') }}\": {}}"),
        ("more", "{'{{ item }}': {foreach: Data.more}}"),
    ],
)
def test_keys_that_something_knows(tmp_path: Path, key: str, resource: str) -> None:
    """Data has it, a template names it, or one reads all of the data."""
    (tmp_path / "t.j2").write_text("{% if Data.more %}x{% endif %}")
    resources = f"ccm: {{resources: [{{exec: [{resource}]}}]}}"
    assert warnings(tmp_path, HEAD.replace("KEY", key), resources) == []


def test_keys_for_children(tmp_path: Path) -> None:
    """What an apply inherits, and what a child reads of its own data."""
    (tmp_path / "child.yaml").write_text("data: {own: 1}" + RESOURCES.replace("port", "own"))
    resources = "ccm: {resources: [{apply: [{child.yaml: {inherit_data: [more]}}]}]}"
    assert warnings(tmp_path, HEAD.replace("KEY", "more"), resources) == []


CIRCLE = 'data: {a: "{{ Data.b }}", b: "{{ Data.a }}", c: "{{ Facts.x }}"}\n'


def test_a_circle_is_found_without_a_host(tmp_path: Path) -> None:
    """Where nothing can replace a part of it, it refuses the run, with its path and place."""
    told = refused(tmp_path, CIRCLE + RESOURCES)
    assert "site.yaml:1:" in told
    expect_text(told)
    assert told.count("refers to itself") == 1


@pytest.mark.parametrize(
    ("head", "options", "kinds"),
    [
        (CIRCLE, {"data": ["b=1"]}, []),
        (CIRCLE, {"hiera": ["over.yaml"]}, []),
        (CIRCLE + "overrides: {default: {b: 1}}\n", {}, []),
        ('data: {a: "{{ Data.b if Facts.x else 1 }}", b: "{{ Data.a }}"}\n', {}, []),
        (
            'data: {a: "{{ Data.b if Host.name else 1 }}", b: "{{ Data.a }}"}\n',
            {},
            ["data.circle"],
        ),
    ],
)
def test_a_circle_that_a_host_may_not_have(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    head: str,
    options: dict[str, list[str]],
    kinds: list[str],
) -> None:
    """It is left to the plans of hosts, of which each is told its own."""
    (tmp_path / "over.yaml").write_text("data: {b: 1}")
    monkeypatch.chdir(tmp_path)
    resources = RESOURCES.replace("Data.port", "Data.a")
    found = planner(tmp_path, head + resources, **options).examine(FakeHost())
    assert [problem.kind for problem in found.problems] == kinds
