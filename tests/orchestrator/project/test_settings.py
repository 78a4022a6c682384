"""Which source of an option wins."""

from typing import Any

import pytest

import schemas
from orchestrator.cli.app import COMMANDS
from orchestrator.cli.command_lookup import build_parser, load_command
from orchestrator.project.settings import SETTINGS, PositionedValue, ResolvedOption, resolve_options
from remote_runtime.errors import Position, UsageError
from tests.texts import expect_text

WRITTEN = {
    "forks": PositionedValue(7, Position("ccm.yaml", 2, 8)),
    "inventory": PositionedValue(["hosts.yaml"], Position("ccm.yaml", 1, 12)),
}
ENVIRON = {"CCM_FORKS": "8", "CCM_INVENTORY": "other.yaml"}


def one(
    name: str, given: Any, written: dict[str, PositionedValue], environ: dict[str, str]
) -> ResolvedOption:
    return resolve_options({name: given}, written, environ)[name]


def test_each_source_beats_the_next() -> None:
    """A flag wins over the environment, that over the file, that over the default."""
    assert one("forks", 9, WRITTEN, ENVIRON) == (9, "flag", "--forks")
    assert one("forks", None, WRITTEN, ENVIRON) == (8, "environment", "CCM_FORKS")
    assert one("forks", None, WRITTEN, {}) == (7, "file", "ccm.yaml:2:8")
    assert one("forks", None, {}, {}) == (50, "default", "")


def test_a_variable_is_one_entry_of_a_list() -> None:
    """What is repeatable as a flag is given whole by each source; an empty variable is none."""
    assert one("inventory", ["a", "b"], WRITTEN, ENVIRON).value == ["a", "b"]
    assert one("inventory", None, WRITTEN, ENVIRON).value == ["other.yaml"]
    assert one("inventory", None, WRITTEN, {"CCM_INVENTORY": ""}).value == ["hosts.yaml"]
    assert one("inventory", None, {}, {}).value is None


def test_what_a_command_does_without() -> None:
    """Of what a command takes from nowhere else, flags count and nothing around them."""
    given = {"forks": None, "inventory": None}
    found = resolve_options(given, WRITTEN, ENVIRON, without=("inventory",))
    assert (found["forks"].value, found["inventory"].value) == (8, None)
    found = resolve_options({"inventory": ["mine"]}, WRITTEN, ENVIRON, without=("inventory",))
    assert found["inventory"] == (["mine"], "flag", "--inventory")


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_a_variable_that_makes_no_sense(text: str) -> None:
    """A number that is none is refused with the variable's name."""
    with pytest.raises(UsageError) as refused:
        one("forks", None, {}, {"CCM_FORKS": text})
    expect_text(refused.value)


def test_the_file_has_a_key_for_each_setting() -> None:
    """The schema of the file and the list of settings say the same."""
    keys = set(schemas.load("project")["properties"])
    assert keys - {"rollouts", "secrets", "history_token"} == {
        setting.word for setting in SETTINGS if setting.in_file
    }


def test_no_command_has_a_default_of_its_own() -> None:
    """A setting's option is not given until somebody gives it, in every command."""
    names = {setting.name for setting in SETTINGS}
    found = [
        f"{name} {action.dest}"
        for name in COMMANDS
        for action in build_parser(name, load_command(name)).arguments
        if action.dest in names and action.default is not None
    ]
    assert found == []
