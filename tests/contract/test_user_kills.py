"""Kills of the runtime between any two steps of a user's push, on a small shadow suite.

A profile function, set in a forked process, ends it before the chosen call. Nothing in the runtime
knows of it.
"""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from remote_runtime.cancellation import end_on_signals
from remote_runtime.errors import ResourceError
from remote_runtime.system import state_directory as state_directory
from remote_runtime.system.temp_journal import sweep
from tests.contract.cases.user import NAME, OWN, Tables, absent, present
from tests.contract.scenario import Maker, Scenario
from tests.contract.world import World
from tests.remote_runtime import fakes
from tests.remote_runtime.system.test_temp_journal import account

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
CALLS = {"posix_spawn", "fork_exec", "mkdir", "rename", "fchown", "fchmod", "unlink", "rmdir"}


def push(world: World, scenario: Scenario) -> list[Any]:
    """The errors of a push, which removes first what killed ones have left."""
    kept = world.path("state")

    def ready(provider: Any) -> None:
        provider.context.files.note_in(kept, pytest.fail)
        scenario.ready(provider)

    rows = [line.split(":") for line in (world.root / "passwd").read_text().splitlines()]
    users = [account(row[0], int(row[2]), row[5]) for row in rows]
    users.append(account("other", 4711, "/"))  # as no host is without any
    whose = mock.patch("os.geteuid", return_value=OWN)  # whose journals these are
    with whose, mock.patch("pwd.getpwall", return_value=users):
        for journal in state_directory.journals(kept):
            sweep(journal, pytest.fail)
    item = fakes.item("user", NAME, properties=dict(scenario.properties))
    return [event["error"] for event in world.run(item, ready) if event["failed"]]


def killed(world: World, scenario: Scenario, at: int) -> bool:
    """Whether a push was ended before its call number ``at``, counted from 1."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    left = at

    def count(frame: Any, event: str, called: Any) -> None:
        nonlocal left
        if event == "c_call" and called.__name__ in CALLS:
            left -= 1
            if left == 0:
                os._exit(9)

    sys.setprofile(count)
    push(world, scenario)
    os._exit(0)


def state(world: World) -> dict[str, Any]:
    """What the host holds: its tables, and all of the home directory with modes."""
    home = world.root / "home"
    paths = [home, *sorted(home.rglob("*"))] if home.exists() else []
    found: dict[str, Any] = {str(p.relative_to(home)): p.stat().st_mode for p in paths}
    for name in ("passwd", "shadow", "group"):
        found[name] = (world.root / name).read_text()
    return found


@pytest.fixture
def skeleton(tmp_path: Path) -> Iterator[Path]:
    """A directory that new home directories are copied from."""
    path = tmp_path / "skel"
    (path / "bin").mkdir(parents=True)
    (path / ".profile").write_text("x\n")
    (path / "bin/run").write_text("run\n")
    (path / "bin/run").chmod(0o700)
    usual = {"SKEL": str(path), "HOME_MODE": "0750", "CREATE_MAIL_SPOOL": "no"}
    rules = "remote_runtime.host.login_defs"
    none = mock.patch.multiple(rules, _LOGIN=str(path / "none"), _USERADD=str(path / "none"))
    with none, mock.patch.dict(f"{rules}._USUAL", usual):
        yield path


@pytest.mark.parametrize("maker", [present, absent])
def test_kills(maker: Maker, tmp_path: Path, skeleton: Path) -> None:
    """After a kill the home directory is whole or not there, and the next push does the rest."""
    whole: dict[str, str] = {}
    at, kept = 0, {".profile", "bin", "bin/run", "."}
    while True:
        (tmp_path / str(at)).mkdir()
        world = World(tmp_path / str(at))
        with world.later:
            scenario = maker(world)
            ended = at > 0 and killed(world, scenario, at)
            if ended and maker is present:
                assert set(state(world)) - {"passwd", "shadow", "group"} in (set(), kept)
            if ended and maker is absent and NAME in (world.root / "passwd").read_text():
                assert (world.root / "home/kept").read_text() == "x"
            if not (at > 0 and not ended):
                assert push(world, scenario) == []
            now = {
                key: str(value).replace(str(world.root), "") for key, value in state(world).items()
            }
            whole = whole or now
            assert now == whole, f"after a kill before call {at}"
        if at > 0 and not ended:
            break
        at += 1
    assert at > 3  # a kill before each of some calls


def test_a_failure_leaves_no_group(tmp_path: Path) -> None:
    """Where the user cannot be created, the group that was made for it is removed again."""
    world = World(tmp_path)
    with world.later:
        tables = Tables(world)
        world.program("groupadd", 'echo "$3:x:$2:" >> group\n')
        world.program("groupdel", 'sed -i "/^$1:/d" group\n')
        world.program("useradd", "echo no >&2; exit 3\n")
        before = tables.group.read_text()
        scenario = Scenario(NAME, {"uid": 4711, "create_home": False})
        assert "useradd: exit code 3" in push(world, scenario)[0][0]
        assert tables.group.read_text() == before


def test_a_failure_keeps_the_home(tmp_path: Path) -> None:
    """Where the user cannot be removed, its home directory stays as it is."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        world.program("userdel", "exit 8\n")
        scenario.breaks["ensure"]()
        assert "userdel: exit code 8" in push(world, scenario)[0][0]
        assert (tmp_path / "home/kept").read_text() == "x"
        assert state_directory.journals(world.path("state")) == []


