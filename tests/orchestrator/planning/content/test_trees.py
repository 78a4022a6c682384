"""Directories of templates in the plan of a host."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orchestrator.planning.resolved_manifest import resolved_manifest
from remote_runtime.errors import PlanError
from schemas import load
from tests.orchestrator.planning.planned import (
    FakeHost,
    gathered,
    plan,
    planner,
    refused,
    refused_host,
)
from tests.orchestrator.templates.trees import fill
from tests.texts import expect_text

SITE = "data: {name: web, n: 2}\nccm: {resources: [{scaffold: [{/srv/x: {source: t%s}}]}]}"


def tree(directory: Path, files: dict[str, str | bytes], properties: str = "") -> dict[str, Any]:
    """What stands in a plan in the place of the directory."""
    fill(directory / "t", files)
    (item,) = plan(directory, SITE % properties).items
    assert not item.deferred_error, item.deferred_error
    found: dict[str, Any] = item.properties["source"]
    return found


def texts(directory: Path, files: dict[str, str | bytes], properties: str = "") -> dict[str, str]:
    """The rendered files by path."""
    fill(directory / "t", files)
    made = plan(directory, SITE % properties)
    (item,) = made.items
    return {
        entry["path"]: b"".join(made.blob(entry["$blob"]).chunks()).decode()
        for entry in item.properties["source"]["files"]
    }


def test_the_form_in_the_plan(tmp_path: Path) -> None:
    """Each file stands there by hash and size, with the directories that hold none."""
    fill(tmp_path / "t", {"run": "", "empty/deep/": ""})
    (tmp_path / "t" / "run").chmod(0o755)
    found = tree(tmp_path, {"sub/a": "[[ data.name ]]"})
    schema = {**load("plan"), **load("plan")["$defs"]["tree"]}
    Draft202012Validator(schema).validate(found)
    assert (found["$tree"], found["directories"]) == ("t", ["empty/deep"])
    assert [(f["path"], f["size"], f.get("executable")) for f in found["files"]] == [
        ("run", 0, True),
        ("sub/a", 3, None),
    ]


def test_every_host_gets_its_own(tmp_path: Path) -> None:
    """Templates are rendered for each host; files that are copied are read once for all."""
    fill(tmp_path / "t", {"name": "[[ Host.name ]]", "large": b"\0" * 3_000_000})
    made = planner(tmp_path, SITE % "")
    plans = [made.plan(FakeHost(name=name), gathered()) for name in ("a", "b")]
    files = [one.items[0].properties["source"]["files"] for one in plans]
    assert files[0][0] == files[1][0]
    assert [b"".join(p.blob(f[1]["$blob"]).chunks()) for p, f in zip(plans, files)] == [b"a", b"b"]
    shared = [one.blob(files[0][0]["$blob"]) for one in plans]
    assert shared[0] is shared[1]
    assert plans[0].references() == 2


def test_data_takes_the_place_of_the_manifests(tmp_path: Path) -> None:
    """data is rendered, keys too, and is all that the templates find as data, lookup() included."""
    files: dict[str, str | bytes] = {"a": "[[ json(data) ]] [[ lookup(`data.n`, `none`) ]]"}
    properties = (
        ", data: {\"k-{{ Data.name }}\": \"v-{{ lookup('data.n') }}\", l: ['{{ Data.n }}']}"
    )
    assert texts(tmp_path, files, properties) == {"a": '{"k-web":"v-2","l":[2]} none'}
    assert texts(tmp_path, files, ", data: {}") == {"a": '{"n":2,"name":"web"} 2'}


def test_data_of_its_own_keeps_its_kinds(tmp_path: Path) -> None:
    """Numbers, booleans, lists and maps stay what they are, and facts are there beside them."""
    files: dict[str, str | bytes] = {"a": "[[ json(data) ]] [[ facts.host.info.hostname ]]"}
    data = ", data: {n: 8080, on: true, l: [1, x], m: {k: 1.5}}"
    assert texts(tmp_path, files, data) == {
        "a": '{"l":[1,"x"],"m":{"k":1.5},"n":8080,"on":true} web1'
    }


def test_one_that_is_not_managed_is_not_rendered(tmp_path: Path) -> None:
    """control decides before any template is run."""
    fill(tmp_path / "t", {"a": "[[ data.nope ]]"})
    (item,) = plan(tmp_path, SITE % ", control: {unless: 'true'}").items
    assert (item.managed, item.properties["source"], item.deferred_error) == (False, "t", "")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("\n[[ data.nope ]]", "data.nope: no such path (t/a:2:"),
        ("[[ file(`/etc/x`) ]]", "source cannot read '/etc/x', a file on the target"),
        ("[[ write(`../x`, `y`) ]]", "does not name a file in the directory (t/a:1:4)"),
    ],
)
def test_a_template_that_fails_is_told_at_its_turn(
    template: str, message: str, tmp_path: Path
) -> None:
    """A failure is that of the resource, with the place in the template."""
    fill(tmp_path / "t", {"a": template})
    (item,) = plan(tmp_path, SITE % "").items
    assert message in item.deferred_error


def test_facts_that_are_not_there_refuse_the_host(tmp_path: Path) -> None:
    """A template that touches facts which could not be gathered leaves the host without a plan."""
    fill(tmp_path / "t", {"a": "[[ facts.cpu ]]"})
    error = refused_host(tmp_path, SITE % "", gathered(unavailable={"cpu": "late"}))
    assert isinstance(error, PlanError)
    assert error.kind == "facts.timeout"


def test_secrets_reach_the_mask(tmp_path: Path) -> None:
    """What a template writes of secret data is masked by the run's own list."""
    fill(tmp_path / "t", {"a": "[[ data.pw ]]"})
    site = "data:\n  # @secret\n  pw: hunter22\n" + SITE.split("\n")[1] % ""
    made = plan(tmp_path, site)
    assert made.secrets == ("hunter22",)
    assert "hunter22" not in json.dumps(resolved_manifest(planner(tmp_path, site).site, made))


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        (", engine: erb", "engine"),
        (", left_delimiter: '<<'", "right_delimiter is also required"),
        (", left_delimiter: '<<', right_delimiter: '<<'", "must be different"),
        (", left_delimiter: 'a b', right_delimiter: 'c'", "not contain whitespace"),
        (", left_delimiter: ab, right_delimiter: cd", "a delimiter consists of symbols"),
        (", post: [{'': x}]", "the pattern of 'x' is empty"),
        (", post: [{'*': ' '}]", "the command for '*' is empty"),
        (", post: [{'*': ''}]", "post"),
    ],
)
def test_settings_that_cannot_be(properties: str, message: str, tmp_path: Path) -> None:
    """What cannot be is refused before any host, where it stands."""
    fill(tmp_path / "t", {"a": "a"})
    told = refused(tmp_path, SITE % properties)
    assert message in told
    assert "site.yaml:2:" in told


def test_the_directory_may_be_chosen_by_data(tmp_path: Path) -> None:
    """A directory whose name is computed is found per host, and stays inside the manifest's
    directory.
    """
    fill(tmp_path, {"t-web/a": "[[ data.n ]]"})
    site = SITE.replace("source: t%s", "source: '%s'")
    (item,) = plan(tmp_path, site % "t-{{ Data.name }}").items
    assert item.properties["source"]["$tree"] == "t-web"
    (item,) = plan(tmp_path, site % "../{{ Data.name }}").items
    expect_text(item.deferred_error)


def test_an_absolute_directory_is_one_of_the_controller(tmp_path: Path) -> None:
    """An absolute path that is written out names a directory of this machine."""
    fill(tmp_path / "else" / "t", {"a": "x"})
    (item,) = plan(tmp_path, (SITE % "").replace("source: t", f"source: {tmp_path}/else/t")).items
    assert [file["path"] for file in item.properties["source"]["files"]] == ["a"]
