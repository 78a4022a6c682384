"""Services on a real Debian host, with the real runtime."""

from __future__ import annotations

from typing import Any

import pytest

from ...lab import Host, Lab
from ..on_host import apply, resource


@pytest.fixture(scope="module")
def debian(lab: Lab) -> Host:
    """One fresh host with the suite's units installed."""
    host = lab.hosts["web2"]
    host.reset()
    host.run("apt-get install -q -y ccm-units ccm-pkg01 ccm-pkg02 ccm-pkg03")
    return host


def service(name: str, **properties: Any) -> dict[str, Any]:
    return resource("service", name, **properties)


def one(host: Host, name: str, noop: bool = False, **properties: Any) -> dict[str, Any]:
    return apply(host, service(name, **properties), noop=noop).events[f"service#{name}"]


def state(host: Host, unit: str) -> tuple[str, str]:
    active = host.run(f"systemctl is-active {unit}", check=False).stdout.strip()
    return active, host.run(f"systemctl is-enabled {unit}", check=False).stdout.strip()


def invocation(host: Host, unit: str) -> str:
    return host.run(f"systemctl show -P InvocationID {unit}").stdout


@pytest.mark.parametrize("name", ["ccm-app@1", "ccm-pkg01.service"])
def test_running_and_enabled_in_turn(debian: Host, name: str) -> None:
    """Each wish changes once, is previewed in the documented words, and is stable then."""
    if name == "ccm-pkg01.service":
        debian.write("/etc/systemd/system/ccm-pkg01.service.d/i.conf", "[Install]\nAlias=x.service")
    for wish, message, after in (
        ({"enable": True}, "Would have started, would have enabled", ("active", "enabled")),
        ({"ensure": "stopped"}, "Would have stopped", ("inactive", "enabled")),
        ({"ensure": "stopped", "enable": False}, "Would have disabled", ("inactive", "disabled")),
        ({}, "Would have started", ("active", "disabled")),
    ):
        before = state(debian, name)
        preview = one(debian, name, noop=True, **wish)
        assert (preview["noop_message"], preview["changed"]) == (message, True)
        assert state(debian, name) == before
        event = one(debian, name, **wish)
        assert (event["failed"], event["changed"]) == (False, True), event
        assert state(debian, name) == after
        again = one(debian, name, **wish)
        assert (again["failed"], again["changed"]) == (False, False), again


def test_a_package_its_unit_and_a_restart(debian: Host) -> None:
    """Previewed with nothing there, pushed, stable, and restarted when its file changes."""

    def plan(text: str) -> list[dict[str, Any]]:
        path = "/etc/default/ccm-daemon"
        attributes = {"owner": "root", "group": "root", "mode": "0644"}
        command = f"/bin/sh -c 'grep -qx {text} {path} || echo {text} > {path}'"
        return [
            resource("package", "ccm-daemon"),
            resource("file", path, ensure="present", **attributes),
            resource("exec", "configure", command=command, unless=f"grep -qx {text} {path}"),
            service("ccm-daemon", enable=True, subscribe=["exec#configure"]),
        ]

    preview = apply(debian, *plan("A=1"), noop=True).events
    assert not [event["error"] for event in preview.values() if event["failed"]]
    event = preview["service#ccm-daemon"]
    # The package itself enables and starts it; the command may do anything in between.
    assert event["noop_message"] == "Would have restarted via subscribe"
    assert event["prediction"] == "assumed"
    pushed = apply(debian, *plan("A=1")).events
    assert pushed["service#ccm-daemon"]["changes"] == event["changes"]
    assert not [event for event in pushed.values() if event["failed"]], pushed
    assert state(debian, "ccm-daemon") == ("active", "enabled")
    first = invocation(debian, "ccm-daemon")
    assert not [e for e in apply(debian, *plan("A=1")).events.values() if e["changed"]]
    assert invocation(debian, "ccm-daemon") == first
    preview = apply(debian, *plan("A=2"), noop=True).events
    message = preview["service#ccm-daemon"]["noop_message"]
    assert message == "Would have restarted via subscribe"
    assert apply(debian, *plan("A=2")).events["service#ccm-daemon"]["refreshed"]
    assert invocation(debian, "ccm-daemon") != first


def test_a_changed_unit_file_is_in_force(debian: Host) -> None:
    """A unit file that changed in the same run is reloaded before the service is restarted."""
    unit = "/etc/systemd/system/ccm-made.service"

    def plan(seconds: int) -> list[dict[str, Any]]:
        text = f"[Service]\\nExecStart=/bin/sleep {seconds}\\n"
        command = f"/bin/sh -c \"printf '{text}' > {unit}\""
        write = resource("exec", "write", command=command, unless=f"grep -q {seconds} {unit}")
        return [write, service("ccm-made", subscribe=["exec#write"])]

    for seconds in (1001, 1002):
        run = apply(debian, *plan(seconds))
        assert not run.events["service#ccm-made"]["failed"], run.events
        pid = debian.run("systemctl show -P MainPID ccm-made").stdout.strip()
        assert f"sleep\0{seconds}" in debian.read(f"/proc/{pid}/cmdline")