def test_a_cancelled_removal(tmp_path: Path) -> None:
    """A removal that has begun is completed: the user and the home directory go together."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        old = (tmp_path / "programs/userdel").read_text()
        (tmp_path / "programs/userdel").write_text(old + f"kill -INT {os.getpid()}; sleep 0.3\n")
        assert push(world, cancelled(scenario)) == []
        assert NAME not in (tmp_path / "passwd").read_text()
        assert not (tmp_path / "home").exists()


def test_a_cancelled_move(tmp_path: Path) -> None:
    """The home directory is where the database says, also if the run was to end behind its move."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        world.program("mv", f'/bin/mv "$@"; kill -INT {os.getpid()}; sleep 0.3\n')
        properties = {"home": world.path("new"), "move_home": True, "force": True}
        assert push(world, cancelled(Scenario(NAME, properties, {}))) == []
        assert f":{world.path('new')}:" in (tmp_path / "passwd").read_text()
        assert (tmp_path / "new/kept").read_text() == "x"


def test_a_move_that_cannot_be_undone(tmp_path: Path) -> None:
    """The first error counts, and says where the home directory is."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        world.program("usermod", "mkdir home home/x; exit 8\n")
        properties = {"home": world.path("new"), "move_home": True, "force": True}
        (error,) = push(world, Scenario(NAME, properties, {}))
        assert error[0].startswith("usermod: exit code 8; the home directory is now")
        assert (tmp_path / "new/kept").read_text() == "x"


def test_a_home_that_was_replaced(tmp_path: Path) -> None:
    """What others put in its place is not removed."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        userdel = tmp_path / "programs/userdel"
        userdel.write_text(userdel.read_text() + "mv home away; mkdir home; touch home/other\n")
        (error,) = push(world, scenario)
        assert error[0].startswith(f"the user {NAME} was removed, but could not remove")
        assert (tmp_path / "home/other").exists()


def test_processes_of_a_user_who_stays(tmp_path: Path) -> None:
    """They are ended only once the home directory can go."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        properties = {**scenario.properties, "kill_processes": True}
        accounts = "remote_runtime.host.machine.accounts.Accounts"
        kill = world.later.enter_context(mock.patch(f"{accounts}._kill"))
        world.later.enter_context(mock.patch(f"{accounts}._require_own_processes"))
        refused = ResourceError("something is mounted there")
        with mock.patch("remote_runtime.system.preconditions.mounted_in", side_effect=refused):
            (error,) = push(world, scenario._replace(properties=properties))
        assert error[0] == "something is mounted there"
        kill.assert_not_called()


def cancelled(scenario: Scenario) -> Scenario:
    """The same in a run that ends on SIGINT."""

    def ready(provider: Any) -> None:
        end_on_signals(provider.context.cancellation)

    return scenario._replace(ready=ready)


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Signals do after a test what they did before."""
    kept = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_labels_that_cannot_be_set(tmp_path: Path) -> None:
    """Where the labels of the new place cannot be set, the home directory is where it was."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        world.program("restorecon", "echo no >&2; exit 1\n")
        properties = {"home": world.path("new"), "move_home": True, "force": True}
        with mock.patch(
            "remote_runtime.system.extended_attributes.labels_files", return_value=True
        ):
            (error,) = push(world, Scenario(NAME, properties, {}))
        assert error[0].startswith(f"restorecon -R {world.path('new')}: exit code 1")
        assert (tmp_path / "home/kept").read_text() == "x"
        assert f":{world.path('home')}:" in (tmp_path / "passwd").read_text()


def test_a_home_that_was_made_meanwhile(tmp_path: Path) -> None:
    """The error is that of userdel, and the home directory is that of the user."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        scenario.breaks["ensure"]()
        world.program("userdel", "mkdir home && touch home/new; exit 8\n")
        assert "userdel: exit code 8" in push(world, scenario)[0][0]
        push(world, scenario)
        assert (tmp_path / "home/kept").read_text() == "x"
        assert not (tmp_path / "home/new").exists()


def test_a_failure_moves_the_home_back(tmp_path: Path) -> None:
    """Where the user cannot be changed, its home directory is where it was."""
    world = World(tmp_path)
    with world.later:
        scenario = absent(world)
        world.program("usermod", "exit 8\n")
        scenario.breaks["ensure"]()
        properties = {"home": world.path("new"), "move_home": True, "force": True}
        failed = push(world, Scenario(NAME, properties, {}))
        assert "usermod: exit code 8" in failed[0][0]
        assert (tmp_path / "home/kept").read_text() == "x"
        assert not (tmp_path / "new").exists()


def test_nothing_of_this_machine(tmp_path: Path) -> None:
    """The programs of the cases stand before those of this machine."""
    world = World(tmp_path)
    with world.later:
        Tables(world)
        names = {path.name for path in (tmp_path / "programs").iterdir()}
    assert {"useradd", "usermod", "userdel", "groupadd", "groupdel", "chpasswd"} <= names
