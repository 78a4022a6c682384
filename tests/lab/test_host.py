"""One lab host, looked at from outside and over OpenSSH."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from . import PASSWORDS, Host, Lab, LabError, Package


def ssh(
    lab: Lab, user: str, address: str, command: str, port: int = 22, key: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command with OpenSSH, which must find the host's key in the lab's known_hosts."""
    options = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
    options += ["-o", f"UserKnownHostsFile={lab.known_hosts}", "-o", "IdentitiesOnly=yes"]
    options += ["-o", "KexAlgorithms=curve25519-sha256", "-o", "ConnectTimeout=10"]
    argv = ["ssh", *options, "-i", str(key or lab.key_file), "-p", str(port), f"{user}@{address}"]
    return subprocess.run([*argv, command], capture_output=True, text=True, timeout=60)


def test_every_host_has_booted_completely(hosts: list[Host]) -> None:
    """systemd on each host reports that it is running, without a failed unit."""
    for host in hosts:
        state = host.run("systemctl is-system-running; systemctl --failed", check=False).stdout
        assert state.startswith("running"), state + host.run("journalctl -b -p 4").stdout
        assert host.run("hostname").stdout == f"{host.name}\n"


@pytest.mark.parametrize("user", ["root", "deploy", "alice", "bob", "mallory"])
def test_openssh_logs_in_with_strict_host_keys(lab: Lab, user: str) -> None:
    """The lab's key opens every account, and the host is the one that known_hosts names."""
    for host in lab.hosts.values():
        done = ssh(lab, user, host.address, "whoami; hostname")
        assert done.stdout.split() == [user, host.name], done.stderr


def test_a_changed_host_key_is_noticed_until_the_reset(lab: Lab, host: Host) -> None:
    """known_hosts does not know a new key of a host; a reset brings the known one back."""
    host.change_host_key()
    done = ssh(lab, "root", host.address, "true")
    assert done.returncode == 255
    assert "HOST IDENTIFICATION HAS CHANGED" in done.stderr
    host.reset()
    assert ssh(lab, "root", host.address, "true").returncode == 0


def test_a_password_opens_an_account(lab: Lab, host: Host, tmp_path: Path) -> None:
    """sshd takes the users' passwords too."""
    answer = tmp_path / "answer"
    answer.write_text(f"#!/bin/sh\necho {PASSWORDS['alice']}\n")
    answer.chmod(0o700)
    options = ["-F", "none", "-o", f"UserKnownHostsFile={lab.known_hosts}"]
    done = subprocess.run(
        ["ssh", *options, "-o", "PubkeyAuthentication=no", f"alice@{host.address}", "whoami"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "SSH_ASKPASS": str(answer), "SSH_ASKPASS_REQUIRE": "force"},
    )
    assert done.stdout == "alice\n", done.stderr


def test_a_key_with_a_passphrase_is_let_in(lab: Lab, host: Host) -> None:
    """A key that is made later opens the hosts once its passphrase is taken off."""
    key = lab.new_key("locked", passphrase="open sesame")
    assert ssh(lab, "root", host.address, "true", key=key).returncode == 255
    change = ["ssh-keygen", "-q", "-p", "-P", "open sesame", "-N", "", "-f", str(key)]
    subprocess.run(change, check=True, capture_output=True)
    assert ssh(lab, "root", host.address, "true", key=key).returncode == 0
    assert ssh(lab, "root", host.address, "true").returncode == 0


@pytest.mark.parametrize(
    ("user", "command", "answer"),
    [
        ("deploy", "sudo -n whoami", "root"),
        ("deploy", "sudo -n -u appuser whoami", "appuser"),
        ("alice", f"echo {PASSWORDS['alice']} | sudo -S -p '' whoami", "root"),
        ("alice", "sudo -n whoami", None),
        ("bob", "sudo -n -u appuser whoami", "appuser"),
        ("bob", "sudo -n whoami", None),
        ("mallory", f"echo {PASSWORDS['mallory']} | sudo -S -p '' whoami", None),
    ],
)
def test_sudo_allows_what_the_users_are_made_for(
    lab: Lab, user: str, command: str, answer: str | None
) -> None:
    """deploy needs no password, alice hers, bob may become appuser only, mallory nobody."""
    done = ssh(lab, user, lab.hosts["web2"].address, command)
    assert (done.stdout.strip() or None) == answer, done.stderr
    assert (done.returncode == 0) == (answer is not None)


