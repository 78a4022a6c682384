"""What a plan implies of the events of its resources."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.checks.unchanged_resources import PlannedFields
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.plan_item import each_of
from remote_runtime.plans.plan import parse
from remote_runtime.protocol.unchanged_events import implied_members
from remote_runtime.reporting.events import EventMaker, secrets_of
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.planning.planned import FakeHost, gathered, plan, planner

SITE = """
data: {token: s3cr3t-of-site}  # @secret
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/a: {content: "a {{ Data.token }}", alias: first}
        - "/etc/{{ Facts.host.info.hostname }}": {content: b}
        - /etc/{{ Data.token }}: {ensure: absent}
        - /etc/hidden: {content: hidden, sensitive: true}
        - /etc/late: {content: "{{ file('/etc/hostname') }}"}
    - apply:
        - child.yaml: {noop: true}
    - exec:
        - checked: {command: "true", health_checks: [{command: "true"}]}
        - open: {command: "curl https://me:p4ssw0rd@example.com"}
"""
CHILD = "ccm: {resources: [{exec: [{inner: {command: 'true s3cr3t-of-site'}}]}]}"
PLAIN = """
ccm:
  resources:
    - package: [{vim: {}}]
    - scaffold: [{/srv/tree: {source: tree, ensure: present}}]
    - file: [{"/etc/\u00e9": {content: "\u263a", alias: first, owner: r, group: r, mode: "0644"}}]
    - apply: [{child.yaml: {}}]
"""
PLAIN_CHILD = "ccm: {resources: [{exec: [{inner: {command: 'true', timeout: 3s}}]}]}"
TOLD_WHOLE = {"file#/etc/late", "apply#child.yaml", "exec#checked"}


def made(directory: Path) -> HostPlan:
    (directory / "child.yaml").write_text(CHILD, encoding="utf-8")
    return plan(directory, SITE)


def told(implied: PlannedFields | None) -> dict[str, Any]:
    """What an event has of it."""
    assert implied is not None
    members: dict[str, Any] = json.loads(implied.text)
    return members


def test_it_is_what_the_target_would_say(tmp_path: Path) -> None:
    """Member for member, masked as there; None only of what its event has more than the plan."""
    host_plan = made(tmp_path)
    seen = parse(json.loads(host_plan.payload({"run_id": "1"})))
    mask = Mask(seen.secrets)
    for item in each_of(seen.items, managed=True):
        if item.secrets and not item.sensitive:
            mask.add(secrets_of(item))
    whole, manifests = set(), set()
    for item in each_of(seen.items):
        implied = host_plan.implied(item.index)
        if implied is None:
            whole.add(item.id)
            continue
        theirs = implied_members(item, EventMaker(mask))
        assert json.dumps(told(implied)) == json.dumps(theirs)
        assert "s3cr3t" not in json.dumps(theirs)
        manifests.add(theirs.get("manifest"))
    assert whole == TOLD_WHOLE
    assert manifests == {None, "child.yaml"}


def test_what_is_masked_nowhere_is_told_as_it_travels(tmp_path: Path) -> None:
    """The text that a plan holds comes to the same as what the target makes of it."""
    (tmp_path / "child.yaml").write_text(PLAIN_CHILD, encoding="utf-8")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/file").write_text("x", encoding="utf-8")
    host_plan = plan(tmp_path, PLAIN)
    maker = EventMaker(Mask([]))
    for item in each_of(parse(json.loads(host_plan.payload({"run_id": "1"}))).items):
        implied = host_plan.implied(item.index)
        if implied is None:
            assert item.applies
            continue
        theirs = implied_members(item, maker)
        assert json.dumps(told(implied)) == json.dumps(theirs)
        assert implied.ensures is ("requested_ensure" in theirs)
    assert host_plan.total == 5


def test_hosts_share_what_is_the_same(tmp_path: Path) -> None:
    """What hosts have alike is held once for them, from the second one on."""
    (tmp_path / "child.yaml").write_text(CHILD, encoding="utf-8")
    makes = planner(tmp_path, SITE)
    names = ("web1", "web2", "web3")
    plans = [
        makes.plan(FakeHost(name), gathered({"host": {"info": {"hostname": name}}}))
        for name in names
    ]
    of_first, *of_others = [one.implied(0) for one in plans]
    assert of_first is not None
    assert of_others[0] is not None
    assert of_others[0] is of_others[1]
    assert of_others[0] is not of_first  # it might have been the only one
    assert told(of_others[0]) == told(of_first)
    own = [one.implied(1) for one in plans]
    assert [told(one)["name"] for one in own] == ["/etc/web1", "/etc/web2", "/etc/web3"]


OWN = """
data: {token: "{{ Facts.token }}"}  # @secret
ccm:
  resources:
    - apply: [{child.yaml: {}}]
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/plain: {content: "on {{ Host.name }}", alias: "first\u00e9"}
        - /etc/redacted: {content: "{{ Data.token }} on {{ Host.name }}"}
        - /etc/hidden: {content: "on {{ Host.name }}", sensitive: true}
        - "/etc/?a=b": {content: "on {{ Host.name }}"}
