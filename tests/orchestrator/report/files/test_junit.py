"""A run as JUnit XML."""

import io
from typing import Any
from xml.etree import ElementTree

from orchestrator.report.files.junit import write_junit
from tests.orchestrator.report.runs import Kept, mixed_run


def junit(kept: Any) -> ElementTree.Element:
    out = io.StringIO()
    write_junit(kept, out)
    return ElementTree.fromstring(out.getvalue())


def test_each_host_is_a_suite_and_each_resource_a_case() -> None:
    """Counts of the suites agree with the cases in them, times are in seconds."""
    root = junit(mixed_run())
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == [f"web{n}" for n in range(1, 9)]
    for suite in suites:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    assert root.get("tests") == str(len(root.findall("testsuite/testcase")))
    first = suites[0].find("testcase")
    assert first is not None
    assert (first.get("classname"), first.get("name")) == ("web1", "file#/etc/motd")
    assert first.get("time") == "0.200"


def test_failures_errors_and_skips_are_told_as_such() -> None:
    """A failed resource is a failure, one that was not tried is skipped, a dead host an error."""
    root = junit(mixed_run())
    failure = root.find("testsuite[@name='web2']/testcase[@name='file#/etc/broken']/failure")
    assert failure is not None
    assert failure.get("message") == "exit status 3"
    assert "E: <i>no</i>" in (failure.text or "")
    skipped = root.find("testsuite[@name='web2']/testcase[@name='file#/etc/after']/skipped")
    assert skipped is not None
    assert skipped.get("message") == "requires file#/etc/broken"
    error = root.find("testsuite[@name='web8']/testcase/error")
    assert error is not None
    assert "does not answer" in error.get("message", "")


def test_text_that_xml_cannot_hold_is_replaced() -> None:
    """Control characters and half surrogates of a host leave the document well formed."""
    kept = Kept("web1")
    kept.event("web1", "/etc/\x01\ud800<&\"'", "failed", error=["]]>\x00\x1b[31m"])
    failure = junit(kept.end()).find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "]]>\ufffd\ufffd[31m"


def test_a_name_with_dots_is_one_class() -> None:
    """Readers take what is before the last dot for a package; a suite says when it began."""
    kept = Kept("web1.example.org")
    kept.event("web1.example.org", "/x")
    suite = junit(kept.end()).find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("timestamp")) == (
        "web1.example.org",
        "2026-09-21T14:13:20",
    )
    case = suite.find("testcase")
    assert case is not None
    assert case.get("classname") == "web1_example_org"
