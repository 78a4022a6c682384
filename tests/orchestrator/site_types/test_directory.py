"""Which directories are types, and whose code is believed."""

import os
from pathlib import Path

import pytest

from orchestrator.manifest import load_site
from remote_runtime import resources
from tests.orchestrator.site_types.types import accepted, copy_cron, refused
from tests.texts import expect_text


def test_a_directory_is_a_type(tmp_path: Path) -> None:
    """The type is known by its directory's name, with its modules."""
    copy_cron(tmp_path)
    types = accepted(tmp_path)
    assert types.names() == ["cronjob"]
    found = types.get("cronjob")
    assert found is not None
    assert found.providers == ("posix",)
    assert sorted(types.sources()) == ["cronjob/__init__.py", "cronjob/resource.py"]


def test_other_files_and_directories_are_left_alone(tmp_path: Path) -> None:
    """Texts, hidden directories and tests beside the modules are neither types nor shipped."""
    home = copy_cron(tmp_path)
    (tmp_path / "types" / "README.md").write_text("about")
    (tmp_path / "types" / ".git").mkdir()
    for name, file in (("notes", "schema.json"), ("package", "__init__.py")):
        (tmp_path / "types" / name).mkdir()
        (tmp_path / "types" / name / file).write_text("")
    (home / "tests").mkdir()
    (home / "tests" / "test_cron.py").write_text("import pytest\n")
    (home / "test_cron.py").write_text("import pytest\n")
    assert accepted(tmp_path).names() == ["cronjob"]
    assert not [path for path in accepted(tmp_path).sources() if "test" in path]


def test_a_site_without_types_has_none(tmp_path: Path) -> None:
    """No directory is no mistake."""
    assert accepted(tmp_path).names() == []


def test_a_built_in_type_cannot_be_replaced(tmp_path: Path) -> None:
    """A directory by the name of one of ccm's types is refused."""
    copy_cron(tmp_path, "file")
    assert [p.message for p in refused(tmp_path)] == [
        f"{tmp_path}/types/file: a type named file already exists"
    ]


@pytest.mark.parametrize("name", ["Cron", "cron-job", "class", "1st"])
def test_a_type_has_the_name_of_a_type(tmp_path: Path, name: str) -> None:
    """The name is small letters, digits and underscores, and no word of Python."""
    copy_cron(tmp_path, name)
    assert f"{name!r} is not a valid type name" in refused(tmp_path)[0].message


@pytest.mark.parametrize("part", ["__init__.py", "resource.py", "schema.json"])
def test_a_missing_part_is_named(tmp_path: Path, part: str) -> None:
    """Each file that a type consists of must be there."""
    home = copy_cron(tmp_path)
    (home / part).unlink()
    assert refused(tmp_path)[0].message == f"{home / part} is missing"


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A pipe by the name of a module would never end."""
    home = copy_cron(tmp_path)
    os.mkfifo(home / "more.py")
    assert refused(tmp_path)[0].message == f"{home}/more.py is not a regular file"


def test_code_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    """A module or directory that others can write to would let them run code."""
    home = copy_cron(tmp_path)
    (home / "resource.py").chmod(0o666)
    problem = refused(tmp_path)[0]
    assert problem.kind == "input.untrusted"
    expect_text(problem.message)
    (home / "resource.py").chmod(0o644)
    (tmp_path / "types").chmod(0o777)
    expect_text(refused(tmp_path)[0].message)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_code_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's code runs only where the manifest or sudo's caller is that user."""
    home = copy_cron(tmp_path)
    os.chown(home / "resource.py", 4321, -1)
    expect_text(refused(tmp_path)[0].message)
    monkeypatch.setenv("SUDO_UID", "4321")
    assert accepted(tmp_path).names() == ["cronjob"]
    monkeypatch.delenv("SUDO_UID")
    site = tmp_path / "site.yaml"
    site.write_text("ccm: {resources: [{cronjob: [{a: {ensure: absent}}]}]}\n")
    os.chown(site, 4321, -1)
    assert load_site(site).resources[0].id == "cronjob#a"


def test_no_bytecode_is_written_beside_the_manifest(tmp_path: Path) -> None:
    """Importing a type leaves its directory as it was."""
    home = copy_cron(tmp_path)
    before = sorted(home.rglob("*"))
    found = accepted(tmp_path).get("cronjob")
    assert found is not None
    assert found.check("a", {"schedule": "never"}) != []
    assert sorted(home.rglob("*")) == before
    assert not (Path(resources.__path__[0]) / "cronjob").exists()
