"""Plans that are kept of previews in which no host had a part."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.manifest import load_site
from orchestrator.plan_files.plan_file import PlanFile
from orchestrator.plan_files.writer import PlanWriter
from orchestrator.planning import Planner, PlanOptions
from orchestrator.planning.host_plan import HostPlan

NOW = 1_795_000_000
SITE = """\
data:
  password: hunter2secret # @secret
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/motd: {content: "{{ Data.greeting | default('Hi') }}"}
        - /etc/app: {content: "{{ Data.password }}"}
        - /etc/own: {content: quiet-value, sensitive: true}
"""


class FakeHost(NamedTuple):
    """A host of an inventory, as far as a plan looks at it."""

    name: str = "web1"
    address: str = "192.0.2.1"
    port: int | None = None
    connection: str = "ssh"
    groups: tuple[str, ...] = ()
    vars: dict[str, Any] = {}


def gathered(host_id: str = "m1", key: str = "SHA256:k", user: str = "root") -> HostFacts:
    facts = {"host": {"info": {"hostId": host_id}}}
    return HostFacts(facts, {}, [], [], {"user": user, "uid": 0}, key, {})


def planner(directory: Path, text: str = SITE, **options: Any) -> Planner:
    path = directory / "site.yaml"
    path.write_text(text, encoding="utf-8")
    return Planner(load_site(path), PlanOptions(**{"environ": {}, **options}))


def event(host: str, name: str, **members: Any) -> dict[str, Any]:
    """The event of a preview that would change a file."""
    return {
        "type": "file", "name": name, "provider": "posix", "requested_ensure": "present",
        "final_ensure": "absent", "status": "changed", "prediction": "certain",
        "noop_message": "Would have created the file", "error": [], "changed": True,
        "refreshed": False, "failed": False, "skipped": False, "noop": True,
        "unmet_requirements": [], "properties": {"content": "x"}, "duration": 5,
        "changes": [{"what": "ensure", "from": "absent", "to": "present", "diff": "+x\n"}],
        "observed": "0f" * 16, "timestamp": "2026-03-14T09:15:02Z", "event_id": "E", "host": host,
        **members,
    }  # fmt: skip


def host_kept(host: str, plan: HostPlan) -> run_events.HostPlanPart:
    """What the plan that is made keeps of a host."""
    record = plan.kept()
    assert record is not None
    return run_events.HostPlanPart(host, record)


def ended(host: str, kind: str = "", **result: Any) -> run_events.HostFinished:
    return run_events.HostFinished(HostResult(host, Tally(), kind=kind, **result))


def keep(directory: Path, text: str = SITE, /, **about: Any) -> PlanFile:
    """A plan for ``hosts``, each of which would get all files of the site."""
    hosts = about.pop("hosts", ("web1", "web2"))
    made = planner(directory, text, data=about.pop("data", ()))
    maker = PlanWriter(made)
    maker.handle(run_events.RunStarted("R", NOW, hosts, True))
    for name in hosts:
        plan = maker.plan(FakeHost(name), gathered(f"id of {name}"))
        maker.handle(host_kept(name, plan))
        for item in plan.items:
            told = event(name, item.name, **about.pop(item.name, {}))
            maker.handle(run_events.ResourceEvent(name, told, json.dumps(told)))
        maker.handle(ended(name))
    maker.close()
    return maker.finish({**ABOUT, **about}, [directory / "site.yaml"])


ABOUT: dict[str, Any] = {
    "ccm": "1.0", "runtime": "ab" * 32, "user": "alice@desk", "created": NOW,
    "expires": NOW + 86_400, "manifest": "site.yaml", "inventory": ["hosts.yaml"], "hiera": [],
    "facts": [], "data": [], "fact": [], "only": [], "tags": [], "skip": [],
}  # fmt: skip
