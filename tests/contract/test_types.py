"""The contract of a resource type, held for every type in each of its scenarios."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orchestrator.manifest.resource_types import (
    Type,
    Types,
    common_schema,
    type_names,
    types_beside,
)
from orchestrator.verify.checks import expectations_of
from orchestrator.verify.expectation import Expectation, Mismatch, judge
from orchestrator.verify.host_check import observe
from orchestrator.verify.shell import Answer
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import answers
from remote_runtime.plan_item import Item
from remote_runtime.reporting.masking import MASKED, Mask
from tests.contract.scenario import PASSWORD, SECRET, Maker, Scenario, makers_of, module_of
from tests.contract.watching import watched
from tests.contract.world import World
from tests.orchestrator.verify.fakes import DEBIAN, mismatches
from tests.remote_runtime import fakes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SITES = {
    name: directory.parent
    for directory in sorted(EXAMPLES.glob("*/types"))
    for name in types_beside(directory.parent).names()
    if name not in type_names()
}
TYPES = sorted([*type_names(), *SITES])
SHOWN = {"ensure", "owner", "group", "mode"}
"""Properties of a sensitive resource that are no secret."""


def every_scenario() -> Iterator[Any]:
    """A parameter for each scenario; one that fails for a type that has none."""
    for name in TYPES:
        try:
            makers: Any = makers_of(name)
        except AssertionError:
            makers = [None]
        for maker in makers:
            title = maker.__name__ if maker else "no scenarios"
            yield pytest.param(name, maker, id=f"{name}-{title}")


class Case(NamedTuple):
    """A scenario in its world, with what the controller knows of the type."""

    type: Type
    types: Types
    world: World
    scenario: Scenario

    def item(self, **fields: Any) -> Item:
        """The item of a plan, as the controller makes it."""
        usual = {
            "properties": copy.deepcopy(dict(self.scenario.properties)),
            "provider": self.scenario.provider,
            "secrets": self.type.secrets,
        }
        return fakes.item(
            self.type.name, self.scenario.name, **{**usual, **self.scenario.fields, **fields}
        )

    def run(self, fields: Any = None, **options: Any) -> list[dict[str, Any]]:
        """The events of a run that has to go well."""
        events = self.world.run(
            self.item(**(fields or {})),
            self.scenario.ready,
            meanwhile=self.scenario.meanwhile,
            **options,
        )
        assert [event["error"] for event in events if event["failed"]] == []
        return events

    def push(self) -> dict[str, Any]:
        """The event of the resource itself."""
        return self.run()[-1]

    def mends(self) -> bool:
        """Whether a push tells that it has changed the resource; one that waits tells nothing."""
        return bool(self.push()["changed"]) != getattr(module_of(self.type.name), "PASSIVE", False)

    def expectations(self) -> list[Expectation]:
        """What a verify expects of the resource."""
        made = expectations_of(self.type.name, self.types)
        subject = Subject(self.scenario.name, copy.deepcopy(dict(self.scenario.properties)))
        return made(subject) if made else []

    def verify(self) -> list[Mismatch]:
        """What a verify says against the world; its guards are run as the runtime runs them."""
        made = self.expectations()
        commanded = [one for one in made if one.commands]
        found = mismatches([one for one in made if not one.commands], self.world.read_all)
        if commanded:
            event = self.world.run(
                self.item(), self.scenario.ready, status_only=True, monitor_only=True
            )[-1]
            found += judge(commanded, answers(made, event, Mask()), Mask(), False)
        return found


@pytest.fixture
def case(type_name: str, maker: Maker | None, tmp_path: Path) -> Iterator[Case]:
    types = types_beside(SITES.get(type_name, tmp_path))
    type_ = types.get(type_name)
    assert type_ is not None
    maker = maker or makers_of(type_name)[0]
    world = World(tmp_path)
    with world.later:
        yield Case(type_, types, world, maker(world))


scenarios = pytest.mark.parametrize(("type_name", "maker"), list(every_scenario()))


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_scenarios(name: str) -> None:
    """Each type says how its resources can be tried."""
    assert makers_of(name)


@scenarios
def test_a_second_run_is_stable(case: Case) -> None:
    """The first push changes the resource, the second finds it as desired."""
    assert case.mends()
    before = case.world.snapshot()
    for event in case.run():
        assert (event["status"], event["changes"]) == ("stable", [])
    assert case.world.snapshot() == before


@scenarios
def test_a_preview_is_inert_and_complete(case: Case) -> None:
    """Noop changes nothing of the host, and tells every change that the push then makes."""
    before = case.world.snapshot()
    with watched() as changed:
        previews = case.run(noop=True)
    assert changed == []
    assert case.world.snapshot() == before
    events = case.run()
    for preview, event in zip(previews, events, strict=True):
        assert preview["noop_message"].startswith("Would have ")
        assert preview["changed"] == event["changed"]
        told = [(change["what"], change["from"], change["to"]) for change in preview["changes"]]
        done = [(change["what"], change["from"], change["to"]) for change in event["changes"]]
        assert [change for change in done if change not in told] == []
    assert all(preview["noop"] for preview in previews)


@scenarios
def test_a_preview_of_what_is_as_desired_is_stable(case: Case) -> None:
    """After the push noop has nothing to tell."""
    case.push()
    previews = case.run(noop=True)
    assert previews
    for preview in previews:
        assert (preview["status"], preview.get("noop_message", "")) == ("stable", "")


@scenarios
def test_what_is_found_fits_the_schema(case: Case) -> None:
    """What ``ccm status`` tells under the name of a property is a value that it may have."""
    if getattr(module_of(case.type.name), "STATELESS", False):
        (event,) = case.world.run(case.item(properties={}), case.scenario.ready, status_only=True)
        assert "no state to inspect" in event["error"][0]
        return
    case.push()
    before = case.world.snapshot()
    with watched() as changed:
        given = {key: case.scenario.properties[key] for key in case.scenario.found_by}
        event = case.run({"properties": given}, status_only=True)[-1]
    assert changed == []
    assert case.world.snapshot() == before
    found = {"ensure": event["final_ensure"], **event["properties"]}
    common = set(common_schema()["properties"])
    for key, value in found.items():
        assert key not in common
        assert not isinstance(value, dict)
        assert all(isinstance(one, str) for one in value) if isinstance(value, list) else True
        if key in case.type.properties and value is not None:
            assert case.type.properties[key].complaints(value) == []


@scenarios
def test_check_is_pure(case: Case) -> None:
    """``check`` leaves its arguments alone, says the same again, and asks nothing of anybody."""
    properties = copy.deepcopy(dict(case.scenario.properties))
    first = case.type.check(case.scenario.name, properties)
    with watched(looks=True) as asked:
        again = case.type.check(case.scenario.name, properties)
    assert (first, again, asked) == ([], [], [])
    assert properties == case.scenario.properties
    case.type.check(case.scenario.name, {})


@scenarios
def test_a_verify_passes_after_the_push_and_sees_each_thing_that_breaks(case: Case) -> None:
    """Each thing that is expected is missed once it is undone, and the next push mends it."""
    case.push()
    assert case.verify() == []
    missed: set[str] = set()
    for way, undo in case.scenario.breaks.items():
        undo()
        what = way.partition(":")[0]
        wrong = {mismatch.what for mismatch in case.verify()}
        assert what in wrong, f"a verify does not see that {way} is not as desired"
        missed |= wrong
        assert case.mends(), f"a push does not see that {way} is not as desired"
        assert case.verify() == []
    if fakes.ROOT:  # others cannot give a file away
        assert missed == {one.what for one in case.expectations()}


@pytest.mark.parametrize("answer", [(1, "Permission denied"), (126, "cannot execute"), (0, "")])
@scenarios
def test_a_verify_that_could_not_look_passes_nothing(case: Case, answer: tuple[int, str]) -> None:
    """Whatever is expected is missed where every question is refused, or answered with nothing."""
    code, said = answer

    def read_all(commands: Sequence[bytes]) -> list[Answer]:
        return [
            case.world.answer(command) if command.decode() in DEBIAN else refused
            for command in commands
        ]

    refused = Answer(code, b"", said.encode())
    expectations = [one for one in case.expectations() if not one.commands]
    (seen,) = observe("web1", [expectations], read_all)
    held = [one.what for one, found in zip(expectations, seen, strict=True) if found.holds]
    assert held == []


@scenarios
@pytest.mark.parametrize("sensitive", [False, True])
def test_secrets_are_veiled(case: Case, sensitive: bool) -> None:
    """No event shows a value of a secret property, nor any of a sensitive resource."""
    hidden = [PASSWORD, SECRET] if sensitive else [PASSWORD]
    fields = {"sensitive": sensitive}
    events = [*case.run(fields, noop=True), *case.run(fields), *case.run(fields)]
    own = [event for event in events if event["type"] == case.type.name]
    assert [text for text in hidden if text in json.dumps(own)] == []
    for event in own:
        shown = event["properties"].items() if sensitive else ()
        assert {value for key, value in shown if key not in SHOWN} <= {MASKED}


@pytest.mark.parametrize("name", TYPES)
def test_the_scenarios_try_what_there_is(name: str, tmp_path: Path) -> None:
    """Each property that the schema marks as secret is in one of them, and a verify sees one."""
    type_ = types_beside(SITES.get(name, tmp_path)).get(name)
    assert type_ is not None
    tried: set[str] = set()
    seen = False
    for at, maker in enumerate(makers_of(name)):
        (tmp_path / str(at)).mkdir()
        world = World(tmp_path / str(at))
        with world.later:
            scenario = maker(world)
        tried |= {key for key, value in scenario.properties.items() if PASSWORD in str(value)}
        seen = seen or bool(scenario.breaks)
    assert set(type_.secrets) == tried
    assert seen != getattr(module_of(name), "UNSEEN", False)
