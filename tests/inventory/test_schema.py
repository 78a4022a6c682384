"""The editors' schema and the checker agree."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from inventory.connection_properties import PROPERTIES
from inventory.name_rules import GROUP_NAME, HOST_NAME, RESERVED
from inventory.yaml_document import parse_document, to_plain
from remote_runtime.errors import InputError
from schemas import load as load_schema

from .conftest import Loader

SCHEMA: dict[str, Any] = load_schema("inventory")

GOOD = [
    "",
    "hosts: {}",
    "hosts: [a, b.example, 10.0.0.1, '2001:db8::1']",
    "hosts: {a: , b: {}}",
    "defaults: {user: deploy, become: true}",
    "defaults: {user: 'dom\\user', become: root, connect_timeout: 2.5}",
    "hosts: {a: {connect_timeout: 1m30s, jump: 'me@gate:22,b', python: python3.11}}",
    "hosts: {a: {connection: local, key_file: ~/.ssh/id, known_hosts: k}}",
    "hosts: {a: {address: '[::1]', vars: {x: [1, {y: null}], db_password: z}}}",
    "groups: {web: {hosts: [a], children: [edge], port: 22}, edge: }",
    "groups: {web: {hosts: {a: {port: 65535}}, vars: , children: }}",
]
BAD = [
    "[]",
    "x: 1",
    "host: {}",
    "hosts: a",
    "hosts: [~]",
    "hosts: [-a]",
    "hosts: [all]",
    "groups: {all: {user: x}}",
    "hosts: {failed: {}}",
    "hosts: ['a b']",
    "hosts: [[a]]",
    "hosts: {a: [1]}",
    "hosts: {a: {prot: 1}}",
    "hosts: {a: {port: '22'}}",
    "hosts: {a: {port: 0}}",
    "hosts: {a: {port: 1.5}}",
    "hosts: {a: {user: -x}}",
    "hosts: {a: {user: 7}}",
    "hosts: {a: {user: }}",
    "hosts: {a: {become: 'No'}}",
    "hosts: {a: {become: 3}}",
    "hosts: {a: {address: 'a;b'}}",
    "hosts: {a: {connection: winrm}}",
    "hosts: {a: {connect_timeout: 0}}",
    "hosts: {a: {connect_timeout: 4000}}",
    "hosts: {a: {connect_timeout: soon}}",
    "hosts: {a: {connect_timeout: true}}",
    "hosts: {a: {key_file: ''}}",
    "hosts: {a: {password: x}}",
    "hosts: {a: {vars: {ansible_ssh_pass: x}}}",
    "hosts: {a: {vars: []}}",
    "groups: {failed: {}}",
    "groups: {'a:b': {}}",
    "groups: {a: {children: {b: {}}}, b: {}}",
    "groups: {a: {children: [all]}}",
    "groups: [a]",
    "defaults: {hosts: [a]}",
]


def schema_accepts(text: str) -> bool:
    return Draft202012Validator(SCHEMA).is_valid(to_plain(parse_document(text, "f")))


@pytest.mark.parametrize("text", GOOD)
def test_both_accept(loaded: Loader, text: str) -> None:
    """A good document passes the checker and the schema."""
    loaded(text)
    assert schema_accepts(text)


@pytest.mark.parametrize("text", BAD)
def test_both_refuse(loaded: Loader, text: str) -> None:
    """A bad document is refused by the checker and by the schema."""
    with pytest.raises(InputError):
        loaded(text)
    assert not schema_accepts(text)


def test_the_schema_is_one_and_describes_every_property() -> None:
    """The schema is valid, knows the checker's properties and names, and explains each."""
    Draft202012Validator.check_schema(SCHEMA)
    definitions = SCHEMA["$defs"]
    assert set(definitions["properties"]) == set(PROPERTIES)
    assert set(definitions["host"]["properties"]) == {*PROPERTIES, "vars"}
    assert all(entry["description"] for entry in definitions["properties"].values())
    assert definitions["host_name"]["pattern"] == HOST_NAME
    assert definitions["group_name"]["pattern"] == GROUP_NAME
    assert definitions["host_name"]["not"]["enum"] == list(RESERVED)
    assert definitions["group_name"]["not"]["enum"] == list(RESERVED)
