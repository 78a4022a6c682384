"""What a type of a site says of its resources on the controller, beside ``check``."""

from pathlib import Path

import pytest

from orchestrator.manifest import load_site
from remote_runtime.errors import InputError
from tests.orchestrator.site_types.types import append, copy_cron

MANIFEST = """\
ccm:
  resources:
    - cronjob:
        - backup: {schedule: "@daily", command: "true"}
    - file:
        - /etc/cron.d/backup: {ensure: absent}
"""


def site(directory: Path, code: str = "") -> Path:
    """A manifest with a job and a resource that removes its file; ``code`` is added to the type."""
    append(copy_cron(directory) / "resource.py", code)
    path = directory / "site.yaml"
    path.write_text(MANIFEST)
    return path


def test_its_paths_are_compared_with_those_of_other_resources(tmp_path: Path) -> None:
    """A file that the type creates and another resource removes is a contradiction."""
    (problem,) = load_site(site(tmp_path)).warnings
    assert "cronjob#backup manages /etc/cron.d/backup, and file#/etc/" in problem.message


def test_it_warns(tmp_path: Path) -> None:
    """Its ``warnings`` are those of the manifest."""
    path = site(
        tmp_path,
        "def _warn(name, properties):\n"
        '    return [("schedule", "it runs at midnight", "choose another time")]\n'
        "Resource.warnings = _warn\n",
    )
    path.write_text(MANIFEST.partition("    - file")[0])
    (warning,) = load_site(path).warnings
    assert warning.message == "cronjob#backup: schedule: it runs at midnight"
    assert str(warning.where).startswith(f"{path}:4:")


@pytest.mark.parametrize("method", ["warnings", "managed_paths", "conflicts", "contents"])
def test_one_that_fails_is_told_with_its_line(tmp_path: Path, method: str) -> None:
    """An exception is a mistake of the type, and does not end the command otherwise."""
    path = site(
        tmp_path, f"def _fail(*args):\n    raise SystemExit(0)\nResource.{method} = _fail\n"
    )
    module = tmp_path / "types" / "cronjob" / "resource.py"
    line = module.read_text().count("\n") - 1
    with pytest.raises(InputError) as caught:
        load_site(path)
    (problem,) = caught.value.problems
    assert problem.message == f"{method}() of the type cronjob failed: SystemExit: 0"
    assert str(problem.where) == f"{module}:{line}:1"
