"""``kv://BUCKET/KEY`` and ``kvGet()``, with a real NATS server."""

import getpass
import grp
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.orchestrator.registration.test_key_value import fill
from tests.orchestrator.registration.test_nats_stream import running
from tests.push.command import Ccm

SITE = """\
data:
  # @secret
  token: "{{ kvGet('CCM', 'tokens.' ~ Host.name, 'nobody-nobody') }}"
  port: 1
ccm:
  resources:
    - file:
        - SCRATCH/{{ Host.name }}:
            content: "{{ Data.port }} {{ kvGet('CCM', 'motd') }} {{ Data.token }}\\n"
            owner: USER
            group: GROUP
            mode: "0600"
        - SCRATCH/same: {ensure: directory, owner: USER, group: GROUP, mode: "0755"}
"""
VALUES = {
    "site": b'{"data": {"port": 80}, "overrides": {"web1": {"port": "{{ 1 }}"}},\n'
    b' "hierarchy": {"order": ["{{ Host.name }}"]}}',
    "motd": b"{{ hello }}",
    "tokens.web1": b"hunter2-hunter2",
}
TEXTS = {
    "web1": "{{ 1 }} {{ hello }} hunter2-hunter2\n",
    "db1": "80 {{ hello }} nobody-nobody\n",
}
HOSTS = "hosts: {web1: {}, db1: {}}\ndefaults: {connection: local}\n"


class Place(NamedTuple):
    """A server with values, and a command line that knows it."""

    ccm: Ccm
    server: str
    directory: Path

    def written(self) -> dict[str, str]:
        found = [name for name in TEXTS if (self.directory / name).exists()]
        return {name: (self.directory / name).read_text() for name in found}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("nats")) as address:
        fill(address, VALUES)
        yield address


@pytest.fixture
def place(tmp_path: Path, server: str) -> Place:
    text = SITE.replace("SCRATCH", str(tmp_path)).replace("USER", getpass.getuser())
    group = grp.getgrgid(os.getgid()).gr_name
    (tmp_path / "site.yaml").write_text(text.replace("GROUP", group))
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    return Place(Ccm(tmp_path, {"CCM_NATS": f"nats://ccm:s3cret@{server}"}), server, tmp_path)


WORDS = ("-i", "hosts.yaml", "--hiera", "kv://CCM/site", "site.yaml")


@pytest.mark.parametrize("engine", ["threads", "processes:2"])
def test_a_push(place: Place, engine: str) -> None:
    """Data and values are those of the server, as text; a secret is masked everywhere."""
    found = place.ccm.run("push", "--engine", engine, "-v", *WORDS)
    assert found.code == 0, found.output
    assert place.written() == TEXTS
    sinks = [path for path in (place.directory / "state").rglob("*") if path.is_file()]
    seen = found.output.encode() + b"".join(path.read_bytes() for path in sinks)
    assert b"hunter2" not in seen
    assert b"s3cret" not in seen


def test_validate_contacts_no_server(place: Place) -> None:
    """What needs a value is counted, and nothing is claimed of it."""
    place.ccm.environment["CCM_NATS"] = "nats://127.0.0.1:1"
    found = place.ccm.run("validate", "-i", "hosts.yaml", "site.yaml")
    assert found.code == 0, found.output
    assert "2 of 4 resources of 2 hosts were checked; 2 need the key-value store" in found.stdout
    also = place.ccm.run("validate", *WORDS)
    assert also.code == 0, also.output
    assert "kv://CCM/site was not checked" in also.stderr


def test_a_value_that_is_not_there(place: Place) -> None:
    """It refuses the host with the place of the expression, before any change."""
    site = place.directory / "site.yaml"
    site.write_text(site.read_text().replace("'motd'", "'mtod'"))
    found = place.ccm.run("push", *WORDS)
    assert found.code == 1
    assert "the bucket CCM has no key 'mtod'" in found.output
    assert "site.yaml:9:" in found.output
    missing = place.ccm.run("push", "-i", "hosts.yaml", "--hiera", "kv://CCM/no", "site.yaml")
    assert missing.code == 2
    assert "kv://CCM/no: the bucket has no such key" in missing.stderr


def test_a_plan_is_bound_to_values(place: Place) -> None:
    """A push of the plan is refused where a value is another one by then."""
    made = place.ccm.run("plan", "-l", "web1", "-o", "change.plan", *WORDS)
    assert made.code == 0, made.output
    assert "hunter2" not in (place.directory / "change.plan").read_text()
    fill_again(place.server, b"changed")
    try:
        refused = place.ccm.run("push", "change.plan")
        assert refused.code == 1
        assert place.written() == {}
    finally:
        fill_again(place.server, VALUES["motd"])
    done = place.ccm.run("push", "change.plan")
    assert done.code == 0, done.output
    assert place.written() == {"web1": TEXTS["web1"]}


def fill_again(server: str, value: bytes) -> None:
    """Change the message of the day."""
    fill(server, {"motd": value})


def test_hiera_of_a_bucket(place: Place) -> None:
    """render and explain show what is there."""
    shown = place.ccm.run("render", "--offline", "-l", "web1", *WORDS)
    assert "{{ 1 }} {{ hello }}" in shown.stdout, shown.output
    told = place.ccm.run("hiera", "explain", "port", "site.yaml", "--offline", *WORDS[:-1])
    assert "kv://CCM/site:1:" in told.stdout, told.output