def test_units_that_cannot_run(debian: Host) -> None:
    """Not found, masked and failing units each fail with the reason and the fix."""
    debian.run("systemctl mask ccm-pkg02")
    missing = one(debian, "ccm-nosuch", enable=True)
    assert "service not found" in missing["error"][0]
    for noop in (True, False):
        masked = one(debian, "ccm-pkg02", noop=noop)
        assert masked["failed"]
        assert "systemctl unmask ccm-pkg02" in masked["error"][0]
    fails = one(debian, "ccm-fails")
    assert "stopped immediately after it was started" in fails["error"][0]
    assert any("as intended" in line for line in fails["error"]), fails["error"]
    unit = "[Unit]\nConditionPathExists=/nowhere\n[Service]\nExecStart=/bin/sleep 1000\n"
    debian.write("/etc/systemd/system/ccm-skipped.service", unit)
    skipped = one(debian, "ccm-skipped")
    assert "did not start because ConditionPathExists=/nowhere is not met" in skipped["error"][0]


def test_a_unit_without_an_install_section(debian: Host) -> None:
    """A static unit satisfies either value of enable."""
    for enable in (True, False):
        event = one(debian, "ccm-static", enable=enable)
        assert not event["failed"], event
    assert state(debian, "ccm-static") == ("active", "static")


def test_a_crash_loop_is_stopped(debian: Host) -> None:
    """A unit that systemd starts again and again fails when it should run and can be stopped."""
    text = "[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=1\nStartLimitBurst=1000\n"
    debian.write("/etc/systemd/system/ccm-loop.service", text)
    event = one(debian, "ccm-loop")
    assert event["failed"]
    assert "auto-restart" in str(event["error"])
    event = one(debian, "ccm-loop", ensure="stopped")
    assert (event["failed"], event["changed"]) == (False, True), event
    assert state(debian, "ccm-loop")[0] in ("inactive", "failed")


@pytest.mark.long("notify")
@pytest.mark.parametrize(
    ("kind", "more", "then"),
    [
        ("oneshot", "RemainAfterExit=yes", "true"),
        ("notify", "NotifyAccess=all", "systemd-notify --ready; exec sleep 1000"),
    ],
)
def test_a_unit_that_takes_long_to_start(debian: Host, kind: str, more: str, then: str) -> None:
    """On its way up it counts as stopped. A push waits for the start that goes on, and begins no
    second one; one that is to be stopped is stopped."""
    name, gate, starts = f"ccm-slow-{kind}", f"/root/go-{kind}", f"/root/starts-{kind}"
    script = f"echo >> {starts}; until test -e {gate}; do sleep 0.2; done; {then}"
    text = f"[Service]\nType={kind}\n{more}\nExecStart=/bin/sh -c '{script}'\n"
    debian.write(f"/etc/systemd/system/{name}.service", text)
    begin = f"systemctl daemon-reload; systemctl start --no-block {name}; "
    debian.run(begin + f"until test -e {starts}; do sleep 0.1; done")
    for wish, message in (("running", "Would have started"), ("stopped", "Would have stopped")):
        preview = one(debian, name, noop=True, ensure=wish)
        assert (preview["noop_message"], preview["prediction"]) == (message, "certain")
    assert state(debian, name)[0] == "activating"
    debian.run(f"(sleep 3; touch {gate}) >/dev/null 2>&1 &")
    event = one(debian, name)
    assert (event["failed"], event["changed"]) == (False, True), event
    assert state(debian, name)[0] == "active"
    assert not one(debian, name)["changed"]
    assert debian.read(starts) == "\n"
    debian.run(f"rm {gate}; systemctl restart --no-block {name}; sleep 0.5")
    event = one(debian, name, ensure="stopped")
    assert (event["failed"], event["changed"]) == (False, True), event
    assert state(debian, name)[0] in ("inactive", "failed")


def test_one_command_whatever_the_number_of_services(debian: Host) -> None:
    """Many converged services cost one call of systemctl."""
    names = [f"ccm-app@{number}" for number in range(40)]
    apply(debian, *[service(name, ensure="stopped") for name in names])
    debian.run("mkdir -p /usr/local/sbin && rm -f /root/calls")
    wrapper = '#!/bin/sh\necho $1 >> /root/calls\nexec /usr/bin/systemctl.real "$@"\n'
    debian.run("mv /usr/bin/systemctl /usr/bin/systemctl.real")
    debian.write("/usr/bin/systemctl", wrapper, mode=0o755)
    try:
        run = apply(debian, *[service(name, ensure="stopped") for name in names])
    finally:
        debian.run("mv /usr/bin/systemctl.real /usr/bin/systemctl")
    assert len(run.events) == 40
    assert debian.path("/root/calls").read_text().split() == ["show"]


