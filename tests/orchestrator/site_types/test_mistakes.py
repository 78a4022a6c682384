"""What is wrong with a type is told with its place, before any host is contacted."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.manifest import load_site
from remote_runtime.errors import InputError, Problem
from tests.orchestrator.site_types.types import (
    accepted,
    append,
    change_schema,
    copy_cron,
    refused,
)
from tests.texts import expect_text

NEWER = {
    "if (x := 1): pass": "invalid in Python 3.6",
    "def f(a, /): pass": "invalid in Python 3.6",
    "from __future__ import annotations": "requires Python 3.7",
    "def f(x: list[int]): pass": "list[...] requires Python 3.9",
    "def f() -> int | None: pass": "A | B as a type requires Python 3.10",
    "''.removeprefix('a')": "removeprefix requires Python 3.9",
    "f'{x=}'": "3.",
    "f'{'a'}'": "",
}


def at(problem: Problem) -> tuple[str, int]:
    assert problem.where is not None
    return problem.where.file, problem.where.line


@pytest.mark.parametrize("code", NEWER)
def test_newer_python_is_refused(tmp_path: Path, code: str) -> None:
    """What Python 3.6 does not know is told with file and line, whatever runs here."""
    module = copy_cron(tmp_path) / "resource.py"
    line = append(module, f"{code}\n")
    problem = refused(tmp_path)[0]
    assert NEWER[code] in problem.message
    assert at(problem) == (str(module), line)


@pytest.mark.parametrize(
    "code",
    ["f'{x!r}={x!r}'", "f'x={x!r}'", "f'''{\"a\"}'''", "f'{\"a\"}'", "f'{x:{y}}'", "f'{x==1}'"],
)
def test_f_strings_of_python_3_6_pass(tmp_path: Path, code: str) -> None:
    """What only looks like a newer f-string is left alone."""
    append(copy_cron(tmp_path) / "resource.py", f"x = y = ''\n{code}\n")
    assert accepted(tmp_path).names() == ["cronjob"]


def test_broken_python_is_told_with_its_line(tmp_path: Path) -> None:
    """A syntax error of any Python is one of the type."""
    module = copy_cron(tmp_path) / "resource.py"
    line = append(module, "def broken(:\n")
    problem = refused(tmp_path)[0]
    assert problem.message.startswith("invalid Python: ")
    assert at(problem) == (str(module), line)


IMPORTS = {
    "import yaml": "yaml is not in the standard library",
    "from requests.sessions import Session": "requests.sessions is not in the standard library",
    "import dataclasses": "dataclasses requires Python 3.7",
    "import distutils.version": "distutils was removed in Python 3.12",
    "from ...engine import Engine": "remote_runtime.engine is not available to custom types",
    "from ...context import Context": "remote_runtime.context is not available to custom types",
    "from ...system.files import Files": "remote_runtime.system.files is not available to custom",
    "from remote_runtime import wire": "remote_runtime.wire is not available to custom types",
    "from ..file import rules": "remote_runtime.resources.file is not available to custom types",
    "def f():\n    import orchestrator": "orchestrator is not in the standard library",
}


@pytest.mark.parametrize("code", IMPORTS)
def test_imports_that_hosts_do_not_have_are_refused(tmp_path: Path, code: str) -> None:
    """The standard library, what the runtime offers and the type's own modules are all there is."""
    module = copy_cron(tmp_path) / "resource.py"
    line = append(module, f"{code}\n") + code.count("\n")
    problem = refused(tmp_path)[0]
    assert problem.message.startswith(IMPORTS[code])
    assert at(problem) == (str(module), line)


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import yaml",
        "from ...text import duration\nfrom ...host import ports",
        "from ...host.file_text import FileText\nfrom . import resource",
        "import remote_runtime.base\nimport os.path",
        "from ... import base\nfrom ...base import *",
    ],
)
def test_imports_that_cannot_hurt_pass(tmp_path: Path, code: str) -> None:
    """An import that may fail, or that never happens on a host, is the type's business."""
    append(copy_cron(tmp_path) / "resource.py", f"{code}\n")
    assert accepted(tmp_path).names() == ["cronjob"]


def test_broken_json_is_told_with_its_place(tmp_path: Path) -> None:
    """The schema must be JSON."""
    path = copy_cron(tmp_path) / "schema.json"
    path.write_text('{\n  "type": "object",,\n}\n')
    problem = refused(tmp_path)[0]
    assert problem.message.startswith("invalid JSON: ")
    assert str(problem.where) == f"{path}:2:20"


def test_a_key_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    """The second of two properties by one name would silently win."""
    path = copy_cron(tmp_path) / "schema.json"
    text = path.read_text().replace('"user": {', '"command": {', 1)
    path.write_text(text)
    problem = refused(tmp_path)[0]
    assert "command" in problem.message
    assert at(problem) == (str(path), text[: text.rindex('"command": {')].count("\n") + 1)


def test_a_module_is_utf_8(tmp_path: Path) -> None:
    """Another encoding is told with its line."""
    module = copy_cron(tmp_path) / "resource.py"
    data = module.read_bytes()
    module.write_bytes(data + b"# \xe9\n")
    problem = refused(tmp_path)[0]
    expect_text(problem.message)
    assert at(problem) == (str(module), data.count(b"\n") + 1)


