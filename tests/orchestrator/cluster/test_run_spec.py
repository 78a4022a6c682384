"""A brief is on the worker what it was on the controller."""

import json

from orchestrator.cluster.run_spec import Access, Recipe, RunSpec
from remote_runtime.options import RunOptions

BRIEF = RunSpec(
    run_id="run",
    user="a@b",
    options=RunOptions(noop=True, timeout=5.0),
    recipes=(Recipe("site.yaml", {"data": ["a=1"]}, "/s/site.yaml", "first", ("web1",)),),
    access=Access(None, True, 3.0, ("hosts.yaml",), "secret", 50),
    directory="/s",
    environ={"A": "b"},
    hosts={"gate": {"name": "gate"}},
    bundle="00",
    key="11",
)


def test_it_travels_as_json() -> None:
    """All of it."""
    assert RunSpec.of(json.loads(json.dumps(BRIEF.record()))) == BRIEF
