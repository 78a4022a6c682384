"""The unit through which a push came to its host is not stopped by it, on a real host."""

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm

SITE = """\
ccm:
  resources:
    - service:
        - {name}: {properties}
"""


@pytest.mark.parametrize(
    ("name", "properties", "doing"),
    [
        ("ssh", "{ensure: stopped}", "stopping ssh"),
        ("sshd", "{ensure: stopped, enable: false, masked: true}", "stopping sshd"),
        ("ssh", "{enable: false}", "disabling ssh"),
    ],
)
def test_server_of_the_login(
    ccm: Ccm, lab: Lab, host: Host, name: str, properties: str, doing: str
) -> None:
    """The SSH server is neither stopped nor disabled without force, in previews neither."""
    inventory = lab.inventory(user="deploy", become=True)
    site = SITE.format(name=name, properties=properties)
    for options in ((), ("--noop",)):
        done = ccm.push(inventory, site, "-l", "web1", *options)
        assert done.code == 1, done.output
        assert f"{doing} could lock out this run" in " ".join(done.output.split())
    assert host.run("systemctl is-active ssh; systemctl is-enabled ssh").stdout.split() == [
        "active",
        "enabled",
    ]
    forced = SITE.format(name=name, properties=properties.replace("}", ", force: true}"))
    done = ccm.push(inventory, forced, "-l", "web1", "--noop")
    assert done.code == 0, done.output


def test_socket_in_place_of_the_server(ccm: Ccm, lab: Lab, host: Host) -> None:
    """Where the socket is enabled, the server need not be; the socket then may not be stopped."""
    host.run("systemctl disable --now ssh; systemctl enable --now ssh.socket")
    inventory = lab.inventory()
    done = ccm.push(inventory, SITE.format(name="ssh", properties="{enable: false}"), "-l", "web1")
    assert done.code == 0, done.output
    stopped = SITE.format(name="ssh.socket", properties="{ensure: stopped}")
    done = ccm.push(inventory, stopped, "-l", "web1", "--noop")
    assert done.code == 1, done.output
    assert "stopping ssh.socket could lock out this run" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("resource", "lost"),
    [
        ("file: [{/etc/sudoers.d/lab: {ensure: absent}}]", "the user's last sudo rule"),
        ("edit: [{/etc/sudoers.d/lab: {match: ^deploy, ensure: absent}}]",
         "the user's last sudo rule"),
        ("file: [{HOME/.ssh/authorized_keys: {ensure: absent}}]", "the key SHA256:"),
        ("edit: [{HOME/.ssh/authorized_keys: {match: ^ssh, ensure: absent}}]", "the key SHA256:"),
        ("file: [{HOME/.ssh: {ensure: directory, owner: deploy, group: deploy, mode: '0700',"
         " purge: true}}]", "the key SHA256:"),
    ],
)  # fmt: skip
def test_files_of_the_login(ccm: Ccm, lab: Lab, host: Host, resource: str, lost: str) -> None:
    """The key and the rule of sudo that a push uses stay, in whatever type they are removed."""
    inventory = lab.inventory(user="deploy", become=True)
    site = "ccm:\n  resources:\n    - " + resource.replace("HOME", "/home/deploy") + "\n"
    for options in (("--noop",), ()):
        done = ccm.push(inventory, site, "-l", "web1", *options)
        assert done.code == 1, done.output
        said = " ".join(done.output.split())
        assert f"removing {lost}" in said
        assert "could lock out deploy" in said
    if "purge" not in site:
        forced = site.replace("absent}", "absent, force: true}")
        assert ccm.push(inventory, forced, "-l", "web1", "--noop").code == 0
    assert (
        ccm.push(inventory, "ccm: {resources: [{exec: [{'true': {}}]}]}\n", "-l", "web1").code == 0
    )


def test_other_services(ccm: Ccm, lab: Lab, host: Host) -> None:
    """A service that the push did not come through is stopped without force."""
    host.write("/etc/systemd/system/other.service", "[Service]\nExecStart=sleep infinity\n")
    host.run("systemctl daemon-reload; systemctl start other")
    site = SITE.format(name="other", properties="{ensure: stopped}")
    done = ccm.push(lab.inventory(), site, "-l", "web1", "--noop")
    assert done.code == 0, done.output
