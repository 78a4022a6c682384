"""Removes secrets and control characters from pytest's reports (controller)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from orchestrator.support.plain_text import plain
from remote_runtime.reporting.masking import Mask


class _FailureText(str):
    """A failure as text; ``reprcrash`` is its line in pytest's reports."""

    def __new__(cls, text: str, crash: Any) -> _FailureText:
        return super().__new__(cls, text)

    def __init__(self, text: str, crash: Any) -> None:
        self.reprcrash = crash


def hide(report: pytest.TestReport, mask: Mask) -> None:
    """Mask all strings of a report, in a form that is safe for terminals and files."""
    report.sections = [(name, mask.text(plain(text))) for name, text in report.sections]
    report.user_properties = [
        (name, mask.text(plain(str(value)))) for name, value in report.user_properties
    ]
    if isinstance(report.longrepr, tuple):  # of a skip
        path, line, reason = report.longrepr
        report.longrepr = (path, line, mask.text(plain(reason)))
    elif report.longrepr is not None:
        crash: Any = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            crash = dataclasses.replace(crash, message=mask.text(plain(crash.message)))
        report.longrepr = _FailureText(mask.text(plain(report.longreprtext)), crash)
    if hasattr(report, "wasxfail"):
        report.wasxfail = mask.text(plain(str(report.wasxfail)))
