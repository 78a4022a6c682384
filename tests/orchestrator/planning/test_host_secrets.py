"""Secrets of the stages of a push: what a later stage masks on a host."""

import json
from pathlib import Path

from orchestrator.planning.host_secrets import HostSecrets
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
