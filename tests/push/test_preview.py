"""A preview changes nothing on a host, and says what it cannot know."""

from tests.lab import Host, Lab
from tests.push.command import Ccm, Run
from tests.push.target import Target

PENDING = """\
ccm:
  resources:
    - package:
        - ccm-daemon: {ensure: present}
        - ccm-hello: {ensure: 1.0-1}
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/motd: {content: "changed\\n"}
        - /srv/p: {ensure: directory}
        - /srv/p/inside: {content: "known\\n"}
        - /etc/ccm-daemon.d/conf: {content: "its directory may come with the package\\n"}
        - /srv/owned: {content: x, owner: ccm-daemon-user}
        - /srv/copied: {source: /usr/share/ccm-hello/version}
        - /srv/rendered: {content: "{{ file('/usr/share/ccm-hello/version') }}"}
        - /srv/known: {content: "{{ file('/etc/hostname') }}"}
        - /root/.profile: {ensure: absent}
        - /opt: {ensure: absent}
    - exec:
        - guarded: {command: touch /srv/guarded, onlyif: ccm-daemon --check}
        - program: {command: ccm-daemon --once}
        - reads: {command: "echo {{ file('/srv/p/inside') }}", refresh_only: true}
        - fired: {command: "echo {{ file('/srv/p/inside') }}", subscribe: [file#/etc/motd]}
        - plain: {command: touch /srv/plain}
        - asked: {command: touch /srv/asked, onlyif: test -e /etc/hostname}
        - as-user: {command: touch /srv/as-user, user: ccm-daemon-user}
    - service:
        - ccm-daemon: {ensure: running, enable: true, subscribe: [file#/etc/motd]}
        - cron-that-is-nowhere: {ensure: running}
        - ssh: {ensure: stopped, force: true}
    - file:
        - /srv/p/after: {content: x, owner: root, group: root, mode: "0644",
                         require: [service#ccm-daemon]}
"""

BEFORE_PACKAGES = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /srv/no/parent: {content: x}
        - /srv/owned: {content: x, owner: ccm-daemon-user}
        - /srv/copied: {source: /usr/share/ccm-hello/version}
        - /srv/rendered: {content: "{{ file('/usr/share/ccm-hello/version') }}"}
    - service:
        - ccm-daemon: {ensure: running}
    - package:
        - ccm-daemon: {ensure: present}
"""

CHECKSUM = (
    "find / -xdev \\( -path /proc -o -path /sys -o -path /run -o -path /root/.cache "
    "-o -path /var/log -o -path /tmp -o -path /dev \\) -prune -o "
    "-printf '%p %y %m %U %G %s %T@ %C@ %l\\n' | grep -v '^/root d \\|^/ d ' | sort"
)


def inert(remote: Target, host: Host, *options: str) -> Run:
    """The preview of ``PENDING``, of which nothing but the runtime's cache differs afterwards."""
    before = host.run(CHECKSUM).stdout
    units = host.run("systemctl list-units --no-legend --plain ssh.service").stdout
    preview = remote.push(PENDING, "--noop", *options)
    assert host.run(CHECKSUM).stdout == before
    assert host.run("systemctl list-units --no-legend --plain ssh.service").stdout == units
    return preview


def doubted(preview: Run) -> set[str]:
    """The resources of which the preview is not certain."""
    return {f"{e['type']}#{e['name']}" for e in preview.events if e["prediction"] == "unknown"}


def test_what_a_package_brings_is_known(remote: Target, host: Host) -> None:
    """What it does not bring is missing for certain, and its own programs and units are there."""
    preview = inert(remote, host)
    failed = {f"{e['type']}#{e['name']}" for e in preview.events if e["failed"]}
    assert failed == {"file#/etc/ccm-daemon.d/conf", "file#/srv/owned"}
    assert doubted(preview) == {
        "exec#guarded",
        "exec#as-user",
        "service#cron-that-is-nowhere",
    }


