"""The plan of a resource that stands in no manifest."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemas
from inventory import this_host
from inventory.yaml_document import Mapping, Source, parse_document
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.manifest.adhoc_site import (
    Argument,
    adhoc_site,
    known_type,
    observed_site,
    text_node,
)
from orchestrator.manifest.site import Site
from orchestrator.planning import Planner
from remote_runtime.errors import InputError
from remote_runtime.options import RunOptions
from remote_runtime.plans.plan import parse

TURN = {"met": True, "changed": True, "noop": False}


class Store:
    """A session in which exec#a was ensured on this host."""

    def names(self) -> frozenset[str]:
        return frozenset(["exec#a"])

    def of(self, host: str, references: frozenset[str]) -> dict[str, Any]:
        assert (host, references) == ("localhost", frozenset(["exec#a"]))
        return {"resources": {"exec#a": TURN}, "pending": True}


def made(properties: str, directory: Path) -> Site:
    """The site of exec#x with these properties, in a session."""
    node = parse_document(properties, "request.yaml")
    assert isinstance(node, Mapping)
    name = text_node("x", Argument("argument NAME", "x"))
    return adhoc_site(
        known_type("exec"), name, properties=node, directory=directory, earlier=Store()
    )


def plan_of(site: Site, **options: Any) -> dict[str, Any]:
    """The plan frame for this host, valid by its schema."""
    (host,) = this_host().hosts.values()
    plan = Planner(site).plan(host, HostFacts())
    settings = RunSettings("r", "u", RunOptions(**options))
    frame: dict[str, Any] = json.loads(plan.payload(settings.envelope()))
    Draft202012Validator(schemas.load("plan")).validate(frame)
    return frame


def test_the_plan_knows_earlier_commands(tmp_path: Path) -> None:
    """What require names travels with its latest event, in the form that the target reads."""
    frame = plan_of(made('{command: "true", require: ["exec#a"]}', tmp_path))
    assert frame["earlier"] == {"resources": {"exec#a": TURN}, "pending": True}
    assert parse(frame).earlier == frame["earlier"]
    assert [item["require"] for item in frame["resources"]] == [["exec#a"]]


def test_mistakes_have_the_positions_of_their_nodes(tmp_path: Path) -> None:
    """A node of a document tells file, line and column, a word of a command line its name."""
    with pytest.raises(InputError) as refused:
        made('command: "true"\nrequire: ["exec#b"]\nreturns: no', tmp_path)
    places = [str(problem.where) for problem in refused.value.problems]
    assert places == ["request.yaml:3:10", "request.yaml:2:11"]
    assert str(Argument("argument --mode", "9").position(1, 1)) == "argument --mode"
    assert str(Source("a.yaml", "").position(2, 3)) == "a.yaml:2:3"


def test_looking_asks_for_no_property(tmp_path: Path) -> None:
    """A resource that is only looked at needs its name, which is checked, and nothing else."""
    file = known_type("file")
    frame = plan_of(
        observed_site(file, [text_node("/x")], directory=tmp_path), noop=True, status_only=True
    )
    assert frame["resources"] == [{"type": "file", "name": "/x"}]
    assert parse(frame).options.status_only
    with pytest.raises(InputError, match=r"not allowed \(expected: absolute path"):
        observed_site(file, [text_node("x")], directory=tmp_path)
    with pytest.raises(InputError, match="no provider 'windows'"):
        observed_site(file, [text_node("/x")], directory=tmp_path, provider="windows")


def test_looking_takes_what_says_where(tmp_path: Path) -> None:
    """A package of an environment is looked at there; a wrong property is refused with its name."""
    package, flask = known_type("package"), [text_node("flask")]

    def inspected(**properties: Any) -> Any:
        """The site for these properties."""
        return observed_site(package, flask, directory=tmp_path, properties=properties)

    frame = plan_of(inspected(environment="/srv/venv"), noop=True, status_only=True)
    assert frame["resources"][0]["properties"] == {"environment": "/srv/venv"}
    for given, wrong in (
        ({"enviroment": "/srv/venv"}, r"'enviroment' here \(did you mean environment\?\)"),
        ({"ensure": "latest"}, "no property 'ensure' here"),
        ({"environment": "venv"}, r"'venv' is not allowed \(expected: absolute path"),
        ({"global": 5}, "global must be true or false"),
    ):
        with pytest.raises(InputError, match=wrong):
            inspected(**given)


def test_an_unknown_type_is_told_with_the_nearest() -> None:
    """A type that there is not is refused."""
    with pytest.raises(InputError, match=r"'fil' \(did you mean file\?\)"):
        known_type("fil")
