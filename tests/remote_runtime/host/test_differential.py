"""The overlay comes to what the machine comes to, or says that it does not know."""

import os

import pytest

from tests.remote_runtime.host import differential
from tests.remote_runtime.host.differential import Case, Step, differing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

SHORT, LONG = 15, 4000  # sequences, each as root and as another user


def differences(first: int, count: int) -> list[str]:
    differential.prepare()
    found = [
        differential.run(seed, as_root)
        for seed in range(first, first + count)
        for as_root in (True, False)
    ]
    return [told for told in found if told]


@pytest.mark.timeout(600)
def test_random_operations() -> None:
    """Every step ends alike and leaves the same to be read."""
    assert differences(1, SHORT) == []


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_many_random_operations() -> None:
    """The same at length."""
    assert differences(SHORT + 1, LONG) == []


@pytest.mark.parametrize("seed", [8, 50, 126, 144, 150, 216])
def test_what_differed_once(seed: int) -> None:
    """Planned links in folders of others, files with several names, folders that are closed."""
    assert differences(seed, 1) == []


def test_a_difference_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """A machine that does something else than the overlay says is found out."""
    root = str(tmp_path)
    step = Step("write", (f"{root}/a", b"x"), (("mode", 0o644),))
    monkeypatch.setattr(Case, "build", lambda self: None)
    monkeypatch.setattr(Case, "steps", lambda self: [step])
    assert differing(1, root) is None
    os.remove(f"{root}/a")
    monkeypatch.setattr("remote_runtime.host.machine.files.Files._write", lambda *a, **k: None)
    assert "after: " in (differing(1, root) or "")
