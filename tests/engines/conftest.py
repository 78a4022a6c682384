"""The engines that are compared, and the hosts that they work on.

In the short form of the suite, Dask plays one scene of each kind.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.engines.fleet import Fleet, differing
from tests.orchestrator.cluster.dask_cluster import DaskCluster

Scene = Callable[[Fleet], Any]
Alike = Callable[[Scene], Any]

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are copies, on Linux only")


@pytest.fixture(
    scope="module",
    params=[pytest.param("processes:2", marks=linux), pytest.param("dask", marks=linux)],
)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """What ``--engine`` is given; each is compared with threads."""
    if request.param != "dask":
        yield str(request.param)
        return
    cluster = DaskCluster(tmp_path_factory.mktemp("dask"))
    try:
        cluster.hire()
        cluster.hire()
        yield cluster.engine
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Hosts of this machine, one of them over SSH."""
    made = Fleet(tmp_path_factory.mktemp("engines"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def on_threads(fleet: Fleet) -> Alike:
    """What a scene comes to on threads; played once."""
    return functools.cache(lambda scene: fleet.play(scene, "threads"))


@pytest.fixture
def alike(fleet: Fleet, engine: str, on_threads: Alike) -> Alike:
    """Plays a scene on the engine and on threads: what it comes to, which has to be the same."""

    def play(scene: Scene) -> Any:
        expected = on_threads(scene)
        differences = differing(fleet.play(scene, engine), expected)
        assert not differences, "\n".join(differences)
        return expected

    return play