"""
OWN_CHILD = """
ccm:
  resources:
    - file: [{/etc/inner: {content: "x {{ Host.name }}", owner: r, group: r, mode: "0644"}}]
"""


@pytest.mark.parametrize("token", ["", "a-long-secret-1"])
def test_of_a_host_whose_texts_are_its_own(tmp_path: Path, token: str) -> None:
    """What is implied is what a plan says that was made without other hosts before it."""
    (tmp_path / "child.yaml").write_text(OWN_CHILD, encoding="utf-8")
    makes = planner(tmp_path, OWN)
    facts = gathered({"token": token})
    for number in range(4):
        name = f"web{number}"
        plan_of = makes.plan(FakeHost(name), facts)
        alone = planner(tmp_path, OWN).plan(FakeHost(name), facts)
        for index in range(1, plan_of.total):
            implied, theirs = plan_of.implied(index), alone.implied(index)
            assert implied is not None
            assert theirs is not None
            assert json.dumps(told(implied)) == json.dumps(told(theirs))
            assert implied.ensures is theirs.ensures


def test_a_secret_that_stands_in_a_digest_is_hidden_there(tmp_path: Path) -> None:
    """As on the target, whichever host came before."""
    digest = sha256(b"on web2").hexdigest()
    site = f"""
data: {{token: "{digest[:6]}"}}  # @secret
ccm:
  resources:
    - file:
        - /etc/a: {{content: "on {{{{ Host.name }}}}", owner: r, group: r, mode: "0644"}}
"""
    makes = planner(tmp_path, site)
    shown = []
    for number in range(4):
        plan_of = makes.plan(FakeHost(f"web{number}"), gathered({}))
        shown.append(told(plan_of.implied(0))["properties"]["content"]["$blob"])
    assert shown[2] == "[masked]" + digest[6:]
    assert all("masked" not in shown[number] for number in (0, 1, 3))


@pytest.mark.parametrize("more", ["ensure: '{{ Facts.state }}'", "control: {if: 'false'}"])
def test_of_hosts_whose_own_text_does_not_travel(tmp_path: Path, more: str) -> None:
    """A file that is to be gone, or is left out, is the same on all of them."""
    given = "owner: r, group: r, mode: '0644', content: '{{ Host.name }}'"
    makes = planner(tmp_path, f"ccm: {{resources: [{{file: [{{/a: {{{given}, {more}}}}}]}}]}}")
    facts = gathered({"state": "absent"})
    shown = [told(makes.plan(FakeHost(name), facts).implied(0)) for name in ("a", "b", "c")]
    assert "content" not in shown[0]["properties"]
    assert shown == [shown[0]] * 3


def test_hosts_with_other_secrets_share_nothing(tmp_path: Path) -> None:
    """What one host masks, another may not have to."""
    site = """
data: {token: "{{ Facts.token }}"}  # @secret
ccm: {resources: [{exec: [{x: {command: "true s3cr3t-of-one"}}]}]}
"""
    makes = planner(tmp_path, site)
    shown = [
        makes.plan(FakeHost(), gathered({"token": token})).implied(0)
        for token in ("s3cr3t-of-one", "s3cr3t-of-two")
    ]
    commands = [told(one)["properties"]["command"] for one in shown]
    assert commands == ["true [masked]", "true s3cr3t-of-one"]
