"""Packages on a real Debian host, with the real runtime."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ...lab import Host, Lab, Package
from ..on_host import Run, apply, resource


@pytest.fixture(scope="module")
def debian(lab: Lab) -> Host:
    """One fresh host for the tests below; each uses packages of its own."""
    lab.hosts["web1"].reset()
    return lab.hosts["web1"]


def package(name: str, **properties: Any) -> dict[str, Any]:
    return resource("package", name, **properties)


def one(host: Host, name: str, **properties: Any) -> dict[str, Any]:
    plan = {key: properties.pop(key) for key in ("noop", "lock_timeout") if key in properties}
    return apply(host, package(name, **properties), **plan).events[f"package#{name}"]


def installed(host: Host, name: str) -> str:
    query = f"dpkg-query -W -f='${{Version}} ${{db:Status-Status}}' {name}"
    version, _, status = host.run(query, check=False).stdout.partition(" ")
    return version if status == "installed" else ""


def test_each_version_in_turn_and_then_none(debian: Host) -> None:
    """Install, upgrade, downgrade, latest and removal each change once and are stable then."""
    for ensure, version in (
        ("1.1-1", "1.1-1"),
        ("2.0-1", "2.0-1"),
        ("1.0-1", "1.0-1"),
        ("latest", "2.1~rc1-1"),
        ("absent", ""),
        ("present", "2.1~rc1-1"),
    ):
        event = one(debian, "ccm-hello", ensure=ensure)
        assert (event["failed"], event["changed"]) == (False, True), event
        assert event["final_ensure"] == (version or "absent")
        assert installed(debian, "ccm-hello") == version
        again = one(debian, "ccm-hello", ensure=ensure)
        assert (again["failed"], again["changed"]) == (False, False), again


@pytest.mark.long
def test_noop_says_what_the_push_then_does(debian: Host) -> None:
    """A preview changes nothing, is certain, and words each step as documented."""
    for ensure, message in (
        ("present", "Would have installed"),
        ("2.0-1", "Would have downgraded to 2.0-1"),
        ("latest", "Would have upgraded to latest"),
        ("absent", "Would have uninstalled"),
    ):
        name = "ccm-epoch"
        before = installed(debian, name)
        event = one(debian, name, ensure=ensure, noop=True)
        assert event["noop_message"] == message
        assert (event["prediction"], event["changed"]) == ("certain", True)
        assert installed(debian, name) == before
        one(debian, name, ensure=ensure)
        after = one(debian, name, ensure=ensure, noop=True)
        assert not after["changed"], after


def test_a_version_that_dpkg_brought_in_the_same_second(debian: Host) -> None:
    """A version that came past apt, in the second of apt's last look, is seen and replaced."""
    debian.publish(Package("ccm-twin", "1.0-1"), Package("ccm-twin", "1.1-1"))
    debian.run("apt-get update && apt-get install -y ccm-twin=1.0-1")
    # What apt compares is the size and the whole second of this file.
    second = debian.run("stat -c %Y /var/lib/dpkg/status").stdout.strip()
    debian.run("dpkg -i /srv/ccm-repo/ccm-twin_1.1-1_all.deb")
    debian.run(f"touch -d @{second}.2 /var/cache/apt/pkgcache.bin")
    debian.run(f"touch -d @{second}.4 /var/lib/dpkg/status")
    event = one(debian, "ccm-twin", ensure="1.0-1")
    assert (event["error"], event["final_ensure"]) == ([], "1.0-1")


def test_a_changed_conffile_is_kept(debian: Host) -> None:
    """An upgrade asks nothing and leaves a configuration file that was edited as it is."""
    one(debian, "ccm-conf", ensure="1.0-1")
    debian.write("/etc/ccm-conf.conf", "colour = mine\n")
    event = one(debian, "ccm-conf", ensure="2.0-1")
    assert event["final_ensure"] == "2.0-1"
    assert debian.read("/etc/ccm-conf.conf") == "colour = mine\n"
    one(debian, "ccm-conf", ensure="absent")
    assert debian.exists("/etc/ccm-conf.conf")
    one(debian, "ccm-conf", ensure="present")
    assert debian.read("/etc/ccm-conf.conf") == "colour = mine\n"


