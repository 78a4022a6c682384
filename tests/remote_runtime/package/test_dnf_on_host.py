"""Packages of dnf on a real host, with the real runtime."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from remote_runtime.packages.versions import rpm as rpm_version

from ...lab import Host, Lab, Rpm
from ..on_host import apply, resource

pytestmark = pytest.mark.begun_first


@pytest.fixture(scope="module")
def rpms(lab: Lab) -> Host:
    """One fresh host for the tests below; each uses packages of its own."""
    lab.hosts["web2"].reset()
    return lab.hosts["web2"]


def package(name: str, **properties: Any) -> dict[str, Any]:
    return {**resource("package", name, **properties), "provider": "dnf"}


def one(host: Host, name: str, **properties: Any) -> dict[str, Any]:
    plan = {key: properties.pop(key) for key in ("noop", "lock_timeout") if key in properties}
    return apply(host, package(name, **properties), **plan).events[f"package#{name}"]


def installed(host: Host, name: str) -> str:
    query = f"rpm -q --queryformat '%|EPOCH?{{%{{EPOCH}}:}}|%{{VERSION}}-%{{RELEASE}}' {name}"
    done = host.run(query, check=False)
    return done.stdout if done.returncode == 0 else ""


WRITTEN = (
    "0-1 1-1 1.0-1 1.00-1 1.0-0 0:1.0-1 1:0.9-1 1.0~rc1-1 1.0~~-1 1.0~-1 1.0^-1 1.0^git1-1 1.0^~-1 "
    "1.0~^-1 1.0^^-1 1.0+b1-1 1.10-1 1.9-1 1a-1 1a1-1 1A-1 1.a-1 a1-1 a.1-1 20240101-1 007-1 "
    "1.0.0-1 1.0.-1 1..0-1 3:1-1 1_0-1 5.8-9.el9 5.8-9.el9_1 5.8-9~el9 5.8-9^el9 5.8-10.el9 "
    "~-1 ^-1 .-1"
).split()


def generated(count: int) -> Iterator[str]:
    """Versions that differ in the places where the order has its rules."""
    picker = random.Random(20)

    def part(longest: int) -> str:
        return "".join(picker.choice("0019aAz~~^^..+_") for _ in range(picker.randint(1, longest)))

    for _ in range(count):
        yield f"{picker.choice(['', '', '0:', '1:'])}{part(7)}-{part(3)}"


_AS_RPM = """
import json, rpm, sys
def evr(text):
    epoch, _, rest = text.rpartition(":")
    return (epoch or "0", *rest.rsplit("-", 1))
