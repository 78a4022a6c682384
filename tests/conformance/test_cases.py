"""Every case of the conformance corpus that the types present cover, from its file.

The corpus is the folder ``shared/conformance`` beside the checkout, or the one that CCM_CONFORMANCE
names.
"""

import os
from pathlib import Path

import pytest

from tests.conformance.case import Case, compare, push

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("CCM_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
TYPES = ROOT / "remote_runtime" / "resources"
OF_A_TYPE = ("archive", "apply", "scaffold", "exec", "file", "package", "service")


def cases() -> list[Path]:
    return sorted(CORPUS.glob("*.yaml"))


def reason_to_skip(path: Path) -> str:
    """Why this case cannot run here, or ""."""
    subject = path.stem.split("-")[0]
    if subject in OF_A_TYPE and not (TYPES / subject / "resource.py").exists():
        return f"ccm has no resource type {subject} yet"
    return "" if os.geteuid() == 0 else "the cases set file owners, which needs root"


def test_the_corpus_is_there() -> None:
    """In CI the corpus must be present, so that its cases cannot be skipped unseen."""
    if not cases() and not os.environ.get("CI"):
        pytest.skip(f"no conformance corpus at {CORPUS.name}/ (set CCM_CONFORMANCE)")
    assert len(cases()) > 50


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_case_local(path: Path, tmp_path: Path) -> None:
    """The case holds with connection: local."""
    if reason := reason_to_skip(path):
        pytest.skip(reason)
    root, scratch = tmp_path / "root", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    inventory = scratch / "hosts.yaml"
    inventory.write_text("hosts:\n  here: {connection: local}\n", encoding="utf-8")
    case = Case.read(path, root)
    case.write_files()
    try:
        for command in case.document.get("setup", []):
            case.shell(command)
        for run in case.document["runs"]:
            compare(run, push(case, run, inventory, scratch))
            for command in run.get("checks", []):
                case.shell(command)
    finally:
        for command in case.document.get("teardown", []):
            case.shell(command)