def test_a_difference_to_a_file_of_a_planned_package(debian: Host) -> None:
    """A preview shows the one that the push shows, also below /usr."""
    path = "/usr/share/ccm-shown/page"
    debian.publish(Package("ccm-shown", "1.0-1", files={path: "of the package\n"}))
    debian.run("apt-get update")
    wanted = {"owner": "root", "group": "root", "mode": "0644", "content": "of the site\n"}
    plan = [package("ccm-shown"), resource("file", path, **wanted)]
    runs = [apply(debian, *plan, noop=noop) for noop in (True, False)]
    shown = [run.events[f"file#{path}"]["changes"] for run in runs]
    assert shown[0] == shown[1]
    assert "-of the package\n+of the site" in shown[0][0]["diff"]


def test_a_broken_package_fails_alone(debian: Host) -> None:
    """The package whose script fails says so; the ones after it are installed nevertheless."""
    run = apply(debian, package("ccm-broken"), package("ccm-pkg06"), package("ccm-unmet"))
    broken, fine, unmet = run.events.values()
    assert broken["failed"]
    assert any("as intended" in line for line in broken["error"]), broken["error"]
    assert (fine["failed"], fine["final_ensure"]) == (False, "1.0-1"), fine
    assert any("ccm-broken" in line for line in run.notices)
    assert any("ccm-does-not-exist" in line for line in unmet["error"])
    assert not one(debian, "ccm-broken", ensure="absent")["failed"]


def test_a_package_that_is_not_there_fails_with_the_reason(debian: Host) -> None:
    """Unknown names, versions and patterns fail the preview and the push alike."""
    for noop in (True, False):
        for name, ensure, words in (
            ("ccm-nosuch", "present", "not in the package lists"),
            ("ccm-hell.", "present", "not in the package lists"),
            ("ccm-hello", "7.0", "available: 2.1~rc1-1, 2.0-1, 1.1-1, 1.0-1"),
            ("awk", "present", "mawk"),
        ):
            event = one(debian, name, ensure=ensure, noop=noop)
            assert event["failed"], event
            assert words in event["error"][0]


def test_noop_does_not_fail_for_what_a_pending_resource_may_bring(debian: Host) -> None:
    """After a pending exec an unknown package is reported with an unknown prediction."""
    command = resource("exec", "add a repository", command="/bin/true")
    run = apply(debian, command, package("ccm-nosuch"), noop=True)
    event = run.events["package#ccm-nosuch"]
    assert not event["failed"], event
    assert (event["noop_message"], event["prediction"]) == ("Would have installed", "unknown")


def test_a_new_package_is_found_after_a_refresh(debian: Host) -> None:
    """Without update_cache old lists stay; with it they are refreshed when they are older."""
    debian.publish(Package("ccm-new", "1.0-1"))
    debian.run("touch -d '3 hours ago' /var/lib/apt/lists")
    debian.run("touch -d '9 hours ago' /etc/apt/sources.list.d /etc/apt/sources.list.d/*")
    assert one(debian, "ccm-new")["failed"]
    assert one(debian, "ccm-new", update_cache="5h")["failed"]
    preview = one(debian, "ccm-new", update_cache="1h", noop=True)
    assert (preview["failed"], preview["prediction"]) == (False, "unknown"), preview
    assert one(debian, "ccm-new", update_cache="1h")["final_ensure"] == "1.0-1"
    debian.publish(Package("ccm-newer", "1.0-1"))
    assert one(debian, "ccm-newer", update_cache="1h")["failed"]


def test_a_lock_held_by_another_process(debian: Host) -> None:
    """A lock is waited for with a line that names its holder; one that stays fails in time."""
    hold = (
        "import fcntl, os, time\nlock = open('/var/lib/dpkg/lock-frontend', 'w')\n"
        "fcntl.lockf(lock, fcntl.LOCK_EX)\n"
        "while not os.path.exists('/root/free'): time.sleep(0.1)\n"
    )
    debian.write("/root/hold.py", hold)
    debian.run("setsid python3 /root/hold.py >/dev/null 2>&1 & sleep 0.5")
    event = one(debian, "ccm-pkg07", lock_timeout=1)
    assert event["failed"]
    assert "/var/lib/dpkg/lock-frontend, held by python3 (pid " in event["error"][0]
    debian.run("(sleep 6; touch /root/free) >/dev/null 2>&1 &")
    run = apply(debian, package("ccm-pkg07", lock_timeout="25s"))
    assert not run.events["package#ccm-pkg07"]["failed"]
    assert any("waiting up to" in line and "held by python3" in line for line in run.notices)


