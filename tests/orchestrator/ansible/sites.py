"""Projects of Ansible for tests: written from texts, converted, validated."""

import textwrap
from pathlib import Path

from orchestrator.ansible.importer import ImportResult, import_project
from orchestrator.cli.app import main


def write(directory: Path, files: dict[str, str]) -> Path:
    """Write files, each by its path."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    return directory


def convert(tmp_path: Path, files: dict[str, str], source: str = ".") -> tuple[ImportResult, Path]:
    """Convert a project; return the result and the directory of the site."""
    project = write(tmp_path / "project", files)
    site = tmp_path / "site"
    return import_project(str(project / source), str(site)), site


def convert_tasks(tmp_path: Path, tasks: str, **files: str) -> tuple[ImportResult, str]:
    """Convert a role with these tasks; return the result and the text of its manifest.

    Further files are named by their paths with ``__`` for a slash: ``defaults__main``.
    """
    role = {"tasks/main.yml": tasks}
    for name, text in files.items():
        folder, _, rest = name.partition("__")
        ending = "" if folder in ("templates", "files") else ".yml"
        role[f"{folder}/{rest.replace('_DOT_', '.')}{ending}"] = text
    project = write(tmp_path / "role", role)
    site = tmp_path / "site"
    result = import_project(str(project), str(site))
    return result, (site / "roles" / "role.yaml").read_text()


def check_valid(site: Path, *more: str) -> None:
    """The site passes the real validator."""
    assert main(["validate", *more, str(site / "site.yaml")]) == 0
