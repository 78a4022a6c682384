"""Runs ``ansible-playbook`` and reads what each task did (controller).

Ansible is a program that is found on PATH, never a dependency. Its own callback ``junit`` writes
the results, which exist in a private directory until they are read.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from remote_runtime.errors import CcmError, UsageError

PROGRAM = "ansible-playbook"
# What the callback reads from the environment. Arguments of tasks may be secret.
_REPORT = {
    "ANSIBLE_CALLBACKS_ENABLED": "junit",
    "ANSIBLE_CALLBACK_WHITELIST": "junit",  # its name before Ansible 2.11
    "ANSIBLE_RETRY_FILES_ENABLED": "0",
    "JUNIT_FAIL_ON_CHANGE": "false",
    "JUNIT_FAIL_ON_IGNORE": "false",
    "JUNIT_HIDE_TASK_ARGUMENTS": "true",
    "JUNIT_INCLUDE_SETUP_TASKS_IN_REPORT": "false",
    "JUNIT_TASK_CLASS": "false",
    "JUNIT_TASK_RELATIVE_PATH": "",
    "JUNIT_TEST_CASE_PREFIX": "",
}


class ProofError(CcmError):
    """A step of the proof could not be carried out, so it proves nothing."""


class Playbook(NamedTuple):
    """The playbooks of a project, their inventories, and the directory of ``ansible.cfg``."""

    paths: tuple[Path, ...]
    inventory: tuple[str, ...]
    directory: Path

    @classmethod
    def of(cls, paths: Sequence[str], inventory: Sequence[str]) -> Playbook:
        """The playbooks at ``paths``; Ansible runs where its ``ansible.cfg`` is, or beside the
        first one. UsageError without any.
        """
        if not paths:
            raise UsageError("--prove needs a playbook", hint="import a playbook, not a role")
        found = tuple(Path(path).resolve() for path in paths)
        above = (one for one in found[0].parents[:3] if (one / "ansible.cfg").is_file())
        sources = tuple(one if "," in one else os.path.abspath(one) for one in inventory)
        return cls(found, sources, next(above, found[0].parent))


class TaskResult(NamedTuple):
    """What a task did on a host. ``path`` and ``line`` say where it stands, ``name`` includes its
    role; ``status`` is ok, skipped or failed."""

    host: str
    path: str
    line: int
    name: str
    changed: bool
    status: str

    @property
    def place(self) -> tuple[str, int]:
        """Where the task stands."""
        return self.path, self.line


def require_ansible(environment: Mapping[str, str]) -> str:
    """Return the path of ``ansible-playbook``. UsageError where PATH has none."""
    found = shutil.which(PROGRAM, path=environment.get("PATH"))
    if found is None:
        raise UsageError(
            f"--prove: {PROGRAM} was not found on PATH",
            hint="install ansible-core, for example with pipx install ansible-core",
        )
    return found


def run_playbook(
    playbook: Playbook,
    hosts: Sequence[str],
    *,
    check: bool = False,
    output: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[TaskResult]:
    """Run the playbook on the named hosts, with ``check`` in check mode; what each task did.

    Ansible's own output goes to the file descriptor ``output``. UsageError without Ansible,
    ProofError where the playbook failed; in check mode a task may fail, as commands are skipped.
    """
    environment = os.environ if environment is None else environment
    argv = [require_ansible(environment), "-l", ",".join(hosts)]
    argv += [word for one in playbook.inventory for word in ("-i", one)]
    argv += ["--check"] if check else []
    argv += map(str, playbook.paths)
    with tempfile.TemporaryDirectory(prefix="ccm-prove-") as directory:
        done = subprocess.run(
            argv,
            cwd=playbook.directory,
            env={**environment, **_REPORT, "JUNIT_OUTPUT_DIR": directory},
            stdout=output if output is not None else subprocess.DEVNULL,
            stderr=output if output is not None else subprocess.DEVNULL,
            check=False,
        )
        reports = sorted(Path(directory).glob("*.xml"))
        results = [one for report in reports for one in read_report(report)]
    mode = f"{PROGRAM}{' --check' if check else ''}"
    failed = [one for one in results if one.status == "failed"]
    if failed and check:
        return results
    if failed:
        first = failed[0]
        raise ProofError(
            f"{mode} failed on {first.host} at {first.path}:{first.line} ({first.name})",
            hint="the proof needs a playbook that succeeds; Ansible's output says why",
        )
    if done.returncode != 0 or not reports:
        what = f"exited with {done.returncode}" if done.returncode else "wrote no report"
        raise ProofError(f"{mode} {what}", hint="Ansible's output says why")
    return results


def read_report(path: Path) -> list[TaskResult]:
    """Read a report of the ``junit`` callback. ProofError where it is not one."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError) as error:
        raise ProofError(f"the report of {PROGRAM} cannot be read: {error}") from error
    return [_result(case) for case in root.iter("testcase") if not _is_include(case)]


def _is_include(case: ElementTree.Element) -> bool:
    return (case.get("name") or "").startswith("[include] ")


def _result(case: ElementTree.Element) -> TaskResult:
    host, _, title = (case.get("name") or "").partition("] ")
    path, _, line = (case.get("classname") or "").rpartition(":")
    failed = case.find("failure") is not None or case.find("error") is not None
    status = "failed" if failed else "skipped" if case.find("skipped") is not None else "ok"
    return TaskResult(
        host=host.removeprefix("["),
        path=path,
        line=int(line) if line.isdigit() else 0,
        name=title.partition(": ")[2] or title,
        changed=status == "ok" and _changed(case.findtext("system-out") or ""),
        status=status,
    )


def _changed(text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ProofError(f"a result of {PROGRAM} is not JSON: {error}") from error
    return bool(isinstance(found, dict) and found.get("changed"))
