"""Secrets of the stages of a push: what a later stage masks on a host."""

import json
from pathlib import Path

from orchestrator.planning.host_secrets import HostSecrets
from orchestrator.planning.staged_preview import EarlierStage, StagedPlanner
from tests.orchestrator.planning.planned import FakeHost, gathered, planner

FIRST = """\
data:
  password: hunter2secret  # @secret
ccm:
  resources:
    - exec: [{"app --password={{ Data.password }}": {}}]
    - archive:
        - /srv/app.tgz:
            {url: https://x/app.tgz, password: swordfish, username: me, owner: root, group: root}
"""
WRITES = """\
ccm:
  defaults: {file: {owner: root, group: root, mode: "0644"}}
  resources: [{file: [{/etc/a: {content: hunter2secret}}, {/etc/b: {content: b}}]}]
"""
LATER = "ccm: {resources: [{exec: [{cat /etc/app.conf: {}}]}]}"


def test_a_later_stage_masks_what_earlier_ones_do_on_that_host(tmp_path: Path) -> None:
    """No other host is told of it, and the first stage nothing of what comes behind."""
    made = []
    secrets = None
    for name, text in (("first", FIRST), ("between", LATER), ("last", LATER)):
        (tmp_path / name).mkdir()
        one = planner(tmp_path / name, text)
        one.host_secrets = secrets = HostSecrets(secrets)
        made.append(one)
    first, between, last = (one.plan(FakeHost(), gathered()) for one in made)
    assert first.secrets_before == ()
    for later in (between, last):
        assert set(later.secrets) >= {"hunter2secret", "swordfish"}
        assert later.own_secrets == ()
        assert "hunter2secret" in json.loads(later.payload({"run_id": "1"}))["secrets"]
    other = made[2].plan(FakeHost("web2"), gathered())
    assert other.secrets == ()


def test_no_hash_is_told_of_what_an_earlier_stage_calls_secret(tmp_path: Path) -> None:
    """Neither by the push of the later stage nor by its preview."""
    for name in ("first", "last"):
        (tmp_path / name).mkdir()
    first, last = planner(tmp_path / "first", FIRST), planner(tmp_path / "last", WRITES)
    first.host_secrets = HostSecrets()
    last.host_secrets = HostSecrets(first.host_secrets)
    stage = EarlierStage("first", ["web1"], first, "")
    preview = StagedPlanner(last, [stage]).plan(FakeHost(), gathered())
    assert [item.name for item in preview.items if item.redact_hash] == ["/etc/a"]
    assert [item.name for item in last.plan(FakeHost(), gathered()).items if item.redact_hash] == [
        "/etc/a"
    ]
    other = last.plan(FakeHost("web2"), gathered())
    assert not any(item.redact_hash for item in other.items)
