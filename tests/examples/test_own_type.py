"""The example's cron type, shipped from beside a manifest: over SSH and on this machine."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Host, Lab, find_interpreter
from tests.orchestrator.site_types.types import EXAMPLE, append, copy_cron
from tests.push.command import Ccm, Run
from tests.push.target import Target, on_this_machine, over_ssh

CRON_D = Path("/etc/cron.d")
NAME = f"ccm-test-nightly-{os.getpid()}"  # other workers have jobs in the same directory
NEVER = "0 0 31 2 *"
LINE = f"{NEVER} root date +\\%F >> /dev/null"

CRONTAB = """\
#!/bin/sh
# A crontab that keeps one file per user, as the real one does.
file="/var/spool/fake-cron.$2"
case "$3" in
    -l) [ -e "$file" ] && cat "$file" || { echo "no crontab for $2" >&2; exit 1; } ;;
    -) cat > "$file" ;;
esac
"""


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    return Ccm(tmp_path)


@pytest.fixture
def remote(ccm: Ccm, lab: Lab, host: Host) -> Target:
    found = over_ssh(ccm, lab, host)
    found.path("/etc/cron.d").mkdir(exist_ok=True)
    return found


@pytest.fixture
def local(ccm: Ccm, tmp_path: Path) -> Iterator[Target]:
    if os.geteuid() != 0 or not CRON_D.is_dir():
        pytest.skip("a file in /etc/cron.d of this machine needs root and that folder")
    yield on_this_machine(ccm, tmp_path)
    (CRON_D / NAME).unlink(missing_ok=True)


@pytest.fixture(params=["ssh", "local"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    copy_cron(tmp_path)
    found: Target = request.getfixturevalue("remote" if request.param == "ssh" else "local")
    return found


def cron_file(target: Target) -> Path:
    """The job's file where it is on this machine."""
    local = target.path("") == Path(target.directory)
    return CRON_D / NAME if local else target.path("").parents[1] / "etc" / "cron.d" / NAME


def push(target: Target, properties: str, *options: str) -> Run:
    site = f"ccm:\n  resources:\n    - cronjob:\n        - {NAME}: {{{properties}}}\n"
    return target.push(site, *options)


JOB = f'schedule: "{NEVER}", command: "date +%F >> /dev/null"'


@pytest.mark.long("local")
def test_a_job_comes_changes_and_goes(target: Target) -> None:
    """Preview, push, push again, another schedule, absent: as with a built-in type."""
    path = cron_file(target)
    done = push(target, JOB, "--noop")
    event = target.event(done, f"cronjob#{NAME}")
    assert done.code == 0, done.output
    assert event["noop_message"] == "Would have created the job"
    assert event["prediction"] == "certain"
    assert not path.exists()

    done = push(target, JOB)
    event = target.event(done, f"cronjob#{NAME}")
    assert event["status"] == "changed", done.output
    assert path.read_text() == f"# written by ccm\n{LINE}\n"
    assert path.stat().st_mode & 0o777 == 0o644

    done = push(target, JOB)
    assert target.statuses(done) == {f"cronjob#{NAME}": "stable"}

    done = push(target, JOB.replace("31 2", "30 2"))
    (change,) = target.event(done, f"cronjob#{NAME}")["changes"]
    assert (change["from"], change["to"]) == (LINE, LINE.replace("31 2", "30 2"))

    done = push(target, "ensure: absent", "--noop")
    event = target.event(done, f"cronjob#{NAME}")
    assert event["noop_message"] == "Would have removed the job"
    done = push(target, "ensure: absent")
    assert target.event(done, f"cronjob#{NAME}")["final_ensure"] == "absent"
    assert not path.exists()
    assert target.statuses(push(target, "ensure: absent")) == {f"cronjob#{NAME}": "stable"}


@pytest.mark.long("ssh")
def test_a_bug_in_it_is_told_as_the_sites_own(target: Target, tmp_path: Path) -> None:
    """File, line and traceback are those of the type, and its resource has failed."""
    module = tmp_path / "types" / "cronjob" / "resource.py"
    broken = 'def _broken(self, host):\n    return {}["gone"]\n\n\nResource.read = _broken\n'
    line = append(module, broken) + 1
    done = push(target, JOB)
    assert done.code == 1, done.output
    error, traceback = target.event(done, f"cronjob#{NAME}")["error"]
    where = f"types/cronjob/resource.py:{line}"
    assert error == f"a bug in the custom type cronjob: KeyError: 'gone' ({where})"
    assert traceback.startswith(f"{where}, in _broken")
    assert "internal error" not in done.output


