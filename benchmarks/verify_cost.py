"""``ccm verify`` against the same checks through testinfra's own ssh backend, in one run."""

import sys
from pathlib import Path

from .competitors import KEY_EXCHANGE, Fleet
from .workload import DIRECTORY, PACKAGES, SERVICES, Work

PHASE = "verify"
OURS, THEIRS = "ccm verify", "testinfra's ssh"


def ccm(fleet: Fleet, work: Work) -> list[list[str]]:
    """``ccm verify`` as a user calls it."""
    site = fleet.directory / f"site{work.resources}.yaml"
    site.write_text(work.site(), encoding="utf-8")
    program = Path(sys.executable).with_name("ccm")
    return [[str(program), "verify", "-q", "-i", str(fleet.inventory()), str(site)]]


def testinfra(fleet: Fleet, work: Work) -> list[list[str]]:
    """pytest with the same checks, one by one, over a connection per host that is kept open."""
    tests = fleet.directory / "test_work.py"
    tests.write_text(_tests(work), encoding="utf-8")
    config = fleet.directory / "ssh_config"
    config.write_text(_ssh_config(fleet), encoding="utf-8")
    hosts = ",".join(f"ssh://{host.name}" for host in fleet.hosts)
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(fleet.directory)]
    return [
        [sys.executable, "-m", "pytest", *options, f"--hosts={hosts}", f"--ssh-config={config}",
         str(tests)]
    ]  # fmt: skip


def _ssh_config(fleet: Fleet) -> str:
    lines = []
    for host in fleet.hosts:
        lines += [f"Host {host.name}", f"  HostName {host.address}", f"  Port {host.port}"]
    lines += [
        "Host *", "  User root", f"  IdentityFile {fleet.key_file}", "  IdentitiesOnly yes",
        "  BatchMode yes", f"  UserKnownHostsFile {fleet.known_hosts}",
        f"  KexAlgorithms {KEY_EXCHANGE}",
        # Without a path testinfra would log in anew for each command.
        "  ControlMaster auto", "  ControlPersist 10", f"  ControlPath {fleet.directory}/c-%C",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _tests(work: Work) -> str:
    return f'''\
import hashlib

import pytest

FILES = [f"{DIRECTORY}/file{{n:03d}}.conf" for n in range({work.files})]


@pytest.mark.parametrize("number, path", enumerate(FILES))
def test_file(host, number, path):
    file = host.file(path)
    name = host.backend.get_hostname()
    lines = [f"# file {{number}} on {{name}}", "listen = 127.0.0.1", f"number = {{number}}"]
    content = "".join(line + "\\n" for line in lines).encode()
    assert not file.is_symlink
    assert file.is_file
    assert file.sha256sum == hashlib.sha256(content).hexdigest()
    assert (file.user, file.group, file.mode) == ("root", "root", 0o644)


def test_directory(host):
    file = host.file("{DIRECTORY}")
    assert not file.is_symlink
    assert file.is_directory
    assert (file.user, file.group, file.mode) == ("root", "root", 0o755)


@pytest.mark.parametrize("name", {PACKAGES!r})
def test_package(host, name):
    assert host.package(name).is_installed


@pytest.mark.parametrize("name", {SERVICES!r})
def test_service(host, name):
    assert host.service(name).is_running
    assert host.service(name).is_enabled
'''
