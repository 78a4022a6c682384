"""Every case of the conformance corpus that the types present cover, from its file.

The corpus is the directory ``shared/conformance`` beside the checkout, or the one that
CCM_CONFORMANCE names.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.case import Case, Controller, problems, push
from tests.orchestrator.transport.sshd import Sshd

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("CCM_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
OWN = Path(__file__).parent / "cases"
"""Cases of what ccm has beyond the corpus."""


def cases() -> list[Path]:
    return sorted([*CORPUS.glob("*.yaml"), *OWN.glob("*.yaml")])


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the cases set owners of files")


def test_the_corpus_is_there() -> None:
    """In CI the corpus must be present, so that its cases cannot be skipped unseen."""
    found = list(CORPUS.glob("*.yaml"))
    if not found and not os.environ.get("CI"):
        pytest.skip(f"no conformance corpus at {CORPUS.name}/ (set CCM_CONFORMANCE)")
    assert len(found) > 50


def problems_of(path: Path, directory: Path, controller: Controller) -> list[str]:
    """Set a case up, make its runs, and clear up; what is wrong with the first run that is."""
    root = directory / "root"
    root.mkdir()
    case = Case.read(path, root)
    case.write_files()
    try:
        for command in case.document.get("setup", []):
            case.shell(command)
        for run in case.document["runs"]:
            found = problems(run, push(case, run, controller))
            if found:
                return found
            for command in run.get("checks", []):
                case.shell(command)
        return []
    finally:
        for command in case.document.get("teardown", []):
            case.shell(command)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the cases share: the runtime, built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server on loopback, so that both sides see one file system."""
    directory = tmp_path_factory.mktemp("sshd")
    server = Sshd(directory, f"SetEnv XDG_CACHE_HOME={directory}/cache", "PermitRootLogin yes")
    yield server
    server.stop()


@needs_root
@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_case_local(path: Path, tmp_path: Path, cache: Path) -> None:
    """The case holds with connection: local."""
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts:\n  here: {connection: local}\n", encoding="utf-8")
    assert problems_of(path, tmp_path, Controller(inventory, tmp_path, cache)) == []


@needs_root
@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_case_over_ssh(path: Path, tmp_path: Path, cache: Path, sshd: Sshd) -> None:
    """The case holds over SSH."""
    host = {
        "address": "127.0.0.1",
        "port": sshd.port,
        "user": "root",
        "key_file": str(sshd.user_key),
        "known_hosts": str(sshd.known_hosts),
    }
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text(json.dumps({"hosts": {"here": host}}), encoding="utf-8")
    controller = Controller(inventory, tmp_path, cache, in_process=True)
    assert problems_of(path, tmp_path, controller) == []
