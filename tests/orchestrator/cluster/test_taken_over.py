"""Who takes over a worker or the scheduler does not come to run code in the controller.

Tested on the installed ``distributed`` only.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cluster import trust
from tests.orchestrator.cluster import taken_over
from tests.orchestrator.cluster.dask_cluster import DaskCluster
from tests.orchestrator.cluster.test_dask import SITE, Scene, ends

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and an sshd of Linux")

ATTACKS = ("type", "event", "queue", "error", "result")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A scene, taken down."""
    made = Scene(tmp_path)
    (tmp_path / "opened").mkdir()
    made.ccm.environment[taken_over.FOLDER] = str(tmp_path / "opened")
    yield made
    made.sshd.stop()


def _push(scene: Scene, cluster: DaskCluster) -> tuple[set[str], str, bool]:
    """How its hosts end, what it says, and whether the controller has run what was sent."""
    command = scene.ccm.start(*scene.words(cluster, SITE))
    out, err = command.communicate(timeout=280)
    assert out, f"it ended with {command.returncode}: {err}"
    opened = [path.name for path in (scene.scratch / "opened").iterdir()]
    return set(ends(json.loads(out)).values()), err, str(command.pid) in opened


@pytest.mark.parametrize(
    ("attack", "with_tls"), [("type", True), *((attack, False) for attack in ATTACKS)]
)
def test_a_worker_runs_nothing_in_the_controller(scene: Scene, attack: str, with_tls: bool) -> None:
    """Whatever it reports; the hosts that it was given are another worker's."""
    tls = scene.scratch / "tls" if with_tls else None
    if tls:
        trust.make_authority(tls)
        scene.ccm.environment[trust.VARIABLE] = str(tls)
    opened = {taken_over.FOLDER: str(scene.scratch / "opened")}
    cluster = DaskCluster(scene.scratch / "dask", tls, environ=opened)
    try:
        cluster.hire(program=[sys.executable, "-m", taken_over.__name__, attack])
        outcomes, said, ran = _push(scene, cluster)
        assert outcomes <= {"worker.lost", "worker.none"}, said
        assert not ran, said
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
    def send():
        for comm in scheduler.client_comms.values():
            for evil in (Serialize(Evil()), ToPickle(Evil()), {"a": [Serialize(Evil())]}):
                comm.send({"op": "event", "topic": "print", "event": evil})
                comm.send({"op": "error", "exception": evil})
                comm.send({"op": "key-in-memory", "key": "x", "type": evil})
                comm.send({"op": "task-erred", "key": "x", "exception": evil})
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
    opened = {taken_over.FOLDER: str(scene.scratch / "opened")}
    words = ["--preload", str(preload)]
    cluster = DaskCluster(scene.scratch / "dask", environ=opened, words=words)
    try:
        cluster.hire()
        outcomes, said, ran = _push(scene, cluster)
        assert (outcomes, ran) == ({outcome}, False), said
    finally:
        cluster.close()
