"""What ``ccm://`` may say, and which hosts it means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.verify.pytest_run import hostspecs
from tests.orchestrator.secrets.keys import PASSWORD, vault


def test_a_specification_is_taken_apart() -> None:
    """A pattern keeps its signs, what may be given twice is a tuple, and all of it can be a key."""
    pattern, given = hostspecs.parsed(
        "ccm://web*:&prod?inventory=a.yaml&inventory=b.yaml&manifest=site.yaml&become=postgres"
    )
    assert pattern == "web*:&prod"
    assert given == {
        "connection": "ccm",
        "inventory": ("a.yaml", "b.yaml"),
        "manifest": "site.yaml",
        "become": "postgres",
    }
    assert hash(frozenset(given.items()))
    assert hostspecs.parsed("ccm://?inventory=a.yaml")[0] == "all"


def test_data_files_count(tmp_path: Path) -> None:
    """data_dir names the directory that the manifest's hierarchy is looked up in."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "default.yaml").write_text("a: 1\n")
    (tmp_path / "hosts.yaml").write_text("hosts: {web1: {connection: local}}\n")
    (tmp_path / "site.yaml").write_text("ccm: {resources: [{exec: [{x: {}}]}]}\n")
    given = {
        "inventory": (str(tmp_path / "hosts.yaml"),),
        "manifest": str(tmp_path / "site.yaml"),
        "data_dir": str(tmp_path / "data"),
    }
    try:
        assert hostspecs.fleet_of(given).member("web1").scope().data == {"a": 1}
    finally:
        hostspecs.close_all()


def test_secrets_of_the_project(tmp_path: Path) -> None:
    """ccm.yaml next to the manifest names the keys, here too."""
    vault(tmp_path / "v.yml", "a: hunter2")
    (tmp_path / "pw").write_bytes(PASSWORD)
    (tmp_path / "ccm.yaml").write_text("secrets: {vault: {password_file: pw}}\n")
    (tmp_path / "hosts.yaml").write_text("hosts: {web1: {connection: local}}\n")
    text = "data: {a: \"{{ secret('v.yml#a') }}\"}\nccm: {resources: [{exec: [{x: {}}]}]}\n"
    (tmp_path / "site.yaml").write_text(text)
    given = {
        "inventory": (str(tmp_path / "hosts.yaml"),),
        "manifest": str(tmp_path / "site.yaml"),
    }
    try:
        assert hostspecs.fleet_of(given).member("web1").scope().data == {"a": "hunter2"}
    finally:
        hostspecs.close_all()


def test_one_fleet_serves_one_combination(tmp_path: Path) -> None:
    """Hosts of the same specification share a fleet, so each has one connection."""
    path = tmp_path / "hosts.yaml"
    path.write_text(json.dumps({"hosts": {"web1": {"connection": "local"}}}), encoding="utf-8")
    given = {"inventory": (str(path),)}
    first = hostspecs.fleet_of(given)
    try:
        assert hostspecs.fleet_of({**given, "connection": "ccm"}) is first
        assert hostspecs.fleet_of({**given, "user": "other"}) is not first
        assert hostspecs.names_of(given, "web*") == ["web1"]
        with pytest.raises(pytest.Collector.CollectError, match="did you mean web1"):
            hostspecs.names_of(given, "wbe1")
        member = first.member("web1")
        assert member.shell().run(b"echo here").out == b"here\n"
        assert member.shell() is member.shell()
    finally:
        hostspecs.close_all()
    assert hostspecs.fleet_of(given) is not first
    hostspecs.close_all()


@pytest.mark.parametrize(
    ("specification", "words"),
    [
        ("ccm://web1?inventry=a.yaml", "has no parameter 'inventry'"),
        ("ccm://web1?inventory=a.yaml&sudo=true", "has no parameter 'sudo'"),
    ],
)
def test_an_unknown_parameter_is_refused(specification: str, words: str) -> None:
    """Nothing of a specification is passed over in silence."""
    with pytest.raises(pytest.Collector.CollectError, match=words):
        hostspecs.parsed(specification)
