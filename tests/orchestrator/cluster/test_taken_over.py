"""Who takes over a worker or the scheduler does not come to run code in the controller.

Tested on the installed ``distributed`` only.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cluster import certificates
from tests.orchestrator.cluster import taken_over
from tests.orchestrator.cluster.dask_cluster import DaskCluster
from tests.orchestrator.cluster.test_dask import SITE, Scene, ends

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and an sshd of Linux")

ATTACKS = ("type", "event", "queue", "error", "result")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A scene, taken down."""
    made = Scene(tmp_path)
    yield made
    made.sshd.stop()


def _push(scene: Scene, cluster: DaskCluster) -> tuple[set[str], str, bool]:
    """How its hosts end, what it says, and whether the controller has run what was sent."""
    command = scene.ccm.start(*scene.words(cluster, SITE))
    out, err = command.communicate(timeout=280)
    assert out, f"it ended with {command.returncode}: {err}"
    opened = [path.name for path in (scene.scratch / "opened").iterdir()]
    return set(ends(json.loads(out)).values()), err, str(command.pid) in opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, DaskCluster]]:
    """A scene and a scheduler for the attacks of workers, which end one before the other."""
    directory = tmp_path_factory.mktemp("shared")
    scene = Scene(directory)
    cluster = DaskCluster(directory / "dask", environ=_watched(scene))
    try:
        yield scene, cluster
    finally:
        cluster.close()
        scene.sshd.stop()


def _watched(scene: Scene) -> dict[str, str]:
    """What tells where code that was sent leaves its traces."""
    directory = scene.scratch / "opened"
    directory.mkdir(exist_ok=True)
    scene.ccm.environment[taken_over.DIRECTORY] = str(directory)
    return {taken_over.DIRECTORY: str(directory)}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.long("type", "event", "error")
def test_a_worker_runs_nothing_in_the_controller(
    shared: tuple[Scene, DaskCluster], attack: str
) -> None:
    """Whatever it reports."""
    scene, cluster = shared
    worker = cluster.hire(program=[sys.executable, "-m", taken_over.__name__, attack])
    outcomes, said, ran = _push(scene, cluster)
    assert outcomes <= {"worker.lost", "worker.none"}, said
    assert not ran, said
    worker.terminate()
    worker.wait(60)


@pytest.mark.long(*ATTACKS[:-1])
@pytest.mark.parametrize(
    ("attack", "with_tls"), [("type", True), *((attack, False) for attack in ATTACKS)]
)
def test_a_worker_that_attacks_stays_beside_another(
    scene: Scene, attack: str, with_tls: bool
) -> None:
    """The hosts that it was given are another worker's. One that spoils the run's own queue ends
    the connections of all, so it goes first."""
    tls = scene.scratch / "tls" if with_tls else None
    if tls:
        certificates.make_authority(tls)
        scene.ccm.environment[certificates.VARIABLE] = str(tls)
    cluster = DaskCluster(scene.scratch / "dask", tls, environ=_watched(scene))
    try:
        worker = cluster.hire(program=[sys.executable, "-m", taken_over.__name__, attack])
        outcomes, said, ran = _push(scene, cluster)
        assert outcomes <= {"worker.lost", "worker.none"}, said
        assert not ran, said
        if attack == "queue":
            worker.terminate()
            worker.wait(60)
        cluster.hire()
        outcomes, said, ran = _push(scene, cluster)
        assert (outcomes, ran) == ({"ok"}, False), said
    finally:
        cluster.close()


SENDS = """
from distributed.protocol.serialize import Serialize, ToPickle
from tornado.ioloop import PeriodicCallback
from tests.orchestrator.cluster.taken_over import Evil

def dask_setup(scheduler):
    greeted = set()  # clients that have had the scheduler's first message in one of its own

    def send():
        for name in greeted.intersection(scheduler.client_comms):
            comm = scheduler.client_comms[name]
            for evil in (Serialize(Evil()), ToPickle(Evil()), {"a": [Serialize(Evil())]}):
                comm.send({"op": "event", "topic": "print", "event": evil})
                comm.send({"op": "error", "exception": evil})
                comm.send({"op": "key-in-memory", "key": "x", "type": evil})
                comm.send({"op": "task-erred", "key": "x", "exception": evil})
        greeted.update(scheduler.client_comms)

    PeriodicCallback(send, 100).start()
"""
ANSWERS = """
from distributed.protocol.serialize import Serialize, ToPickle
from tests.orchestrator.cluster.taken_over import Evil

def dask_setup(scheduler):
    def get(**named):
        return ToPickle(Evil())
    scheduler.handlers["queue_create"] = scheduler.handlers["queue_get"] = get
"""


@pytest.mark.parametrize(("program", "outcome"), [(SENDS, "ok"), (ANSWERS, "worker.lost")])
def test_a_scheduler_runs_nothing_in_the_controller(
    scene: Scene, program: str, outcome: str
) -> None:
    """Neither by what it sends by itself nor by its answers; the run goes on where it can."""
    preload = scene.scratch / "preload.py"
    preload.write_text(program)
    words = ["--preload", str(preload)]
    cluster = DaskCluster(scene.scratch / "dask", environ=_watched(scene), words=words)
    try:
        cluster.hire()
        outcomes, said, ran = _push(scene, cluster)
        assert (outcomes, ran) == ({outcome}, False), said
    finally:
        cluster.close()
