"""What the pages of plans show."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from orchestrator.plan_files.conditions import parse_conditions
from orchestrator.plan_files.storage import parse_plan
from orchestrator.studio.plans import plan_cache
from orchestrator.studio.plans.plan_cache import PlanPolicy
from tests.orchestrator.report.runs import START, Kept
from tests.orchestrator.studio.history import SECOND, Site, three_runs, write_run
from tests.orchestrator.studio.plans.planned import NAME, People, project_of, put_plan, studio_of
from tests.orchestrator.studio.test_pages import words
from tests.texts import expect_text

BAD = "<script>alert(1)</script>{{7*7}}"
REMOVAL = {
    "status": "changed",
    "changes": [{"what": "ensure", "from": "present", "to": "absent"}],
    "noop_message": "Would have removed the file",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project."""
    return project_of(tmp_path)


def test_the_list_has_each_plan_with_what_matters(state: Path, root: Path) -> None:
    """State, age, author, hosts, dangers and approvals; a damaged file has its reason."""
    put_plan(root, "old.plan", created=time.time() - 200_000)
    put_plan(root, f"releases/{NAME}", hosts=("web1", "web2", "web3"), **{"/etc/motd": REMOVAL})
    (root / "broken.plan").write_text('{"protocol":"x"}')
    (root / "notes.txt").write_text("no plan")
    browser = studio_of(state, root).log_in()
    text = words(browser, "/plans")
    new = "releases/change.plan valid not checked 1 removal 3 1 min alice@desk site.yaml"
    assert new in text
    expect_text(text)
    assert "notes.txt" not in text
    assert '<a href="/plan?name=releases/change.plan">' in browser.get("/plans").text


def test_a_plan_shows_its_dangers_before_its_changes(state: Path, root: Path) -> None:
    """As ccm plan show does, with equal changes of several hosts once."""
    put_plan(root, **{"/etc/motd": REMOVAL})
    text = words(studio_of(state, root).log_in(), f"/plan?name={NAME}")
    assert "Dangerous 1 removal Action What Hosts remove file#/etc/motd web1" in text
    assert text.index("Dangerous") < text.index("Would change") < text.index("Approval State")
    assert "C file#/etc/app on web[1-2] (2 hosts)" in text


def test_no_secret_and_no_key_of_a_plan_is_in_a_page(state: Path, root: Path) -> None:
    """Neither values of the data nor the salts and digests that secrets are compared with."""
    plan = put_plan(root)
    browser = studio_of(state, root).log_in()
    page = browser.get(f"/plan?name={NAME}").text + browser.get("/plans").text
    record = parse_plan(NAME, plan.read_bytes()).record
    hidden = [record["salt"], record["observed_key"], record["serial"], "hunter2secret"]
    hidden += [item["secret"] for item in record["items"] if "secret" in item]
    assert [one for one in hidden if one in page] == []
    assert len(hidden) > 4


def test_approvals_and_the_policy(state: Path, root: Path, tmp_path: Path) -> None:
    """People are named once their signature is checked; a missing one has its command."""
    plan, people = put_plan(root), People(tmp_path / "people")
    for person in ("alice", "bob", "mallory"):
        people.add(person)
    denied = tuple(parse_conditions("changes>5,reboots>0", "--deny"))
    policy = PlanPolicy(str(people.signers), 2, denied)
    browser = studio_of(state, root, policy=policy).log_in()
    address = f"/plan?name={NAME}"
    text = words(browser, address)
    assert "Approvals 0 of 2" in text
    assert f"ccm plan sign --key ~/.ssh/id_ed25519 {NAME}" in text
    assert "changes>5: denied , changes is 6 reboots>0: allowed, reboots is 0" in text
    people.sign("bob", plan)
    people.sign("bob", plan)
    text = words(browser, address)
    assert "Approvals 1 of 2 : bob@example.org bob@example.org has signed twice" in text
    people.sign("alice", plan)
    text = words(browser, address)
    assert "Approvals 2 of 2: alice@example.org, bob@example.org" in text
    assert "ccm plan sign" not in text
    expect_text(words(browser, "/plans"))
    people.signers.write_text("")
    assert "Approvals 0 of 2" in words(browser, address)


def test_without_signers_nobody_is_named(state: Path, root: Path) -> None:
    """The page says how to check signatures."""
    put_plan(root)
    text = words(studio_of(state, root).log_in(), f"/plan?name={NAME}")
    assert "Approvals not checked To see who approved it, start the studio with --signers" in text