def test_a_script_that_asks_the_terminal(debian: Host) -> None:
    """It finds no terminal, so it ends at once instead of waiting for an answer for ever."""
    debian.publish(
        Package(
            "ccm-asks",
            "1.0-1",
            scripts={
                "postinst": "read answer < /dev/tty || answer=none\necho $answer > /etc/ccm-asks\n"
            },
        )
    )
    debian.run("apt-get update -q")
    event = one(debian, "ccm-asks")
    assert (event["failed"], event["duration"] < 60_000_000_000) == (False, True), event
    assert debian.read("/etc/ccm-asks") == "none\n"
    assert not one(debian, "ccm-asks", ensure="absent")["failed"]


def test_answers_before_an_installation(debian: Host) -> None:
    """What scripts ask is answered as the resource says, and nobody sees the password."""
    confmodule = ". /usr/share/debconf/confmodule\n"
    scripts = {
        "templates": "Template: ccm-answers/name\nType: string\nDefault: red\nDescription: N:\n"
        "\nTemplate: ccm-answers/key\nType: password\nDescription: Key:\n",
        "config": confmodule + "db_input high ccm-answers/name || true\ndb_go || true\n",
        "postinst": confmodule + "db_get ccm-answers/name\nname=$RET\ndb_get ccm-answers/key\n"
        'echo "$name $RET" > /srv/ccm-answers\ndb_reset ccm-answers/key\ndb_stop\n',
    }
    debian.publish(Package("ccm-answers", "1.0-1", {}, scripts, fields={"Depends": "debconf"}))
    debian.run("apt-get update")
    answers = {
        "ccm-answers/name": {"type": "string", "value": "dark green"},
        "ccm-answers/key": {"type": "password", "value": "hunter22"},
    }
    event = one(debian, "ccm-answers", debconf=answers)
    assert (event["failed"], event["changed"]) == (False, True), event
    assert debian.run("cat /srv/ccm-answers").stdout == "dark green hunter22\n"
    assert event["changes"][0]["to"] == "[masked]"
    assert not one(debian, "ccm-answers", debconf=answers)["changed"]
    debian.run("echo ccm-answers ccm-answers/name string blue | debconf-set-selections")
    (change,) = one(debian, "ccm-answers", debconf=answers)["changes"]
    assert (change["from"], change["to"]) == ("blue", "dark green")


def test_a_held_package(debian: Host) -> None:
    """A held package stays, and the error says how to release it."""
    one(debian, "ccm-pkg08")
    debian.run("apt-mark hold ccm-pkg08")
    event = one(debian, "ccm-pkg08", ensure="absent")
    assert "apt-mark unhold ccm-pkg08" in event["error"][0]
    assert installed(debian, "ccm-pkg08") == "1.0-1"
    assert not one(debian, "ccm-pkg08", ensure="present")["failed"]


def test_a_disk_that_is_full(debian: Host) -> None:
    """The error names the cause and nothing is taken for installed."""
    directory = "/usr/share/ccm-pkg09"
    debian.run(f"mkdir -p {directory} && mount -t tmpfs -o nr_inodes=1 tmpfs {directory}")
    try:
        event = one(debian, "ccm-pkg09")
    finally:
        debian.run(f"umount {directory}")
    assert event["failed"]
    assert "No space left on device" in json.dumps(event["error"])
    assert installed(debian, "ccm-pkg09") == ""


def test_a_half_configured_package_is_repaired(debian: Host) -> None:
    """A package whose configuration was interrupted counts as absent and is finished."""
    debian.run("cd /srv/ccm-repo && dpkg --unpack ccm-pkg10_*.deb")
    assert one(debian, "ccm-pkg10", noop=True)["noop_message"] == "Would have installed"
    assert one(debian, "ccm-pkg10")["final_ensure"] == "1.0-1"


def _caches(host: Host) -> list[str]:
    paths = "/var/cache/apt /var/lib/apt /var/lib/dpkg /var/log/apt /tmp /etc/apt"
    return host.run(
        f"find {paths} -type f -printf '%p %s %T@ %C@ %i\\n' | sort"
    ).stdout.splitlines()


