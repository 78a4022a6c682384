"""The reader that keeps positions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from inventory.yaml_document import (
    Mapping,
    Scalar,
    Sequence,
    ambiguous_values,
    comments_before,
    parse_document,
    read_document,
    to_plain,
)
from remote_runtime.errors import InputError, Problem
from tests.texts import expect_text


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        parse_document(text, "f")
    return caught.value.problems


def mapping(text: str) -> Mapping:
    root = parse_document(text, "f")
    assert isinstance(root, Mapping)
    return root


def test_every_node_knows_its_place() -> None:
    """Keys and values carry the file, the line and the column in which they begin."""
    root = mapping("a: 1\nb:\n  - x\n  - {c: 2}\n")
    items = root.get("b")
    assert isinstance(items, Sequence)
    assert str(root.key("b").position) == "f:2:1"
    assert [str(node.position) for node in items] == ["f:3:5", "f:4:5"]


SAFE_LOADER = "a: 1.10\nb: '1.10'\nc: 017\nd: 0x1f\ne: 1_000\nf: 1:30\ng: .5\nh: 1e3\ni: 0o17\n"


@pytest.mark.parametrize(
    "text",
    [
        "a: 1.10\nb: '1.10'\nd: 0x1f\ng: .5\nz: 1.\ny: 0\nx: -0\n",
        "a: true\nb: False\nc: ~\nd:\ne: null\nf: 'yes'\nh: y\n",
        "a: 10.0.0.1\nb: 1.2.3\nc: -5\nd: +.inf\nf: =x\ng: '<<'\n",
        'a: |\n  x\n  y\nb: >-\n  x\n  y\nc: "\\u00e9"\n',
        "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: {<<: [*x, {a: 9, q: 1}]}\nw: *x\n",
        "a: !!str 1.10\nb: !!int '7'\nc: !!float 1\n",
        '{"a": [1, 2.5, true, null, "x"], "b": {}}',
        "[]",
        "{}",
        "",
    ],
)
def test_values_are_those_of_the_safe_loader(text: str) -> None:
    """Where YAML 1.1 and 1.2 agree, a document means what PyYAML's safe loader makes of it."""
    assert to_plain(parse_document(text, "f")) == yaml.safe_load(text)


@pytest.mark.parametrize(
    "text", [SAFE_LOADER, "a: yes\nb: No\ng: on\ne: 12e03\n", "a: !!int 017\nb: !!bool yes\n"]
)
def test_yaml11_is_that_of_the_safe_loader(text: str) -> None:
    """A file that Ansible wrote means what PyYAML's safe loader makes of it."""
    assert to_plain(parse_document(text, "f", yaml11=True)) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, word) for word in ("yes", "No", "ON", "off", "22:22", "1_000", "0b11", "-0x1f")),
        *((word, word) for word in ("022", "-012", "00", "09", "0_7", "1:30.5", "+0o7", "1.5.2")),
        *((word, word) for word in ("2024-01-02", "2024-01-02 10:00:00", "1.0e", ".", "+")),
        ("0o17", 15),
        ("0x1F", 31),
        ("+7", 7),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("00.5", 0.5),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("TRUE", True),
        ("Null", None),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    """Plain scalars follow the core schema of YAML 1.2; with a leading zero a number is text."""
    found = to_plain(parse_document(f"a: {text}", "f"))["a"]
    assert (type(found), found) == (type(value), value)


def test_what_yaml11_reads_otherwise_is_noted_once_per_place() -> None:
    """Each value that YAML 1.1 takes for something else has a note, keys and quoted text do not."""
    root = parse_document("a: NO\nb: [022, 022]\nyes: 'on'\nd: 1e3\ne: 2024-01-02\n", "f")
    expect_text([f"{note.where}: {note.message} ({note.hint})" for note in ambiguous_values(root)])


def test_json_is_read_as_json() -> None:
    """Tabs, pairs of escapes and escaped slashes of JSON mean what they mean in JSON."""
    text = '{\n\t"a": "\\ud83d\\ude00 \\\\ud83d\\\\ude00 \\/ \\u00e9",\n\t"b":[1,{"c":null}]\n}'
    assert to_plain(parse_document(text, "f")) == json.loads(text)


def test_the_text_as_written_is_kept() -> None:
    """An unquoted 1.10 is a float whose text can still be seen."""
    node = mapping("v: 1.10").get("v")
    assert isinstance(node, Scalar)
    assert (node.kind, node.value, node.text, node.plain) == ("float", 1.1, "1.10", True)


