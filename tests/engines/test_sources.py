"""Data and manifests of other machines on every engine; workers contact none of these."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.engines.conftest import Alike
from tests.engines.fleet import LOCAL, Fleet
from tests.orchestrator.registration.test_key_value import fill
from tests.orchestrator.registration.test_nats_stream import running
from tests.orchestrator.sources.test_unpacking import member, packed
from tests.remote_runtime.archive import server

ROLE = """\
data: {port: 1}
ccm:
  resources:
    - file:
        - "DIR/{{ Host.name }}":
            content: "{{ Data.port }} {{ kvGet('CCM', 'motd') }} {{ template('own.j2') }}"
            owner: OWNER
            group: GROUP
            mode: "0600"
"""
SITE = 'ccm: {resources: [{apply: [role: {manifest: "URL"}]}]}\n'
DATA = b"""\
data: {port: 80}
overrides: {h1: {port: "{{ 1 }}"}}
hierarchy: {order: ["{{ Host.name }}"]}
"""


class Elsewhere(NamedTuple):
    """A web server and a NATS server."""

    web: server.Web
    nats: str
    ca: str

    def serve(self, path: str, data: bytes) -> str:
        self.web.answers[path] = server.content(data)
        return f"{self.web.url(path)}#sha256={hashlib.sha256(data).hexdigest()}"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    directory = tmp_path_factory.mktemp("tls")
    ca, certificate = server.authority(str(directory), "IP:127.0.0.1")
    web = server.Web(certificate)
    with running(tmp_path_factory.mktemp("nats")) as address:
        fill(address, {"motd": b"{{ hello }}"})
        yield Elsewhere(web, f"nats://ccm:s3cret@{address}", ca)
    web.close()


@pytest.mark.long("dask")
def test_sources(alike: Alike, fleet: Fleet, elsewhere: Elsewhere) -> None:
    """A child of an archive with data over HTTPS and values of a bucket: the same on all hosts, and
    read once by the controller."""
    fleet.ccm.environment.update(CCM_NATS=elsewhere.nats, SSL_CERT_FILE=elsewhere.ca)
    role = Path(fleet.site(ROLE, "role.yaml")).read_bytes()
    archive = packed(member("site.yaml", role), member("own.j2", b"own {{ Host.name }}\n"))
    site = fleet.site(SITE.replace("URL", elsewhere.serve("/role.tar.gz", archive)))
    url = elsewhere.serve("/data.yaml", DATA)
    plan = str(fleet.scratch / "change.plan")

    def scene(fleet: Fleet) -> Any:
        del elsewhere.web.requests[:]
        shutil.rmtree(fleet.scratch / "state/ccm/sources", ignore_errors=True)
        made = fleet.run("plan", "-l", "h2", "-o", plan, "--hiera", url, site)
        codes = [made.code, fleet.run("push", plan).code]
        codes.append(fleet.run("push", "--hiera", url, site).code)
        return codes, fleet.files(), len(elsewhere.web.requests)

    codes, files, requests = alike(scene)
    assert codes == [0, 0, 0]
    assert requests == 2
    assert len(files) == LOCAL + 1
    assert files["h0"] == "80 {{ hello }} own h0\n"
    assert files["h1"] == "{{ 1 }} {{ hello }} own h1\n"
