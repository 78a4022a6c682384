import pytest

from benchmarks.cost_model import (
    FEW,
    HOST_ITSELF,
    HOSTS,
    MANY,
    NARROW,
    RESOURCES,
    WIDE,
    Measured,
    Model,
    Traffic,
    fitted,
    line,
)
from benchmarks.process_costs import Share, Watched
from benchmarks.ssh_scaling import Row

MODEL = Model(
    start=0.2,
    host=0.005,
    resource=0.00005,
    memory=50.0,
    memory_host=0.02,
    memory_place=0.2,
    turns=6,
    bytes_host=20_000.0,
    bytes_resource=300.0,
    busy=0.9,
)


def test_a_line_is_found_through_points() -> None:
    """Exactly where they lie on one, and between them where they do not."""
    assert line([(0, 1), (10, 21), (5, 11)]) == pytest.approx((1, 2))
    assert line([(0, 0), (0, 2), (2, 4), (2, 6)]) == pytest.approx((1, 2))


def test_near_hosts_wait_for_the_processor() -> None:
    """So twice the cores take half the time."""
    one, two = (MODEL.seconds(10_000, 100, 0.0, forks=64, cores=cores) for cores in (1, 2))
    assert one - HOST_ITSELF == pytest.approx(2 * (two - HOST_ITSELF))
    assert one - HOST_ITSELF == pytest.approx(MODEL.cpu(10_000, 100) / 0.9)


def test_far_hosts_are_waited_for() -> None:
    """So a window of twice the width takes half the time, whatever the cores."""
    narrow, wide = (MODEL.seconds(6_400, 1, 2.0, forks=forks, cores=8) for forks in (32, 64))
    one = 6 * 2.0 + HOST_ITSELF
    assert narrow == pytest.approx(200 * one + one)
    assert wide == pytest.approx(100 * one + one)


def test_memory_and_traffic_grow_with_the_fleet() -> None:
    """By the constants that were fitted."""
    assert MODEL.peak(1000, 64) == pytest.approx(50 + 20 + 12.8)
    assert MODEL.peaks(1000, forks=64, cores=1) == MODEL.peak(1000, 64)
    of_two = MODEL.peak(1000, 0) + 2 * MODEL.peak(500, 32)
    assert MODEL.peaks(1000, forks=64, cores=2) == pytest.approx(of_two)
    assert MODEL.bytes(1000, 100) == pytest.approx(50_000_000)


def row(hosts: int, resources: int, forks: int, engine: str = "threads") -> Row:
    """A run that took exactly what the model says."""
    own = Share(MODEL.cpu(hosts, resources), MODEL.peak(hosts, forks))
    watched = Watched(0, "", own.cpu / MODEL.busy, own, (), {})
    return Row(hosts, engine, forks, watched, 0.0, 0.0)


def test_constants_are_found_in_runs_that_keep_to_them() -> None:
    """From few runs, of which none has one of them alone; other engines say nothing of threads."""
    sizes = {n: round(MODEL.bytes(1, n)) for n in RESOURCES}
    measured = Measured(
        {n: row(HOSTS, n, NARROW) for n in RESOURCES},
        {n: row(n, 100, NARROW) for n in (FEW, MANY)},
        {n: row(MANY, 100, n) for n in (NARROW, WIDE)},
        {n: Traffic(MODEL.turns, size // 2, size - size // 2) for n, size in sizes.items()},
    )
    other = row(1000, 100, 64, "dask://127.0.0.1:8786")
    wide = [row(5000, 100, 64), other._replace(hosts=100_000)]
    assert fitted(measured, wide) == pytest.approx(MODEL)
