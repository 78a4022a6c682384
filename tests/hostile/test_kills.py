import pytest

from tests.hostile import kill_points, kills


def test_a_kill_of_the_runtime_at_any_call() -> None:
    """Wherever a runtime is killed, the next run mends all and leaves nothing of it behind."""
    found = kill_points.run(seconds=6, seed=7)
    assert found.broken == []
    assert found.tried["kills"] > 0


@pytest.mark.parametrize("victim", ["controller SIGKILL", "runtime SIGKILL", "sshd SIGKILL"])
@pytest.mark.long("sshd SIGKILL")
def test_a_kill_of_a_push(victim: str) -> None:
    """Whoever of a push is killed, nothing goes on, and the same push again mends all."""
    found = kills.run(seconds=0, seed=7, choose=lambda one: one == victim)
    assert found.broken == []
    assert found.tried["kills"] > 0
