"""How much the runs of one token may take, and how the runs of a studio are listed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.history.location import HistoryError
from tests.orchestrator.studio.sharing.conftest import RUN, Studio, kept, post
from tests.orchestrator.studio.sharing.test_inbox import Client, about

SPACE = 5 << 10  # bytes
OWNERS = 3 * 200  # bytes of the files that name the token of a run
OTHERS = [RUN.replace("40Z", f"{second}Z") for second in (41, 42)]


def _size(run: Path) -> int:
    return sum(one.stat().st_size for one in run.iterdir())


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Studio]:
    """A studio that stores 5 KiB of each token."""
    (tmp_path / "studio").mkdir(mode=0o700)
    made = Studio(tmp_path / "studio", token_space=SPACE)
    yield made
    made.close()


def test_a_token_fills_only_its_space(small: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that would take more is refused with the reason; other tokens still post."""
    alice = small.token("alice")
    post(small, kept("web1"), alice, monkeypatch)
    post(small, kept("web1", run_id=OTHERS[0]), alice, monkeypatch)
    with pytest.raises(HistoryError) as caught:
        post(small, kept("web1", run_id=OTHERS[1]), alice, monkeypatch)
    text = str(caught.value)
    assert "does not store that much" in text
    assert "the studio stores 5.0 KiB for each token" in text
    assert "--token-space" in text
    assert sum(map(_size, small.runs.iterdir())) <= SPACE + OWNERS
    post(small, kept("web1", run_id=RUN.replace("40Z", "49Z")), small.token("bob"), monkeypatch)


def test_a_longer_run_file_counts(small: Studio) -> None:
    """The run.json that ends a run takes no more space than the token has, blanks and all."""
    source, alice = kept("web1"), Client(small, small.token("alice"))
    assert alice(f"/api/v1/runs/{RUN}", about(source))[0] == 200
    ended = (source / "run.json").read_bytes()
    status, told = alice(f"/api/v1/runs/{RUN}", ended + b" " * SPACE)
    assert (status, "the studio stores 5.0 KiB" in told["problem"]) == (413, True)
    assert sum(map(_size, small.runs.iterdir())) <= SPACE + OWNERS
    assert alice(f"/api/v1/runs/{RUN}", ended)[0] == 200


def test_removed_runs_free_their_space(small: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that somebody removes by hand while the studio runs."""
    alice = small.token("alice")
    post(small, kept("web1"), alice, monkeypatch)
    count = 40
    for second in range(41, 41 + count):
        run_id = RUN.replace("1336", "1337").replace("40Z", f"{second % 60:02}Z")
        for old in small.runs.iterdir():
            shutil.rmtree(old)
        post(small, kept("web1", run_id=run_id), alice, monkeypatch)
    assert len(list(small.runs.iterdir())) == 1


def test_listing_reads_no_run_of_the_index(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are listed by the index, and those that it does not have yet by their files."""
    everything = Client(studio, studio.token("alice"))
    web = Client(studio, studio.token("web", "web"))
    poster = studio.token("bob")
    post(studio, kept("web1"), poster, monkeypatch)
    post(studio, kept("web1", "db1", run_id=OTHERS[0]), poster, monkeypatch)
    studio.parts.keeper.refresh()
    post(studio, kept("web2", run_id=OTHERS[1]), poster, monkeypatch)
    for run in (RUN, OTHERS[0]):
        (studio.runs / run / "run.json").write_text("not read")

    def listed(client: Client) -> list[str]:
        """The runs that a token may read."""
        return [one["id"] for one in client("/api/v1/runs")[1]["runs"]]

    assert listed(everything) == [OTHERS[1], OTHERS[0], RUN]
    assert listed(web) == [OTHERS[1], RUN]
    assert everything(f"/api/v1/runs/{RUN}/run.json")[0] == 404
    (studio.runs / OTHERS[1] / "run.json").write_text("not read")
    assert listed(web) == [RUN]
