"""The hand-written checker of events against the schema, and against what a host may not send."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import schemas
from orchestrator.fleet.checks.event_check import EventCheck, shape_problem, stored_event_problem
from remote_runtime.errors import ProtocolError
from tests.orchestrator.fleet.fakes import make_event
from tests.texts import expect_text

VALID: list[dict[str, Any]] = [
    make_event(),
    make_event(status="changed", changes=[{"what": "mode", "from": "0600", "to": "0644"}]),
    make_event(
        status="changed", changes=[{"what": "a", "from": None, "to": {"a": [1]}, "diff": "+x"}]
    ),
    make_event(status="failed", error=["no", "tail\nof stderr"], prediction="certain"),
    make_event(status="changed", exit_code=3, tries=2, output="done\n"),
    make_event(status="skipped", unmet_requirements=["package#nginx"]),
    make_event(alias="motd", noop=True, noop_message="Would have x", prediction="unknown"),
    make_event(prediction="unknown", prediction_reason="the user is not there yet", refreshed=True),
    make_event(
        health_check=[{"name": "up", "status": "WARNING", "tries": 2, "output": "slow"}],
        health_check_only=True,
        always_noop=True,
        effects=[{"kind": "unit", "name": "x.service", "state": "restarted"}],
        operations=[{"kind": "package", "name": "nginx", "state": "1.2"}],
    ),
    make_event(properties={}, provider="", timestamp="2026-03-14T09:15:02Z", duration=0),
]
WRONG: list[Any] = [None, True, 0, -1, 1.5, "", "x", "OK", [], ["x"], [1], {}, {"a": 1}, 10**19]


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield at
    if isinstance(value, (dict, list)):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in entries:
            yield from paths(inner, (*at, key))


def mutated(event: dict[str, Any]) -> Iterator[Any]:
    """The event with one thing wrong, in every place and way that there is."""
    for path in paths(event):
        for wrong in [*WRONG, "DELETE", "ADD"]:
            changed = copy.deepcopy(event)
            holder: Any = changed
            for key in path[:-1]:
                holder = holder[key]
            if wrong == "ADD":
                inner = holder[path[-1]] if path else changed
                if isinstance(inner, dict):
                    inner["more"] = 1
                elif isinstance(inner, list):
                    inner.append(7)
            elif not path:
                yield wrong
                continue
            elif wrong == "DELETE":
                del holder[path[-1]]
            else:
                holder[path[-1]] = wrong
            yield changed


def agrees_in_flags(event: Any) -> bool:
    """The one rule that the schema does not express."""
    if event["status"] == "stable":
        return not (event["failed"] or event["skipped"] or event["changed"])
    return bool(event[event["status"]])


def test_the_checker_agrees_with_the_schema() -> None:
    """For valid events and every mutation of them, the checker and schemas/event.json agree."""
    schema = jsonschema.Draft202012Validator(schemas.load("event"))
    cases = [*VALID, *(bad for event in VALID for bad in mutated(event))]
    cases += [make_event(manifest="x" * length) for length in (10_000, 10_001)]
    verdicts = {True: 0, False: 0}
    for case in cases:
        expected = schema.is_valid(case) and agrees_in_flags(case)
        assert (shape_problem(case) == "") == expected, (shape_problem(case), case)
        verdicts[expected] += 1
    assert verdicts[True] > 100
    assert verdicts[False] > 1000


def test_random_mutations_never_raise_anything_else() -> None:
    """Whatever stands in an event, the check answers or refuses; it does not break."""
    chance, kinds = random.Random(7), set()
    for _ in range(3000):
        event = copy.deepcopy(chance.choice(VALID))
        for _ in range(chance.randint(1, 3)):
            event[chance.choice([*event, "zz"])] = copy.deepcopy(chance.choice(WRONG))
        try:
            EventCheck("h", "r", planned=["file#/etc/motd"]).check(1, event)
        except ProtocolError as error:
            kinds.add(error.kind)
    assert kinds == {"protocol.event"}


@pytest.mark.parametrize("seq", [0, 2, "1", True, 1.0, None])
def test_a_gap_in_the_sequence_is_refused(seq: Any) -> None:
    """Events count from 1 without a gap, in whole numbers."""
    with pytest.raises(ProtocolError):
        EventCheck("h", "r", planned=["file#/etc/motd"]).check(seq, make_event())


def test_where_it_failed_is_said_by_the_controller_alone() -> None:
    """A failed event gets the place of its resource; a host that says one is refused."""
    check = EventCheck(
        "h",
        "r",
        planned=["file#/etc/motd"] * 2,
        place={"file#/etc/motd": "s.yaml:4:11"}.__getitem__,
    )
    failed = check.check(1, make_event(status="failed", error=["no"], event_id=f"{1:026d}"))
    assert failed.event["place"] == json.loads(failed.line)["place"] == "s.yaml:4:11"
    assert stored_event_problem(failed.event) == ""
    assert stored_event_problem({**failed.event, "place": 3}) != ""
    assert "place" not in check.check(2, make_event(event_id=f"{2:026d}")).event
    with pytest.raises(ProtocolError):
        EventCheck("h", "r", planned=["file#/etc/motd"]).check(1, {**make_event(), "place": "x"})


def test_what_was_observed_is_said_where_it_is_asked_for_only() -> None:
    """A host cannot spoil the plan of all hosts by what it leaves out or adds."""
    observed = {**make_event(), "observed": "0" * 32}
    for asked, good, bad in ((True, observed, make_event()), (False, make_event(), observed)):
        EventCheck("h", "r", planned=["file#/etc/motd"], observed=asked).check(1, good)
        with pytest.raises(ProtocolError, match="observed"):
            EventCheck("h", "r", planned=["file#/etc/motd"], observed=asked).check(1, bad)


def test_not_a_number_is_refused() -> None:
    """NaN and infinity, which JSON does not have, never reach a file of ours."""
    event = make_event(properties=json.loads('{"a": [NaN]}'))
    with pytest.raises(ProtocolError):
        EventCheck("h", "r", planned=["file#/etc/motd"]).check(1, event)


def test_a_resource_may_be_told_as_often_as_it_is_planned() -> None:
    """The same resource in two manifests of a run has two events, a third is refused."""
    check = EventCheck("h", "r", planned=["file#/etc/motd", "file#/etc/motd"])
    for seq in (1, 2):
        check.check(seq, make_event(event_id=f"{seq:026d}"))
    with pytest.raises(ProtocolError, match="not expected"):
        check.check(3, make_event(event_id=f"{3:026d}"))


def test_a_name_with_a_masked_secret_is_found_in_the_plan() -> None:
    """The target masks a secret within a name; the event still belongs to the planned resource."""
    check = EventCheck("h", "r", planned=["exec#curl -u hunter22 http://x", "exec#ls"])
    check.check(1, make_event("exec", "curl -u [masked] http://x"))
    with pytest.raises(ProtocolError):
        check.check(2, make_event("exec", "[masked] -u x", event_id="Z" * 26))


@pytest.mark.parametrize("name", ["[masked]b", "[masked]a[masked]!", "ba[masked]aab", "a[masked]b"])
def test_pieces_beside_a_mask_must_all_be_there(name: str) -> None:
    """Only a planned name that begins, goes on and ends like a masked one is meant by it."""
    check = EventCheck("h", "r", planned=["exec#baab c", "exec#aaab "])
    with pytest.raises(ProtocolError, match="not expected"):
        check.check(1, make_event("exec", name))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("kind", "name"), [("exec#echo a", "b"), ("exec", "echo a#b")])
def test_a_type_is_that_of_the_plan(kind: str, name: str) -> None:
    """A host cannot divide a name with a # of its own into another type and name."""
    check = EventCheck("web1", "run-1", planned=["exec#echo a#b"])
    event = make_event(kind, name)
    if kind == "exec":
        assert check.check(1, event).identity == "exec#echo a#b"
    else:
        with pytest.raises(ProtocolError) as refused:
            check.check(1, event)
        expect_text(refused.value)


