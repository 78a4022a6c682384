"""Takes secrets and control characters out of what pytest tells of a test (controller)."""

from __future__ import annotations

import pytest

from orchestrator.support.plain_text import plain
from remote_runtime.masking import Mask


def hide(report: pytest.TestReport, mask: Mask) -> None:
    """Mask all that a report tells, in a form that terminals and files may show."""
    report.sections = [(name, mask.text(plain(text))) for name, text in report.sections]
    report.user_properties = [
        (name, mask.text(plain(str(value)))) for name, value in report.user_properties
    ]
    if isinstance(report.longrepr, tuple):  # of a skip
        path, line, reason = report.longrepr
        report.longrepr = (path, line, mask.text(plain(reason)))
    elif report.longrepr is not None:
        report.longrepr = mask.text(plain(report.longreprtext))
    if hasattr(report, "wasxfail"):
        report.wasxfail = mask.text(plain(str(report.wasxfail)))
