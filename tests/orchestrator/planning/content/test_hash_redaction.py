"""Content that holds a secret, whoever calls it secret."""

from pathlib import Path

from remote_runtime.plan_item import each_of
from remote_runtime.plans.plan import parse

from ..planned import FakeHost, entries, gathered, planner

SITE = """
data: {password: hunter2-of-db}
ccm:
  defaults: {file: {owner: root, group: root, mode: "0644"}}
  resources:
    - file:
        - /etc/before: {content: "password={{ Data.password }}"}
        - /etc/own: {content: "{{ Host.name }} hunter2-of-db"}
        - /etc/plain: {content: "{{ Host.name }}"}
        - /etc/hidden: {content: "hunter2-of-db", sensitive: true}
        - /etc/netrc: {content: "login me password swordfish"}
    - archive:
        - /srv/app.tgz:
            {url: "https://x/a.tgz", password: swordfish, username: me, owner: root, group: root}
    - apply: [{child.yaml: {data: {password: "{{ Data.password }}"}}}]
    - file: [{/etc/behind: {content: "hunter2-of-db"}}]
"""
CHILD = """
data:
  password: none  # @secret
ccm:
  resources:
    - file:
        - /etc/inner: {content: "{{ Data.password }}", owner: r, group: r, mode: "0644"}
        - /etc/inner-plain: {content: "x", owner: r, group: r, mode: "0644"}
"""


def test_a_child_may_call_secret_what_stands_before_it(tmp_path: Path) -> None:
    """No event tells a hash of what any resource or manifest of the plan has for a secret."""
    (tmp_path / "child.yaml").write_text(CHILD, encoding="utf-8")
    makes = planner(tmp_path, SITE)
    for name in ("a", "b", "c"):
        plan = makes.plan(FakeHost(name), gathered())
        redacted = ["/etc/before", "/etc/own", "/etc/netrc", "/etc/inner", "/etc/behind"]
        assert [item.name for item in plan.items if item.redact_hash] == redacted
        told = parse({"t": "plan", "run_id": "1", "resources": entries(plan)})
        assert [item.name for item in each_of(told.items) if item.redact_hash] == redacted
        assert [item.name for item in each_of(told.items)] == [item.name for item in plan.items]
