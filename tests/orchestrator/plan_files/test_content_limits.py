"""What a plan may hold, and how it is shown."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.plan_files.content_limits import displayable, fault_of
from orchestrator.plan_files.plan_file import PlanFile, canonical
from orchestrator.plan_files.storage import text_of, write_plan
from remote_runtime.errors import InputError
from tests.orchestrator.plan_files.made import keep
from tests.orchestrator.plan_files.test_storage import refusal
from tests.texts import expect_text

CONTROLS = ["\x1b[2J", "\x07", "\0", "\x7f", "\x9b", "\u202e", "\u2028", "\ud800", "\r"]
OUTCOME = ("outcomes", 0)
CHANGE = (*OUTCOME, "changes", 0)


def altered(record: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy of a plan with another value; of a name a member of that name is meant."""
    record = copy.deepcopy(record)
    at: Any = record
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    return record


def fault(record: dict[str, Any]) -> str:
    return fault_of(record, canonical(record).decode())


@pytest.mark.parametrize("text", CONTROLS)
@pytest.mark.parametrize(
    "place",
    [
        ("user",),
        ("ccm",),
        ("manifest",),
        ("hiera",),
        ("data",),
        ("files",),
        ("hosts",),
        (*OUTCOME, "name"),
        (*OUTCOME, "error"),
        (*CHANGE, "diff"),
        (*CHANGE, "to"),
        ("items", 0, "resource"),
        ("left_out", "db1"),
    ],
)
def test_control_characters(tmp_path: Path, text: str, place: tuple[Any, ...]) -> None:
    """Wherever a plan has one, in a value or a name, it is refused with the member that has it."""
    record = keep(tmp_path, left_out={}).record
    assert fault(record) == ""
    value: Any = f"a{text}b"
    if place[-1] in ("hiera", "data", "error"):
        value = ["fine", value]
    elif place[-1] == "to":
        value = {"deep": [{value: 1}]}
    elif place[-1] == "files":
        value = {**record["files"], value: "sha256:" + "0" * 64}
    elif place[-1] == "hosts":
        value = {value: record["hosts"]["web1"]}
    elif place[-1] == "db1":
        value = {"outcome": "failed", "kind": "x", "message": value}
    assert fault(altered(record, place, value)) == f"a control character in {place[0]!r}"


def test_lines(tmp_path: Path) -> None:
    """A diff and an error have lines; the names of people, hosts and files have one."""
    record = keep(tmp_path).record
    for place in ((*CHANGE, "diff"), (*OUTCOME, "noop_message"), ("items", 0, "resource")):
        assert fault(altered(record, place, "one\n\ttwo")) == ""
    for name in ("user", "manifest", "ccm"):
        assert fault(altered(record, (name,), "one\ntwo")) == f"a control character in {name!r}"


@pytest.mark.parametrize(
    "value", [10**40, -(10**40), float("inf"), float("nan"), json.loads("[" * 30 + "]" * 30)]
)
def test_numbers_and_depth(tmp_path: Path, value: Any) -> None:
    """A value is no endless number, and nests as deep as a host may tell it."""
    record = altered(keep(tmp_path).record, (*CHANGE, "to"), value)
    assert fault(record).endswith("in 'outcomes'")
    assert fault(altered(record, (*CHANGE, "to"), 0.25)) == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"expires": 10**30},
        {"created": 10**30},
        {"expires": 1e30},
        {"user": "a\x1bb"},
        {"hiera": ["a\0b"]},
        {"files": {"a\0b": "sha256:" + "0" * 64}},
        {"rollout": {"waves": [["web1"]], "stages": [], "limits": {}}},
        {"rollout": {"waves": [["web1"]], "stages": ["a"], "limits": {}}},
        {"rollout": {"waves": [], "stages": [], "limits": {"a": 10**30}}},
    ],
)
def test_a_crafted_plan_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    """A plan that no ccm writes is an error of the input, with its digest and id made anew."""
    path = tmp_path / "change.plan"
    path.write_bytes(text_of({**keep(tmp_path).record, **changes}))
    expect_text(refusal(path))


@pytest.mark.parametrize("key", ["port", "items", "outcomes"])
def test_numbers_of_a_host(tmp_path: Path, key: str) -> None:
    """Its port and its places are whole numbers of a sane size."""
    path = tmp_path / "change.plan"
    record = keep(tmp_path).record
    for wrong in (10**30, 0.5, 1.0):
        value = wrong if key == "port" else [wrong, 0, 1]
        path.write_bytes(text_of(altered(record, ("hosts", "web1", key), value)))
        expect_text(refusal(path))


def test_none_is_written(tmp_path: Path) -> None:
    """A manifest whose name has an escape sequence makes no plan that is refused later."""
    kept = keep(tmp_path, manifest="a\x1b[2Jb.yaml")
    with pytest.raises(InputError) as refused:
        write_plan(kept, str(tmp_path / "x.plan"))
    expect_text(refused.value)
    assert not (tmp_path / "x.plan").exists()


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    """A file beside the manifest may have one."""
    record = keep(tmp_path).record
    files = {**record["files"], "caf\udce9.j2": "sha256:" + "0" * 64}
    assert fault({**record, "files": files}) == ""


def test_what_is_shown_is_what_is_there(tmp_path: Path) -> None:
    """Characters without width are shown as escapes; control characters are taken out."""
    record = altered(keep(tmp_path).record, (*OUTCOME, "name"), "/etc/mo\u200btd\x1b[2J\xad")
    record = altered(record, ("user",), "ali\u2060ce\U000e0041 é")
    record["hosts"] = {"web\u200d1": record["hosts"]["web1"]}
    kept = PlanFile(record)
    assert kept.shown["user"] == "ali\\u2060ce\\U000e0041 é"
    assert kept.origin.user == kept.shown["user"]
    assert kept.shown["outcomes"][0]["name"] == "/etc/mo\\u200btd\\xad"
    assert [event["host"] for event, _ in kept.events()] == ["web\\u200d1"] * 3
    assert [result.host for result in kept.results()] == ["web\\u200d1"]
    assert kept.about["hosts"] == ["web\\u200d1"]
    assert list(kept.hosts) == ["web\u200d1"]


def test_a_plain_plan_is_shown_as_it_is(tmp_path: Path) -> None:
    """No copy is made of it."""
    record = keep(tmp_path).record
    assert displayable(record) is record
