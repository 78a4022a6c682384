"""The quick yes for values that fit says exactly what jsonschema says."""

import json
import random
import subprocess
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemas
from remote_runtime import registry
from schemas.fast_validation import fits

_TEXTS = [
    "", "x", "never", "present", "absent", "/etc/motd", "0644", "file#/x", "file#", "30s", "1h30m",
    "x\n", "\n", "nagios", "false", "running", "é\u0301", "0", "0o9", "sh",
]  # fmt: skip
_PLAIN = [
    None,
    True,
    False,
    0,
    1,
    -1,
    255,
    256,
    65536,
    1.0,
    1.5,
    float("inf"),
    float("nan"),
    10**30,
]


def _schemas() -> list[tuple[str, dict[str, Any]]]:
    found = [("common", schemas.load("common"))]
    found += [(name, json.loads(registry.schema_text(name))) for name in registry.types()]
    return [
        (f"{name}.{key}", {"$defs": schema.get("$defs", {}), **entry})
        for name, schema in found
        for key, entry in schema["properties"].items()
    ] + found


def _keys(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [*schema.get("properties", {}), *schema.get("required", [])]
        return own + [key for below in schema.values() for key in _keys(below)]
    return [key for below in schema for key in _keys(below)] if isinstance(schema, list) else []


def _value(chance: random.Random, keys: list[str], depth: int = 0) -> Any:
    how = chance.random()
    if depth < 3 and how < 0.3:
        few = chance.sample(keys, min(len(keys), chance.randrange(4)))
        return {key: _value(chance, keys, depth + 1) for key in few}
    if depth < 3 and how < 0.45:
        return [_value(chance, keys, depth + 1) for _ in range(chance.randrange(3))]
    return chance.choice(_TEXTS if how < 0.8 else _PLAIN)


@pytest.mark.parametrize(("name", "schema"), _schemas(), ids=lambda value: str(value)[:40])
def test_agrees_with_jsonschema(name: str, schema: dict[str, Any]) -> None:
    """Every schema of ours is understood, and no value is judged otherwise than by jsonschema."""
    quick, slow = fits(schema), Draft202012Validator(schema)
    assert quick is not None
    chance = random.Random(name)
    keys = [*dict.fromkeys(_keys(schema)), "unknown"]
    values = [*_TEXTS, *_PLAIN, *(_value(chance, keys) for _ in range(400))]
    for value in values:
        assert quick(value) is slow.is_valid(value), value


@pytest.mark.parametrize(
    ("schema", "fitting", "others"),
    [
        ({"type": ["string", "null"]}, ["", None], [1, {}]),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, ["ab", 1], ["a"]),
        ({"additionalProperties": {"type": "string"}}, [{"a": "b"}, 1], [{"a": 1}]),
        ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, [0, 6], [3, "x"]),
        ({"$ref": "#/$defs/a", "minLength": 2, "$defs": {"a": {"pattern": "^b"}}}, ["bc"], ["b"]),
    ],
)
def test_keywords(schema: dict[str, Any], fitting: list[Any], others: list[Any]) -> None:
    """Each keyword counts, also beside others, as it does for jsonschema."""
    quick, slow = fits(schema), Draft202012Validator(schema)
    assert quick is not None
    assert (
        [quick(v) for v in fitting] == [slow.is_valid(v) for v in fitting] == [True] * len(fitting)
    )
    assert [quick(v) for v in others] == [slow.is_valid(v) for v in others] == [False] * len(others)


@pytest.mark.parametrize(
    "schema",
    [
        {"format": "ipv4"},
        {"not": {"type": "string"}},
        {"enum": [1, 2]},
        {"const": True},
        {"items": {"uniqueItems": True}},
        {"items": True},
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
        {"$ref": "https://example.com/schema"},
        {"patternProperties": {"^a": {}}, "additionalProperties": False},
    ],
)
def test_leaves_the_rest_to_jsonschema(schema: dict[str, Any]) -> None:
    """A schema with anything that is not understood gets no quick answer at all."""
    assert fits(schema) is None


def test_a_good_manifest_does_without_jsonschema(tmp_path: Any) -> None:
    """Checking a manifest without mistakes does not load jsonschema, which takes its time."""
    site = tmp_path / "site.yaml"
    site.write_text(
        "ccm:\n  resources:\n"
        "    - file:\n        - /etc/motd: {content: 'x', owner: root, group: root, mode: '0644'}\n"
    )
    program = (
        "import sys; from orchestrator.manifest import load_site; load_site(sys.argv[1]);"
        "print('jsonschema' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(site)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
