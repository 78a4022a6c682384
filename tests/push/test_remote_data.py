"""``--hiera https://…`` in every command that reads data."""

import getpass
import grp
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.push.command import Ccm
from tests.remote_runtime.archive import server

SITE = """\
data: {port: 1, name: own}
ccm:
  resources:
    - file:
        - SCRATCH/{{ Host.name }}:
            content: "{{ Data.name }} {{ Data.port }} {{ Data.token }}\\n"
            owner: USER
            group: GROUP
            mode: "0600"
"""
DATA = """\
data:
  port: 80
  # @secret
  token: hunter2-hunter2
hierarchy:
  order: ["role:{{ lookup('facts.role') }}", "env:{{ Environ.HOME }}"]
overrides:
  role:web: {name: "{{ Environ.HOME }}"}
"""
HOSTS = "hosts: {web1: {vars: {role: web}}, db1: {}}\ndefaults: {connection: local}\n"
TEXTS = {"web1": "{{ Environ.HOME }} 80 hunter2-hunter2\n", "db1": "own 80 hunter2-hunter2\n"}


class Place(NamedTuple):
    """Where data is served, and a command line that trusts the server."""

    ccm: Ccm
    web: server.Web
    directory: Path

    def serve(self, text: str) -> str:
        """The URL of data with its digest."""
        self.web.answers["/data.yaml"] = server.content(text.encode())
        digest = hashlib.sha256(text.encode()).hexdigest()
        return f"{self.web.url('/data.yaml')}#sha256={digest}"

    def written(self) -> dict[str, str]:
        names = [name for name in TEXTS if (self.directory / name).exists()]
        return {name: (self.directory / name).read_text() for name in names}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    (tmp_path / "tls").mkdir()
    ca, certificate = server.authority(str(tmp_path / "tls"), "IP:127.0.0.1")
    web = server.Web(certificate)
    text = SITE.replace("SCRATCH", str(tmp_path)).replace("USER", getpass.getuser())
    group = grp.getgrgid(os.getgid()).gr_name
    (tmp_path / "site.yaml").write_text(text.replace("GROUP", group))
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    yield Place(Ccm(tmp_path, {"SSL_CERT_FILE": ca}), web, tmp_path)
    web.close()


@pytest.mark.parametrize("engine", ["threads", "processes:2"])
def test_a_push_reads_the_data_once(place: Place, engine: str) -> None:
    """Its values are plain text, its order sees the facts, and its secrets are masked."""
    url = place.serve(DATA)
    found = place.ccm.run(
        "push", "-i", "hosts.yaml", "--engine", engine, "--hiera", url, "site.yaml"
    )
    assert found.code == 0, found.output
    assert place.written() == TEXTS
    assert len(place.web.requests) == 1
    assert "hunter2" not in found.output
    assert "/data.yaml:8:20: this is plain text" in found.output


def test_a_host_that_the_project_names(place: Place) -> None:
    """Without a digest the host must be in ccm.yaml, which may name the URL, too."""
    place.serve(DATA)
    url = place.web.url("/data.yaml")
    words = ("push", "-i", "hosts.yaml", "site.yaml")
    refused = place.ccm.run(*words, "--hiera", url)
    assert refused.code == 2
    assert "source_hosts does not list 127.0.0.1" in refused.stderr
    assert place.web.requests == []
    (place.directory / "ccm.yaml").write_text(f"hiera: {url}\nsource_hosts: [127.0.0.1]\n")
    done = place.ccm.run(*words)
    assert done.code == 0, done.output
    assert place.written() == TEXTS


def test_validate_contacts_no_server(place: Place) -> None:
    """It says what it did not look into, and checks what was kept with a digest."""
    url = place.serve(DATA.replace("port: 80", "prot: 80"))
    words = ("validate", "-i", "hosts.yaml", "--hiera", url, "site.yaml")
    found = place.ccm.run(*words)
    assert found.code == 0, found.output
    assert "was not checked: this command contacts no other machine" in found.stderr
    assert "0 of 2 resources" in found.stdout
    assert place.web.requests == []
    wrong = place.ccm.run("validate", "--hiera", "https://h/x", "site.yaml")
    assert wrong.code == 2
    assert "has no digest" in wrong.stderr
    assert place.ccm.run("push", "--noop", "-i", "hosts.yaml", *words[3:]).code == 0
    again = place.ccm.run(*words)
    assert "was not checked" not in again.stderr
    assert len(place.web.requests) == 1


def test_render_and_explain_name_the_url(place: Place) -> None:
    """Positions are those in the text that was read."""
    url = place.serve(DATA)
    words = ("--offline", "-i", "hosts.yaml", "-l", "web1", "--hiera", url, "site.yaml")
    assert "80" in place.ccm.run("render", *words).stdout
    told = place.ccm.run("hiera", "explain", "port", words[-1], *words[:-1]).stdout
    assert f"{place.web.url('/data.yaml')}:2:9" in told
    parsed = place.ccm.run("hiera", "parse", "--offline", url)
    assert json.loads(parsed.stdout) == {"port": 80, "token": "[masked]"}, parsed.output


def test_a_mistake_in_it_has_its_place(place: Place) -> None:
    """The URL, the line and the column."""
    url = place.serve("data: {a: 1}\nport: 80\n")
    found = place.ccm.run("push", "-i", "hosts.yaml", "--hiera", url, "site.yaml")
    assert found.code == 2
    assert f"{place.web.url('/data.yaml')}:2:1: external data: unknown key 'port'" in found.stderr


def test_a_plan_is_bound_to_the_text(place: Place) -> None:
    """A push of the plan reads it again, and refuses where it holds something else."""
    place.serve(DATA)
    url = place.web.url("/data.yaml")
    (place.directory / "ccm.yaml").write_text("source_hosts: 127.0.0.1\n")
    made = place.ccm.run(
        "plan", "-i", "hosts.yaml", "-l", "web1", "--hiera", url, "-o", "change.plan", "site.yaml"
    )
    assert made.code == 0, made.output
    record = json.loads((place.directory / "change.plan").read_text())
    assert record["hiera"] == [url]
    assert url in record["files"]
    place.serve(DATA + "# another\n")
    refused = place.ccm.run("push", "change.plan")
    assert refused.code == 2
    assert "/data.yaml has changed since the plan was created" in refused.stderr
    place.serve(DATA)
    done = place.ccm.run("push", "change.plan")
    assert done.code == 0, done.output
    assert place.written() == {"web1": TEXTS["web1"]}


def test_no_record_keeps_what_follows_a_question_mark(place: Place) -> None:
    """A signature in a URL is in no report and no record."""
    url = place.serve(DATA).replace("#", "?token=s3cret-s3cret#")
    found = place.ccm.run("push", "-i", "hosts.yaml", "--hiera", url, "site.yaml")
    assert found.code == 0, found.output
    sinks = [path for path in (place.directory / "state").rglob("*") if path.is_file()]
    assert [path for path in sinks if b"s3cret" in path.read_bytes()] == []
    assert any(b"/data.yaml?...#sha256=" in path.read_bytes() for path in sinks)
    assert "s3cret" not in found.output
