"""``ccm push --engine processes``: the same run, and nothing that is left of it."""

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
SITE = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - FOLDER: {ensure: directory, mode: "0755"}
        - "FOLDER/{{ Host.name }}": {content: "{{ lookup('facts.n') }}\\n", alias: own}
        - FOLDER/nobody: {content: x, control: {if: "false"}}
    - exec:
        - "echo hello":
            subscribe: [file#own]
            refresh_only: true
            register_when_stable:
              - cluster: test
                service: web
                protocol: http
                address: 192.0.2.1
                port: 80
                priority: 1
        - "false": {control: {if: "Host.name == 'h3'"}}
        - last: {command: "true", creates: /, require: ["exec#false"]}
"""


class Fleet:
    """Logical hosts of this machine."""

    def __init__(self, ccm: Ccm, folder: Path) -> None:
        import grp
        import pwd

        self.ccm, self.folder = ccm, folder
        hosts = {f"h{number}": {"vars": {"n": number}} for number in range(HOSTS)}
        self.inventory = ccm.scratch / "hosts.json"
        data = {"defaults": {"connection": "local"}, "hosts": hosts}
        self.inventory.write_text(json.dumps(data), encoding="utf-8")
        self._who = {
            "OWNER": pwd.getpwuid(os.geteuid()).pw_name,
            "GROUP": grp.getgrgid(os.getegid()).gr_name,
        }

    def site(self, text: str = SITE) -> Path:
        for word, value in {**self._who, "FOLDER": str(self.folder)}.items():
            text = text.replace(word, value)
        return self.ccm.site(text)

    def words(self, engine: str, site: Path, *options: str) -> list[str]:
        return ["push", "-i", str(self.inventory), "--engine", engine, *options, str(site)]

    def runs(self) -> list[Path]:
        """The folders of the runs that were kept, oldest first."""
        return sorted((self.ccm.scratch / "state/ccm/runs").iterdir())


@pytest.fixture
def fleet(ccm: Ccm, tmp_path: Path) -> Fleet:
    return Fleet(ccm, tmp_path / "fleet")


_OWN = (
    "event_id",
    "timestamp",
    "duration",
    "run_id",
    "seconds",
    "start",
    "end",
    "phases",
    "at",
    "again",
)


def alike(value: Any) -> Any:
    """A value without what is different in any two runs."""
    if isinstance(value, dict):
        return {key: alike(one) for key, one in value.items() if key not in _OWN}
    return [alike(one) for one in value] if isinstance(value, list) else value


def by_host(events: list[dict[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for event in events:
        found.setdefault(event["host"], []).append(alike(event))
    return found


def pushed(fleet: Fleet, engine: str, *options: str) -> dict[str, Any]:
    """All that a run says in every form, without times and ids."""
    import shutil

    shutil.rmtree(fleet.folder, ignore_errors=True)
    fleet.folder.mkdir()
    spool = fleet.ccm.scratch / "spool"
    entries = fleet.ccm.scratch / "state/ccm/registrations.json"
    entries.unlink(missing_ok=True)
    words = ["--json", "--events", str(spool), *options]
    done = fleet.ccm.run(*fleet.words(engine, fleet.site(), *words))
    assert done.stdout, done.stderr
    document = json.loads(done.stdout)
    events = [json.loads(line) for line in spool.read_text("utf-8").splitlines()]
    document.pop("options", None)
    registered = json.loads(entries.read_text("utf-8")) if entries.exists() else None
    kept = fleet.ccm.run("report", "--json")
    return {
        "code": done.code,
        "document": {k: v for k, v in alike(document).items() if k != "events"},
        "told": by_host(events),
        "kept": by_host(json.loads(kept.stdout)["events"]),
        "registered": alike(registered),
        "files": sorted(path.name for path in fleet.runs()[-1].iterdir()),
        "changed": sorted(path.name for path in fleet.folder.iterdir()),
    }


@pytest.mark.parametrize("options", [(), ("--noop",), ("--waves", "2,100%", "--max-fail", "9")])
def test_a_run_is_the_same_whatever_works_on_the_hosts(fleet: Fleet, options: tuple) -> None:
    """Exit code, document, events, registrations, the run's folder and the hosts come out alike."""
    processes, threads = (pushed(fleet, engine, *options) for engine in ("processes:3", "threads"))
    assert processes == threads
    assert threads["code"] == (0 if options == ("--noop",) else 1)
    assert len(threads["told"]) == HOSTS
    assert threads["told"] == threads["kept"]


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


def begun(fleet: Fleet) -> tuple["subprocess.Popen[str]", list[int]]:
    """A push to hosts of which one hangs, once that is so; its workers, the first one has it."""
    fleet.folder.mkdir()
    words = fleet.words("processes:2", fleet.site(HANGS), "--forks", "2", "--noop")
    command = fleet.ccm.start(*words)  # a preview takes no lock, so nobody waits for the host
    await_(lambda: (fleet.folder / "begun").exists(), command)
    await_(lambda: len(ended(fleet)) == HOSTS - 1, command)
    task = Path(f"/proc/{command.pid}/task/{command.pid}/children")
    return command, [int(pid) for pid in task.read_text().split()]


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
    assert "the worker process that was at work on it has ended (killed by signal 9)" in out
    results = ended(fleet)
    assert results["h0"]["outcome"] == "unreachable"
    assert [result["outcome"] for result in results.values()].count("ok") == HOSTS - 1
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
    fleet.folder.mkdir()
    done = fleet.ccm.run(*fleet.words("dask", fleet.site()))
    assert done.code == 2
    assert "--engine 'dask' is no engine" in done.stderr
