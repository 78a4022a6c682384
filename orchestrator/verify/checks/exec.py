"""exec: the path that it creates (controller). What a command did cannot be looked at otherwise."""

from __future__ import annotations

import posixpath

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.paths import exists
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """``creates``, unless a guard or a subscription may rightly have kept the command back."""
    path = subject.text("creates")
    if path:
        path = posixpath.join(subject.text("cwd"), path)
    kept_back = any(subject.get(key) for key in ("onlyif", "unless", "refresh_only"))
    return [] if kept_back or not path else [exists(path, "creates")]