def test_an_unknown_keyword_is_told_with_the_nearest(tmp_path: Path) -> None:
    """A misspelt keyword, ours or JSON Schema's, is not passed over."""
    home = copy_cron(tmp_path)
    schema = home / "schema.json"
    text = schema.read_text().replace("x-ccm-quoted", "x-ccm-qouted").replace("minLen", "minlen")
    schema.write_text(text)
    found = {p.message: p for p in refused(tmp_path)}
    problem = found["unknown keyword 'x-ccm-qouted'"]
    expect_text(problem.hint)
    line = text[: text.index("x-ccm-qouted")].count("\n") + 1
    assert at(problem) == (str(schema), line)
    expect_text(found["unknown keyword 'minlength'"].hint)


SCHEMAS: dict[str, dict[str, Any]] = {
    "required keyword 'x-ccm-title' is missing": {"x-ccm-title": None},
    "additionalProperties: must be false": {"additionalProperties": True},
    "required keyword 'description' is missing": {"properties": {"a": {"type": "string"}}},
    "type: 'strin' is not allowed": {"properties": {"a": {"description": "x", "type": "strin"}}},
    "every resource already has 'require'": {"properties": {"require": {"description": "x"}}},
    "unknown property 'b'": {"properties": {"a": {"description": "x", "x-ccm-alias-of": "b"}}},
    "#/$defs/b is not defined": {"properties": {"a": {"description": "x", "$ref": "#/$defs/b"}}},
    "'(' is not a regular expression": {"properties": {"a": {"description": "x", "pattern": "("}}},
    "is not one of ['now', 'deferred', 'never']": {
        "properties": {"a": {"description": "x", "x-ccm-render": "later"}}
    },
}


@pytest.mark.parametrize("message", SCHEMAS)
def test_a_schema_that_is_none_is_refused(tmp_path: Path, message: str) -> None:
    """What the schema of a type must have, and what it cannot have."""
    home = copy_cron(tmp_path)
    change_schema(home, **SCHEMAS[message])
    problems = refused(tmp_path)
    assert message in problems[0].message
    assert at(problems[0])[0] == str(home / "schema.json")


def use(site: Path) -> list[Problem]:
    """What is wrong with a manifest that uses the type."""
    path = site / "site.yaml"
    path.write_text("ccm:\n  resources:\n    - cronjob:\n        - a: {ensure: absent}\n")
    with pytest.raises(InputError) as caught:
        load_site(path)
    return caught.value.problems


def test_a_module_that_cannot_be_imported_is_told_with_its_line(tmp_path: Path) -> None:
    """An exception while the type is imported is a mistake of the input, not of ccm."""
    module = copy_cron(tmp_path) / "resource.py"
    line = append(module, "undefined_name\n")
    problem = use(tmp_path)[0]
    expect_text(problem.message)
    assert at(problem) == (str(module), line)


def test_an_import_may_not_end_the_command(tmp_path: Path) -> None:
    """A type that calls sys.exit is a broken type."""
    append(copy_cron(tmp_path) / "resource.py", "import sys\nsys.exit(0)\n")
    assert "SystemExit" in use(tmp_path)[0].message


@pytest.mark.parametrize("name", ["ResourceType", "Action", "Provider", "PathEffect"])
def test_what_types_were_written_with_before_is_refused(tmp_path: Path, name: str) -> None:
    """A type that returns actions is told what to derive from, without being imported."""
    module = copy_cron(tmp_path) / "resource.py"
    line = append(module, f"from remote_runtime.base import Diff, {name}\n")
    (problem,) = refused(tmp_path)
    assert problem.message == f"remote_runtime.base has no {name}"
    expect_text(problem.hint)
    assert at(problem) == (str(module), line)


def test_a_provider_is_refused(tmp_path: Path) -> None:
    """It would reach the host past the ports, so a type of a site has none."""
    module = copy_cron(tmp_path) / "__init__.py"
    line = append(module, 'PROVIDERS = ("posix",)\n')
    (problem,) = use(tmp_path)
    expect_text(problem.message)
    assert "remove PROVIDERS" in problem.hint
    assert at(problem) == (str(module), line)


def test_a_resource_is_a_state_type(tmp_path: Path) -> None:
    """Another class could change the host in a preview, so it is refused with its line."""
    module = copy_cron(tmp_path) / "resource.py"
    line = append(module, "class Resource(object):\n    pass\n")
    (problem,) = use(tmp_path)
    expect_text(problem.message)
    expect_text(problem.hint)
    assert at(problem) == (str(module), line)


def test_a_check_that_fails_is_a_problem_of_the_resource(tmp_path: Path) -> None:
    """An exception in check() is told with the resource's place and the code's."""
    module = copy_cron(tmp_path) / "resource.py"
    text = module.read_text().replace("problems = []", 'problems = properties["nothing"]')
    module.write_text(text)
    problem = use(tmp_path)[0]
    line = text[: text.index('properties["nothing"]')].count("\n") + 1
    assert f"check() of the type failed in {module}:{line}:1: KeyError" in problem.message
    assert at(problem)[0].endswith("site.yaml")


def test_a_check_may_not_end_the_command(tmp_path: Path) -> None:
    """One that calls sys.exit has failed."""
    append(
        copy_cron(tmp_path) / "resource.py",
        """
def _leave(name, properties):
    raise SystemExit(0)
Resource.check = _leave
""",
    )
    expect_text(use(tmp_path)[0].message)


def test_all_problems_of_all_types_are_told_at_once(tmp_path: Path) -> None:
    """Two broken types make one report."""
    for name in ("one", "two"):
        append(copy_cron(tmp_path, name) / "resource.py", "import yaml\n")
    assert len(refused(tmp_path)) == 2
