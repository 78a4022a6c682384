import getpass
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.competitors import OWN
from benchmarks.replay import Recording, record, write_site
from benchmarks.simulated_fleet import DOWN, MUTE, REFUSES, StandIns, spread
from benchmarks.simulated_host import LOGIN, RUN, SLOW, START, Part, address_of, name_of, number_at
from remote_runtime.protocol import wire
from tests.orchestrator.transport.sshd import Sshd

pytest.importorskip("asyncssh", reason="asyncssh is not installed: scripts/test installs it")

RESOURCES = 230  # more than are told in one message
_OF_ONE_RUN = (
    *("id", "at", "durations", "seconds", "phases", "start", "end", "run_id", "identity"),
    *("options", "manifest", "again"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest in a directory of its own."""
    directory = tmp_path_factory.mktemp("stand_ins")
    write_site(directory, RESOURCES)
    return directory


@pytest.fixture(scope="module")
def recording(place: Path) -> Recording:
    """What this machine says of it."""
    return record(place / "site.yaml")


def push(place: Path, inventory: Path, *words: str) -> tuple[int, str]:
    """A push: its exit code and what it says."""
    environment = {**os.environ, "XDG_STATE_HOME": str(place / "state"), "NO_COLOR": "1"}
    command = [str(OWN), "push", "-i", str(inventory), *words, str(place / "site.yaml")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def newest(place: Path) -> Path:
    """The directory of the last run."""
    return max((place / "state/ccm/runs").iterdir())


def without_times(told: Any) -> Any:
    """What stands in a run's directory, with the names of what differs from run to run only."""
    if isinstance(told, dict):
        return {k: k if k in _OF_ONE_RUN else without_times(v) for k, v in told.items()}
    return [without_times(one) for one in told] if isinstance(told, list) else told


def together(lines: list[Any]) -> list[Any]:
    """What is as desired as one line: how much of it is told at once is a matter of time."""
    told = [line["stable"] for line in lines if isinstance(line, dict) and "stable" in line]
    if not told:
        return lines
    rows = [[index, *rest] for one in told for index, _, *rest in one.pop("rows")]
    texts = [number for one in told for number in one.pop("resources")]
    return [*(line for line in lines if "stable" not in line), told[0], rows, texts]


def kept(run: Path) -> dict[str, Any]:
    """All that a run has left in its directory."""
    return {
        path.name: together([without_times(json.loads(line)) for line in path.open()])
        for path in sorted(run.glob("*.json*"))
    }


def test_is_kept_as_a_real_host_is(place: Path, recording: Recording) -> None:
    """A push to a stand-in leaves in the run's directory what one to a real host leaves."""
    sshd = Sshd(place / "sshd")
    try:
        host = {"address": "127.0.0.1", "port": sshd.port, "key_file": str(sshd.user_key)}
        host |= {"user": getpass.getuser(), "known_hosts": str(sshd.known_hosts)}
        inventory = place / "real.json"
        inventory.write_text(json.dumps({"hosts": {name_of(0): host}}))
        for _ in range(2):  # its name stands in the files
            code, said = push(place, inventory)
            assert code == 0, said
        real = kept(newest(place))
    finally:
        sshd.stop()
    with StandIns(place, recording, 1, processes=1) as played:
        code, said = push(place, played.inventory)
    assert code == 0, said
    assert kept(newest(place)) == real
    assert {"events.jsonl", "hosts.jsonl", "phases.jsonl"} <= real.keys()
    assert real["hosts.jsonl"][0]["tally"]["stable"] == RESOURCES


def test_faulty_ones_fail_as_such_hosts_do(place: Path, recording: Recording) -> None:
    """Each fault is met as what it is, where it is; those beside them are as desired, slow or not.

    One that hangs holds its place until its time is up.
    """
    faults = dict(enumerate((REFUSES, DOWN, MUTE, LOGIN, START, RUN, SLOW)))
    with StandIns(place, recording, 9, faults=faults, delay=0.1, processes=1) as played:
        code, said = push(place, played.inventory, "--connect-timeout", "1", "--timeout", "3")
    assert code == 3, said
    lines = kept(newest(place))["hosts.jsonl"]
    told = {line["host"]: (line["kind"], line["phase"]) for line in lines}
    assert [told[name_of(number)] for number in range(9)] == [
        ("transport.connect", "connecting"),
        ("transport.connect", "connecting"),
        ("transport.handshake", "connecting"),
        ("host.timeout", "authenticating"),
        ("host.timeout", "starting"),
        ("host.timeout", "running"),
        *[("", "done")] * 3,
    ]


def test_refuses_what_it_has_not_learned(place: Path, recording: Recording) -> None:
    """Another manifest than the one that was recorded fails, however like it."""
    text = (place / "site.yaml").read_text()
    (place / "site.yaml").write_text(text.replace("number = 7", "number = 8"))
    try:
        with StandIns(place, recording, 1, processes=1) as played:
            code, said = push(place, played.inventory)
    finally:
        (place / "site.yaml").write_text(text)
    assert code == 1
    assert "plays another plan" in said


def test_addresses_are_those_of_names() -> None:
    """Each of very many has an address of its own, from which its name is read."""
    addresses = {address_of(number): number for number in range(70_000)}
    assert len(addresses) == 70_000
    assert all(address.startswith("127.") for address in addresses)
    assert number_at(address_of(69_999)) == 69_999


def test_every_tenth_is_faulty() -> None:
    """Faults are spread over the fleet, in turns."""
    assert spread(40, ["a", "b"]) == {9: "a", 19: "b", 29: "a", 39: "b"}


def test_asks_for_its_own_files(recording: Recording) -> None:
    """A plan for a host of another name is not the one that is waited for."""
    (plan,) = wire.Decoder(wire.MAX_FROM_CONTROLLER).feed(recording.plan)
    assert isinstance(plan, dict)
    assert not Part.of(recording).asks(plan, "another")
