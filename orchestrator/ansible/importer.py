"""The use case of ``ccm import ansible``: reads a project, writes a site (controller).

``import_project(source, output)`` returns an ``ImportResult``. It contacts no host, runs no
Ansible, and writes only below ``output``.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.ansible.conversion.inventory_files import data_files, hosts_text, read_layers
from orchestrator.ansible.conversion.plays import convert_plays
from orchestrator.ansible.conversion.project_converter import Project
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.output.import_report import document, report_text
from orchestrator.ansible.output.manifest_entries import Record
from orchestrator.ansible.output.manifest_text import manifest_text
from orchestrator.ansible.output.yaml_text import lines
from orchestrator.ansible.problems import bad_input
from orchestrator.ansible.source.ansible_cfg import vault_keys
from orchestrator.ansible.source.inventories import find_inventories, read_inventory
from orchestrator.ansible.source.playbooks import Play, is_playbook, project_root, read_playbook
from orchestrator.ansible.source.roles import is_role, role_directories
from orchestrator.ansible.source.yaml_reader import reading_only
from orchestrator.support.atomic_file import replacing
from remote_runtime.errors import UsageError

_PLAYBOOKS = ("site", "main", "playbook", "all", "deploy", "local", "master", "setup")


@dataclass
class ImportResult:
    """The result of an import: paths of the site, the result of each task, and the imported
    playbooks and inventories.
    """

    site: str
    inventory: str = ""
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    playbooks: list[str] = field(default_factory=list)
    inventories: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The report as a JSON document."""
        return document(self.records, self.notes, self.files)

    def text(self) -> str:
        """The report as text."""
        return report_text(self.records, self.notes, self.files)


def import_project(source: str, output: str) -> ImportResult:
    """Convert a playbook, a role or a project into the directory ``output``.

    InputError if a file of the project is broken, UsageError if ``source`` is not part of an
    Ansible project or ``output`` is not empty.
    """
    path = Path(source)
    if not path.exists():
        raise UsageError(f"{source} does not exist", hint="specify a playbook, a role or a project")
    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            f"{output} is not an empty directory",
            hint="specify a directory that does not exist yet",
        )
    with reading_only(_readable(path)):
        return _imported(path, target)


def _readable(path: Path) -> Path:
    """The directory of the project, or of a role."""
    return path if path.is_dir() and is_role(path) else project_root(path)


def _imported(path: Path, target: Path) -> ImportResult:
    plays, root, title = _plays(path)
    project = Project(role_directories(root))
    inventories = find_inventories(root)
    project.hosts = read_inventory(inventories)
    places = list(dict.fromkeys([*(one.parent for one in inventories), root,
                                 *(play.path.parent for play in plays)]))  # fmt: skip
    read_layers(project, places)
    convert_plays(project, plays, root, title)
    keys = vault_keys(root, target)
    if keys:
        project.notes.append(
            "ccm.yaml lists the vault passwords of ansible.cfg; as in Ansible, ccm runs an "
            "executable password file"
        )
    writer = _Writer(project, plays, target, keys)
    try:
        result = writer.write()
    except BaseException:
        writer.undo()
        raise
    result.playbooks = [str(one) for one in _playbooks(path)]
    result.inventories = [str(one) for one in inventories]
    return result


def _playbooks(path: Path) -> list[Path]:
    """The playbooks that were named or found; empty for a role."""
    if path.is_file():
        return [path]
    return [] if is_role(path) and (path / "tasks").is_dir() else _found_playbooks(path)


def _plays(path: Path) -> tuple[list[Play], Path, str]:
    """The plays, the directory of the project and a title."""
    if path.is_file():
        return read_playbook(path), path.parent, f"From {path.name}"
    playbooks = _found_playbooks(path)
    if is_role(path) and (path / "tasks").is_dir():
        name = path.resolve().name
        play = Play("", "all", path / "tasks" / "main.yml", 1, 1, {}, [name])
        _require_tasks(play, path)
        return [play], path.resolve().parent, f"The role {name}"
    if not playbooks:
        raise UsageError(
            f"{path} contains neither a playbook nor a role",
            hint="specify a playbook, a role or a project",
        )
    above = project_root(path)
    plays = [play for one in playbooks for play in read_playbook(one, root=above)]
    return plays, path, f"From {', '.join(one.name for one in playbooks)}"


