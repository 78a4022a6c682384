"""Pushing a plan as an attacker tries it: nothing starts."""

from __future__ import annotations

import html
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from orchestrator.plan_files.conditions import parse_conditions
from orchestrator.studio.plans.plan_cache import PlanPolicy
from orchestrator.studio.web.users import UserFile
from tests.orchestrator.studio.history import Site
from tests.orchestrator.studio.plans.planned import (
    NAME,
    People,
    command_of,
    project_of,
    put_plan,
    studio_of,
)

PASSWORD = "correct horse battery"
HOSTS = "groups: {web: {hosts: {web1: {}, web2: {}}}, one: {hosts: {web1: {}}}}\n"
SCRIPT = """\
open(sys.argv[1], "a").write(order["digest"])
print(json.dumps({"run": "R1"}), flush=True)
"""


class PushSite:
    """A studio that may push, an approved plan, and a program that notes what it pushes."""

    def __init__(self, state: Path, tmp_path: Path, users: Path, **policy: Any) -> None:
        self.root = project_of(tmp_path)
        self.people = People(tmp_path / "people")
        self.people.add("alice")
        self.plan = put_plan(self.root)
        self.people.sign("alice", self.plan)
        self.audit = state / "studio" / "audit.jsonl"
        self._pushed = tmp_path / "pushed"
        inventory = tmp_path / "hosts.yaml"
        inventory.write_text(HOSTS)
        self.site = studio_of(
            state,
            self.root,
            auth=users,
            inventory=(str(inventory),),
            policy=PlanPolicy(str(self.people.signers), **policy),
            push_command=command_of(SCRIPT, str(self._pushed)),
        )

    def log_in(self, name: str = "peter") -> TestClient:
        """A browser of a user."""
        browser = self.site.other_browser()
        done = browser.post("/login", data={"name": name, "password": PASSWORD})
        assert done.status_code == 303
        return browser

    def push(self, browser: TestClient, headers: dict[str, str] | None = None, **sent: str) -> Any:
        """Send the form of the page, with other values."""
        form = fields(browser)
        return browser.post("/plan/push", data={**form, "hosts": "2", **sent}, headers=headers)

    def pushed(self, wait: float = 0.0) -> str:
        """The digests of what was pushed."""
        end = time.monotonic() + wait
        while not self._pushed.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return self._pushed.read_text() if self._pushed.exists() else ""

    def noted(self, action: str) -> list[dict[str, Any]]:
        """The lines of the audit log of an action."""
        lines = map(json.loads, self.audit.read_text().splitlines())
        return [one for one in lines if one["action"] == action]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A users file with each role, and of two who see the hosts of a group."""
    path = tmp_path_factory.mktemp("users") / "users"
    for name, role, groups in (
        ("peter", "push", ()), ("lucy", "look", ()), ("dora", "design", ()),
        ("wendy", "push", ("web",)), ("oscar", "push", ("one",)),
    ):  # fmt: skip
        UserFile(path).add(name, role, PASSWORD, groups)
    return path


@pytest.fixture
def pushing(state: Path, tmp_path: Path, users: Path) -> PushSite:
    """A studio that may push."""
    return PushSite(state, tmp_path, users)


def fields(browser: TestClient) -> dict[str, str]:
    """The hidden fields of the page."""
    page = browser.get(f"/plan/push?name={NAME}").text
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def test_a_confirmed_plan_is_pushed(pushing: PushSite) -> None:
    """The digest of the page is pushed; the audit log has who approved, confirmed and pushed."""
    browser = pushing.log_in()
    assert "Push this plan" in browser.get(f"/plan?name={NAME}").text
    done = pushing.push(browser)
    assert (done.status_code, done.headers["location"]) == (303, "/runs/R1")
    assert pushing.pushed(wait=30) == fields(browser)["digest"]
    page = browser.get(f"/plan?name={NAME}").text
    assert "peter pushed this plan" in page or "peter is pushing this plan" in page
    (confirmed,) = pushing.noted("push confirmed")
    assert (confirmed["user"], confirmed["plan"], confirmed["hosts"]) == ("peter", NAME, 2)
    assert confirmed["approved"] == "alice@example.org"
    assert confirmed["digest"] == pushing.pushed()
    (started,) = pushing.noted("push started")
    assert (started["user"], started["run"]) == ("peter", "R1")


@pytest.mark.parametrize("options", [{}, {"project": None}])
def test_without_allow_push_there_is_no_route(
    state: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    """The page and the form are not found, and no page leads to them."""
    root = project_of(tmp_path)
    put_plan(root)
    site = Site(state, **{"project": root, **options})
    browser = site.log_in()
    assert browser.get(f"/plan/push?name={NAME}").status_code == 404
    csrf = fields_of_page(browser)
    assert browser.post("/plan/push", data={"csrf": csrf, "name": NAME}).status_code == 404
    assert "/plan/push" not in browser.get(f"/plan?name={NAME}").text


def fields_of_page(browser: TestClient) -> str:
    """The token of the session."""
    return str(browser.get("/plans").text.partition('name="csrf" value="')[2].partition('"')[0])


@pytest.mark.parametrize("name", ["lucy", "dora"])
def test_other_roles_push_nothing(pushing: PushSite, name: str) -> None:
    """They see the plan, neither the link nor the form, and their own form is refused."""
    browser, peter = pushing.log_in(name), pushing.log_in()
    assert "/plan/push" not in browser.get(f"/plan?name={NAME}").text
    refused = browser.get(f"/plan/push?name={NAME}")
    assert refused.status_code == 403
    assert "Your role does not allow this." in refused.text
    form = {**fields(peter), "hosts": "2", "csrf": fields_of_page(browser)}
    assert browser.post("/plan/push", data=form).status_code == 403
    assert pushing.pushed(wait=0.2) == ""
    assert {one["user"] for one in pushing.noted("refused")} == {name}


def test_a_user_of_groups_pushes_plans_of_these(pushing: PushSite) -> None:
    """A plan with another host does not exist for them."""
    oscar = pushing.log_in("oscar")
    form = {**fields(pushing.log_in()), "hosts": "2", "csrf": fields_of_page(oscar)}
    assert oscar.get(f"/plan/push?name={NAME}").status_code == 404
    assert oscar.post("/plan/push", data=form).status_code == 404
    assert pushing.pushed(wait=0.2) == ""
    assert pushing.push(pushing.log_in("wendy")).status_code == 303
    assert pushing.pushed(wait=30)


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        ({"origin": "https://evil.example"}, {}),
        ({"sec-fetch-site": "cross-site"}, {}),
        ({}, {"csrf": ""}),
        ({}, {"csrf": "x" * 43}),
    ],
)
def test_a_form_of_others_pushes_nothing(
    pushing: PushSite, headers: dict[str, str], sent: dict[str, str]
) -> None:
    """Not of another site, and not without the token of the session."""
    assert pushing.push(pushing.log_in(), headers, **sent).status_code == 403
    nobody = pushing.site.other_browser()
    assert nobody.post("/plan/push", data={"name": NAME, "hosts": "2"}).status_code == 403
    assert nobody.get(f"/plan/push?name={NAME}").headers["location"] == "/login"
    assert pushing.pushed(wait=0.2) == ""


@pytest.mark.parametrize("hosts", ["", "1", "3", "02", "2.0", "two", "٢", "2 hosts", "-2"])
def test_another_number_of_hosts(pushing: PushSite, hosts: str) -> None:
    """Only the number itself confirms; the log has the attempt."""
    done = pushing.push(pushing.log_in(), hosts=hosts)
    assert done.status_code == 409
    assert "That is not the number of hosts in the plan. Nothing was pushed." in done.text
    assert pushing.pushed(wait=0.2) == ""
    assert len(pushing.noted("push refused")) == 1


def test_a_plan_that_was_replaced_after_the_view(pushing: PushSite) -> None:
    """Another file of that name is refused, even an approved one of the same hosts."""
    browser = pushing.log_in()
    form = {**fields(browser), "hosts": "2"}
    put_plan(pushing.root, created=time.time() - 30)
    Path(f"{pushing.plan}.sig").unlink()
    pushing.people.sign("alice", pushing.plan)
    done = browser.post("/plan/push", data=form)
    assert done.status_code == 409
    assert "The plan was replaced after you opened it. Nothing was pushed." in done.text
    for digest in ("", "0" * 64):
        assert pushing.push(browser, digest=digest).status_code == 409
    assert pushing.pushed(wait=0.2) == ""
    assert pushing.push(browser).status_code == 303


@pytest.mark.parametrize("name", ["../change.plan", "/etc/passwd", "link.plan", "site.yaml", ""])
def test_no_other_file_is_pushed(pushing: PushSite, tmp_path: Path, name: str) -> None:
    """Neither one outside of the project nor one behind a link."""
    (tmp_path / NAME).write_bytes(pushing.plan.read_bytes())
    (pushing.root / "link.plan").symlink_to(tmp_path / NAME)
    browser = pushing.log_in()
    assert pushing.push(browser, name=name).status_code == 404
    assert browser.get("/plan/push", params={"name": name}).status_code == 404
    assert pushing.pushed(wait=0.2) == ""


def test_what_is_not_approved_or_not_valid(state: Path, tmp_path: Path, users: Path) -> None:
    """Too few approvals, a denied or expired plan, and one with values: the page has no form."""
    denied = tuple(parse_conditions("changes>5", "--deny"))
    pushing = PushSite(state, tmp_path, users, wanted=2, denied=denied)
    browser = pushing.log_in()
    created = time.time() - 100_000
    form = {"csrf": fields_of_page(browser), "name": NAME, "hosts": "2"}
    put_plan(pushing.root, created=created, fact=["role"])
    pushing.people.sign("alice", pushing.plan)
    page = html.unescape(browser.get(f"/plan/push?name={NAME}").text)
    digest = re.search(r">([0-9a-f]{64})\s+<tr><th scope=\"row\">Approvals", page)
    assert digest is not None
    done = browser.post("/plan/push", data={**form, "digest": digest[1]})
    assert done.status_code == 409
    for text in (page, html.unescape(done.text)):
        assert "The plan is expired." in text
        assert "1 of 2 approvals" in text
        assert "The plan is denied: changes>5." in text
        assert "needs the values of --fact role: push the plan from the command line." in text
        assert "<button>Push" not in text
    assert pushing.pushed(wait=0.2) == ""


def test_an_approval_that_is_withdrawn(pushing: PushSite) -> None:
    """Signatures and signers are those of the moment of the push."""
    browser = pushing.log_in()
    form = {**fields(browser), "hosts": "2"}
    pushing.people.signers.write_text("")
    done = browser.post("/plan/push", data=form)
    assert done.status_code == 409
    assert "0 of 1 approvals" in done.text
    assert pushing.pushed(wait=0.2) == ""


@pytest.mark.parametrize("role", ["", "look"])
def test_a_user_who_has_lost_the_role(state: Path, tmp_path: Path, users: Path, role: str) -> None:
    """A form that was open when the user was removed or changed pushes nothing."""
    own = tmp_path / "users"
    shutil.copy(users, own)
    pushing = PushSite(state, tmp_path, own)
    browser = pushing.log_in()
    form = {**fields(browser), "hosts": "2"}
    if role:
        UserFile(own).add("peter", role, PASSWORD)
    else:
        UserFile(own).remove("peter")
    assert browser.post("/plan/push", data=form).status_code == 403
    assert pushing.pushed(wait=0.2) == ""
