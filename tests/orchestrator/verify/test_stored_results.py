"""What the verify of a push found, kept in the run's directory and told by every report."""

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from orchestrator.fleet.store.outcome_selection import PastRuns
from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.files.json_document import write_document
from orchestrator.report.files.junit import write_junit
from orchestrator.report.files.markdown import write_markdown
from orchestrator.report.html import write_html
from orchestrator.verify.assessment import Assessment, Outcome
from orchestrator.verify.stored_results import VerifyFile, stored_assessment
from remote_runtime.errors import InputError
from tests.orchestrator.report.runs import Kept

HOSTS = ("web1", "web2", "web3")
BAD = Outcome("web2", "file#/etc/motd mode", "failed", "expected 0644, found <b>0600</b>")
OUTCOMES = [Outcome("web1", "file#/etc/motd mode", "passed"), BAD]
FOUND = Assessment(3, OUTCOMES, refused=[], warnings=[], unreached={"web3": "it does not answer"})


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SavedRun:
    """A push of three hosts that ended well."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    run = Kept(*HOSTS)
    for host in HOSTS:
        run.event(host, "/etc/motd")
    return run.end()


def verified(kept: SavedRun, found: Assessment | None = FOUND) -> None:
    file = VerifyFile(kept.path)
    for outcome in OUTCOMES:
        file.take(outcome)
    if found is not None:
        file.finish(found)


def test_what_was_found_is_read_back(kept: SavedRun) -> None:
    """As it was told; a run without a verify has none."""
    assert stored_assessment(kept) is None
    verified(kept)
    assert stored_assessment(kept) == FOUND
    assert list(kept.notices()) == []


def test_hosts_that_a_verify_finds_wrong_failed(kept: SavedRun) -> None:
    """``failed`` picks hosts on which a check failed and those that the verify did not reach."""
    verified(kept)
    assert PastRuns().named("failed", kept.run_id, HOSTS) == {"web2", "web3"}


def test_every_form_tells_it(kept: SavedRun) -> None:
    """JSON, the page, Markdown and JUnit have the sum and each failure, none of it as markup."""
    verified(kept)
    texts = {}
    for write in (write_html, write_markdown, write_junit):
        out = io.StringIO()
        write(kept, out)
        texts[write] = out.getvalue()
    out = io.StringIO()
    write_document(kept, None, out)
    document = json.loads(out.getvalue())
    assert document["verify"]["exit_code"] == 3
    assert document["verify"]["failures"][0]["check"] == BAD.label
    said = "3 hosts (1 unreachable): 1 check passed, 1 failed"
    for write in (write_html, write_markdown):
        assert said in texts[write]
        assert "file#/etc/motd mode" in texts[write]
        assert "it does not answer" in texts[write]
    assert "found &lt;b&gt;0600" in texts[write_html]
    suites = ElementTree.fromstring(texts[write_junit])
    assert (suites.get("tests"), suites.get("failures")) == ("5", "1")
    failure = suites.find("testsuite[@name='web2 verify']/testcase/failure")
    assert failure is not None
    assert failure.get("message") == BAD.text


def test_a_verify_that_came_to_no_end_is_told(kept: SavedRun) -> None:
    """What it found until then is there, and the report says that there is no more."""
    verified(kept, found=None)
    (notice,) = kept.notices()
    assert notice.text == "the verification of this run did not finish"
    found = stored_assessment(kept)
    assert found is not None
    assert (found.outcomes, found.interrupted) == (OUTCOMES, True)


def test_a_record_that_cannot_be_read_is_told_with_its_file(kept: SavedRun) -> None:
    """A line that is neither an outcome nor the sum is no defect of ccm."""
    for line in ("[]", "{}", '{"host": "web1"}', '{"found": 3}', '{"host": 1, "status": "failed"}'):
        (kept.path / "verify.jsonl").write_text(line + "\n", encoding="utf-8")
        for read in (lambda: stored_assessment(kept), kept.failed_verify):
            with pytest.raises(InputError, match=r"verify\.jsonl cannot be read"):
                read()


def test_a_record_that_cannot_be_written(kept: SavedRun) -> None:
    """The verify goes on, and its end says what could not be written."""
    (kept.path / "verify.jsonl").write_text("", encoding="utf-8")
    file = VerifyFile(kept.path)
    file.take(BAD)
    with pytest.raises(FileExistsError):
        file.finish(FOUND)