def test_dates_and_keys_stay_text() -> None:
    """Dates and keys are kept as written, because all data becomes JSON."""
    root = parse_document("2020-01-01: 2020-01-02\n8: a\nyes: b\n", "f")
    assert to_plain(root) == {"2020-01-01": "2020-01-02", "8": "a", "yes": "b"}


def test_plain_data_of_an_alias_is_not_shared() -> None:
    """Changing one copy of an aliased value leaves the other alone."""
    plain = to_plain(parse_document("a: &x [1]\nb: *x\n", "f"))
    plain["a"].append(2)
    assert plain["b"] == [1]


def test_comments_above_a_key() -> None:
    """The comment lines directly above a key belong to it, a block text's lines do not."""
    text = "a: |\n  # inside\nb: 1\n# far\n\n# @require\n#   @secret\nc: 2\n"
    root = mapping(text)
    assert comments_before(root.key("b")) == []
    assert comments_before(root.key("c")) == ["@require", "@secret"]
    assert comments_before(root.key("a")) == []


@pytest.mark.parametrize(
    ("text", "place", "said", "hint"),
    [
        ("a: b: c", "f:1:5", "a key is not allowed here", "quote"),
        ("a:\n\t- b", "f:2:1", "cannot start with this character", "tabs"),
        ("a: 'x\n", "f:2:1", "starts on line 1 is not closed", "missing quote"),
        (
            "%TAG !t! x\n" * 101 + "---\na: 1",
            "f:101:1",
            "more than 100 %TAG",
            "shorten the list, or write tags in full",
        ),
        ("a: 1\n---\nb: 2", "f:2:1", "second document", "one document"),
        ("a: \x07", "f:1:4", "U+0007", "escape"),
        ("x: {{ a }}", "f:1:5", "cannot be a key", "must be quoted"),
        ("? [a]\n: 1", "f:1:3", "a list cannot be a key", ""),
        ("a: *n", "f:1:4", "*n is not defined", "quote"),
        ("a: &a [*a]", "f:1:8", "contains itself", ""),
        ("a: !!python/name:os.system x", "f:1:4", "!!python/name:os.system", "remove the tag"),
        ("a: !mine {}", "f:1:4", "!mine", ""),
        ("a: !!int x", "f:1:4", "cannot be read as int", "quote"),
        ("a: " + "9" * 5000, "f:1:4", "cannot be read as int", "quote"),
        ("a: {<<: 1}", "f:1:9", "<< takes a map", "alias"),
        ("a: {<<: {b: 1}, <<: {c: 1}}", "f:1:17", "duplicate key '<<'", "<<: [*a, *b]"),
        ("[" * 200, "f:1:101", "nested deeper", ""),
    ],
)
def test_what_cannot_be_read_is_named(text: str, place: str, said: str, hint: str) -> None:
    """Broken YAML is refused at its place, with what to do."""
    (problem,) = problems_of(text)
    assert str(problem.where) == place
    assert said in problem.message
    assert hint in problem.hint


def test_all_duplicate_keys_are_reported() -> None:
    """Every key that is defined twice is reported, with the line of the first."""
    found = problems_of("a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert [str(p.where) for p in found] == ["f:2:11", "f:3:1"]
    expect_text(found[1].message)
    assert {p.kind for p in found} == {"input.duplicate_key"}


def test_a_bomb_of_aliases_is_refused() -> None:
    """Aliases that would expand to billions of values are refused at once."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{n}: &{n} [{', '.join(['*' + p] * 10)}]" for p, n in zip("abcdefgh", "bcdefghi")]
    (problem,) = problems_of("\n".join(lines))
    expect_text(problem.message)


def test_problems_can_be_collected_beside_the_tree() -> None:
    """A caller's list receives what leaves the tree usable, so that all is reported at once."""
    found: list[Problem] = []
    root = parse_document("a: 1\na: 2\n", "f", found)
    assert to_plain(root) == {"a": 1}
    assert len(found) == 1


@pytest.mark.parametrize(
    ("content", "kind", "place"),
    [(b"a: 1\nb: \xff\n", "input.encoding", "2:4"), (None, "input.unreadable", None)],
)
def test_unreadable_files(
    tmp_path: Path, content: bytes | None, kind: str, place: str | None
) -> None:
    """A missing file and one that is not UTF-8 are input errors, not crashes."""
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_document(path)
    assert caught.value.kind == kind
    where = caught.value.problems[0].where
    assert where is None if place is None else str(where).endswith(place)


def test_text_after_the_value() -> None:
    """A file in another format, such as INI, begins like a list."""
    (problem,) = problems_of("[main]\nlog = 1\n")
    assert str(problem) == "f:2:1: invalid YAML: unexpected text after the end of the value"