def test_a_preview_tells_what_comes_and_goes_along(debian: Host) -> None:
    """Dependencies, conflicts and dependents are the push's records, and apt's caches stay."""
    debian.publish(
        Package("ccm-base", "1.0-1"),
        Package("ccm-top", "1.0-1", fields={"Depends": "ccm-base"}),
        Package("ccm-rival", "1.0-1", fields={"Conflicts": "ccm-base"}),
    )
    debian.run("apt-get update")
    for name, ensure, along in (
        ("ccm-top", "present", [("package ccm-base", "absent", "1.0-1")]),
        ("ccm-base", "absent", [("package ccm-top", "1.0-1", "absent")]),
        ("ccm-top", "present", [("package ccm-base", "absent", "1.0-1")]),
        (
            "ccm-rival",
            "present",
            [("package ccm-base", "1.0-1", "absent"), ("package ccm-top", "1.0-1", "absent")],
        ),
    ):
        before = _caches(debian)
        preview = one(debian, name, ensure=ensure, noop=True)
        assert sorted({*_caches(debian)} ^ {*before}) == []
        assert preview["prediction"] == "certain", preview
        assert [(c["what"], c["from"], c["to"]) for c in preview["changes"][1:]] == along
        push = one(debian, name, ensure=ensure)
        assert push["changes"] == preview["changes"]


def test_a_preview_fails_where_the_push_would(debian: Host) -> None:
    """An unmet dependency and a broken list of sources fail the preview as they fail the push."""
    debian.publish(Package("ccm-fresh", "1.0-1"))
    debian.run("apt-get update")
    debian.write("/etc/apt/sources.list.d/broken.list", "deb nonsense\n")
    broken = [one(debian, "ccm-fresh", noop=noop) for noop in (True, False)]
    debian.run("rm /etc/apt/sources.list.d/broken.list")
    unmet = [one(debian, "ccm-unmet", noop=noop) for noop in (True, False)]
    for preview, push in (broken, unmet):
        assert preview["failed"]
        assert push["failed"]
        assert preview["error"][0] == push["error"][0]
    assert "ccm-does-not-exist" in unmet[0]["error"][0]