def test_it_cannot_end_the_run(local: Target, tmp_path: Path) -> None:
    """One that calls sys.exit fails its resource; the next has its turn."""
    copy_cron(tmp_path)
    module = tmp_path / "types" / "cronjob" / "resource.py"
    leave = "def _leave(self, host):\n    raise SystemExit(3)\n\n\nResource.read = _leave\n"
    line = append(module, leave) + 1
    cron = f"    - cronjob:\n        - {NAME}: {{{JOB}}}\n"
    done = local.push(f"ccm:\n  resources:\n{cron}    - exec: [{{'true': {{}}}}]\n")
    assert done.code == 1, done.output
    error = local.event(done, f"cronjob#{NAME}")["error"][0]
    assert error.endswith(f"SystemExit: 3 (types/cronjob/resource.py:{line})")
    assert local.event(done, "exec#true")["status"] == "changed"


@pytest.mark.long("ssh")
def test_a_verify_looks_at_the_jobs_of_a_site(target: Target) -> None:
    """``verify.py`` of the type finds the job as desired, and says what is there instead."""
    assert push(target, JOB).code == 0
    verify = ("verify", "-i", str(target.inventory), "-l", "web1", "site.yaml")
    done = target.ccm.run(*verify)
    assert (done.code, "1 passed" in done.output) == (0, True), done.output
    cron_file(target).write_text(f"# written by ccm\n{LINE.replace('31 2', '30 2')}\n")
    done = target.ccm.run(*verify)
    assert done.code == 1
    assert "job: expected 0 0 31 2 *" in done.output
    assert "found 0 0 30 2 *" in done.output


def test_a_crontab_keeps_its_other_lines(remote: Target, tmp_path: Path) -> None:
    """A job in a crontab comes after a comment with its name; the preview records the same."""
    copy_cron(tmp_path)
    job = f"{JOB}, crontab: true"
    done = push(remote, job, "--noop")
    assert "program crontab not found" in remote.event(done, f"cronjob#{NAME}")["error"][0]

    top = remote.path("").parents[1]
    crontab = top / "usr" / "local" / "bin" / "crontab"
    crontab.write_text(CRONTAB)
    crontab.chmod(0o755)
    spool = top / "var" / "spool" / "fake-cron.root"
    spool.write_text("5 4 * * * /usr/bin/true\n")
    done = push(remote, job, "--noop")
    event = remote.event(done, f"cronjob#{NAME}")
    assert event["noop_message"] == "Would have created the job", done.output
    assert spool.read_text() == "5 4 * * * /usr/bin/true\n"

    for schedule in (NEVER, "@yearly"):
        later = job.replace(NEVER, schedule)
        assert remote.statuses(push(remote, later)) == {f"cronjob#{NAME}": "changed"}
        assert spool.read_text() == (
            f"5 4 * * * /usr/bin/true\n# ccm: {NAME}\n{schedule} date +\\%F >> /dev/null\n"
        )
        assert remote.statuses(push(remote, later)) == {f"cronjob#{NAME}": "stable"}
    push(remote, "ensure: absent, crontab: true")
    assert spool.read_text() == "5 4 * * * /usr/bin/true\n"


@pytest.mark.long("local")
def test_a_user_that_is_to_come_makes_the_preview_unknown(target: Target) -> None:
    """An earlier pending command may create the user; without one the resource fails."""
    job = f"{JOB}, user: ccm-test-nobody"
    done = push(target, job, "--noop")
    assert target.event(done, f"cronjob#{NAME}")["failed"], done.output
    site = (
        "ccm:\n  resources:\n    - exec:\n        - useradd ccm-test-nobody: {}\n"
        f"    - cronjob:\n        - {NAME}: {{{job}}}\n"
    )
    event = target.event(target.push(site, "--noop"), f"cronjob#{NAME}")
    assert event["prediction"] == "unknown"
    assert event["noop_message"] == "Would have created the job"


