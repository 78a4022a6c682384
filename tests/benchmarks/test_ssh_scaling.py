import pytest

from benchmarks.simulated_fleet import REFUSES, StandIns
from benchmarks.ssh_scaling import Ground, table

pytest.importorskip("asyncssh", reason="asyncssh is not installed: scripts/test installs it")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("wide") / "few", 5)


@pytest.mark.parametrize("engine", ["threads", "processes:2"])
def test_a_run_is_a_row(ground: Ground, engine: str) -> None:
    """With the cost of the controller and of what it started."""
    with StandIns(ground.directory, ground.recording, 12, processes=1) as played:
        row = ground.push(played, engine, 4)
    assert (row.hosts, row.forks, row.watched.code) == (12, 4, 0)
    assert row.watched.own.cpu > 0
    assert len(row.watched.workers) == (2 if engine == "processes:2" else 0)
    assert 0 < row.healthy <= row.watched.wall
    assert table([row])[-1].startswith(f"| 12 | `{engine}` |")


def test_faulty_hosts_are_left_out_of_what_the_others_take(ground: Ground) -> None:
    """The run ends later than the hosts that are well, and none of these may fail."""
    with StandIns(
        ground.directory, ground.recording, 4, faults={0: REFUSES}, processes=1
    ) as played:
        row = ground.push(played, "threads", 4)
        assert row.watched.code == 3
        played.faulty.clear()
        with pytest.raises(RuntimeError, match="host00000 is unreachable"):
            ground.push(played, "threads", 4)
