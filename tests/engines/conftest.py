"""The engines that are compared, and the hosts that they work on."""

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.engines.fleet import Fleet, differing

Scene = Callable[[Fleet], Any]
Alike = Callable[[Scene], Any]

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are copies, on Linux only")


@pytest.fixture(scope="session", params=[pytest.param("processes:2", marks=linux)])
def engine(request: pytest.FixtureRequest) -> str:
    """What ``--engine`` is given; each is compared with threads."""
    return str(request.param)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Hosts of this machine, one of them over SSH."""
    made = Fleet(tmp_path_factory.mktemp("engines"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def on_threads(fleet: Fleet) -> Scene:
    """What a scene comes to on threads; played once."""
    return functools.cache(lambda scene: fleet.play(scene, "threads"))


@pytest.fixture
def alike(fleet: Fleet, engine: str, on_threads: Scene) -> Alike:
    """Plays a scene on the engine and on threads: what it comes to, which has to be the same."""

    def play(scene: Scene) -> Any:
        expected = on_threads(scene)
        differences = differing(fleet.play(scene, engine), expected)
        assert not differences, "\n".join(differences)
        return expected

    return play
