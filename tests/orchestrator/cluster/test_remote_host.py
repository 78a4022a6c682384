"""A host is on a worker what it is here, but for the files of who logs in."""

import json
from pathlib import Path

import pytest

from inventory import load
from orchestrator.cluster.run_spec import host_record, remote_host

INVENTORY = """\
defaults: {user: deploy, key_file: ~/.ssh/fleet, vars: {a: 1}}
groups: {web: {hosts: [web1], vars: {b: [2]}, become: true}}
hosts: {web1: {address: 192.0.2.1, jump: gate, connect_timeout: 5s, known_hosts: /etc/known}}
"""


def test_a_host_travels_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With every value that was decided for it."""
    monkeypatch.setenv("HOME", "/home/here")
    path = tmp_path / "hosts.yaml"
    path.write_text(INVENTORY)
    host = load([str(path)]).hosts["web1"]
    record = json.loads(json.dumps(host_record(host)))
    monkeypatch.setenv("HOME", "/home/there")
    far = remote_host(record)
    for name in ("name", "address", "user", "become", "groups", "vars", "jump", "connect_timeout"):
        assert getattr(far, name) == getattr(host, name), name
    assert (far.port, far.python, far.connection) == (None, None, "ssh")
    assert far.key_file == "/home/there/.ssh/fleet"
    assert far.known_hosts == "/etc/known"
