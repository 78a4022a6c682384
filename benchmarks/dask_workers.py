"""A Dask scheduler and workers on loopback, for ``--engine dask://...`` (Linux)."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.orchestrator.cluster.dask_cluster import DaskCluster

WORD = "dask:"  # so many workers, as ``dask:2``


@contextlib.contextmanager
def engaged(engine: str) -> Iterator[tuple[str, Mapping[str, Sequence[int]]]]:
    """The word for ``--engine``, and the processes that are behind it by their names.

    Of ``dask:N`` these are started, and ended; any other engine is taken as it is.
    """
    if not engine.startswith(WORD):
        yield engine, {}
        return
    with tempfile.TemporaryDirectory(prefix="ccm-dask-") as scratch:
        cluster = DaskCluster(Path(scratch))
        try:
            workers = [cluster.hire().pid for _ in range(int(engine.removeprefix(WORD)))]
            yield cluster.engine, {"scheduler": [cluster.scheduler.pid], "workers": workers}
        finally:
            cluster.close()