json.dump([rpm.labelCompare(evr(a), evr(b)) for a, b in json.load(sys.stdin)], sys.stdout)
"""


def test_thousands_of_pairs_as_rpm_orders_them(rpms: Host) -> None:
    """For every pair of versions RPM gives the same answer."""
    made = list(generated(4000))
    # Neighbours in the alphabet share beginnings, so that the rules of the endings are met too.
    alike = sorted(made)
    pairs = [*itertools.product(WRITTEN, WRITTEN), *zip(made, made[1:]), *zip(alike, alike[1:])]
    rpms.write("/root/order.py", _AS_RPM)
    answers = json.loads(rpms.run("python3 /root/order.py", input=json.dumps(pairs)).stdout)
    ours = [rpm_version.compare(*(v if ":" in v else f"0:{v}" for v in pair)) for pair in pairs]
    assert {-1, 0, 1} == set(answers)
    wrong = [(pair, rpm, us) for pair, rpm, us in zip(pairs, answers, ours) if rpm != us]
    assert wrong == []


def test_each_version_in_turn_and_then_none(rpms: Host) -> None:
    """Install, upgrade, downgrade, latest and removal each change once and are stable then."""
    for ensure, version in (
        ("1.1-1.el9", "1.1-1.el9"),
        ("0:2.0-1.el9", "2.0-1.el9"),
        ("1.0", "1.0-1.el9"),
        ("2.0~rc1", "2.0~rc1-1.el9"),
        ("latest", "2.0-2.el9"),
        ("absent", ""),
        ("present", "2.0-2.el9"),
    ):
        event = one(rpms, "ccm-hello", ensure=ensure)
        assert (event["failed"], event["changed"]) == (False, True), event
        assert event["final_ensure"] == (version or "absent")
        assert installed(rpms, "ccm-hello").removeprefix("0:") == version
        again = one(rpms, "ccm-hello", ensure=ensure)
        assert (again["failed"], again["changed"]) == (False, False), again


@pytest.mark.long
def test_epoch_and_caret(rpms: Host) -> None:
    """An epoch beats the version, a caret is newer than the release that it follows."""
    for name, ensure, version in (
        ("ccm-epoch", "latest", "1:0.9-1.el9"),
        ("ccm-epoch", "2.0", "0:2.0-1.el9"),
        ("ccm-epoch", "0.9-1.el9", "1:0.9-1.el9"),
        ("ccm-caret", "1.0-1.el9", "0:1.0-1.el9"),
        ("ccm-caret.noarch", "latest", "0:1.0^git1-1.el9"),
    ):
        event = one(rpms, name, ensure=ensure)
        assert event["changed"], event
        assert installed(rpms, name) == version
        assert event["final_ensure"] == version.partition(":")[2]
        assert not one(rpms, name, ensure=ensure)["changed"]


@pytest.mark.long
def test_noop_says_what_the_push_then_does(rpms: Host) -> None:
    """A preview changes nothing, is certain, and words each step as documented."""
    name = "ccm-hello"
    one(rpms, name, ensure="absent")
    for ensure, message in (
        ("1.1", "Would have installed version 1.1"),
        ("2.0-1.el9", "Would have upgraded to 2.0-1.el9"),
        ("2.0~rc1", "Would have downgraded to 2.0~rc1"),
        ("latest", "Would have upgraded to latest"),
        ("absent", "Would have uninstalled"),
        ("latest", "Would have installed latest"),
    ):
        before = installed(rpms, name)
        event = one(rpms, name, ensure=ensure, noop=True)
        assert (event["noop_message"], event["prediction"]) == (message, "certain")
        assert event["changed"]
        assert installed(rpms, name) == before
        one(rpms, name, ensure=ensure)
        assert not one(rpms, name, ensure=ensure, noop=True)["changed"]


def test_what_cannot_be_had_fails_alone(rpms: Host) -> None:
    """Each failure has its reason, in the preview too where it can be known; the rest is done."""
    plan = [
        package("ccm-nosuch"),
        package("ccm-hell."),
        package("ccm-one", ensure="7.0"),
        package("ccm-role"),
        package("ccm-broken"),
        package("ccm-unmet"),
        package("ccm-one"),
    ]
    preview = list(apply(rpms, *plan[:4], noop=True).events.values())
    events = list(apply(rpms, *plan[:2], *plan[3:]).events.values())
    events.insert(2, one(rpms, "ccm-one", ensure="7.0"))
    words = [
        "not in the package lists",
        "not in the package lists",
        "available: 1.0-1.el9",
        "it: ccm-virtual",
    ]
    words += ["as intended", "ccm-does-not-exist"]
    for event, reason in zip([*preview, *events], words[:4] + words):
        assert event["failed"], event
        assert reason in json.dumps(event["error"]), event
    assert (events[-1]["failed"], events[-1]["final_ensure"]) == (False, "1.0-1.el9")


def test_a_new_version_is_found_after_a_refresh(rpms: Host) -> None:
    """Old lists stay without update_cache, even those that dnf takes for expired."""
    one(rpms, "ccm-two")
    rpms.publish_rpms(Rpm("ccm-two", "1.1-1.el9"))
    rpms.run(
        "touch -d '9 days ago' /etc/yum.repos.d/* && touch -d '3 days ago' "
        "/var/cache/dnf/ccm-lab-*/repodata/*"
    )
    assert not one(rpms, "ccm-two", ensure="latest")["changed"]
    assert not one(rpms, "ccm-two", ensure="latest", update_cache="100h")["changed"]
    preview = one(rpms, "ccm-two", ensure="latest", update_cache="1h", noop=True)
    assert (preview["failed"], preview["prediction"]) == (False, "unknown"), preview
    assert one(rpms, "ccm-two", ensure="latest", update_cache="1h")["final_ensure"] == "1.1-1.el9"
    rpms.publish_rpms(Rpm("ccm-two", "1.2-1.el9"))
    assert not one(rpms, "ccm-two", ensure="latest", update_cache="1h")["changed"]


def test_a_host_without_lists(rpms: Host) -> None:
    """A preview does not fetch lists and says that it cannot know; the push has dnf fetch them."""
    rpms.run("rm -rf /var/cache/dnf/*")
    one(rpms, "ccm-caret", ensure="absent")
    event = one(rpms, "ccm-caret", noop=True)
    assert (event["noop_message"], event["prediction"]) == ("Would have installed", "unknown")
    assert not rpms.run("ls -d /var/cache/dnf/*/repodata", check=False).stdout
    assert one(rpms, "ccm-caret")["final_ensure"] == "1.0^git1-1.el9"


def test_a_running_transaction_is_waited_for(rpms: Host) -> None:
    """A line names who holds the lock; one that stays fails in time."""
    rpms.write("/etc/ccm-slow.seconds", "600")
    at_work = "until pgrep -xf 'sleep 600'; do sleep 0.1; done"
    rpms.run(f"setsid dnf -y install ccm-slow >/dev/null 2>&1 & {at_work}")
    event = one(rpms, "ccm-virtual", lock_timeout=1)
    assert event["failed"]
    assert "/var/lib/dnf/rpmdb_lock.pid, held by dnf (pid " in event["error"][0]
    rpms.run("setsid sh -c 'sleep 10; pkill -xf \"sleep 600\"' >/dev/null 2>&1 &")
    run = apply(rpms, package("ccm-virtual", lock_timeout="120s"))
    assert not run.events["package#ccm-virtual"]["failed"]
    assert any("waiting up to" in line and "held by dnf" in line for line in run.notices)
    # rpm by itself holds another lock.
    one(rpms, "ccm-slow", ensure="absent")
    rpm = "rpm -i --nodeps /srv/ccm-rpms/ccm-slow-*.rpm"
    rpms.run(f"setsid {rpm} >/dev/null 2>&1 & {at_work}")
    event = one(rpms, "ccm-virtual", ensure="absent", lock_timeout=1)
    assert "/var/lib/rpm/.rpm.lock, held by rpm (pid " in event["error"][0]
    rpms.run("pkill -xf 'sleep 600'; while pgrep -x rpm; do sleep 0.1; done")


def test_the_repository_that_comes_first_has_the_latest(rpms: Host) -> None:
    """Priorities decide what the latest version is, for dnf and for ccm alike."""
    one(rpms, "ccm-hello", ensure="2.0-1.el9")
    repository = rpms.read("/etc/yum.repos.d/ccm-lab.repo").replace("ccm-lab", "first")
    rpms.write("/etc/yum.repos.d/first.repo", f"{repository}priority=1\n".replace("rpms", "first"))
    rpms.run(
        "mkdir /srv/ccm-first && cp /srv/ccm-rpms/ccm-hello-0-2.0-1.*.rpm /srv/ccm-first/ "
        "&& createrepo_c -q /srv/ccm-first"
    )
    try:
        assert not one(rpms, "ccm-hello", ensure="latest")["changed"]
        assert "Nothing to do" in rpms.run("dnf -y upgrade ccm-hello").stdout
        assert one(rpms, "ccm-hello", ensure="2.0-2.el9")["final_ensure"] == "2.0-2.el9"
    finally:
        rpms.run("rm /etc/yum.repos.d/first.repo")


def test_the_package_manager_of_the_host_is_chosen(rpms: Host) -> None:
    """Of two the one is taken whose database has the system; the other has to be named."""
    item = resource("package", "ccm-one")
    assert apply(rpms, item, noop=True).events["package#ccm-one"]["provider"] == "apt"
    assert one(rpms, "ccm-one", noop=True)["provider"] == "dnf"
    rpms.run("mv /var/lib/dpkg/status /root/ && : > /var/lib/dpkg/status")
    try:
        assert apply(rpms, item, noop=True).events["package#ccm-one"]["provider"] == "dnf"
    finally:
        rpms.run("mv /root/status /var/lib/dpkg/status")


def reason(host: Host, name: str) -> str:
    query = f"dnf -q repoquery --installed --qf '%{{reason}}' {name} 2>/dev/null"
    return host.run(query).stdout.strip()


def transactions(host: Host) -> int:
    told = host.run("dnf history list 2>/dev/null | grep -cE '^ +[0-9]+ ' || true").stdout
    return int(told.strip() or 0)


def test_packages_are_one_transaction(rpms: Host) -> None:
    """Those of consecutive turns come and go together, each with its event; what another of them
    needs comes with that and is marked at its turn; a broken one fails alone.
    """
    rpms.publish_rpms(
        Rpm("ccm-many-lib", "1.0-1"),
        *(Rpm(f"ccm-many-{n}", "1.0-1", fields={"Requires": "ccm-many-lib"}) for n in range(4)),
    )
    rpms.run("dnf -q makecache --refresh")
    names = [f"ccm-many-{n}" for n in range(4)]
    before = transactions(rpms)
    events = list(apply(rpms, *map(package, names)).events.values())
    assert [(e["changed"], e["failed"], e["final_ensure"]) for e in events] == [
        (True, False, "1.0-1")
    ] * 4
    assert transactions(rpms) - before == 1
    marked = one(rpms, "ccm-many-lib", noop=True)
    assert (marked["noop_message"], marked["prediction"]) == (
        "Would have marked as installed manually",
        "certain",
    )
    assert one(rpms, "ccm-many-lib")["changes"] == [
        {"what": "marked as", "from": "automatic", "to": "manual"}
    ]
    assert reason(rpms, "ccm-many-lib") == "user"
    assert not one(rpms, "ccm-many-lib")["changed"]
    before = transactions(rpms)
    absent = [package(name, ensure="absent") for name in [*names, "ccm-many-lib"]]
    events = list(apply(rpms, *absent).events.values())
    assert [e["final_ensure"] for e in events] == ["absent"] * 5
    assert transactions(rpms) - before == 1
    plan = [package(name) for name in ("ccm-many-0", "ccm-many-lib", "ccm-broken", "ccm-many-1")]
    events = list(apply(rpms, *plan).events.values())
    assert [e["failed"] for e in events] == [False, False, True, False]
    assert "as intended" in json.dumps(events[2]["error"])
    assert events[1]["changes"] == [{"what": "marked as", "from": "automatic", "to": "manual"}]


def test_a_difference_to_a_file_of_a_planned_package(rpms: Host) -> None:
    """A preview shows the one that the push shows, of the file of a dependency as well; without the
    repository by then, no difference."""
    rpms.publish_rpms(
        Rpm("ccm-shown-lib", "1.0-1"),
        Rpm("ccm-shown", "1.0-1", fields={"Requires": "ccm-shown-lib"}),
    )
    rpms.run("dnf -q makecache --refresh")
    paths = [f"/usr/share/ccm-rpms/{name}/version" for name in ("ccm-shown", "ccm-shown-lib")]
    wanted = {"owner": "root", "group": "root", "mode": "0644", "content": "of the site\n"}
    plan = [package("ccm-shown"), *(resource("file", path, **wanted) for path in paths)]
    runs = [apply(rpms, *plan, noop=noop) for noop in (True, False)]
    for path in paths:
        shown = [run.events[f"file#{path}"]["changes"] for run in runs]
        assert shown[0] == shown[1]
        assert "+of the site" in shown[0][0]["diff"]
        assert "-1.0-1" in shown[0][0]["diff"]


def test_a_dependency_in_another_version_is_marked(rpms: Host) -> None:
    """dnf keeps the mark when it changes the version: the package gets both changes."""
    rpms.publish_rpms(
        Rpm("ccm-dep", "1.0-1"),
        Rpm("ccm-dep", "2.0-1"),
        Rpm("ccm-dependent", "1.0-1", fields={"Requires": "ccm-dep"}),
    )
    rpms.run("dnf -q makecache --refresh && dnf -qy install ccm-dependent")
    assert reason(rpms, "ccm-dep") == "dependency"
    wanted = {"ensure": "1.0"}
    preview, event = one(rpms, "ccm-dep", noop=True, **wanted), one(rpms, "ccm-dep", **wanted)
    assert preview["prediction"] == "certain"
    assert [c["what"] for c in event["changes"]] == ["ensure", "marked as"]
    assert preview["changes"] == event["changes"]
    assert not event["failed"]
    assert reason(rpms, "ccm-dep") == "user"


def test_what_is_excluded_is_named(rpms: Host) -> None:
    """An exclude of dnf's settings fails the preview and the push, with its file."""
    rpms.run("rpm -q ccm-virtual && rpm -e ccm-virtual || true")
    conf = rpms.read("/etc/dnf/dnf.conf")
    rpms.write("/etc/dnf/dnf.conf", f"{conf.rstrip()}\nexcludepkgs=ccm-virt*\n")
    try:
        for noop in (True, False):
            event = one(rpms, "ccm-virtual", noop=noop)
            assert event["failed"]
            told = "ccm-virtual is excluded by `exclude=ccm-virt*` in /etc/dnf/dnf.conf"
            assert told in json.dumps(event["error"])
    finally:
        rpms.write("/etc/dnf/dnf.conf", conf)
