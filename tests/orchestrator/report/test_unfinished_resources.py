"""What a report says of resources without an outcome."""

import io
import json
from itertools import pairwise
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import CUT_OFF, HostResult, Tally
from orchestrator.report.files.json_document import write_document
from orchestrator.report.files.junit import NOT_KNOWN, write_junit
from orchestrator.report.files.markdown import write_markdown
from orchestrator.report.html.page import write_html
from orchestrator.report.unfinished_resources import UnfinishedResources
from tests.orchestrator.report.files.test_metrics import samples, written
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.report.told import Told
from tests.texts import expect_text

NAMES = ("file#/etc/one", "file#/etc/two", "file#/etc/three")
PLANNED = run_events.HostPlanned("web1", NAMES, (("file#/etc/three", ("file#/etc/one",)),))
LOST = {"planned": 3, "phase": Phase.RUNNING, "message": "lost"}


@pytest.mark.parametrize(
    ("outcome", "kind", "confirmed", "is_known"),
    [
        ("unreachable", "transport.lost", False, False),
        ("unreachable", "transport.lost", None, False),
        ("unreachable", "host.timeout", True, True),
        ("defect", "defect", False, False),
        ("interrupted", CUT_OFF, None, False),
        ("interrupted", "run.interrupted", False, False),
        ("interrupted", "run.interrupted", True, True),
        ("failed", "plan.broken", None, True),
    ],
)
def test_only_the_host_itself_says_what_did_not_run(
    outcome: str, kind: str, confirmed: bool | None, is_known: bool
) -> None:
    """Without its word that the run is over, a resource without an outcome is not known."""
    unfinished = UnfinishedResources()
    unfinished.handle(PLANNED)
    result = HostResult("web1", Tally(), outcome, kind, "over", confirmed=confirmed)
    unfinished.handle(run_events.HostFinished(result))
    assert (unfinished.left if is_known else unfinished.unknown) == {"web1": NAMES}
    assert not (unfinished.unknown if is_known else unfinished.left)


def test_no_report_says_of_a_lost_host_that_something_did_not_run() -> None:
    """Summary, page, Markdown, JUnit, JSON and metrics call it not known, and nothing of it due."""
    kept = Kept("web1")
    kept.plan(PLANNED)
    kept.event("web1", "/etc/one", "changed")
    run = kept.end(web1={"outcome": "unreachable", **LOST})
    markdown, page, junit, document = (io.StringIO() for _ in range(4))
    write_markdown(run, markdown)
    write_html(run, page)
    write_junit(run, junit)
    write_document(run, 3, document)
    told = json.loads(document.getvalue())["hosts"]["web1"]
    assert told["not_known"] == list(NAMES[1:])
    assert not {"due", "did_not_run"} & told.keys()
    assert junit.getvalue().count(f'<skipped message="{NOT_KNOWN}"/>') == 2
    assert "### Unknown" in markdown.getvalue()
    assert "Unknown</h2>" in page.getvalue()
    assert samples(written(run))[("choria_ccm_resources_not_known_count",)] == 2
    for text in (markdown, page, junit):
        assert "not run" not in text.getvalue().lower()
        assert "refreshed by the next push" not in text.getvalue()


def test_the_summary_of_a_lost_host() -> None:
    """It says what was reported, and that the rest is not known."""
    told = Told("web1")
    told.plan("web1", names=["/a", "/b"], b="/a")
    told.event("web1", "/a", "changed")
    told.end("web1", "unreachable", **{**LOST, "planned": 2})
    text = told.summary()
    expect_text(text)
    assert "    unknown: file#/b\n" in text
    assert "not run" not in text


def test_of_a_host_that_was_refused_nothing_was_attempted() -> None:
    """Its resources are not listed, unless it was refused in the middle of its run."""
    told = Told("web1", "web2")
    told.plan("web1", "web2", names=[f"/{number}" for number in range(48)])
    told.event("web2", "/0", "changed")
    for host in ("web1", "web2"):
        told.end(host, "refused", kind="plan.refused.used", message=f"used before on {host}")
    text = told.summary()
    expect_text(text)
    assert list(told.collected.unfinished.left) == ["web2"]


WITH_CHILDREN = run_events.HostPlanned(
    "web1",
    ("file#/a", "apply#shop", "file#/b", "apply#deep", "file#/c", "file#/d"),
    applied=(("apply#shop", ("file#/b", "apply#deep")), ("apply#deep", ("file#/c",))),
)


def test_what_a_skipped_apply_holds_is_not_missing() -> None:
    """Of an interrupted host, only what its run would have reached has no outcome."""
    told = Told("web1")
    told.planned(WITH_CHILDREN)
    told.event("web1", "/a", "changed")
    told.event("web1", "shop", "skipped", type="apply")
    told.end("web1", "interrupted", planned=6, message="over", phase=Phase.RUNNING)
    assert told.collected.unfinished.left == {"web1": ("file#/d",)}
    expect_text(told.summary())


@pytest.mark.parametrize(
    ("unmet", "due"),
    [(["file#/z"], {"web1": ("file#/c", "file#/d")}), ([], {"web1": ("file#/d",)})],
)
def test_what_an_unmet_apply_holds_is_due(unmet: list[str], due: dict[str, Any]) -> None:
    """A host keeps the refreshes of what it skips for a failed requirement, and drops those of what
    a condition switches off."""
    told = Told("web1")
    subscribed = tuple((name, ("file#/a",)) for name in ("file#/c", "file#/d"))
    told.planned(WITH_CHILDREN._replace(subscribed=subscribed))
    told.event("web1", "/a", "changed")
    told.event("web1", "shop", "skipped", type="apply", unmet_requirements=unmet)
    told.end("web1", "interrupted", planned=6, message="over", phase=Phase.RUNNING, confirmed=True)
    assert told.collected.unfinished.left == {"web1": ("file#/d",)}
    assert told.collected.unfinished.due == due


def test_a_skipped_apply_holds_others_of_any_depth() -> None:
    """A worker may report a plan that no manifest can have."""
    names = tuple(f"apply#{number}" for number in range(5_000))
    told = Told("web1")
    told.planned(
        run_events.HostPlanned(
            "web1", names, applied=tuple((one, (child,)) for one, child in pairwise(names))
        )
    )
    told.event("web1", "0", "skipped", type="apply")
    told.end("web1", "interrupted", planned=5_000, message="over", phase=Phase.RUNNING)
    assert not told.collected.unfinished.left


def test_a_gate_fails_a_host_that_ran_everything() -> None:
    """The summary counts no apply among the resources that were planned."""
    told = Told("web1")
    told.planned(WITH_CHILDREN)
    for name in ("/a", "/b", "/c", "/d"):
        told.event("web1", name)
    told.end("web1", planned=6, phase=Phase.DONE)
    told.end("web1", "failed", planned=6, phase=Phase.DONE, message="verify: differs")
    expect_text(told.summary())