def _records(event: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    return [(change["what"], change["from"], change["to"]) for change in event["changes"]]


def test_a_preview_knows_what_a_package_will_bring(debian: Host) -> None:
    """Files, configuration, units and accounts of a pending package are known to what follows."""
    debian.publish(
        Package(
            "ccm-web",
            "1.0-1",
            {
                "/usr/sbin/ccm-web": "#!/bin/sh\nexec sleep infinity\n",
                "/etc/ccm-web/web.conf": "answer = 41\n",
                "/usr/lib/sysusers.d/ccm-web.conf": "u ccm-web 4712\n",
                "/lib/systemd/system/ccm-web.service": (
                    "[Unit]\nDescription=x\n[Service]\nExecStart=/usr/sbin/ccm-web\n"
                    "[Install]\nWantedBy=multi-user.target\n"
                ),
            },
            {
                "postinst": "systemd-sysusers ccm-web.conf\n"
                "deb-systemd-helper enable ccm-web.service >/dev/null\n"
                "deb-systemd-invoke start ccm-web.service >/dev/null\n",
                "prerm": "deb-systemd-invoke stop ccm-web.service >/dev/null || true\n",
            },
            ("/etc/ccm-web/web.conf",),
        )
    )
    debian.run("apt-get update")
    config = {"owner": "ccm-web", "group": "root", "mode": "0640", "content": "answer = 42\n"}
    came = [
        package("ccm-web"),
        resource("file", "/etc/ccm-web/web.conf", **config),
        resource("exec", "read it", command="/usr/sbin/ccm-web", creates="/usr/sbin/ccm-web"),
    ]
    left = [
        package("ccm-web", ensure="absent"),
        resource("file", "/usr/sbin/ccm-web", ensure="absent"),
        resource("file", "/etc/ccm-web/web.conf", **config),
    ]
    for plan in (came, left):
        before = _caches(debian)
        preview = apply(debian, *plan, noop=True).events
        assert sorted({*_caches(debian)} ^ {*before}) == []
        for name, event in apply(debian, *plan).events.items():
            assert not event["failed"], event
            assert preview[name]["prediction"] == "certain", preview[name]
            assert preview[name]["changed"] == event["changed"], name
            assert _records(preview[name]) == _records(event)
        assert (debian.run("systemctl is-active ccm-web", check=False).stdout == "active\n") == (
            plan is came
        )


def test_a_preview_of_packages_of_one_transaction(debian: Host) -> None:
    """It predicts each package as the push reports it, also one that dpkg refuses."""
    debian.publish(
        Package("ccm-older", "1.0-1"),
        Package("ccm-older", "2.0-1"),
        Package("ccm-breaks", "1.0-1", fields={"Breaks": "ccm-older (<< 2)"}),
        Package("ccm-needed", "1.0-1"),
        Package("ccm-needs", "1.0-1", fields={"Depends": "ccm-needed"}),
        *(Package(f"ccm-same{n}", "1.0-1", files={"/usr/share/ccm-same": f"{n}"}) for n in (1, 2)),
    )
    debian.run("dpkg --purge ccm-broken && apt-get update && apt-get install -y ccm-older=1.0-1")
    changed = [package("ccm-breaks"), package("ccm-needs"), package("ccm-pkg03")]
    refused = [package(f"ccm-same{number}") for number in (1, 2)]
    for plan in (changed, [*refused, package("ccm-pkg04")]):
        preview, push = (apply(debian, *plan, noop=noop).events for noop in (True, False))
        assert [event["failed"] for event in preview.values()] == [
            event["failed"] for event in push.values()
        ]
        assert [_records(event) for event in preview.values()] == [
            _records(event) for event in push.values()
        ]
        assert {event["prediction"] for event in preview.values()} == {"certain"}


def test_a_preview_behind_the_plan_that_installs(debian: Host) -> None:
    """What a package brings, and that it goes again, later plans see as later resources do."""
    root = {"owner": "root", "group": "root", "mode": "0644"}
    plans = [
        [package("ccm-daemon", ensure="present")],
        [package("ccm-hello", ensure="2.0-1"), package("ccm-daemon", ensure="present")],
        [
            resource("service", "ccm-daemon", ensure="running", enable=True),
            resource("file", "/srv/owned", content="x", **{**root, "owner": "ccm-daemon-user"}),
            resource("file", "/srv/copied", source="/usr/share/ccm-hello/version", **root),
        ],
        [package("ccm-daemon", ensure="absent"), package("ccm-hello", ensure="absent")],
        [resource("file", "/srv/copied", source="/usr/share/ccm-hello/version", **root)],
    ]
    before = debian.run("dpkg -l | sha256sum").stdout
    for last in (2, 3, 4):
        earlier = plans[:last]
        behind = apply(
            debian, *plans[last], noop=True, before=[{"resources": plan} for plan in earlier]
        )
        whole = apply(debian, *[item for plan in plans[: last + 1] for item in plan], noop=True)
        alone = apply(debian, *plans[last], noop=True)
        names = list(behind.events)
        assert names == [f"{one['type']}#{one['name']}" for one in plans[last]]
        told = [_told(run, names) for run in (behind, whole, alone)]
        assert told[0] == told[1]
        assert told[0] != told[2] or last == 4
    assert debian.run("dpkg -l | sha256sum").stdout == before


def _told(run: Run, names: list[str]) -> list[dict[str, Any]]:
    volatile = ("event_id", "timestamp", "duration")
    return [{k: v for k, v in run.events[n].items() if k not in volatile} for n in names]


def test_needrestart_is_suspended_and_other_hooks_are_named(debian: Host) -> None:
    """needrestart's hook is told to do nothing; a preview warns of a hook of the host's own."""
    hook = "/etc/apt/apt.conf.d/99lab"
    debian.run("mkdir -p /usr/lib/needrestart")
    debian.run("cat > /usr/lib/needrestart/apt-pinvoke", input=_PINVOKE)
    debian.run("chmod 755 /usr/lib/needrestart/apt-pinvoke")
    debian.run(f"cat > {hook}", input=_HOOKS)
    try:
        preview = apply(debian, package("ccm-pkg09"), noop=True)
        apply(debian, package("ccm-pkg09"))
        assert debian.run("cat /run/lab-needrestart").stdout == "1 l\n"
        warned = [text for text in preview.notices if "apt is configured to run" in text]
        assert len(warned) == 1
        assert warned[0].endswith("DPkg::Post-Invoke: touch /run/lab-hook")
    finally:
        debian.run(f"rm {hook}")


_PINVOKE = '#!/bin/sh\necho "$NEEDRESTART_SUSPEND $NEEDRESTART_MODE" > /run/lab-needrestart\n'
_HOOKS = """DPkg::Post-Invoke {
  "test -x /usr/lib/needrestart/apt-pinvoke && /usr/lib/needrestart/apt-pinvoke -m u || true";
  "touch /run/lab-hook";
};
"""
