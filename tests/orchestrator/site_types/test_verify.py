"""What a type of a site says about a verify: ``verify.py`` of its directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.manifest.resource_types import types_beside
from orchestrator.verify.checks import expectations_of
from orchestrator.verify.expectation import Expectation
from orchestrator.verify.host_check import observe
from orchestrator.verify.subject import Subject
from remote_runtime.errors import InputError, ResourceError
from tests.orchestrator.site_types.types import accepted, append, copy_cron, refused
from tests.orchestrator.verify.fakes import Script, said
from tests.texts import expect_text

JOB = Subject("backup", {"schedule": "30 3  * * *", "command": "date +%F"})
LINE = "30 3 * * * date +\\%F"
STAT = "stat -c %F -- /etc/cron.d/backup"
NO_FILE = {STAT: (1, "", f"{STAT}: No such file or directory\n")}


def expected(site: Path, subject: Subject = JOB) -> list[Expectation]:
    found = expectations_of("cronjob", types_beside(site))
    assert found is not None
    return found(subject)


@pytest.mark.parametrize(("held", "wrong"), [(LINE, []), ("", ["none"]), (LINE[1:], [LINE[1:]])])
def test_the_type_of_a_site_is_verified(tmp_path: Path, held: str, wrong: list[str]) -> None:
    """What its module expects is asked of the host as for a built-in type."""
    copy_cron(tmp_path)
    crontab = f"0 0 * * * true\n# ccm: backup\n{held}\n" if held else ""
    script = Script({**NO_FILE, "crontab -u root -l": (0, crontab)})
    lines = [f"job: expected {LINE}, found {other}" for other in wrong]
    assert said(expected(tmp_path), script.read_all) == lines


def test_it_stays_on_the_controller(tmp_path: Path) -> None:
    """It is not shipped, may need a newer Python than hosts have, and no other module needs it."""
    home = copy_cron(tmp_path)
    append(home / "verify.py", "def more(x: int | None) -> None: ...\n")
    assert "cronjob/verify.py" not in accepted(tmp_path).sources()
    assert expected(tmp_path) != []
    append(home / "resource.py", "from . import verify\n")
    expect_text(refused(tmp_path)[0].message)


def test_a_type_need_not_have_one(tmp_path: Path) -> None:
    """Without the file there is nothing to look at."""
    (copy_cron(tmp_path) / "verify.py").unlink()
    assert expectations_of("cronjob", types_beside(tmp_path)) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def expectations(:\n", "invalid Python: "),
        ("EXPECTED = []\n", "the function expectations is missing"),
    ],
)
def test_a_mistake_in_it_is_told_before_any_host_is_contacted(
    tmp_path: Path, text: str, message: str
) -> None:
    """It is checked with the other modules of the type."""
    module = copy_cron(tmp_path) / "verify.py"
    module.write_text(text, encoding="utf-8")
    (problem,) = refused(tmp_path)
    assert problem.message.startswith(message)
    assert problem.where is not None
    assert problem.where.file == str(module)


def test_its_own_failure_is_one_of_the_resource(tmp_path: Path) -> None:
    """What it raises is told with its line, and is no defect of ccm."""
    module = copy_cron(tmp_path) / "verify.py"
    line = append(module, "def expectations(subject):\n    return [subject.nothing]\n") + 1
    with pytest.raises(ResourceError) as raised:
        expected(tmp_path)
    assert f"failed in {module}:{line}" in str(raised.value)
    append(module, "import nosuchmodule\n")
    with pytest.raises(InputError, match="nosuchmodule"):
        expected(tmp_path)


def test_a_question_that_raises_has_no_answer(tmp_path: Path) -> None:
    """A check of a site that cannot cope with an answer fails, and only that check."""
    module = copy_cron(tmp_path) / "verify.py"
    append(module, "def found(host, name, user):\n    return {}[host.run('true').stdout]\n")
    ((answer,),) = observe("web1", [expected(tmp_path)], Script({"true": (0, "x")}).read_all)
    assert answer.instead == "no result ('x')"
    append(module, "def found(host, name, user):\n    raise SystemExit(3)\n")
    ((answer,),) = observe("web1", [expected(tmp_path)], Script({}).read_all)
    assert answer.instead == "no result (3)"