def test_nginx_is_installed_without_a_network(host: Host) -> None:
    """nginx-light and what it depends on come from the local repository, and it serves."""
    host.run("apt-get install -y nginx-light", timeout=120)
    assert host.run("systemctl is-active nginx").stdout == "active\n"
    with urllib.request.urlopen(f"http://{host.address}/", timeout=10) as page:
        assert "nginx" in page.read().decode()


def test_packages_of_the_suite_behave_as_they_are_meant_to(host: Host) -> None:
    """Versions order as dpkg has it, the daemon starts and reloads, the broken one fails."""
    host.run("apt-get install -y ccm-hello=1.0-1 ccm-epoch ccm-daemon ccm-conf=1.0-1 ccm-units")
    assert host.read("/usr/share/ccm-hello/version") == "1.0-1\n"
    assert host.read("/usr/share/ccm-epoch/version") == "1:0.9-1\n"
    host.run("apt-get install -y ccm-hello ccm-conf")
    assert host.read("/usr/share/ccm-hello/version") == "2.1~rc1-1\n"
    assert "green" in host.read("/etc/ccm-conf.conf")
    assert host.run("systemctl is-enabled ccm-daemon").stdout == "enabled\n"
    host.run("systemctl reload ccm-daemon; sleep 0.3; systemctl is-active ccm-daemon")
    assert host.read("/run/ccm-daemon.reloads") == "reloaded\n"
    assert host.run("systemctl is-enabled ccm-static", check=False).stdout == "static\n"
    assert host.run("systemctl start ccm-app@1; systemctl is-active ccm-app@1").returncode == 0
    assert host.run("apt-get install -y ccm-broken", check=False).returncode == 100
    host.run("apt-get purge -y ccm-broken ccm-daemon")
    assert not host.exists("/usr/sbin/ccm-daemon")


def test_a_slow_package_takes_as_long_as_it_is_told(host: Host) -> None:
    """ccm-slow's configuration sleeps for the seconds that a file names."""
    host.write("/etc/ccm-slow.seconds", "1.5\n")
    began = time.monotonic()
    host.run("apt-get install -y ccm-slow")
    assert time.monotonic() - began > 1.5


def test_a_package_can_be_published_later(host: Host) -> None:
    """A new version is a candidate once the host has refreshed its lists."""
    host.publish(Package("ccm-hello", "3.0-1"))
    assert "Candidate: 2.1~rc1-1" in host.run("apt-cache policy ccm-hello").stdout
    host.run("apt-get update")
    assert "Candidate: 3.0-1" in host.run("apt-cache policy ccm-hello").stdout


def test_stopping_a_unit_reaches_no_other_host(hosts: list[Host]) -> None:
    """What systemd does to a unit on one host leaves the same unit on the others alone."""
    one, two, _ = hosts
    for host in (one, two):
        host.run("apt-get install -y ccm-daemon")
    before = two.run("systemctl show -p MainPID --value ccm-daemon ssh dbus").stdout
    one.run("systemctl kill --signal=KILL ccm-daemon; systemctl stop ccm-daemon ssh")
    assert two.run("systemctl show -p MainPID --value ccm-daemon ssh dbus").stdout == before
    assert two.run("systemctl is-active ccm-daemon ssh").stdout.split() == ["active", "active"]


def test_hosts_reach_each_other_but_nothing_else(hosts: list[Host]) -> None:
    """A host connects to its neighbour by name; an address outside cannot be reached."""
    one, two, _ = hosts
    connect = "import socket; socket.create_connection(('{}', {}), timeout=5).close()"
    one.run(f'python3 -c "{connect.format(two.name, 22)}"')
    done = one.run(f'python3 -c "{connect.format("203.0.113.1", 80)}"', check=False)
    assert done.returncode == 1
    assert "unreachable" in done.stderr.lower() or "no route" in done.stderr.lower()


def test_run_gives_what_the_command_said(host: Host) -> None:
    """run passes standard input on, keeps the streams apart, and raises when it is to check."""
    assert host.run("cat; echo no >&2", input="yes").stdout == "yes"
    assert host.run("echo no >&2; exit 3", check=False).returncode == 3
    with pytest.raises(LabError, match=r"exit code 3:\nno"):
        host.run("echo no >&2; exit 3")