def _require_tasks(play: Play, path: Path) -> None:
    for ending in (".yml", ".yaml", ".json"):
        found = path / "tasks" / f"main{ending}"
        if found.is_file():
            play.path = found
            return
    raise bad_input(f"{path}: the role has no tasks/main.yml", hint="specify another role")


def _found_playbooks(path: Path) -> list[Path]:
    """The playbook of a project: the one with the usual name, else all playbooks."""
    for name in _PLAYBOOKS:
        for ending in (".yml", ".yaml"):
            one = path / (name + ending)
            if one.is_file() and is_playbook(one):
                return [one]
    found = [one for one in sorted(path.iterdir())
             if one.suffix in (".yml", ".yaml") and one.is_file() and is_playbook(one)]  # fmt: skip
    if not found and (path / "playbooks").is_dir():
        return _found_playbooks(path / "playbooks")
    return found


class _Writer:
    """Writes the site. Nothing outside the directory is changed."""

    def __init__(
        self, project: Project, plays: list[Play], target: Path, keys: dict[str, Any]
    ) -> None:
        self.project, self.plays, self.target, self.keys = project, plays, target, keys
        self.written: list[str] = []

    def write(self) -> ImportResult:
        """Write all files, with the report last."""
        project = self.project
        data = data_files(project)
        hosts = hosts_text(project, *self._login())
        for manifest in project.manifests:
            self._text(manifest.path, manifest_text(manifest))
        for name, text in data.items():
            self._text(name, text)
        if hosts:
            self._text("hosts.yaml", hosts)
        settings = [
            *(["inventory: hosts.yaml"] if hosts else []),
            *(["data: data"] if data else []),
            *(["secrets:", *lines({"vault": self.keys}, 2)] if self.keys else []),
        ]
        if settings:
            self._text("ccm.yaml", "\n".join(settings) + "\n")
        for name, text in project.texts.items():
            self._text(name, text)
        for name, original in project.files.items():
            if name not in project.texts:
                self._bytes(name, original.read_bytes(), original.stat().st_mode & 0o700 | 0o600)
        result = ImportResult(
            str(self.target / "site.yaml"), str(self.target / "hosts.yaml") if hosts else "",
            project.records, project.notes, list(self.written),
        )  # fmt: skip
        self._text("report.txt", result.text())
        text = json.dumps(result.document(), indent=2, ensure_ascii=False)
        self._text("report.json", text + "\n")
        return result

    def _login(self) -> tuple[str, bool]:
        words = [play.keywords for play in self.plays]
        users = {str(one.get("remote_user")) for one in words if one.get("remote_user")}
        become = [text_rewriter.as_bool(one.get("become", False)) for one in words]
        return (users.pop() if len(users) == 1 else ""), any(become)

    def _text(self, name: str, text: str) -> None:
        self._bytes(name, text.encode("utf-8"), 0o600)

    def _bytes(self, name: str, content: bytes, mode: int) -> None:
        path = self.target / name
        if ".." in Path(name).parts or Path(name).is_absolute():
            raise bad_input(f"{name}: outside of the site", hint="report this as a bug")
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, mode, is_new=True) as stream:
            stream.write(content)
        self.written.append(name)

    def undo(self) -> None:
        """Remove what was written, so that the import can be repeated. The directory was empty."""
        for name in self.written:
            with suppress(OSError):
                (self.target / name).unlink()
        for path in sorted(self.target.rglob("*"), reverse=True):
            with suppress(OSError):  # a file of somebody else
                path.rmdir()
