"""Plans that are kept for web1, and pushes of them."""

import json

from tests.push.command import Ccm, Run
from tests.push.target import NAME, Target

SITE = """\
data:
  password: hunter2secret # @secret
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/a: {content: "one\\n"}
        - DIR/b: {content: "{{ Data.password }}\\n"}
        - DIR/gone: {ensure: absent}
    - exec:
        - fired: {command: touch DIR/fired, refresh_only: true, subscribe: [file#DIR/a]}
"""


def plan(target: Target, site: str = SITE, *options: str, name: str = "change.plan") -> Run:
    """Keep a plan of a site for web1."""
    path = target.ccm.site(target.filled(site))
    inventory = str(target.inventory)
    return target.ccm.run(
        "plan", "-i", inventory, "-l", NAME, "-o", name, *options, "--", str(path)
    )


def push(ccm: Ccm, *options: str, name: str = "change.plan") -> Run:
    """Push it."""
    spool = ccm.scratch / "events.jsonl"
    spool.unlink(missing_ok=True)
    done = ccm.run("push", "--events", str(spool), *options, name)
    lines = spool.read_text(encoding="utf-8").splitlines() if spool.exists() else []
    return Run(done.code, done.stdout, done.stderr, [json.loads(line) for line in lines])
