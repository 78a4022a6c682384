"""``ccm report``'s files, ``ccm diff`` and ``--metrics``, after real pushes to a local host."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.orchestrator.cli.test_push import FAILING, Desk
from tests.texts import expect_text


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_run_is_written_as_every_form(desk: Desk) -> None:
    """One command writes the page, JUnit, Markdown and metrics of the last run."""
    desk.site(FAILING)
    assert desk.push()[0] == 1
    forms = ("html", "junit", "markdown", "metrics")
    words = [word for form in forms for word in (f"--{form}", f"run.{form}")]
    code, out, err = desk.ccm("report", *words)
    assert (code, out, err) == (0, "", "")
    texts = {form: (desk.directory / f"run.{form}").read_text(encoding="utf-8") for form in forms}
    assert texts["html"].startswith("<!DOCTYPE html>")
    assert "exec#bad" in texts["html"]
    suites = ElementTree.fromstring(texts["junit"])
    assert suites.get("failures") == "1"
    assert "### Failures" in texts["markdown"]
    state = re.compile(r'choria_ccm_resource_state_failed_count{.*name="bad",type="exec"} 1\.0')
    assert state.search(texts["metrics"])


def test_what_an_exec_printed_is_in_every_report(desk: Desk) -> None:
    """A report shows it for each host, the page and the document too; that of a sensitive one is
    kept nowhere."""
    shell = "provider: shell, command: "
    desk.site(
        f"    - exec:\n        - say: {{{shell}'echo said; echo more >&2'}}\n"
        f"        - hush: {{{shell}'echo unheard-of', sensitive: true}}\n"
    )
    code, out, _ = desk.push()
    assert (code, "│ said" in out) == (0, False)
    for words in ([], ["--host", "here"]):
        told = desk.ccm("report", *words)[1]
        assert "│ said\n        │ more\n" in told
    assert "<pre>said\nmore\n</pre>" in desk.ccm("report", "--html", "-")[1]
    events = json.loads(desk.ccm("report", "--json")[1])["events"]
    assert events[1]["output"] == "said\nmore\n"
    kept = [path for path in (desk.directory / "state").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"unheard-of" in path.read_bytes()]


def test_a_form_goes_to_stdout_alone(desk: Desk) -> None:
    """- is stdout; two forms that both want it are refused."""
    desk.site()
    desk.push()
    code, out, _ = desk.ccm("report", "--markdown", "-")
    assert code == 0
    assert out.startswith("## Push of `site.yaml`")
    code, _, err = desk.ccm("report", "--markdown", "-", "--json")
    assert code == 2
    expect_text(err)


def test_a_file_that_cannot_be_written_is_refused(desk: Desk) -> None:
    """The option, the path and the reason are named, and nothing is left behind."""
    desk.site()
    desk.push()
    for option in ("--html", "--metrics"):
        code, _, err = desk.ccm("report", option, "no/such/run.file")
        assert code == 2
        assert f"{option} no/such/run.file: No such file or directory" in err


def test_a_damaged_run_is_told_with_file_and_line(desk: Desk) -> None:
    """An event that is none is named by its line; nothing is written of half a run."""
    desk.site()
    desk.push()
    events = next(desk.directory.glob("state/ccm/runs/*/events.jsonl"))
    with open(events, "a", encoding="utf-8") as out:
        out.write('{"host": "here"}\n')
    code, _, err = desk.ccm("report", "--html", "run.html")
    assert code == 2
    assert "events.jsonl cannot be read: line 2: protocol is missing" in err
    assert [path.name for path in desk.directory.glob("run.html*")] == []


def test_a_run_of_another_version_is_told_with_what_it_lacks(desk: Desk) -> None:
    """The message names the file, the member and the way out."""
    desk.site()
    desk.push()
    turns = next(desk.directory.glob("state/ccm/runs/*/phases.jsonl"))
    turns.write_text(turns.read_text().replace('"applied"', '"other"'))
    code, _, err = desk.ccm("report", "--html", "run.html")
    assert code == 2
    told = " ".join(err.split())
    assert "phases.jsonl cannot be read: 'applied' is missing; another version of ccm" in told
    assert f"remove {turns.parent}" in told


def test_push_writes_metrics(desk: Desk) -> None:
    """--metrics of a push has what the run did."""
    desk.site()
    assert desk.push("--metrics", "ccm.prom")[0] == 0
    text = (desk.directory / "ccm.prom").read_text(encoding="utf-8")
    assert "choria_ccm_resource_state_changed_count" in text


@pytest.mark.parametrize(
    ("path", "reason"), [("no/such/ccm.prom", "no/such does not exist"), (".", "it is a directory")]
)
def test_a_push_is_refused_if_its_metrics_cannot_be_written(
    desk: Desk, path: str, reason: str
) -> None:
    """Nothing was changed then."""
    desk.site()
    code, out, err = desk.push("--metrics", path)
    assert (code, out) == (2, "")
    told = " ".join(err.split())
    assert f"--metrics: {path} cannot be written: " in told
    assert reason in told
    assert "specify a writable file" in err
    assert "1 changed" in desk.push()[1]


def test_a_run_keeps_its_summary_if_the_directory_of_its_metrics_is_lost(desk: Desk) -> None:
    """The run itself removes the directory; the outcome is still reported, with exit code 1."""
    (desk.directory / "lost").mkdir()
    desk.site(f"    - exec: [{{'rmdir {desk.directory}/lost': {{}}}}]\n")
    code, out, err = desk.push("--metrics", "lost/ccm.prom")
    assert code == 1
    assert "2 changed" in out
    assert "--metrics lost/ccm.prom: No such file or directory" in err


def test_metrics_may_go_to_stdout(desk: Desk) -> None:
    """With - the counters are all of stdout, and what people read is on stderr."""
    desk.site()
    code, out, err = desk.push("--metrics", "-")
    assert code == 0, err
    assert "choria_ccm_run_end_timestamp_seconds" in out
    assert "1 changed" in err
    assert "1 changed" not in out
    assert desk.ccm("report", "--metrics", "-")[1] == out
    assert not (desk.directory / "-").exists()
    code, _, err = desk.push("--metrics", "-", "--json")
    assert code == 2
    expect_text(err)


def test_the_list_of_runs_fits_what_is_in_it(desk: Desk) -> None:
    """Columns are as wide as their widest cell."""
    desk.site()
    desk.push()
    head, line = desk.ccm("runs")[1].splitlines()
    assert len(line) <= 90 + len("WHO") + 32  # a name of at most 32 columns
    assert line[head.index("HOSTS") :] == "1 changed"
    assert line[head.index("MANIFEST") :].split()[0] == "site.yaml"
    desk.push()
    desk.push("--noop")
    head, *lines = desk.ccm("runs")[1].splitlines()
    told = [line[head.index("HOSTS") :] for line in lines]
    assert told == ["1 unchanged", "1 unchanged", "1 changed"]


def test_a_preview_and_its_push_do_not_differ(desk: Desk) -> None:
    """A push that did as previewed has nothing to tell; the one after it does."""
    desk.site()
    for words in (["--noop"], [], []):
        assert desk.push(*words)[0] == 0
    listed = desk.ccm("runs", "--json")[1].splitlines()
    third, second, first = (json.loads(line)["run_id"] for line in listed)
    code, out, _ = desk.ccm("diff", first, second, "--detailed-exitcode")
    assert code == 0, out
    expect_text(out.splitlines()[-1])
    code, out, _ = desk.ccm("diff", second, third, "--detailed-exitcode")
    assert code == 4
    assert f"file#{desk.target}/motd  changed → unchanged" in out
    document = json.loads(desk.ccm("diff", second, third, "--json")[1])
    assert document["hosts"]["here"][0]["after"] == "stable"


def test_a_run_that_is_not_there_is_refused(desk: Desk) -> None:
    """A wrong id is told with where to look."""
    desk.site()
    desk.push()
    code, _, err = desk.ccm("diff", "2099", "2098")
    assert code == 2
    expect_text(err)