def test_a_type_runs_on_the_oldest_python(local: Target, tmp_path: Path) -> None:
    """What the checks let pass, Python 3.6 runs."""
    prefix = find_interpreter("3.6")
    if prefix is None:
        pytest.skip("this machine has no Python 3.6")
    copy_cron(tmp_path)
    python = json.dumps(str(prefix / "bin" / "python3.6"))
    local.inventory.write_text(f"hosts: {{web1: {{connection: local, python: {python}}}}}\n")
    assert local.event(push(local, JOB), f"cronjob#{NAME}")["status"] == "changed"
    assert local.statuses(push(local, JOB)) == {f"cronjob#{NAME}": "stable"}


def test_children_and_templates_use_the_types_of_the_site(local: Target, tmp_path: Path) -> None:
    """A child manifest has the parent's types and no others; generated resources have them too."""
    copy_cron(tmp_path)
    copy_cron(tmp_path / "web", "another")
    child = tmp_path / "web" / "site.yaml"
    child.write_text(f"ccm:\n  resources:\n    - cronjob:\n        - {NAME}: {{{JOB}}}\n")
    done = local.push("ccm: {resources: [{apply: [{web/site.yaml: {}}]}]}\n", "--noop")
    assert local.event(done, f"cronjob#{NAME}")["noop_message"] == "Would have created the job"

    (tmp_path / "jobs.jet").write_text(f"- cronjob:\n    - {NAME}: {{{JOB}}}\n")
    done = local.push("ccm: {resources_jet_file: jobs.jet}\n", "--noop")
    assert local.event(done, f"cronjob#{NAME}")["noop_message"] == "Would have created the job"

    child.write_text(child.read_text().replace("- cronjob", "- another"))
    done = local.ccm.run("validate", "site.yaml")
    assert done.code == 0, done.output
    local.ccm.site("ccm: {resources: [{apply: [{web/site.yaml: {}}]}]}\n")
    done = local.ccm.run("validate", "site.yaml")
    assert done.code == 2
    assert "there is no resource type 'another'" in done.output


def test_ensure_and_status_know_the_type(local: Target, tmp_path: Path) -> None:
    """Its properties are flags of ``ccm ensure``, and ``ccm status`` shows its state."""
    copy_cron(tmp_path)
    words = ("cronjob", NAME, "--schedule", NEVER, "--command", "true")
    done = local.ccm.run("ensure", *words, "--noop")
    assert (done.code, "change" in done.stdout) == (0, True), done.output
    assert local.ccm.run("ensure", *words).code == 0
    assert (CRON_D / NAME).read_text() == f"# written by ccm\n{NEVER} root true\n"
    done = local.ccm.run("status", "cronjob", NAME)
    assert (done.code, "present" in done.stdout) == (0, True), done.output
    done = local.ccm.run("ensure", "cronjob", NAME, "--shedule", "x")
    assert (done.code, "--schedule" in done.stderr) == (2, True), done.output
    done = local.ccm.run("ensure", "cronjob", NAME, "--schedule", "soon", "--command", "true")
    assert (done.code, "neither five fields" in done.stderr) == (2, True), done.output


def test_mistakes_show_before_any_host_is_contacted(ccm: Ccm, tmp_path: Path) -> None:
    """The schema and check() of the type speak in ``ccm validate``, with the manifest's places."""
    copy_cron(tmp_path)
    ccm.site(
        "ccm:\n  resources:\n    - cronjob:\n"
        '        - a: {schedule: "* * * *", command: "true"}\n'
        '        - b: {shedule: "@daily", command: "true"}\n'
        "        - c: {ensure: gone}\n"
        '        - d.e: {schedule: "@daily", command: "true", provider: cronie}\n'
    )
    done = ccm.run("validate", "site.yaml")
    assert done.code == 2
    assert "site.yaml:4:25: cronjob#a: schedule: '* * * *' is neither five fields" in done.stderr
    assert (
        "site.yaml:5:15: cronjob has no property 'shedule' (did you mean schedule?)" in done.stderr
    )
    assert "site.yaml:6" in done.stderr
    assert "there is no provider 'cronie' for cronjob" in done.stderr
    assert "d.e" in done.stderr


def test_the_example_is_valid(ccm: Ccm) -> None:
    """``examples/own-type`` passes validation as it stands."""
    done = ccm.run("validate", str(EXAMPLE / "site.yaml"))
    assert done.code == 0, done.output
    assert "2 resources" in done.stdout