def test_hosts_that_changed_since_the_plan(state: Path, root: Path) -> None:
    """A push that changed a host and a drift that was found count, what was before does not."""

    def drifted(kept: Kept) -> None:
        """One host has another file than its last push."""
        change = {"what": "content", "from": "a" * 64, "to": "b" * 64}
        drift = {"by": "someone", "owner": "eve"}
        kept.event("web2", "/etc/motd", "changed", changes=[change], noop=True, drift=drift)
        kept.event("web1", "/etc/motd")

    three_runs()
    write_run("20260921T163640Z-aaaaaaa", drifted, "web1", "web2", command="drift", noop=True)
    before, after = START - 60, START + 60
    put_plan(root, hosts=("web1", "web2", "db1"), created=before, expires=int(time.time()) + 60)
    put_plan(root, "later.plan", created=after)
    browser = studio_of(state, root).log_in()
    text = words(browser, f"/plan?name={NAME}")
    assert "2 of its 3 hosts have changed since : web[1-2]" in text
    assert "drift was found alice@desk, 8c1f0de2 web2" in text
    assert "changed by a push of site.yaml alice@desk, 8c1f0de2 web[1-2] (2 hosts)" in text
    assert SECOND not in text
    assert "No stored run has changed a host" in words(browser, "/plan?name=later.plan")
    assert "2 hosts" in words(browser, "/plans")


def test_a_plan_that_was_replaced_is_read_again(state: Path, root: Path) -> None:
    """The page is that of the file as it is now; one that is gone is not found."""
    plan = put_plan(root)
    browser = studio_of(state, root).log_in()
    assert "2 hosts" in words(browser, f"/plan?name={NAME}")
    put_plan(root, hosts=("web1", "web2", "web3"))
    assert "web[1-3] (3 hosts)" in words(browser, f"/plan?name={NAME}")
    plan.unlink()
    words(browser, f"/plan?name={NAME}", 404)


@pytest.mark.parametrize(
    "name",
    ["", "../secret.plan", "/etc/passwd", ".hidden.plan", "site.yaml", "link.plan", "out/a.plan",
     "sub/../change.plan", "pipe.plan", "%00.plan", "x" * 200 + ".plan", "a/" * 30 + "b.plan"],
)  # fmt: skip
def test_no_name_leads_out_of_the_project(
    state: Path, root: Path, tmp_path: Path, name: str
) -> None:
    """Not through dots, links, pipes or hidden files."""
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = put_plan(outside, "a.plan")
    (tmp_path / "secret.plan").write_bytes(secret.read_bytes())
    put_plan(root)
    put_plan(root, ".hidden.plan")
    (root / "link.plan").symlink_to(secret)
    (root / "out").symlink_to(outside)
    (root / "sub").mkdir()
    os.mkfifo(root / "pipe.plan")
    browser = studio_of(state, root).log_in()
    text = words(browser, f"/plan?name={name}", 404)
    assert "Not found" in text
    assert "web1" not in text
    listed = words(browser, "/plans")
    assert ".hidden" not in listed
    assert "out/a.plan" not in listed


def test_what_a_plan_says_is_text(state: Path, root: Path) -> None:
    """Names of hosts, resources, people and messages of a plan are never markup."""
    told = {"noop_message": BAD, "error": [BAD], "status": "failed", "failed": True}
    put_plan(root, hosts=("web1",), user=f"{BAD}@desk", ccm=BAD, **{"/etc/motd": told})
    browser = studio_of(state, root).log_in()
    for page in ("/plans", f"/plan?name={NAME}"):
        text = browser.get(page).text
        assert BAD not in text
        assert "&lt;script&gt;" in text
        assert "{{7*7}}" in text


def test_a_plan_that_is_too_large_is_not_opened(
    state: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list says so, and the page how to see it."""
    put_plan(root)
    monkeypatch.setattr(plan_cache, "MAX_RESULTS", 3)
    browser = studio_of(state, root).log_in()
    expect_text(words(browser, "/plans"))
    expect_text(words(browser, f"/plan?name={NAME}", 404))


def test_without_a_project_there_are_no_plans(site: Site) -> None:
    """The page explains where plans come from."""
    expect_text(words(site.log_in(), "/plans"))
    words(site.log_in(), "/plan?name=change.plan", 404)
