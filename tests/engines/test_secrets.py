"""Secrets of every source on workers of Dask: they end on the hosts, and nowhere else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest

from orchestrator.secrets import age, ansible_vault
from tests.engines.conftest import linux
from tests.engines.fleet import LOCAL, SSH, Fleet
from tests.hostile.secrets import leaks
from tests.orchestrator.cluster.dask_cluster import DaskCluster

SITE = """\
data:
  sealed: "{{ secret('top/file.yml#db.password') }}"
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0600"}
        - "DIR/{{ Host.name }}":
            content: |
              {{ Data.sealed }}
              {{ Data.inline_vault }}
              {{ Data.inline_age }}
              {{ secret('top/file.age') }}
              {{ secret('top/beside-ccm-yaml.yml#db.password') }}
              {{ secret('cmd:store/word') }}
    - exec:
        - defaults: {provider: shell, logoutput: true}
        - "says it on {{ Host.name }}":
            command: 'printf "%s\\n" "$V" "$W" "$A" "$B" "$S" "$C"; printf "%s" "$V" | base64'
            environment:
              - "V={{ Data.sealed }}"
              - "W={{ Data.inline_vault }}"
              - "A={{ Data.inline_age }}"
              - "B={{ secret('top/file.age') }}"
              - "S={{ secret('top/beside-ccm-yaml.yml#db.password') }}"
              - "C={{ secret('cmd:store/word') }}"
"""
KEYS = """\
data: data
secrets:
  vault: {password_file: keys/password}
  age: {identity: keys/identity}
  cmd: {store: 'cat "keys/$1"'}
"""
SECRETS = {
    "vault file": "Vault-File/4711",
    "inline vault": "Inline&Vault<4712",
    "inline age": "Inline'Age 4713",
    "age file": "Age%File+4714",
    "sops": "Sops-File-4715",
    "command": "Of-A-Command=4716",
}
# There is no sops here, so this is a program of that name.
SOPS = '#!/bin/sh\n[ "$1" = -d ] && sed "/^sops/,\\$d; s/ENC.*/Sops-File-4715/" "$2"\n'


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    """Two workers, which have no key and no program of any source."""
    made = DaskCluster(tmp_path / "dask")
    try:
        made.hire()
        made.hire()
        yield made
    finally:
        made.close()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Hosts, and a project with a source of each kind."""
    (tmp_path / "fleet").mkdir()
    made = Fleet(tmp_path / "fleet")
    _write_sources(made)
    yield made
    made.close()


def _write_sources(fleet: Fleet) -> None:
    scratch, word = fleet.scratch, b"of the vault"
    keys, top, programs, data = (scratch / name for name in ("keys", "sites/top", "bin", "data"))
    for directory in (keys, top, programs, data, fleet.directory):
        directory.mkdir(parents=True)
    identity = pyrage.x25519.Identity.generate()
    recipients = [str(identity.to_public())]
    (keys / "password").write_bytes(word)
    (keys / "identity").write_text(str(identity))
    (keys / "word").write_text(SECRETS["command"] + "\n")
    (scratch / "ccm.yaml").write_text(KEYS)
    sealed = json.dumps({"db": {"password": SECRETS["vault file"]}})
    (top / "file.yml").write_text(ansible_vault.encrypt(sealed.encode(), word))
    (top / "file.age").write_bytes(
        age.encrypt(SECRETS["age file"].encode(), recipients, armored=True)
    )
    (scratch / "top").mkdir()
    sops = scratch / "top/beside-ccm-yaml.yml"
    sops.write_text("db:\n  password: ENC[AES256_GCM,data:abc]\nsops:\n  version: 3.9.0\n")
    of_vault = ansible_vault.encrypt(SECRETS["inline vault"].encode(), word)
    of_age = age.encrypt(SECRETS["inline age"].encode(), recipients, armored=True).decode()
    (data / "default.yaml").write_text(
        f"inline_vault: !vault {json.dumps(of_vault)}\ninline_age: !age {json.dumps(of_age)}\n"
    )
    program = programs / "sops"
    program.write_text(SOPS)
    program.chmod(0o755)
    fleet.ccm.environment["PATH"] = f"{programs}:{fleet.ccm.environment['PATH']}"


def _sinks(directory: Path, *without: Path) -> dict[str, bytes]:
    """What lies below a directory, except in places that are meant to have secrets."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and not any(path.is_relative_to(one) for one in without)
    }


@linux
def test_secrets_of_every_source_end_on_the_hosts_only(
    cluster: DaskCluster, fleet: Fleet, tmp_path: Path
) -> None:
    """The controller opens them; a worker shows and keeps none, nor does any report."""
    fleet.engine = cluster.engine
    site = fleet.site(SITE)
    texts = []
    for words in (("--noop", "-v"), ("-v",), ("--json",)):
        spool = str(fleet.scratch / "events.jsonl")
        done = fleet.run("push", "--events", spool, *words, site)
        assert done.code == 0, done.output
        texts.append(done.output)
    texts += [
        fleet.ccm.run("report", *form).output for form in (("-v",), ("--json",), ("--html=-",))
    ]
    files = fleet.files()
    assert sorted(files) == sorted([SSH, *(f"h{number}" for number in range(LOCAL))])
    expected = [SECRETS[name] for name in SECRETS]
    assert {tuple(text.splitlines()) for text in files.values()} == {tuple(expected)}
    sinks = _sinks(tmp_path, fleet.directory, fleet.scratch / "keys", fleet.scratch / "bin")
    sinks.update({f"output {number}": text.encode() for number, text in enumerate(texts)})
    assert any(b"[masked]" in content for content in sinks.values())
    assert leaks(SECRETS, sinks) == []
