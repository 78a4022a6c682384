"""Pushes whose runs are shared in a directory."""

import json
from pathlib import Path

import pytest

from tests.push.command import Ccm

SITE = "ccm:\n  resources:\n    - exec:\n        - /bin/NAME:\n            refresh_only: false\n"
HOSTS = "hosts: {web1: {connection: local}, web2: {connection: local}}\n"


@pytest.fixture
def shared(ccm: Ccm) -> Path:
    """A project whose runs are shared, and the directory where they are."""
    directory = ccm.scratch / "shared"
    directory.mkdir()
    directory.chmod(0o3770)
    (ccm.scratch / "hosts.yaml").write_text(HOSTS)
    (ccm.scratch / "good.yaml").write_text(SITE.replace("NAME", "true"))
    (ccm.scratch / "bad.yaml").write_text(SITE.replace("NAME", "false"))
    (ccm.scratch / "ccm.yaml").write_text("inventory: hosts.yaml\nhistory: shared\n")
    for variable in ("CCM_INVENTORY", "CCM_HISTORY"):
        ccm.environment.pop(variable, None)
    return directory


def colleague(ccm: Ccm) -> Ccm:
    """The same project with a state directory of its own."""
    other = Ccm(ccm.scratch, {"XDG_STATE_HOME": str(ccm.scratch / "other")})
    return other


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "runs").iterdir())


def test_everybody_sees_the_runs(ccm: Ccm, shared: Path) -> None:
    """A colleague lists and shows a run, and retries its failed hosts."""
    assert ccm.run("push", "bad.yaml", "-l", "web1").code == 1
    (run,) = names(shared)
    other = colleague(ccm)
    assert "no runs" in other.run("runs").stderr
    assert run in other.run("runs", "--history").stdout
    assert "/bin/false" in other.run("report", "--history").stdout
    done = other.run("push", "bad.yaml", "-l", "failed", "--history", "--json")
    assert list(json.loads(done.stdout)["hosts"]) == ["web1"]
    assert len(names(shared)) == 2
    done = other.run("inventory", "-l", f"run:{run}:failed", "--history")
    assert done.stdout.split()[0] == "web1"
    assert other.run("diff", "--history", *names(shared)).code == 0


def test_a_history_that_is_away(ccm: Ccm, shared: Path) -> None:
    """It costs a warning; the run is copied later, once."""
    away = shared.with_name("unmounted")
    shared.rename(away)
    done = ccm.run("push", "good.yaml")
    assert done.code == 0
    assert "not copied completely to the history" in done.stderr
    assert "ccm runs push" in done.stderr
    refused = ccm.run("runs", "push")
    assert refused.code == 1
    assert "cannot be used: No such file" in refused.stderr
    away.rename(shared)
    done = ccm.run("runs", "push")
    assert (done.code, len(names(shared))) == (0, 1)
    assert names(shared)[0] in done.stdout
    assert "nothing to copy" in ccm.run("runs", "push").stderr


def test_an_unsafe_history_is_refused(ccm: Ccm, shared: Path) -> None:
    """No host is contacted if others could replace runs."""
    shared.chmod(0o777)
    done = ccm.run("push", "good.yaml")
    assert done.code == 2
    assert "chmod o-w" in done.stderr
    assert not (ccm.scratch / "state/ccm/runs").exists()


def test_without_a_history(ccm: Ccm, shared: Path) -> None:
    """--history says what to set."""
    (ccm.scratch / "ccm.yaml").write_text("inventory: hosts.yaml\n")
    done = ccm.run("runs", "--history")
    assert (done.code, "CCM_HISTORY" in done.stderr) == (2, True)
    assert ccm.run("runs", "push").code == 2
    ccm.environment["CCM_HISTORY"] = str(shared)
    assert ccm.run("push", "good.yaml").code == 0
    assert len(names(shared)) == 1
