"""Commands beside ``ccm push`` on every engine."""

from typing import Any

import pytest

from tests.engines.conftest import Alike
from tests.engines.fleet import LOCAL, SSH, Fleet, shown, told


def running(fleet: Fleet) -> Any:
    """A command that fails on one host, in waves, and its report."""
    line = 'test -e DIR/once || exit 0; echo out; echo "$0" >&2; exit 3'.replace(
        "DIR", str(fleet.directory)
    )
    (fleet.directory / "once").touch()
    waves = ("--waves", "2,100%", "--max-fail", "9")
    document = fleet.document("run", "-l", "all", *waves, "--shell", "--", line)
    kept = fleet.ccm.run("report").stdout
    folded = fleet.run("run", "-l", "all", "--fold", "--", "cat", str(fleet.directory / "once"))
    return document, shown(kept), shown(folded.stdout), folded.code


@pytest.mark.long
def test_run(alike: Alike) -> None:
    """What hosts said stands together, is kept, and holds the waves."""
    document, kept, folded, code = alike(running)
    assert {len(events) for events in document["events"].values()} == {1}
    assert len(document["events"]) == LOCAL + 1
    assert document["exit_code"] == 1
    assert "    out" in kept
    assert any("exit code #" in line for line in folded)
    assert code == 0


def fetching(fleet: Fleet) -> Any:
    """Files of all hosts, and more than all of them together may send."""
    below = fleet.directory / "d"
    below.mkdir()
    (below / "x").write_text("x" * 1000)
    (below / "y").write_text("")
    words = ("-l", "all", "-d", str(fleet.scratch / "out"), "-r", str(below))
    document = fleet.document("fetch", *words)
    out = fleet.scratch / "out"
    found = {
        str(path.relative_to(out)): path.stat().st_size for path in out.rglob("*") if path.is_file()
    }
    # Between them all hosts but one may send their file, whichever these are.
    refused = fleet.run("fetch", "--max-total", str(1000 * LOCAL), "--json", *words)
    events = told(refused.stdout)
    ends = sorted((host["outcome"], host["kind"]) for host in events["hosts"].values())
    return document, found, ends, refused.code


def test_fetch_is_refused_on_dask(fleet: Fleet) -> None:
    """Its workers have no way to bring files; nobody asks the scheduler."""
    engine = "dask://127.0.0.1:1"
    done = fleet.ccm.run(
        "fetch", "-i", str(fleet.inventory), "-l", "all", "--engine", engine, "-d", "out", "/x"
    )
    assert (done.code, "not supported with --engine dask" in done.stderr) == (2, True)


@pytest.mark.long("dask")
def test_fetch(alike: Alike, engine: str) -> None:
    """Files lie below the directory of their host, and all hosts together are bounded."""
    if engine.startswith("dask:"):
        pytest.skip("fetch is refused on Dask")
    document, found, ends, code = alike(fetching)
    assert document["exit_code"] == 0
    assert len(found) == 2 * (LOCAL + 1)
    assert {name.partition("/")[0] for name in found} == {*(f"h{n}" for n in range(LOCAL)), SSH}
    assert ends == [("failed", "fetch.total"), *[("ok", "")] * LOCAL]
    assert code == 1


SITE = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - "DIR/{{ Host.name }}": {content: "one\\n"}
        - DIR/all: {content: "one\\n"}
"""


def drifting(fleet: Fleet) -> Any:
    """A file that all hosts share is changed; then a part is looked at that is one host's."""
    site = fleet.site(SITE)
    pushed = fleet.run("push", site)
    (fleet.directory / "all").write_text("two\n")
    document = fleet.document("drift", site)
    text = fleet.run("drift", site)
    only = [f"--only=file#{fleet.directory}/{name}" for name in ("h1", "nobody")]
    part = fleet.run("drift", *only, site)
    meaningless = " ".join(part.output.split()).count("matches no resource of any host")
    return pushed.code, document, shown(text.stdout), text.code, meaningless, part.code


@pytest.mark.long
def test_drift(alike: Alike) -> None:
    """Who has changed what is told; so is what was chosen and is on no host."""
    pushed, document, text, code, meaningless, of_part = alike(drifting)
    assert (pushed, document["exit_code"], code, of_part) == (0, 4, 4, 0)
    assert document["summary"]["drifted"] == LOCAL + 1
    assert any("changed on the host" in line for line in text)
    assert meaningless == 1


ASKING = """\
ccm:
  ask:
    word: {command: echo hello}
    file: {stat: "DIR/{{ Host.name }}"}
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - "DIR/{{ Host.name }}": {content: "{{ Asked.word.stdout }}"}
        - "DIR/{{ Host.name }}-2": {content: "{{ Asked.file.kind }}"}
"""


def asking(fleet: Fleet) -> Any:
    """Lookups in a preview, where a file that was looked up is to be made, and in two pushes."""
    site = fleet.site(ASKING)
    documents = [fleet.document("push", *options, site) for options in (("--noop",), (), ())]
    return documents, [(fleet.directory / f"h{n}-2").read_text() for n in range(LOCAL)]


@pytest.mark.long
def test_look_ups(alike: Alike) -> None:
    """The planner of a worker asks over its own link; all hosts answer for themselves."""
    documents, texts = alike(asking)
    assert [document["exit_code"] for document in documents] == [0, 0, 0]
    assert documents[0]["summary"]["assumed"] == LOCAL + 1
    assert texts == ["file"] * LOCAL
