"""The CI files of ccm init, run as shell commands with stand-ins for the forge."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.cli.app import main
from tests.docs.pages import ROOT

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nno real one\n-----END OPENSSH PRIVATE KEY-----"
RECORDER = """\
#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
cat comment.md >> "$CALLS"
"""
CCM = f'#!/bin/sh\nexec {sys.executable} -m orchestrator.cli.app "$@"\n'


class Forge:
    """Runs the jobs of a pipeline, each in a clone of the repository and with a home of its own."""

    def __init__(self, directory: Path, forge: str) -> None:
        self.directory = directory
        self.motd = directory / "motd"
        self.motd.write_text("Welcome\n")
        self.calls = directory / "calls"
        self.calls.touch()
        (directory / "key").write_text(KEY)
        self.repository = directory / "repository"
        words = ["init", str(self.repository), "--local", "--no-become", "--ci", forge]
        assert main(words) == 0
        site = self.repository / "site.yaml"
        site.write_text(site.read_text().replace("/etc/motd", str(self.motd)))
        self.git("init", "-q")
        self.commit()
        programs = directory / "bin"
        programs.mkdir()
        for name, text in (
            ("gh", RECORDER),
            ("curl", RECORDER),
            ("ccm", CCM),
            ("pip", "#!/bin/sh\n"),
        ):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)

    def git(self, *words: str) -> None:
        name = ["-c", "user.name=a", "-c", "user.email=a@example.net"]
        subprocess.run(["git", *name, *words], cwd=self.repository, check=True, timeout=60)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "site")

    def read(self, name: str) -> Any:
        return yaml.safe_load((self.repository / name).read_text())

    def clone(self) -> Path:
        """The work directory of a job, whose path is always the same."""
        work = self.directory / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(self.directory / "home", ignore_errors=True)
        command = ["git", "clone", "-q", str(self.repository), str(work)]
        subprocess.run(command, check=True, timeout=60)
        work.chmod(0o755)
        return work

    def shell(self, work: Path, script: str, variables: dict[str, str]) -> int:
        """Run a script as the forges do, with bash and -e."""
        home = self.directory / "home"
        home.mkdir(exist_ok=True)
        environ = {
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "CALLS": str(self.calls),
            **variables,
        }
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script], cwd=work, env=environ, timeout=240,
            capture_output=True, text=True,
        )  # fmt: skip
        assert KEY not in done.stdout + done.stderr
        if done.returncode:
            print(done.stdout, done.stderr)
        return done.returncode

    def has_key(self) -> bool:
        """Whether the last job's key is where ssh looks, and for its user only."""
        path = self.directory / "home/.ssh/id_ed25519"
        return path.read_text().strip() == KEY and path.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for all of it."""
    tmp_path.chmod(0o755)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def github_job(forge: Forge, name: str, values: dict[str, str]) -> int:
    """Run the steps of a job, and put its outputs into ``values``; the first exit code but 0."""
    workflow = forge.read(".github/workflows/ccm.yaml")
    job = workflow["jobs"][name]
    work = forge.clone()
    output, summary = forge.directory / "output", forge.directory / "summary"
    output.write_text("")
    for step in job["steps"]:
        if "run" not in step:
            assert step["uses"].startswith("actions/")
            continue
        assert "${{" not in step["run"], "values of the forge go through the environment"
        written = {**workflow["env"], **step.get("env", {})}
        variables = {
            key: re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], str(value))
            for key, value in written.items()
        }
        variables |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        code = forge.shell(work, step["run"], variables)
        if code:
            return code
    for line in output.read_text().splitlines():
        key, _, value = line.partition("=")
        values[f"needs.{name}.outputs.{key}"] = value
    return 0


def gitlab_job(forge: Forge, name: str, variables: dict[str, str]) -> int:
    """Run the script of a job, and put what it reports into ``variables``; its exit code."""
    pipeline = forge.read(".gitlab-ci.yml")
    work = forge.clone()
    lines = [*pipeline["default"]["before_script"]]
    for entry in pipeline[name]["script"]:
        lines += entry if isinstance(entry, list) else [entry]
    code = forge.shell(work, "\n".join(lines), variables)
    report = pipeline[name].get("artifacts", {}).get("reports", {}).get("dotenv")
    if report and not code:
        variables.update(line.split("=", 1) for line in (work / report).read_text().splitlines())
    return code


def test_github(directory: Path) -> None:
    """A pull request is validated and previewed in a comment; the approved plan is pushed."""
    forge = Forge(directory, "github")
    values = {
        "github.actor": "alice",
        "github.token": "token",
        "github.event.pull_request.number": "7",
        "secrets.CCM_SSH_KEY": KEY,
    }
    assert github_job(forge, "validate", values) == 0
    assert github_job(forge, "preview", values) == 0
    assert forge.has_key()
    comment = forge.calls.read_text()
    assert comment.startswith("pr comment 7 --body-file comment.md\n")
    assert "+this-machine is managed with ccm" in comment
    assert github_job(forge, "plan", values) == 0
    assert "this-machine is managed" in (directory / "summary").read_text()
    assert re.fullmatch(r"[0-9a-f]{64}", values["needs.plan.outputs.id"])
    assert forge.motd.read_text() == "Welcome\n"
    assert github_job(forge, "push", values) == 0
    assert "this-machine is managed with ccm" in forge.motd.read_text()


@pytest.mark.long
def test_gitlab(directory: Path) -> None:
    """The same for merge requests; a plan that nobody approved is not pushed."""
    forge = Forge(directory, "gitlab")
    variables = {
        "GITLAB_USER_LOGIN": "alice",
        "CCM_SSH_KEY": str(directory / "key"),
        "CCM_COMMENT_TOKEN": "token",
        "CI_API_V4_URL": "https://gitlab.example.net/api/v4",
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "7",
    }
    assert gitlab_job(forge, "preview", variables) == 0
    assert forge.has_key()
    comment = forge.calls.read_text()
    assert "https://gitlab.example.net/api/v4/projects/5/merge_requests/7/notes\n" in comment
    assert "--data-urlencode body@comment.md" in comment
    assert "+this-machine is managed with ccm" in comment
    assert gitlab_job(forge, "plan", variables) == 0
    assert gitlab_job(forge, "push", {**variables, "CCM_PLAN": "0" * 64}) != 0
    assert forge.motd.read_text() == "Welcome\n"
    assert gitlab_job(forge, "push", variables) == 0
    assert "this-machine is managed with ccm" in forge.motd.read_text()
