"""sudo in its forms: without a password, with one, to another user, and not allowed."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.lab import PASSWORDS, Host, Lab
from tests.push.command import Ccm

SITE = """\
ccm:
  resources:
    - exec:
        - who:
            command: "id -un > /srv/who-{{ Host.name }}; echo $HOME >> /srv/who-{{ Host.name }}"
            provider: shell
"""

AS_APPUSER = SITE.replace("/srv/", "/var/tmp/")


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, str]:
    """The environment that carries alice's password."""
    return {"CCM_BECOME_PASSWORD": PASSWORDS["alice"]}


def test_sudo_without_a_password(ccm: Ccm, lab: Lab, host: Host, tmp_path: Path) -> None:
    """deploy becomes root without being asked."""
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="deploy", become=True)
    done = ccm.push(inventory, SITE, "-l", "web1")
    assert done.code == 0, done.output
    assert host.read("/srv/who-web1") == "root\n/root\n"


def test_sudo_with_a_password_from_the_environment(
    lab: Lab, hosts: list[Host], tmp_path: Path, secrets: dict[str, str]
) -> None:
    """alice becomes root on all hosts with one password, which stands in no output and no file."""
    ccm = Ccm(tmp_path, secrets)
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="alice", become=True)
    done = ccm.push(inventory, SITE, "-v")
    assert done.code == 0, done.output
    assert all(host.read(f"/srv/who-{host.name}") == "root\n/root\n" for host in hosts)
    assert PASSWORDS["alice"] not in done.output
    kept = [p for p in (tmp_path / "state").rglob("*") if p.is_file()]
    assert kept
    assert all(PASSWORDS["alice"].encode() not in path.read_bytes() for path in kept)


def test_sudo_with_a_password_from_a_command(lab: Lab, host: Host, tmp_path: Path) -> None:
    """The password may come from a command, such as a password manager's."""
    command = f"printf %s {PASSWORDS['alice']}"
    ccm = Ccm(tmp_path, {"CCM_BECOME_PASSWORD_COMMAND": command})
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="alice", become=True)
    done = ccm.push(inventory, SITE, "-l", "web1")
    assert done.code == 0, done.output
    assert host.read("/srv/who-web1") == "root\n/root\n"


@pytest.mark.parametrize("engine", ["threads", "processes:3"])
def test_a_wrong_sudo_password_is_tried_on_two_hosts(
    lab: Lab, hosts: list[Host], tmp_path: Path, engine: str
) -> None:
    """A password that two hosts refuse is not tried on a third: no account is locked fleet-wide,
    nor where each host has a process of its own."""
    ccm = Ccm(tmp_path, {"CCM_BECOME_PASSWORD": "not-the-password"})
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="alice", become=True)
    done = ccm.push(inventory, SITE, "--engine", engine)
    assert done.code == 1, done.output
    assert "sudo" in done.output
    assert "not-the-password" not in done.output
    attempts = [
        host.run("journalctl -q --no-pager -t sudo | grep -c 'incorrect password' || true").stdout
        for host in hosts
    ]
    assert sorted(int(count) for count in attempts) == [0, 1, 1]


def test_sudo_to_another_user(ccm: Ccm, lab: Lab, host: Host, tmp_path: Path) -> None:
    """bob may become appuser, and the run is appuser's."""
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="bob", become="appuser")
    done = ccm.push(inventory, AS_APPUSER, "-l", "web1")
    assert done.code == 0, done.output
    assert host.read("/var/tmp/who-web1") == "appuser\n/home/appuser\n"


def test_a_user_who_may_not_sudo(lab: Lab, host: Host, tmp_path: Path) -> None:
    """mallory has no sudo: one clear sentence, and nothing is run."""
    ccm = Ccm(tmp_path, {"CCM_BECOME_PASSWORD": PASSWORDS["mallory"]})
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="mallory", become=True)
    done = ccm.push(inventory, SITE, "-l", "web1")
    assert done.code == 1, done.output
    assert "sudo" in done.output
    assert not host.exists("/srv/who-web1")


# A PAM module as those of second factors are: it asks, and is content with no answer.
ASKING = """\
struct message { int style; const char *text; };
struct response { char *text; int code; };
struct conversation {
    int (*ask)(int, const struct message **, struct response **, void *);
    void *of;
};
int pam_get_item(const void *handle, int item, const void **found);
int pam_sm_authenticate(void *handle, int flags, int argc, const char **argv) {
    const struct conversation *talk = 0;
    struct message one = {1, "Verification code: "};
    const struct message *all = &one;
    struct response *said = 0;
    if (pam_get_item(handle, 5, (const void **)&talk) || !talk) return 7;
    talk->ask(1, &all, &said, talk->of);
    return 7;
}
int pam_sm_setcred(void *handle, int flags, int argc, const char **argv) { return 0; }
"""


def test_a_second_factor_is_told_in_seconds(lab: Lab, host: Host, tmp_path: Path) -> None:
    """What a PAM module asks is quoted where sudo shows it, and told where sudo shows our prompt
    for it: a failure, as the host was reached."""
    if shutil.which("cc") is None:
        pytest.skip("there is no cc: install gcc")
    (tmp_path / "asking.c").write_text(ASKING)
    library = tmp_path / "pam_asking.so"
    command = ["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "asking.c")]
    subprocess.run(command, check=True)
    host.path("/usr/lib/pam_asking.so").write_bytes(library.read_bytes())
    auth = "@include common-auth"
    rules = host.read("/etc/pam.d/sudo")
    assert auth in rules
    host.write(
        "/etc/pam.d/sudo", rules.replace(auth, f"{auth}\nauth required /usr/lib/pam_asking.so")
    )
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="alice", become=True)
    ccm = Ccm(tmp_path, {"CCM_BECOME_PASSWORD": PASSWORDS["alice"]})
    done = ccm.push(inventory, SITE, "-l", "web1")
    assert done.code == 1, done.output
    assert "sudo on web1 prompts again after the password" in done.output
    host.write("/etc/sudoers.d/prompt", "Defaults !passprompt_override\n", 0o440)
    began = time.monotonic()
    done = ccm.push(inventory, SITE, "-l", "web1")
    assert time.monotonic() - began < 30
    assert done.code == 1, done.output
    assert "sudo on web1 prompts 'Verification code:' and waits" in done.output
    assert "unreachable" not in done.output