def test_a_mask_stands_for_no_type() -> None:
    """Types are never secret, so a host that masks one is refused."""
    check = EventCheck("web1", "run-1", planned=["file#/etc/motd"])
    with pytest.raises(ProtocolError) as refused:
        check.check(1, make_event("[masked]", "/etc/motd"))
    expect_text(refused.value)


def test_a_name_made_of_masks_costs_nothing() -> None:
    """A host cannot keep the controller busy with a name that fits the plan in countless ways."""
    check = EventCheck("h", "r", planned=["file#/" + "a" * 200])
    with pytest.raises(ProtocolError, match="not expected"):
        check.check(1, make_event("file", "/" + "[masked]".join(["a"] * 60) + "[masked]!"))


def test_deep_values_are_refused() -> None:
    """Properties that nest deeper than any honest ones are refused, not walked."""
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ProtocolError):
        EventCheck("h", "r", planned=["file#/etc/motd"]).check(
            1, make_event(properties={"a": deep})
        )


def test_texts_everywhere_are_made_plain() -> None:
    """Escape sequences are taken out of keys and values alike, other scripts stay."""
    event = make_event(properties={"k\x1b[1mey": "Grüße \u202edlrow", "n": ["a\x00b"]})
    checked = EventCheck("h", "r", planned=["file#/etc/motd"]).check(1, event)
    assert checked.event["properties"] == {"key": "Grüße dlrow", "n": ["ab"]}
    assert json.loads(checked.line) == checked.event


@pytest.mark.timeout(60)
def test_a_name_of_masks_only_is_soon_refused() -> None:
    """However many masks a host puts into a name, it is held against names that may be it only."""
    planned = [f"file#/etc/{number}-x" for number in range(1000)]
    name = "/etc/" + "[masked]" * 100_000 + "x"
    for _ in range(10):
        with pytest.raises(ProtocolError, match="not expected"):
            EventCheck("web1", "run-1", planned=planned).check(1, make_event(name=name))
