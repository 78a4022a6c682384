"""Which hosts the words of runs stand for."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.store.outcome_selection import PastRuns
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.manifest.identity import identity as identity_of
from remote_runtime.errors import InputError
from tests.texts import expect_text

HOSTS = ("web1", "web2", "web3", "web4")
SITE = "/srv/site.yaml"
CUT = {"outcome": "interrupted", "phase": Phase.RUNNING}
NO_TURN = {"outcome": "interrupted", "phase": Phase.WAITING}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


class Diary:
    """Keeps one run after the other."""

    def __init__(self) -> None:
        self._count = 0

    def run(
        self, manifest: str = SITE, command: str = "push", noop: bool = False, **results: Any
    ) -> str:
        """A run of the hosts named, each with its outcome or members of its result."""
        self._count += 1
        options = results.pop("options", {"inventory": ["hosts.yaml"]})
        run_id = f"2026031{self._count}T091502Z-aaaaaa"
        identity = "" if command == "ensure" else identity_of(manifest)
        started = run_events.RunStarted(
            run_id, 1.0, tuple(results), noop, manifest, command, identity
        )
        directory = RunDirectory(started, options)
        for host, told in results.items():
            members = {"outcome": told} if isinstance(told, str) else told
            directory.handle(run_events.HostFinished(HostResult(host, Tally())._replace(**members)))
        directory.handle(run_events.RunFinished(2.0, False))
        directory.close()
        return run_id


@pytest.fixture
def diary() -> Diary:
    return Diary()


def named(word: str, run_id: str = "", manifest: str = SITE) -> str:
    return " ".join(sorted(PastRuns(manifest).named(word, run_id, HOSTS)))


def test_a_host_failed_by_its_own_last_push(diary: Diary) -> None:
    """Failed, refused, not reached and cut short count until a later push of it is good."""
    diary.run(web1="failed", web2="unreachable", web3=CUT, web4="ok", gone="failed")
    assert named("failed") == "web1 web2 web3"
    diary.run(web2="ok")
    assert named("failed") == "web1 web3"
    diary.run(web1="ok", web3="defect", web4="refused")
    assert named("failed") == "web3 web4"


@pytest.mark.parametrize(
    "later",
    [
        {"noop": True},
        {"command": "ensure"},
        {"command": "apply", "options": {}},
        {"options": {"inventory": ["hosts.yaml"], "monitor_only": True}},
        {"manifest": "/srv/other.yaml"},
    ],
)
def test_what_does_not_count(diary: Diary, later: dict[str, Any]) -> None:
    """Previews, single resources, runs of this machine, mere looks and other manifests."""
    diary.run(web1="failed")
    diary.run(web1="ok", web2="failed", **later)
    assert "web1" in named("failed")
    if later != {"manifest": "/srv/other.yaml"}:
        assert named("failed") == "web1"


def test_a_host_without_a_push_of_the_manifest(diary: Diary) -> None:
    """Its last push of any manifest speaks for it, and so it is where no manifest is named."""
    diary.run("/srv/other.yaml", web1="ok", web2="failed")
    diary.run(web1="failed")
    assert named("failed") == "web1 web2"
    diary.run("/srv/other.yaml", web1="ok")
    assert named("failed") == "web1 web2"
    assert named("failed", manifest="") == "web2"
    assert PastRuns(SITE).last == f"its last push of {Path(SITE).name}"
    expect_text(PastRuns().last)


def test_of_a_plan_its_own_hosts_only(diary: Diary) -> None:
    """A word stands for no host that a plan is not for, whatever became of that one."""
    run_id = diary.run(web1="failed", web2="unreachable", web3="failed")
    runs = PastRuns(SITE, {"web1", "web4"})
    assert runs.named("failed", "", HOSTS) == {"web1"}
    assert runs.named("failed", run_id, HOSTS) == {"web1"}


def test_the_same_manifest_in_another_checkout(diary: Diary, tmp_path: Path) -> None:
    """A pipeline that checks out into a new directory each time repeats what failed there."""
    for place in ("1", "2"):
        (tmp_path / place / "site" / ".git").mkdir(parents=True)
    diary.run(str(tmp_path / "1" / "site" / "web.yaml"), web1="failed")
    diary.run("/srv/other.yaml", web1="ok")
    assert named("failed", manifest=str(tmp_path / "2" / "site" / "web.yaml")) == "web1"


def test_what_had_no_turn_remains(diary: Diary) -> None:
    """A host whose turn did not come remains until one does; its failure before that stays."""
    diary.run(web1="ok", web2="failed", web3="ok")
    diary.run(web1="ok", web2=NO_TURN, web3=NO_TURN, web4=CUT)
    assert named("remaining") == "web2 web3"
    assert named("failed") == "web2 web4"
    diary.run(web3="ok")
    assert named("remaining") == "web2"


def test_a_host_that_stands_in_several_stages(diary: Diary) -> None:
    """It failed where it failed in one of them, whatever came of it in the others."""
    told: dict[str, Any] = {"db/web1": "ok", "web/web1": "failed", "web/web2": NO_TURN}
    told["db/web2"] = "ok"
    run = diary.run(**told)
    assert named("failed") == "web1"
    assert named("remaining") == "web2"
    assert named("undone", run) == "web1 web2"


def test_hosts_of_one_run(diary: Diary) -> None:
    """A run is named by the beginning of its id, a preview and a single resource, too."""
    changed = Tally()
    changed.changed = 1
    first = diary.run(
        noop=True, web1="failed", web2="unreachable", web3=NO_TURN, web4={"tally": changed}
    )
    diary.run(command="ensure", web1="ok", web4="failed")
    assert named("failed", first[:8]) == "web1 web2"
    assert named("unreachable", first) == "web2"
    assert named("remaining", first) == "web3"
    assert named("undone", first) == "web1 web2 web3"
    assert named("changed", first) == "web4"
    assert named("failed", "20260312") == "web4"
    with pytest.raises(InputError) as refused:
        named("failed", "2025")
    expect_text(refused.value)
