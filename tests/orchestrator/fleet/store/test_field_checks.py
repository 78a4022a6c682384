import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.store import field_checks
from orchestrator.fleet.store.stored_runs import saved_run
from remote_runtime.errors import InputError
from tests.orchestrator.fleet.store.test_run_directory import keep

ID = "20260314T091502Z-aaaa"
ODD: tuple[object, ...] = (
    None,
    True,
    "x",
    "\x1b[2J",
    [],
    [1],
    {},
    {"a": 1},
    -1,
    1.5,
    10**60,
    1e18,
    math.inf,
    math.nan,
)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (field_checks.text, ["", "a\nb"]),
        (field_checks.word, ["push"]),
        (field_checks.texts, [[], ["a"]]),
        (field_checks.flag, [True, False]),
        (field_checks.count, [0, 5]),
        (field_checks.seconds, [0, 1.5, 1_700_000_000]),
        (field_checks.mapping, [{}, {"a": 1}]),
    ],
)
def test_values(check: Callable[[Any], object], good: list[object]) -> None:
    """What is as it must be comes back, anything of another kind is refused."""
    assert [check(value) for value in good] == good
    kinds = {type(value) for value in good}
    for value in ODD:
        if type(value) not in kinds:
            with pytest.raises(ValueError, match="expected"):
                check(value)


def test_bounds() -> None:
    """Numbers that nothing can be reckoned with are refused, and what acts on a terminal goes."""
    for value in (10**60, -1):
        with pytest.raises(ValueError, match="a count"):
            field_checks.count(value)
    for moment in (1e18, math.inf, math.nan):
        with pytest.raises(ValueError, match="a time"):
            field_checks.seconds(moment)
    assert field_checks.text("a\x1b[2Jb\ud800") == "ab"
    for text in ("a\x1b", "a\nb"):
        with pytest.raises(ValueError, match="a word"):
            field_checks.word(text)


def _whole() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(HostResult("web1", Tally()).record()))
    return told


@pytest.mark.parametrize("name", [*HostResult._fields, *Tally.__slots__])
def test_a_spoilt_result_is_refused(name: str) -> None:
    """Whichever member of it holds something else than ccm writes there."""
    assert json.loads(json.dumps(HostResult.from_record(_whole()).record())) == _whole()
    for value in (None, {"a": 1}, [7]):
        record = _whole()
        (record["tally"] if name in Tally.__slots__ else record)[name] = value
        with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
            HostResult.from_record(record)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("hosts.jsonl", json.dumps({**_whole(), "host": "not-of-the-run"})),
        ("hosts.jsonl", json.dumps({**_whole(), "outcome": "fine"})),
        ("hosts.jsonl", json.dumps({**_whole(), "seconds": 1e300})),
        ("hosts.jsonl", "[" * 100_000),
        ("phases.jsonl", '{"host": "web1", "phase": "running", "at": 1e300}'),
        ("phases.jsonl", '{"host": {}, "phase": "running", "at": 1}'),
        ("phases.jsonl", '{"plan": 0, "resources": [{}]}'),
        ("phases.jsonl", "[" * 100_000),
        ("notices.jsonl", '{"host": [], "level": "warning", "text": "x"}'),
        ("notices.jsonl", '{"host": "", "level": "warning", "text": 5}'),
    ],
)
def test_a_spoilt_line_is_told_with_its_file(file: str, line: str) -> None:
    """It is no defect of ccm, and no report is made of it."""
    directory = keep(ID)
    with open(directory.path / file, "a", encoding="utf-8") as out:
        out.write(line + "\n")
    with pytest.raises(InputError, match=f"{file} cannot be read"):
        list(saved_run().replay())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_id", "x\x1b[2J"),
        ("hosts", [{}]),
        ("start", 1e300),
        ("end", "late"),
        ("again", 5),
        ("options", []),
        ("identity", {}),
    ],
)
def test_a_spoilt_description_is_told_with_its_file(name: str, value: object) -> None:
    """Whichever member it is."""
    path = keep(ID).path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(InputError, match=r"run\.json cannot be read"):
        saved_run(ID)


def test_an_event_is_passed_on_only_as_a_run_writes_it() -> None:
    """Whoever has put a control character there."""
    path = keep(ID).path / "events.jsonl"
    first = path.read_text().splitlines()[0]
    assert list(saved_run().lines()) == [first]
    path.write_text(first.replace(",", ",\x1b", 1) + "\n")
    with pytest.raises(InputError, match=r"events\.jsonl cannot be read: line 1"):
        list(saved_run().lines())
