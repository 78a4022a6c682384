"""``--engine processes`` where something ends early: what is told, and nothing that is left."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.push.command import Ccm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copies, on Linux")

HOSTS = 9


class Fleet:
    """Logical hosts of this machine."""

    def __init__(self, ccm: Ccm, directory: Path) -> None:
        self.ccm, self.directory = ccm, directory
        hosts = {f"h{number}": {"vars": {"n": number}} for number in range(HOSTS)}
        self.inventory = ccm.scratch / "hosts.json"
        data = {"defaults": {"connection": "local"}, "hosts": hosts}
        self.inventory.write_text(json.dumps(data), encoding="utf-8")

    def site(self, text: str) -> Path:
        return self.ccm.site(text.replace("FOLDER", str(self.directory)))

    def words(self, engine: str, site: Path, *options: str, command: str = "push") -> list[str]:
        return [command, "-i", str(self.inventory), "--engine", engine, *options, str(site)]

    def runs(self) -> list[Path]:
        """The directories of the runs that were kept, oldest first."""
        return sorted((self.ccm.scratch / "state/ccm/runs").iterdir())


@pytest.fixture
def fleet(ccm: Ccm, tmp_path: Path) -> Fleet:
    return Fleet(ccm, tmp_path / "fleet")


HANGS = """\
ccm:
  resources:
    - exec:
        - wait:
            command: "true"
            provider: shell
            control: {if: "Host.name == 'h0'"}
            unless: {command: "touch FOLDER/begun; sleep 600", timeout: 15m}
"""

Begun = tuple["subprocess.Popen[str]", list[int]]


def begun(fleet: Fleet, *options: str, command: str = "push") -> Begun:
    """A preview of hosts of which one hangs, once that is so; its workers."""
    fleet.directory.mkdir()
    options = options or ("--noop",)
    words = fleet.words("processes:2", fleet.site(HANGS), "--forks", "2", *options, command=command)
    process = fleet.ccm.start(*words)  # a preview takes no lock, so nobody waits for the host
    await_(lambda: (fleet.directory / "begun").exists(), process)
    await_(lambda: len(ended(fleet)) == HOSTS - 1, process)
    task = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return process, [int(pid) for pid in task.read_text().split()]


def await_(state: Any, command: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + 300
    while not state():
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)


def ended(fleet: Fleet) -> dict[str, dict[str, Any]]:
    """What hosts have come to so far."""
    path = fleet.runs()[-1] / "hosts.jsonl"
    results = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {result["host"]: result for result in results}


def gone(pids: list[int]) -> None:
    """Wait until no such process is left."""
    until = time.monotonic() + 300
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until, pids
        time.sleep(0.05)


def test_a_worker_that_is_killed_is_told_of(fleet: Fleet) -> None:
    """Its host is lost, the line says why, the others are well, and the exit code is 3."""
    command, workers = begun(fleet)
    with_host = [pid for pid in workers if _has_children(pid)]
    assert len(workers) == 2
    assert len(with_host) == 1
    os.kill(with_host[0], signal.SIGKILL)
    out, _ = command.communicate(timeout=300)
    assert command.returncode == 3, out
    assert "the worker process of this host ended (killed by signal 9)" in out
    results = ended(fleet)
    assert results["h0"]["outcome"] == "unreachable"
    assert [result["outcome"] for result in results.values()].count("ok") == HOSTS - 1
    gone(workers)


def test_a_plan_lacks_the_hosts_of_a_worker_that_is_killed(fleet: Fleet) -> None:
    """It says why, and is a plan of all others, whoever previewed them."""
    path = fleet.ccm.scratch / "change.plan"
    command, workers = begun(fleet, "-o", str(path), command="plan")
    for pid in filter(_has_children, workers):
        os.kill(pid, signal.SIGKILL)
    out, _ = command.communicate(timeout=300)
    assert command.returncode == 3, out
    plan = json.loads(path.read_text("utf-8"))
    assert plan["left_out"]["h0"]["kind"] == "worker.lost"
    assert sorted(plan["hosts"]) == [f"h{number}" for number in range(1, HOSTS)]
    assert {len(host["observed"]) for host in plan["hosts"].values()} == {1}
    gone(workers)


def _has_children(pid: int) -> bool:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return any(task.read_text().split() for task in tasks)


def test_ctrl_c_ends_the_hosts(fleet: Fleet) -> None:
    """Sent to all processes of the terminal, as it does: the run ends in order, with 130."""
    command, workers = begun(fleet)
    for pid in (*workers, command.pid):
        os.kill(pid, signal.SIGINT)
    out, _ = command.communicate(timeout=300)
    assert command.returncode == 130, out
    assert ended(fleet)["h0"]["outcome"] == "interrupted"
    gone(workers)


def test_workers_end_with_a_controller_that_is_killed(fleet: Fleet) -> None:
    """Nothing goes on, on the host neither, and the record is read as that of a run cut short."""
    command, workers = begun(fleet)
    runtimes = [child for pid in workers for child in _children(pid)]
    assert runtimes
    command.kill()
    command.communicate()
    gone([*workers, *runtimes])
    shown = fleet.ccm.run("report", "--json")
    assert json.loads(shown.stdout)["hosts"]["h0"]["kind"] == "run.cut"


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def test_what_is_no_engine_is_refused(fleet: Fleet) -> None:
    """Before a host is contacted, from the environment too."""
    fleet.directory.mkdir()
    site = fleet.site(HANGS)
    done = fleet.ccm.run(*fleet.words("dask", site))
    assert done.code == 2
    assert "--engine 'dask' is not an engine" in done.stderr
    fleet.ccm.environment["CCM_ENGINE"] = "thread"
    done = fleet.ccm.run("push", "-i", str(fleet.inventory), str(site))
    assert done.code == 2
    assert "CCM_ENGINE 'thread' is not an engine" in done.stderr
