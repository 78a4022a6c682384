"""What all commands share: an interpreter that starts while the manifest is read."""

import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.planning import PlanOptions
from orchestrator.runs.engine_choice import DASK, EngineChoice
from orchestrator.runs.push import push
from orchestrator.runs.push_flow import PushFlow
from orchestrator.runs.request import ConnectionOptions, HostChoice, RunRequest
from orchestrator.studio.quiet_reporter import QuietReporter
from remote_runtime.errors import InputError, UsageError
from tests.orchestrator.children import assert_over, children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc lists the children")

HOSTS = "hosts: {here: {connection: local}, there: {}}"


def request_of(directory: Path, **fields: Any) -> RunRequest:
    """A push of a manifest that does not exist to this machine and another one."""
    (directory / "hosts.yaml").write_text(HOSTS)
    hosts = HostChoice([str(directory / "hosts.yaml")], limit=fields.pop("limit", None))
    return RunRequest("push", hosts, PlanOptions(), str(directory / "site.yaml"), **fields)


def started(request: RunRequest) -> set[int]:
    """The processes that wait once a flow is prepared."""
    before = children()
    with PushFlow.prepare(request, QuietReporter(lambda run_id: None)):
        waiting = children() - before
    assert_over(waiting)
    return waiting


def test_an_interpreter_starts_before_the_manifest_is_read(tmp_path: Path) -> None:
    """It waits if this machine is one of the hosts, and ends with the flow."""
    assert len(started(request_of(tmp_path))) == 1
    assert not started(request_of(tmp_path, limit="there"))
    assert not started(request_of(tmp_path, engine=EngineChoice(DASK, scheduler="s:1")))


def test_a_wrong_manifest_ends_the_interpreter(tmp_path: Path) -> None:
    """A push that is refused leaves no process behind."""
    request = request_of(tmp_path)
    Path(request.manifest).write_text("ccm: {resources: [nothing: []]}")
    before = children()
    with pytest.raises(InputError):
        push(request, QuietReporter(lambda run_id: None))
    assert children() <= before


def test_a_missing_password_ends_the_interpreter(tmp_path: Path) -> None:
    """A push that is refused after its manifest was read leaves no process behind, either."""
    request = request_of(tmp_path, connection=ConnectionOptions(ask_pass=True))
    Path(request.manifest).write_text("ccm: {resources: [{exec: [{'true': {}}]}]}")
    before = children()
    with pytest.raises(UsageError, match="password"):
        push(request, QuietReporter(lambda run_id: None))
    assert children() <= before
