"""Manifests of archives on other machines, pushed and applied."""

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

from tests.orchestrator.sources.test_unpacking import member, packed
from tests.push.command import Ccm
from tests.remote_runtime.archive import server

ROLE = """\
data: {port: 1}
ccm:
  resources:
    - file:
        - "SCRATCH/{{ Host.name }}{{ Data.suffix | default('') }}":
            content: "{{ Data.port }} {{ template('motd.j2') }}"
            owner: USER
            group: GROUP
            mode: "0600"
    - apply:
        - more/more.yaml: {}
"""
MORE = """\
ccm:
  resources:
    - exec:
        - "true": {creates: /}
"""
SITE = """\
ccm:
  resources:
    - apply:
        - role: {manifest: "URL", data: {port: 80}}
"""
HOSTS = "hosts: {web1: {}, db1: {}}\ndefaults: {connection: local}\n"
TEXT = "80 hello web1\n"


class Place(NamedTuple):
    """Where archives are served, and a command line that trusts the server."""

    ccm: Ccm
    web: server.Web
    directory: Path

    def serve(self, role: str = ROLE, **files: str) -> str:
        """The URL of an archive with its digest."""
        group = grp.getgrgid(os.getgid()).gr_name
        text = role.replace("SCRATCH", str(self.directory)).replace("USER", getpass.getuser())
        texts = {
            "r-1/site.yaml": text.replace("GROUP", group),
            "r-1/motd.j2": "hello {{ Host.name }}\n",
            "r-1/more/more.yaml": MORE,
            **files,
        }
        data = packed(*(member(name, body.encode()) for name, body in texts.items()))
        self.web.answers["/r.tar.gz"] = server.content(data)
        return f"{self.web.url('/r.tar.gz')}#sha256={hashlib.sha256(data).hexdigest()}"

    def site(self, url: str) -> None:
        (self.directory / "site.yaml").write_text(SITE.replace("URL", url))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    (tmp_path / "tls").mkdir()
    ca, certificate = server.authority(str(tmp_path / "tls"), "IP:127.0.0.1")
    web = server.Web(certificate)
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    yield Place(Ccm(tmp_path, {"SSL_CERT_FILE": ca}), web, tmp_path)
    web.close()


@pytest.mark.parametrize("engine", ["threads", "processes:2"])
def test_a_child_of_an_archive(place: Place, engine: str) -> None:
    """It is downloaded once, and its files and its own children are found beside it."""
    place.site(place.serve())
    found = place.ccm.run("push", "-i", "hosts.yaml", "--engine", engine, "site.yaml")
    assert found.code == 0, found.output
    assert (place.directory / "web1").read_text() == TEXT
    assert (place.directory / "db1").read_text() == "80 hello db1\n"
    assert len(place.web.requests) == 1


def test_an_archive_is_applied(place: Place) -> None:
    """ccm apply takes its URL; hosts remember it without the digest."""
    url = place.serve()
    preview = place.ccm.run("apply", "--noop", url)
    assert preview.code == 0, preview.output
    found = place.ccm.run("apply", "--data", "suffix=-own", url)
    assert found.code == 0, found.output
    (written,) = place.directory.glob("*-own")
    assert written.read_text().startswith("1 hello ")
    again = place.ccm.run("apply", "--detailed-exitcode", "--data", "suffix=-own", url)
    assert again.code == 0, again.output
    record = json.loads(place.ccm.run("report", "--json").stdout)
    assert url in json.dumps(record)
    named = f"{url}&manifest=r-1/more/more.yaml"
    assert place.ccm.run("apply", named).code == 0
    assert place.ccm.run("verify", "-i", "hosts.yaml", "-l", "web1", named).code == 0


def test_a_manifest_without_a_digest_is_refused(place: Place) -> None:
    """As the manifest that is pushed, and as a child, before any host is contacted."""
    url = place.serve().partition("#")[0]
    found = place.ccm.run("apply", url)
    assert found.code == 2
    assert "has no digest, and a manifest can run any command" in found.stderr
    place.site(url)
    child = place.ccm.run("push", "-i", "hosts.yaml", "site.yaml")
    assert child.code == 2
    assert "site.yaml:4:" in child.stderr
    assert "must have a digest" in child.stderr
    place.site(f"{url}#sha256={'0' * 64}")
    other = place.ccm.run("push", "-i", "hosts.yaml", "site.yaml")
    assert other.code == 2
    assert "site.yaml:4:" in other.stderr
    assert "does not match its digest" in other.stderr


def test_a_computed_url_is_refused(place: Place) -> None:
    """A host cannot choose what is applied to it."""
    place.site("{{ Host.vars.url }}")
    url = place.serve()
    (place.directory / "hosts.yaml").write_text(
        HOSTS.replace("web1: {}", f"web1: {{vars: {{url: '{url}'}}}}")
    )
    found = place.ccm.run("push", "-i", "hosts.yaml", "-l", "web1", "site.yaml")
    assert found.code == 1
    assert "is computed; only a literal one is read" in found.output
    assert place.web.requests == []


def test_a_child_reads_nothing_else(place: Place) -> None:
    """Neither its templates nor its own children leave the archive."""
    (place.directory / "secret.j2").write_text("s3cret")
    for wrong in ("template('../../../../secret.j2')", f"template('{place.directory}/secret.j2')"):
        place.site(place.serve(ROLE.replace("template('motd.j2')", wrong)))
        found = place.ccm.run("push", "-i", "hosts.yaml", "-l", "web1", "site.yaml")
        assert found.code != 0
        assert not (place.directory / "web1").exists()
    place.site(place.serve(ROLE.replace("more/more.yaml", "../r.yaml")))
    found = place.ccm.run("push", "-i", "hosts.yaml", "-l", "web1", "site.yaml")
    assert found.code == 2


def test_validate_contacts_no_server(place: Place) -> None:
    """It says what it did not look into; what the cache has is checked whole."""
    url = place.serve(ROLE.replace("mode:", "mod:"))
    place.site(url)
    found = place.ccm.run("validate", "-i", "hosts.yaml", "site.yaml")
    assert found.code == 0, found.output
    assert "/r.tar.gz was not checked" in found.stderr
    assert "will fail" not in found.stderr
    assert "not checked: the child manifest of apply#" in found.stdout
    assert "which needs an archive that was not read" in found.stdout
    assert place.web.requests == []
    assert place.ccm.run("push", "--noop", "-i", "hosts.yaml", "site.yaml").code == 2
    wrong = place.ccm.run("validate", "-i", "hosts.yaml", "site.yaml")
    assert wrong.code == 2
    assert "site.yaml:9:" in wrong.stderr
    assert "mod" in wrong.stderr
    assert place.ccm.run("validate", url).code == 2


def test_a_plan_is_bound_to_the_archive(place: Place) -> None:
    """It has the URL with its digest, and is pushed from another cache, too."""
    url = place.serve()
    for manifest in (url, "site.yaml"):
        place.site(url)
        words = ("-i", "hosts.yaml", "-l", "web1", "-o", "change.plan", manifest)
        made = place.ccm.run("plan", *words)
        assert made.code == 0, made.output
        record = json.loads((place.directory / "change.plan").read_text())
        assert record["manifest"] == manifest
        assert not [name for name in record["files"] if "/sources/" in name]
        shutil.rmtree(place.directory / "state/ccm/sources")
        done = place.ccm.run("push", "change.plan")
        assert done.code == 0, done.output
        assert (place.directory / "web1").exists()
        (place.directory / "web1").unlink()