def test_nothing_changes_and_unknowns_are_named(remote: Target, host: Host) -> None:
    """Where packages are not looked into, what is pending with them is unknown and nothing else."""
    preview = inert(remote, host, "--no-package-probe")
    assert preview.code == 0, preview.output
    assert [e["name"] for e in preview.events if e["failed"]] == []
    assert doubted(preview) == {
        "file#/etc/ccm-daemon.d/conf",
        "file#/srv/owned",
        "file#/srv/copied",
        "file#/srv/rendered",
        "file#/srv/p/after",
        "file#/opt",  # a package may put something there, and a directory with contents stays
        "exec#guarded",
        "exec#program",
        "exec#as-user",
        "service#ccm-daemon",
        "service#cron-that-is-nowhere",
        "service#ssh",  # a script of the package may start or stop it
    }
    for event in preview.events:
        assert event["noop"] is True
        if event["prediction"] == "unknown":
            assert event["prediction_reason"], event
            assert event["status"] == "stable" or event["noop_message"], event
    said = {f"{e['type']}#{e['name']}": e.get("noop_message") for e in preview.events}
    assert said["package#ccm-hello"] == "Would have installed version 1.0-1"
    assert said["file#/etc/motd"] == "Would have created the file"
    assert said["exec#asked"] == "Would have executed"
    assert said["exec#fired"] == "Would have executed via subscribe"
    assert preview.event("exec#reads")["status"] == "stable"
    assert said["service#ssh"] == "Would have stopped"
    assert preview.event("service#ccm-daemon")["refreshed"] is True
    assert "unknown (" in preview.stdout


def test_what_nothing_pending_could_bring_fails(remote: Target) -> None:
    """Where no earlier change can help, a preview fails as the push would."""
    preview = remote.push(BEFORE_PACKAGES, "--noop")
    assert preview.code == 1, preview.output
    failed = {f"{e['type']}#{e['name']}" for e in preview.events if e["failed"]}
    assert failed == {
        "file#/srv/no/parent",
        "file#/srv/owned",
        "file#/srv/copied",
        "file#/srv/rendered",
        "service#ccm-daemon",
    }


CONFIGURED = """\
ccm:
  resources:
    - package:
        - ccm-daemon: {ensure: present}
    - file:
        - /etc/default/ccm-daemon: {content: "A=1\\n", owner: root, group: root, mode: "0644"}
    - service:
        - ccm-daemon: {ensure: running, enable: true, subscribe: [file#/etc/default/ccm-daemon]}
"""


def test_a_preview_is_what_the_push_then_does(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """On hosts in different states the preview names just the resources that the push changes."""
    hosts[0].run("apt-get install -qy ccm-daemon", timeout=60)
    hosts[1].run("apt-get install -qy ccm-daemon", timeout=60)
    hosts[1].run("systemctl disable --now ccm-daemon")
    inventory = lab.inventory()
    preview = ccm.push(inventory, CONFIGURED, "--noop")
    done = ccm.push(inventory, CONFIGURED)
    assert (preview.code, done.code) == (0, 0), preview.output + done.output
    for host in hosts:
        seen, made = preview.of(host.name), done.of(host.name)
        assert {n: e["status"] for n, e in seen.items()} == {
            n: e["status"] for n, e in made.items()
        }
        assert host.run("systemctl is-active ccm-daemon").stdout == "active\n"
    again = ccm.push(inventory, CONFIGURED, "--detailed-exitcode")
    assert again.code == 0, again.output


def test_what_packages_hold_is_known_as_long_as_it_is_true(
    ccm: Ccm, lab: Lab, hosts: list[Host]
) -> None:
    """What came with an installation stays known; what it belies is forgotten."""
    inventory = lab.inventory()
    assert ccm.push(inventory, CONFIGURED, "--noop", "-l", "web1").code == 0
    (known,) = (ccm.scratch / "state" / "ccm" / "packages").glob("*.json")
    assert ccm.push(inventory, CONFIGURED, "-l", "web1").code == 0
    assert known.exists()
    known.write_text(known.read_text().replace("/usr/sbin/ccm-daemon", "/usr/sbin/ccm-other"))
    assert ccm.push(inventory, CONFIGURED, "-l", "web2").code == 0
    assert not known.exists()
