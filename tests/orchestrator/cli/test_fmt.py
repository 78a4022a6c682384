"""ccm fmt: which files, what is written, exit codes."""

import io
import json
import os
import stat
from pathlib import Path

import pytest

from orchestrator.cli.app import main
from orchestrator.formatter import files
from remote_runtime.errors import InputError
from tests.texts import expect_text

MESSY = "ccm:\n    resources:\n    - file:\n        - /a: {mode: '0644',  content: x}\n"
TIDY = 'ccm:\n  resources:\n    - file:\n        - /a: {content: x, mode: "0644"}\n'


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory."""
    home = tmp_path / "project"
    home.mkdir()
    monkeypatch.chdir(home)
    return home


def test_a_file_is_replaced(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its mode and a link to it stay, nothing else is left, and a second run changes nothing."""
    site = directory / "site.yaml"
    site.write_text(MESSY)
    site.chmod(0o640)
    (directory / "link.yaml").symlink_to("site.yaml")
    assert main(["fmt", "link.yaml"]) == 0
    assert capsys.readouterr().out == "formatted: link.yaml\n1 file formatted, 0 unchanged\n"
    assert site.read_text() == TIDY
    assert stat.S_IMODE(site.stat().st_mode) == 0o640
    assert (directory / "link.yaml").is_symlink()
    before = site.stat()
    assert main(["fmt", "site.yaml"]) == 0
    assert capsys.readouterr().out == "0 files formatted, 1 unchanged\n"
    assert site.stat().st_ino == before.st_ino
    assert sorted(os.listdir(directory)) == ["link.yaml", "site.yaml"]


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_nothing_is_written(
    option: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --check and --diff: 1 for a file that is not formatted, 0 for one that is."""
    site = directory / "site.yaml"
    site.write_text(MESSY)
    assert main(["fmt", option, "site.yaml"]) == 1
    told = capsys.readouterr().out
    assert ("-    resources:" in told) == (option == "--diff")
    assert ("would format: site.yaml" in told) == (option == "--check")
    assert site.read_text() == MESSY
    site.write_text(TIDY)
    assert main(["fmt", option, "site.yaml"]) == 0


def test_the_files_of_a_project(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without names: manifests, inventories, the project file and data files, and no others."""
    ours = {
        "ccm.yaml": "data:  data\n",
        "site.yaml": MESSY,
        "roles/web/site.yml": MESSY,
        "release.yaml": "stages:\n- {name:  a}\n",
        "hosts.yaml": "hosts: {web1:  }\n",
        "production.yaml": "data: {a:  1}\n",
        "data/role/web.yaml": "a:  1\n",
    }
    others = {
        "docker-compose.yaml": "services: {a:  1}\n",
        ".github/workflows/ccm.yaml": "on:  push\n",
        "vendor/site.yaml": MESSY,
        "inventory/hosts.yml": "all: {hosts: {web1:  }}\n",
    }
    for name, text in {**ours, **others}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "vendor/.git").touch()
    assert main(["fmt"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[:-1] == [f"formatted: {name}" for name in sorted(ours, key=_walked)]
    assert told.endswith(
        "7 files formatted, 0 unchanged; 2 files skipped: not recognized as ccm files\n"
    )
    assert all((directory / name).read_text() == text for name, text in others.items())
    assert all((directory / name).read_text() != text for name, text in ours.items())


def _walked(name: str) -> tuple[int, str]:
    """Files of a directory come before those below it."""
    return name.count("/"), name


def test_a_mistake_does_not_stop_the_others(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every other file is formatted; the mistakes are shown at the end, with exit code 2."""
    (directory / "a.yaml").write_text("ccm: {resources: [}\n")
    (directory / "b.yaml").write_text(MESSY)
    (directory / "c.json").write_text("{}")
    (directory / "d.py").write_text("'a'\n")
    assert main(["fmt", "a.yaml", "b.yaml", "c.json", "d.py", "missing.yaml"]) == 2
    assert (directory / "d.py").read_text() == "'a'\n"
    shown = capsys.readouterr()
    assert (directory / "b.yaml").read_text() == TIDY
    assert "formatted: b.yaml" in shown.out
    assert "a.yaml:1:" in shown.err
    expect_text(shown.err)
    assert main(["fmt"]) == 2
    assert "a.yaml:1:" in capsys.readouterr().err


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For an editor: the text in its form, or the exit code of --check."""
    monkeypatch.setattr("sys.stdin", io.StringIO(MESSY))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == TIDY
    monkeypatch.setattr("sys.stdin", io.StringIO(MESSY))
    assert main(["fmt", "--check", "-"]) == 1
    expect_text(capsys.readouterr().out)
    assert main(["fmt", "-", "site.yaml"]) == 2


def test_own_types_have_their_order(directory: Path) -> None:
    """The properties of a type of the site stand in the order of its schema."""
    own = Path(__file__).resolve().parents[3] / "examples" / "own-type" / "types"
    (directory / "types").symlink_to(own)
    schema = json.loads((own / "cronjob" / "schema.json").read_text())
    names = [name for name in schema["properties"] if name != "ensure"]
    lines = [f"            {name}: x\n" for name in names]
    head = "ccm:\n  resources:\n    - cronjob:\n        - backup:\n"
    (directory / "site.yaml").write_text(head + "".join(reversed(lines)))
    assert main(["fmt"]) == 0
    assert (directory / "site.yaml").read_text() == head + "".join(lines)


def test_a_file_that_changes_meanwhile(directory: Path) -> None:
    """What somebody saves while ccm formats is not lost."""
    site = directory / "site.yaml"
    site.write_text(MESSY)
    file = files.format_file("site.yaml")
    site.write_text("ccm: {}\n")
    with pytest.raises(InputError) as refused:
        files.write(file)
    expect_text(refused.value)
    assert site.read_text() == "ccm: {}\n"
    assert os.listdir(directory) == ["site.yaml"]


def test_a_refused_file_is_not_unchanged(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summary counts it by itself."""
    (directory / "bad.yaml").write_text("a: [1\n")
    (directory / "site.yaml").write_text(TIDY)
    assert main(["fmt", "bad.yaml", "site.yaml"]) == 2
    told = capsys.readouterr()
    assert told.out == "0 files formatted, 1 unchanged, 1 failed\n"
    assert "invalid YAML" in told.err
