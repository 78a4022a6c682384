"""Runs ``ansible-playbook`` and reads the result of each task (controller).

Ansible is a program on PATH, never a dependency. Its ``junit`` callback writes the results into a
private directory, from which they are removed once they are read.
"""

from __future__ import annotations

import json
import math
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
# Environment variables that the callback reads. Arguments of tasks may be secret.
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
_TASK_TIMEOUT = "ANSIBLE_TASK_TIMEOUT"  # since Ansible 2.10
_TIMED_OUT = "Timed out after"
_CONDITION = "Conditional result was False"
_GRACE = 10.0


class ProofError(CcmError):
    """A step of the proof could not be completed, so it proves nothing."""


class Limits(NamedTuple):
    """Time limits in seconds: of one ``step`` of a proof, and of one ``command`` in it, which is a
    task of Ansible or a resource of ccm. 0 is no limit."""

    step: float = 3600.0
    command: float = 900.0


class Playbook(NamedTuple):
    """The playbooks of a project, their inventories, and the directory of ``ansible.cfg``."""

    paths: tuple[Path, ...]
    inventory: tuple[str, ...]
    directory: Path

    @classmethod
    def of(cls, paths: Sequence[str], inventory: Sequence[str]) -> Playbook:
        """The playbooks at ``paths``; Ansible runs where its ``ansible.cfg`` is, or next to the
        first one. UsageError if there are none.
        """
        if not paths:
            raise UsageError("--prove requires a playbook", hint="import a playbook, not a role")
        found = tuple(Path(path).resolve() for path in paths)
        above = (one for one in found[0].parents[:3] if (one / "ansible.cfg").is_file())
        sources = tuple(one if "," in one else os.path.abspath(one) for one in inventory)
        return cls(found, sources, next(above, found[0].parent))


class TaskResult(NamedTuple):
    """The result of a task on a host. ``path`` and ``line`` are its position, ``name`` includes its
    role; ``status`` is ok, skipped or failed, ``timed_out``: it exceeded a time limit.
    ``by_condition``: it was skipped by its ``when``.
    """

    host: str
    path: str
    line: int
    name: str
    changed: bool
    status: str
    timed_out: bool = False
    by_condition: bool = False

    @property
    def text(self) -> str:
        """The task as shown to a person."""
        return f"{self.path}:{self.line} ({self.name})"

    @property
    def place(self) -> tuple[str, int]:
        """The position of the task."""
        return self.path, self.line


def require_ansible(environment: Mapping[str, str]) -> str:
    """Return the path of ``ansible-playbook``. UsageError if it is not on PATH."""
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
    limits: Limits | None = None,
    output: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[TaskResult]:
    """Run the playbook on the named hosts, with ``check`` in check mode; return the result of each
    task.

    Ansible's own output goes to the file descriptor ``output``. UsageError without Ansible,
    ProofError if the playbook failed or ran into one of the ``limits``; in check mode a task may
    fail, because commands are skipped.
    """
    environment = os.environ if environment is None else environment
    limits = limits or Limits()
    argv = [require_ansible(environment), "-l", ",".join(hosts)]
    argv += [word for one in playbook.inventory for word in ("-i", one)]
    argv += ["--check"] if check else []
    argv += map(str, playbook.paths)
    with tempfile.TemporaryDirectory(prefix="ccm-prove-") as directory:
        bound = {_TASK_TIMEOUT: str(math.ceil(limits.command))} if limits.command else {}
        with subprocess.Popen(
            argv,
            cwd=playbook.directory,
            env={**environment, **_REPORT, **bound, "JUNIT_OUTPUT_DIR": directory},
            stdout=output if output is not None else subprocess.DEVNULL,
            stderr=output if output is not None else subprocess.DEVNULL,
        ) as process:
            code = _wait(process, limits.step)
        reports = sorted(Path(directory).glob("*.xml"))
        results = [one for report in reports for one in read_report(report)]
    mode = f"{PROGRAM}{' --check' if check else ''}"
    failed = [one for one in results if one.status == "failed"]
    if slow := [one for one in failed if one.timed_out]:
        raise ProofError(
            f"{mode}: {slow[0].text} took longer than {limits.command:g} s on {slow[0].host}",
            hint="find out what the task is waiting for, or raise --command-timeout",
        )
    if failed and check:
        return results
    if failed:
        first = failed[0]
        raise ProofError(
            f"{mode} failed on {first.host} at {first.text}",
            hint="the proof needs a playbook that succeeds; see Ansible's output for the reason",
        )
    if code != 0 or not reports:
        what = f"exited with {code}" if code else "wrote no report"
        raise ProofError(f"{mode} {what}", hint="see Ansible's output for the reason")
    return results


def read_report(path: Path) -> list[TaskResult]:
    """Read a report of the ``junit`` callback. ProofError if it is not one."""
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
        timed_out=failed and any(_TIMED_OUT in (one.get("message") or "") for one in case),
        by_condition=_CONDITION in (case.findtext("skipped") or ""),
    )


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit code of Ansible. After the time limit, it gets time to end its workers, too."""
    try:
        return process.wait(seconds or None)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
        raise ProofError(
            f"{PROGRAM} took longer than {seconds:g} s and was stopped",
            hint="the last task in Ansible's output is the slow one; "
            "fix it, or raise --step-timeout",
        ) from None
    except BaseException:
        process.wait()  # Ctrl-C reaches Ansible, too
        raise


def _changed(text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ProofError(f"a result of {PROGRAM} is not JSON: {error}") from error
    return bool(isinstance(found, dict) and found.get("changed"))
