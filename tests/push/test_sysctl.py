"""Kernel parameters as a push leaves them on a booted host, asked of its own programs; over SSH."""

from tests.lab import Host
from tests.push.target import Target

FILE = "/etc/sysctl.d/99-ccm.conf"
LOOK = "cat /proc/sys/net/ipv[46]/conf/*/* 2>/dev/null; ls /etc/sysctl.d"
ALL = """\
ccm:
  resources:
    - sysctl:
        - net.ipv4.ip_forward: {value: 1}
        - net/ipv4/conf/all/forwarding: {value: 1}
        - net.ipv4.conf.all.accept_redirects: {value: 0}
        - net.ipv4.ip_local_port_range: {value: "20000   60999"}
        - net.ipv4.tcp_fin_timeout: {value: 31, live: false}
        - net.nowhere.x: {value: 1, ignore_unknown: true}
        - net.ipv4.tcp_keepalive_time: {ensure: absent}
    - exec:
        - sysctl -n net.ipv4.ip_forward | grep 1: {provider: shell}
"""
REFUSED = """\
ccm:
  resources:
    - sysctl:
        - vm.swappiness: {value: 11}
        - net.ipv4.ip_forwrd: {value: 1}
        - net.ipv4.route.flush: {value: 1}
        - net.ipv4.tcp_sack: {value: 1}
        - net.ipv4.ip_default_ttl: {value: 300}
        - vm.overcommit_memory: {value: 1, live: false}
"""
REASONS = {
    "vm.swappiness": "read-only here; this host may be a container",
    "net.ipv4.ip_forwrd": "did you mean net.ipv4.ip_forward?",
    "net.ipv4.route.flush": "could not read",
    "net.ipv4.tcp_sack": "/etc/sysctl.conf:1 sets net.ipv4.tcp_sack to 0",
    "net.ipv4.ip_default_ttl": "the kernel refuses the value '300'",
}


def test_parameters(remote: Target, host: Host) -> None:
    """Every way to ask for a parameter gives just that, is previewed the same, and is stable."""
    host.write(FILE, "# ours\nnet.ipv4.tcp_keepalive_time = 60\n")
    before = host.run(LOOK).stdout
    preview = remote.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert host.run(LOOK).stdout == before
    assert {
        event["name"]: event["prediction"]
        for event in preview.events
        if event["prediction"] != "certain"
    } == {"net.ipv4.ip_local_port_range": "assumed"}
    done = remote.push(ALL)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    for event in done.events:
        told = preview.event(f"{event['type']}#{event['name']}", "web1")["changes"]
        assert event["changes"] == told
    assert host.run("sysctl -n net.ipv4.conf.eth0.forwarding").stdout == "1\n"
    assert host.run("sysctl -n net.ipv4.tcp_fin_timeout").stdout != "31\n"
    assert host.read(FILE).splitlines() == [
        "# ours",
        "net.ipv4.ip_forward = 1",
        "net/ipv4/conf/all/forwarding = 1",
        "net.ipv4.conf.all.accept_redirects = 0",
        "net.ipv4.ip_local_port_range = 20000 60999",
        "net.ipv4.tcp_fin_timeout = 31",
        "net.nowhere.x = 1",
    ]
    assert host.run("/lib/systemd/systemd-sysctl", check=False).stderr.count("rror") == 0
    assert host.run("sysctl -n net.ipv4.tcp_fin_timeout").stdout == "31\n"

    again = remote.push(ALL, "--detailed-exitcode", "--verify")
    assert again.code in (0, 4), again.output
    changed = {name for name, status in remote.statuses(again).items() if status != "stable"}
    assert {name.partition("#")[0] for name in changed} == {"exec"}


def test_what_is_refused(remote: Target, host: Host) -> None:
    """A refusal fails its resource with the reason, in a preview too where that can be known."""
    host.write("/etc/sysctl.conf", "net.ipv4.tcp_sack = 0\n")
    for options in (("--noop",), ()):
        run = remote.push(REFUSED, *options)
        assert run.code == 1, run.output
        for name, reason in REASONS.items():
            event = run.event(f"sysctl#{name}", "web1")
            if options and "refuses" in reason:
                assert event["prediction"] == "assumed"
            else:
                assert reason in event["error"][0], event
    assert host.read(FILE).splitlines()[1:] == ["vm.overcommit_memory = 1"]
