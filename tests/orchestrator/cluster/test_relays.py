"""Workers on booted hosts reach what the controller cannot, with what is installed there alone."""

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cluster import certificates
from tests.lab import PASSWORDS, Host, Lab
from tests.orchestrator.cluster.dask_cluster import REPOSITORY, DaskCluster, wait_for
from tests.push.command import Ccm, Run

INSIDE = "10.213.7"  # a network that only lab hosts know
PLACE = "/opt/ccm"
SITE = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/motd: {content: "{{ Host.name }} {{ Facts.color }}\\n"}
    - exec:
        - "touch /root/inside": {creates: /root/inside}
"""

pytestmark = [pytest.mark.usefixtures("needs_lab"), pytest.mark.begun_first]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This ccm and all that it needs, installed into a directory from wheels in another."""
    directory, there = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("there")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    isolated = ["--no-build-isolation", "-w", str(directory)]
    subprocess.run([*pip, "wheel", *isolated, f"{REPOSITORY}[dask]"], check=True)
    install = ["install", "--no-index", "--no-compile", "--find-links", str(directory)]
    subprocess.run([*pip, *install, "--target", str(there), "ccm-push[dask]"], check=True)
    return there


@pytest.fixture
def inner_hosts(wheels: Path) -> Iterator[Lab]:
    """``relay``, on which ccm is installed, and hosts that it reaches by addresses of their own."""
    with Lab(names=["relay", "in1", "in2"]) as lab:
        for number, host in enumerate(lab.hosts.values(), 1):
            host.run(f"ip address add {INSIDE}.{number}/24 dev eth0")
            host.run(f"ip rule add priority 110 to {INSIDE}.0/24 lookup main")
            lab.trust(host, f"{INSIDE}.{number}")
        relay = lab.hosts["relay"]
        subprocess.run(["cp", "-r", str(wheels), f"{relay.path('/')}{PLACE}"], check=True)
        relay.write("/root/.ssh/id_ed25519", lab.key_file.read_text(), 0o600)
        relay.write("/root/.ssh/known_hosts", lab.known_hosts.read_text())
        yield lab


def _worker(relay: Host, cluster: DaskCluster, tls: Path) -> None:
    """Start a worker on a host, as a service of systemd."""
    for name in ("ca.pem", "worker.pem", "worker-key.pem"):
        relay.write(f"/etc/ccm/{name}", (tls / name).read_text(), 0o600)
    words = f"--scheduler {cluster.address} --site inside --tls /etc/ccm"
    relay.run(
        f"systemd-run --unit ccm-worker --setenv=PYTHONPATH={PLACE} --setenv=HOME=/root"
        f" python3 {PLACE}/bin/ccm worker {words}"
    )

    def log() -> str:
        return relay.run("journalctl --no-pager -u ccm-worker").stdout

    wait_for(lambda: "connected to" in log(), log)


def _told(done: Run) -> Any:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_hosts_that_only_a_relay_reaches(inner_hosts: Lab, tmp_path: Path) -> None:
    """Previewed and pushed through it; a controller that goes by itself does not get there."""
    lab = inner_hosts
    relay = lab.hosts["relay"]
    version = relay.run("python3 -c 'import platform; print(platform.python_version())'").stdout
    assert version.split(".")[:2] == platform.python_version().split(".")[:2], "the wheels are of"
    tls = tmp_path / "tls"
    certificates.make_authority(tls)
    ccm = Ccm(tmp_path, {certificates.VARIABLE: str(tls)})
    (tmp_path / "site").mkdir()
    site = ccm.site(SITE, "site/site.yaml")
    hosts: dict[str, dict[str, Any]] = {
        name: {"address": f"{INSIDE}.{number}", "user": "root", "vars": {"color": "blue"}}
        for number, name in ((2, "in1"), (3, "in2"))
    }
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"defaults": {"site": "inside"}, "hosts": hosts}))
    cluster = DaskCluster(tmp_path / "dask", tls, host=relay.gateway)
    try:
        _worker(relay, cluster, tls)
        words = ["-i", str(inventory), "--connect-timeout", "2s", "--json", str(site)]
        alone = _told(ccm.run("push", "--noop", *words))
        assert {host["outcome"] for host in alone["hosts"].values()} == {"unreachable"}
        words = ["--engine", cluster.engine, *words]
        preview = _told(ccm.run("push", "--noop", *words))
        assert preview["summary"]["changed"] == 4, preview
        pushed = ccm.run("push", *words)
        assert pushed.code == 0, pushed.output
        assert lab.hosts["in2"].read("/etc/motd") == "in2 blue\n"
        assert lab.hosts["in1"].exists("/root/inside")
        again = _told(ccm.run("push", *words))
        assert again["summary"]["stable"] == 4
        # As one who needs a password for sudo, which only the controller has.
        hosts["in2"] |= {"user": "alice", "become": True}
        inventory.write_text(json.dumps({"defaults": {"site": "inside"}, "hosts": hosts}))
        lab.hosts["in2"].write("/etc/motd", "else\n")
        refused = _told(ccm.run("push", *words))
        assert refused["hosts"]["in2"]["kind"] == "transport.become", refused["hosts"]
        ccm.environment["CCM_BECOME_PASSWORD"] = PASSWORDS["alice"]
        become = _told(ccm.run("push", *words))
        assert (become["exit_code"], become["summary"]["changed"]) == (0, 1), become["hosts"]
        leftovers = relay.run("ls /tmp /run/user 2>/dev/null | grep -c ccm-stand", check=False)
        assert leftovers.stdout == "0\n"
    finally:
        cluster.close()
