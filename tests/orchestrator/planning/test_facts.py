"""Facts of a host and what lies over them."""

import json
from pathlib import Path

import pytest

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.facts import FactOverlay, parse_custom
from orchestrator.planning.plan_options import load_environ

from .planned import FakeHost


def test_layers_win_in_their_order(tmp_path: Path) -> None:
    """Custom facts, --facts, inventory vars and --fact merge over gathered ones, in that order."""
    (tmp_path / "f.yaml").write_text("{c: file, d: file, e: file, m: {y: 2}, l: [9]}")
    said = HostFacts(
        dict.fromkeys("abcde", "host") | {"m": {"x": 1}, "l": [1]},
        custom=(("/etc/a.json", '{"b": "custom", "c": "custom"}'), ("/etc/b.yaml", "c: later")),
    )
    overlay = FactOverlay([str(tmp_path / "f.yaml")], ["e=given"])
    facts, warnings = overlay(FakeHost(vars={"d": "vars", "e": "vars"}), said)
    assert dict(facts) == {
        "a": "host",
        "b": "custom",
        "c": "file",
        "d": "vars",
        "e": "given",
        "m": {"x": 1, "y": 2},
        "l": [9],
    }
    assert warnings == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/x.yaml", "a: " + "[" * 1_000_000),
        ("/x.yaml", "a: " + "{b: " * 250_000),
        ("/x.yaml", "a: " + "9" * 1_000_000),
        ("/x.yaml", "- " * 500_000),
        ("/x.yaml", "".join(f"%TAG !{n}! x\n" for n in range(60_000)) + "---\na: b"),
        ("/x.yaml", "a: b\r...\r" + "".join(f"%TAG !{n}! x\r" for n in range(60_000))),
        ("/x.json", '{"a": ' + "9" * 1_000_000 + "}"),
        ("/x.json", '{"a": ' + "[" * 30 + "]" * 30 + "}"),
        ("/x.json", '{"a":' * 200_000),
    ],
)
def test_custom_facts_that_would_take_for_ever(path: str, text: str) -> None:
    """A host cannot keep the controller busy with facts that are slow to read."""
    with pytest.raises(ValueError, match=r"nested|nesting|too long|digits|not a map|directives"):
        parse_custom(path, text)


def test_custom_facts_are_plain_text() -> None:
    """What would move a terminal or turn the reading direction is taken out, however escaped."""
    assert parse_custom("/x.json", r'{"a\u001b[2J": ["\u202eb\u009b", 1]}') == {"a": ["b", 1]}
    assert parse_custom("/x.yaml", r'a: "\e[31mred\n"') == {"a": "red\n"}


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("/x.json", "{", "ignoring the custom facts"),
        ("/x.json", "[1]", "not a map"),
        ("/x.json", '{"a": NaN}', "not finite"),
        ("/x.json", '{"a": -1e999}', "not finite"),
        ("/x.yaml", "a: .inf", "not finite"),
        ("/x.json", '{"a": ' + "9" * 4000 + "}", "more than 40 digits"),
        ("/x.yaml", "a: &x 1\nb: *x", "an alias, *x"),
        ("/x.yaml", "a: [", "ignoring the custom facts"),
        ("/x.yaml", "a: 1\na: 2", "duplicate key"),
        ("/x.yaml", "!!python/object:os.system {}", "not supported"),
        ("/x.json", "[" * 100_000, "ignoring the custom facts"),
    ],
)
def test_a_bad_custom_file_is_reported_and_left_out(path: str, text: str, words: str) -> None:
    """What a host ships as its own facts cannot end the host's run or expand without bounds."""
    said = HostFacts({"a": "host"}, custom=((path, text),))
    facts, warnings = FactOverlay()(FakeHost(), said)
    assert dict(facts) == {"a": "host"}
    assert len(warnings) == 1
    assert path in warnings[0]
    assert words in warnings[0]


def test_custom_json_and_yaml_give_the_same(tmp_path: Path) -> None:
    """The ending decides how a file is read."""
    tree = {"role": "db", "ports": [1, 2]}
    assert parse_custom("/x.json", json.dumps(tree)) == tree
    assert parse_custom("/x.yaml", "role: db\nports: [1, 2]") == tree


def test_the_environment_beats_the_dot_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """.env fills in what the process does not have; comments and quotes are understood."""
    path = tmp_path / ".env"
    path.write_text("# note\nexport CCM_A='a b'\nCCM_B=\"b\"\nCCM_C=file\n\nbroken\n")
    monkeypatch.setenv("CCM_C", "process")
    values = load_environ(str(path))
    assert (values["CCM_A"], values["CCM_B"], values["CCM_C"]) == ("a b", "b", "process")
    assert "broken" not in values


def test_a_dot_env_file_of_windows(tmp_path: Path) -> None:
    """A byte order mark and line ends of Windows are no part of names and values."""
    path = tmp_path / ".env"
    path.write_bytes(b'\xef\xbb\xbfCCM_TEST_A=1\r\nexport CCM_TEST_B="two"\r\n')
    values = load_environ(str(path))
    assert (values["CCM_TEST_A"], values["CCM_TEST_B"]) == ("1", "two")