def test_run_ends_a_command_that_is_too_slow(host: Host) -> None:
    """A command that outlives its timeout is killed with its children."""
    with pytest.raises(LabError, match=r"within 0\.5 s"):
        host.run("sleep 4711 & sleep 4711", timeout=0.5)
    assert host.run("pgrep -f 'sleep 471[1]'", check=False).stdout == ""


def test_files_are_reached_as_the_host_sees_them(host: Host) -> None:
    """Symlinks are followed inside the host, and file systems that it mounts are seen."""
    host.write("/var/run/lab/a", "text")
    assert host.run("cat /run/lab/a").stdout == "text"
    host.run("ln -s /etc/hostname /srv/link; ln -s /nowhere /srv/dangling")
    assert host.read("/srv/link") == f"{host.name}\n"
    assert not host.exists("/srv/dangling")
    assert not host.exists("/srv/../etc/nothing")


def test_extended_attributes_and_acls_work(host: Host) -> None:
    """A host's files can carry what ccm has to keep when it replaces them."""
    host.run("touch /srv/f && setfattr -n user.a -v b /srv/f && setfacl -m u:deploy:rw /srv/f")
    assert 'user.a="b"' in host.run("getfattr -d /srv/f").stdout
    assert "user:deploy:rw-" in host.run("getfacl /srv/f").stdout


def test_a_stopped_host_refuses_and_comes_back_with_its_files(lab: Lab, host: Host) -> None:
    """A host that is down refuses connections; after a start its files are as they were."""
    host.write("/srv/kept", "yes")
    host.stop()
    assert not host.running
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host.address, 22), timeout=5)
    with pytest.raises(LabError, match="is stopped"):
        host.run("true")
    host.start()
    assert host.read("/srv/kept") == "yes"
    assert ssh(lab, "root", host.address, "true").returncode == 0


def test_a_reset_removes_all_traces(host: Host) -> None:
    """After a reset neither files nor processes of before are there."""
    host.write("/srv/gone", "x")
    host.run("systemd-run --unit=lab-trace sleep 1000")
    host.reset()
    assert not host.exists("/srv/gone")
    assert host.run("systemctl is-active lab-trace", check=False).stdout == "inactive\n"


def test_a_host_reboots_itself(host: Host) -> None:
    """A host that was told to is there again, by another start, with its files and without what
    it had in memory."""
    host.write("/srv/kept", "")
    host.run("touch /run/lost")
    before = host.run("cat /proc/sys/kernel/random/boot_id").stdout
    host.run("systemctl reboot", check=False)
    deadline = time.monotonic() + 120
    after = before
    while after == before:
        assert time.monotonic() < deadline, "it does not come back"
        time.sleep(0.2)
        with contextlib.suppress(LabError, OSError):
            after = host.run("cat /proc/sys/kernel/random/boot_id").stdout
    assert host.exists("/srv/kept")
    assert not host.exists("/run/lost")


def test_an_unplugged_host_does_not_answer(lab: Lab, host: Host) -> None:
    """Without its cable a host answers nothing, neither yes nor no, until it is plugged in."""
    host.plug(connected=False)
    with pytest.raises(OSError, match=r"timed out|No route"):
        socket.create_connection((host.address, 22), timeout=0.5)
    host.plug(connected=True)
    assert ssh(lab, "root", host.address, "true").returncode == 0


def test_killing_sessions_ends_open_connections_only(lab: Lab, host: Host) -> None:
    """The sshd of a session dies under its client; the next connection is served."""
    argv = ["ssh", "-F", "none", "-o", f"UserKnownHostsFile={lab.known_hosts}", "-i"]
    argv += [str(lab.key_file), f"deploy@{host.address}", "echo up; sleep 60"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"up\n"
        host.kill_sessions()
        assert client.wait(timeout=10) == 255
    assert ssh(lab, "root", host.address, "true").returncode == 0


def test_cpu_and_memory_are_counted_per_host(hosts: list[Host]) -> None:
    """Work on one host shows in its CPU time and not in its neighbour's."""
    one, two, _ = hosts
    before = (one.cpu_seconds(), two.cpu_seconds())
    one.run("systemd-run --wait --quiet python3 -c 'sum(range(60_000_000))'")
    assert one.cpu_seconds() - before[0] > 0.2
    assert two.cpu_seconds() - before[1] < 0.1
    assert 5e6 < one.memory_bytes() < 200e6
