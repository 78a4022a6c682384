"""apt and systemd in trouble on one host: a clear error there, the other hosts unharmed."""

import contextlib

from tests.lab import Host, Lab
from tests.lab.machine import LabError
from tests.push.command import Ccm
from tests.remote_runtime.controller import within

INSTALL = """\
ccm:
  resources:
    - package:
        - ccm-hello: {ensure: 2.0-1}
    - file:
        - /srv/made: {content: x, owner: root, group: root, mode: "0644"}
"""

HOLD = (
    'systemd-run --quiet --unit=holder python3 -c "import fcntl, time; '
    "f = open('/var/lib/dpkg/lock-frontend', 'w'); fcntl.lockf(f, fcntl.LOCK_EX); "
    "open('/run/held', 'w'); time.sleep({seconds})\"; "
    "until test -e /run/held; do sleep 0.1; done"
)


def test_a_held_apt_lock_is_waited_for(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """A lock that is let go in time costs only time, and the wait is told with its holder."""
    hosts[0].run(HOLD.format(seconds=300))
    argv = ("push", "-i", str(lab.inventory()), str(ccm.site(INSTALL)))
    with ccm.start(*argv) as push:
        assert push.stdout is not None
        assert push.stderr is not None
        told = next((line for line in push.stdout if "lock-frontend" in line), "")
        hosts[0].run("systemctl stop holder")
        said = push.stdout.read() + push.stderr.read()
    assert push.returncode == 0, said
    assert "web1" in told, said
    assert "python3" in told
    for host in hosts:
        assert host.run("dpkg-query -W -f '${Version}' ccm-hello").stdout == "2.0-1"


def test_a_lock_that_is_never_free(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """After the timeout the package fails with the holder's name; all else is done."""
    hosts[0].run(HOLD.format(seconds=300))
    done = ccm.push(lab.inventory(), INSTALL, "--lock-timeout", "2")
    assert done.code == 1, done.output
    error = done.event("package#ccm-hello", "web1")["error"][0]
    assert "/var/lib/dpkg/lock-frontend" in error
    assert "python3" in error
    assert hosts[0].exists("/srv/made")
    for host in hosts[1:]:
        assert done.event("package#ccm-hello", host.name)["status"] == "changed"
        assert host.run("dpkg-query -W -f '${Version}' ccm-hello").stdout == "2.0-1"
    assert hosts[0].run("dpkg-query -W ccm-hello", check=False).returncode != 0
    # A preview needs no lock.
    assert ccm.push(lab.inventory(), INSTALL, "-l", "web1", "--noop").code == 0


DAILY = {
    "/etc/apt/apt.conf.d/99daily": (
        'APT::Periodic::Update-Package-Lists "1";\n'
        'APT::Update::Pre-Invoke {"while test -e /var/tmp/hold; do sleep 0.2; done";};\n'
    ),
    "/etc/systemd/system/apt-daily.timer.d/now.conf": (
        "[Timer]\nOnCalendar=\nOnBootSec=0\nRandomizedDelaySec=0\n"
    ),
    "/var/tmp/hold": "",
}


def test_apts_own_timer_at_boot(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """A push right after a boot waits for apt-daily, says that it does, and goes on."""
    host = hosts[0]
    for path, text in DAILY.items():
        host.write(path, text)
    host.run("systemctl unmask apt-daily.timer && systemctl enable apt-daily.timer")
    host.stop()
    host.launch()
    with contextlib.suppress(LabError):  # it counts as booted only once apt-daily is done
        host.wait_until_booted(seconds=5)
    begun = "systemctl is-active -q ssh && pgrep -x apt-get"
    assert within(120, lambda: host.running and host.run(begun, check=False).returncode == 0)
    argv = ("push", "-i", str(lab.inventory()), "-l", host.name, "--refresh-lists")
    with ccm.start(*argv, str(ccm.site(INSTALL))) as push:
        assert push.stdout is not None
        assert push.stderr is not None
        told = next((line for line in push.stdout if "lists/lock" in line), "")
        host.run("rm /var/tmp/hold")
        said = push.stdout.read() + push.stderr.read()
    assert push.returncode == 0, said
    assert "apt-daily.service" in told, said
    assert host.run("dpkg-query -W -f '${Version}' ccm-hello").stdout == "2.0-1"


SERVICE = """\
ccm:
  resources:
    - file:
        - /etc/systemd/system/broken.service:
            content: |
              [Service]
              ExecStart=/bin/sh -c 'echo the reason is on {{ Host.name }}; \\
                test "$(hostname)" = web2 && exec sleep 300; exit 3'
              [Install]
              WantedBy=multi-user.target
            owner: root
            group: root
            mode: "0644"
    - service:
        - broken: {ensure: running, enable: true}
    - exec:
        - gated: {command: touch /srv/gated, require: [service#broken]}
    - package:
        - ccm-broken: {ensure: present}
        - ccm-unmet: {ensure: present}
        - ccm-never-heard-of: {ensure: present}
    - file:
        - /srv/made: {content: x, owner: root, group: root, mode: "0644"}
"""


def test_units_and_packages_that_fail(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """A unit that does not start fails with its journal, a package with what apt said."""
    done = ccm.push(lab.inventory(), SERVICE)
    assert done.code == 1, done.output
    for host in hosts:
        assert host.exists("/srv/made")
        service = done.event("service#broken", host.name)
        if host.name == "web2":
            assert service["status"] == "changed"
            assert host.exists("/srv/gated")
            continue
        assert service["status"] == "failed"
        told = "\n".join(service["error"])
        assert "broken.service" in told
        assert f"the reason is on {host.name}" in told
        assert done.event("exec#gated", host.name)["unmet_requirements"] == ["service#broken"]
        assert not host.exists("/srv/gated")
    errors = {
        name: "\n".join(done.event(f"package#{name}")["error"])
        for name in ("ccm-broken", "ccm-unmet", "ccm-never-heard-of")
    }
    assert "as intended" in errors["ccm-broken"]
    assert "ccm-does-not-exist" in errors["ccm-unmet"]
    assert "ccm-never-heard-of" in errors["ccm-never-heard-of"]
    # One line for both or one for each: that depends on what their journals have by then.
    unsettled = "failed service#broken: desired state not achieved: broken.service stopped"
    assert unsettled in done.stdout