def test_a_program_that_systemd_executes_late(debian: Host) -> None:
    """Started or restarted, a service is as its program was, however long systemd prepared it."""
    debian.write("/etc/pam.d/ccm-late", "session required pam_exec.so /bin/sleep 1\n")
    text = "[Service]\nUser=root\nPAMName=ccm-late\nExecStart=/usr/local/bin/ccm-late\n"
    debian.write("/etc/systemd/system/ccm-late.service", text)
    failed = one(debian, "ccm-late")
    assert "stopped immediately after it was started" in failed["error"][0], failed
    debian.write("/usr/local/bin/ccm-late", "#!/bin/sh\nexec sleep 1000\n", mode=0o755)
    started = one(debian, "ccm-late")
    assert (started["failed"], started["changed"]) == (False, True), started
    debian.run("rm /usr/local/bin/ccm-late")
    change = resource("exec", "change", command="true")
    run = apply(debian, change, service("ccm-late", subscribe=["exec#change"]))
    assert "stopped immediately after" in run.events["service#ccm-late"]["error"][0], run.events
    debian.run("systemctl stop ccm-late; systemctl reset-failed ccm-late")


OWN = """[Service]
ExecStart=/bin/sleep infinity
ExecReload=/bin/touch /run/ccm-own-reloaded
[Install]
WantedBy=multi-user.target
"""


def test_a_unit_of_its_own(debian: Host) -> None:
    """Its text, its settings, a reload and a mask, each with the records of its preview."""
    stopped: dict[str, Any] = {"ensure": "stopped", "enable": False}
    rows: tuple[tuple[dict[str, Any], str, tuple[str, str]], ...] = (
        (
            {"unit": OWN, "enable": True},
            "Would have written the unit file, would have started, would have enabled",
            ("active", "enabled"),
        ),
        (
            {"settings": {"Service": {"Nice": 5}}, "reload": True},
            "Would have written the settings, would have restarted",
            ("active", "enabled"),
        ),
        (
            {"settings": {}},
            "Would have removed the settings, would have restarted",
            ("active", "enabled"),
        ),
        (stopped, "Would have stopped, would have disabled", ("inactive", "disabled")),
    )
    for wish, message, after in rows:
        preview = one(debian, "ccm-own", noop=True, **wish)
        assert preview["noop_message"] == message
        event = one(debian, "ccm-own", **wish)
        assert (event["failed"], event["changes"]) == (False, preview["changes"]), event
        assert state(debian, "ccm-own") == after
        assert not one(debian, "ccm-own", **wish)["changed"]
    assert debian.run("systemctl show -P Nice ccm-own").stdout.strip() == "0"
    debian.run("rm /etc/systemd/system/ccm-own.service; systemctl daemon-reload")
    event = one(debian, "ccm-own", **stopped, masked=True)
    assert event["changes"] == [{"what": "masked", "from": False, "to": True}], event
    assert state(debian, "ccm-own") == ("inactive", "masked")
    assert not one(debian, "ccm-own", **stopped, masked=True)["changed"]
    again: dict[str, Any] = {"masked": False, "unit": OWN, "reload": True}
    assert not one(debian, "ccm-own", **again)["failed"]
    before = invocation(debian, "ccm-own")
    change = resource("exec", "change", command="true")
    events = apply(debian, change, service("ccm-own", **again, subscribe=["exec#change"])).events
    assert events["service#ccm-own"]["changes"] == [
        {"what": "ensure", "from": "running", "to": "reloaded"}
    ]
    assert invocation(debian, "ccm-own") == before
    debian.run("test -e /run/ccm-own-reloaded")


def test_a_unit_of_a_user(debian: Host) -> None:
    """It runs in the manager of the user, its files are the user's, and lingering comes first."""
    unit = "[Service]\nExecStart=/bin/sleep 1h\n[Install]\nWantedBy=default.target\n"
    wish: dict[str, Any] = {
        "user": "alice",
        "unit": unit,
        "settings": {"Service": {"Nice": 1}},
        "enable": True,
    }
    alone = one(debian, "ccm-own", noop=True, **wish)
    assert "loginctl enable-linger alice" in alone["error"][0], alone
    command = "loginctl enable-linger alice"
    linger = resource("exec", command, creates="/var/lib/systemd/linger/alice")
    plan = [linger, service("ccm-own", **wish)]
    preview = apply(debian, *plan, noop=True).events["service#ccm-own"]
    assert preview["prediction"] == "assumed", preview["prediction_reason"]
    event = apply(debian, *plan).events["service#ccm-own"]
    assert (event["failed"], event["changes"]) == (False, preview["changes"]), event
    asked = "XDG_RUNTIME_DIR=/run/user/$(id -u alice) runuser -u alice -- systemctl --user"
    for question, answer in (("is-active", "active"), ("is-enabled", "enabled")):
        assert debian.run(f"{asked} {question} ccm-own").stdout.strip() == answer
    owners = "stat -c %U -- $(find /home/alice/.config)"
    assert set(debian.run(owners).stdout.split()) == {"alice"}
    assert one(debian, "ccm-own", **wish)["status"] == "stable"
    gone = one(debian, "ccm-own", user="alice", ensure="stopped", enable=False)
    assert gone["changed"], gone
    assert debian.run(f"{asked} is-active ccm-own", check=False).stdout.strip() == "inactive"
    debian.run("loginctl disable-linger alice; rm -r /home/alice/.config")
